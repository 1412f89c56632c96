import SwiftDiagnostics
import SwiftSyntax

/// All that is wrong with a class marked `@Model`, in the order of the source.
///
/// - Parameter inherits: Whether the class is a model before the macro has made it one.
func checkModel(_ model: ClassDeclSyntax, inherits: Bool) -> [Refusal] {
  var refusals = checkClass(model, inherits: inherits)
  if refusals.isEmpty {
    refusals = checkMembers(model)
    if refusals.allSatisfy({ $0.reason.severity == .warning }) { refusals += checkWhole(model) }
  }
  return refusals
}

/// What makes a class no model whatever is in it.
func checkClass(_ declaration: ClassDeclSyntax, inherits: Bool) -> [Refusal] {
  var refusals: [Refusal] = []
  let name = declaration.name.text
  if let generics = declaration.genericParameterClause {
    refusals.append(Refusal(.generic(name: name), at: generics))
  }
  if inherits, let clause = declaration.inheritanceClause {
    refusals.append(Refusal(.inheritsModel(name: name), at: clause.inheritedTypes))
  }
  if let actor = declaration.attributes.first(named: "MainActor") {
    refusals.append(Refusal(.globalActor, at: actor, fix: remove(actor, from: declaration)))
  }
  if let observable = declaration.attributes.first(named: "Observable") {
    refusals.append(Refusal(.alreadyObservable, at: observable, fix: remove(observable, from: declaration)))
  }
  return refusals
}

/// A `@Model` on a struct, an enum or an actor.
func notAClass(_ declaration: some DeclGroupSyntax) -> Refusal {
  let keyword = declaration.introducer
  let kind = ["struct": "a struct", "enum": "an enum", "actor": "an actor"][keyword.text] ?? "this"
  let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.text ?? "…"
  let fix =
    keyword.text == "enum"
    ? nil : Remedy.replace(keyword, by: keyword.with(\.tokenKind, .identifier("final class")), "write ‘final class’")
  return Refusal(.notAClass(kind: kind, name: name), at: keyword, fix: fix)
}

private func checkMembers(_ model: ClassDeclSyntax) -> [Refusal] {
  var refusals: [Refusal] = checkSendable(model).map { [$0] } ?? []
  var fullTexts = 0
  var names: Set<String> = []
  var stored: Set<String> = []
  for member in model.memberBlock.members.map(\.decl) {
    for binding in member.as(VariableDeclSyntax.self)?.bindings ?? [] {
      if let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareName { names.insert(name) }
    }
    if case .stored(let property) = Member(member) { stored.insert(property.name) }
  }
  for member in model.memberBlock.members.map(\.decl) {
    switch Member(member) {
    case .refused(let reasons): refusals += reasons
    case .stored(let property), .transient(let property):
      if let variable = member.as(VariableDeclSyntax.self), let warning = checkConstant(variable, property) {
        refusals.append(warning)
      }
      if property.storage != property.reference, names.contains(property.storage) {
        refusals.append(Refusal(.storageTaken(name: property.name, by: property.storage), at: nameNode(member)))
      }
    case .other:
      if let variable = member.as(VariableDeclSyntax.self) {
        refusals += checkUnstored(variable)
      } else if let conditional = member.as(IfConfigDeclSyntax.self) {
        refusals += checkConditional(conditional)
      } else if let expansion = member.as(MacroExpansionDeclSyntax.self) {
        refusals += checkKeyPaths(expansion, in: model.name.text, stored)
        if expansion.macroName.text == "FullText" { fullTexts += 1 }
        if expansion.macroName.text == "FullText", fullTexts > 1 {
          refusals.append(Refusal(.secondFullText(model: model.name.text), at: expansion))
        }
      }
    }
  }
  return refusals
}

/// A class that says it can be handed from one isolation to another, which the compiler refuses in the storage of each
/// property, and lets pass in the Swift 5 language mode.
private func checkSendable(_ model: ClassDeclSyntax) -> Refusal? {
  guard let clause = model.inheritanceClause,
    let written = clause.inheritedTypes.first(where: {
      ["Sendable", "Swift.Sendable"].contains($0.type.trimmedDescription)
    })
  else { return nil }
  var rest = clause.inheritedTypes.filter { $0.id != written.id }
  if let last = rest.last { rest[rest.index(before: rest.endIndex)] = last.with(\.trailingComma, nil) }
  let fix =
    rest.isEmpty
    ? Remedy.remove(clause, "remove ‘Sendable’")
    : Remedy.replace(
      clause.inheritedTypes, by: rest.with(\.trailingTrivia, clause.inheritedTypes.trailingTrivia), "remove ‘Sendable’")
  return Refusal(.sendable(name: model.name.text), at: written, fix: fix)
}

/// What only the class as a whole can be refused for.
private func checkWhole(_ declaration: ClassDeclSyntax) -> [Refusal] {
  let model = ModelSyntax(declaration, in: [])
  if model.properties.count > 127 {
    return [Refusal(.tooManyProperties(count: model.properties.count), at: declaration.name)]
  }
  if !model.hasDesignatedInit && !model.allHaveDefaults {
    let parameters = model.properties.filter { !$0.hasDefault }.map { "\($0.name): \($0.type ?? "…")" }
    let refusal = Refusal.Reason.noInitializer(name: model.name, parameters: parameters)
    return [Refusal(refusal, at: declaration.name, fix: writeInit(declaration, model))]
  }
  return []
}

/// An init at the end of the class, where the types of all it needs are written.
private func writeInit(_ declaration: ClassDeclSyntax, _ model: ModelSyntax) -> FixIt? {
  let needed = model.properties.filter { !$0.hasDefault }
  let parameters = needed.compactMap { property in property.type.map { "\(property.reference): \($0)" } }
  guard parameters.count == needed.count else { return nil }
  let indent = declaration.indentation
  let head = "\(model.access)init(\(parameters.joined(separator: ", "))) {"
  let lines = [head] + needed.map { "  self.\($0.reference) = \($0.reference)" } + ["}"]
  let text = lines.map { "\n\(indent)  \($0)" }.joined() + "\n\(indent)}"
  let brace = declaration.memberBlock.rightBrace
  return Remedy.replace(brace, by: TokenSyntax.identifier("\n" + text), "write the init")
}

/// A table is the same in every build, so nothing stored may stand in an `#if`, nor an index.
private func checkConditional(_ conditional: IfConfigDeclSyntax) -> [Refusal] {
  conditional.memberDeclarations.flatMap { member -> [Refusal] in
    switch Member(member) {
    case .stored(let property), .transient(let property):
      [Refusal(.conditional(name: property.name), at: nameNode(member))]
    case .refused(let reasons): reasons
    case .other:
      if let expansion = member.as(MacroExpansionDeclSyntax.self), expansion.isMarker {
        [
          Refusal(
            .conditionalMarker(marker: "#\(expansion.macroName.text)"), at: expansion, fix: conditional.removal)
        ]
      } else {
        []
      }
    }
  }
}

/// `#Index<Other>([…])` inside of `Book` would index nothing, and what is not stored has no column.
private func checkKeyPaths(_ expansion: MacroExpansionDeclSyntax, in model: String, _ stored: Set<String>) -> [Refusal]
{
  guard expansion.isMarker else { return [] }
  let macro = expansion.macroName.text
  if let (argument, named) = expansion.otherModel(than: model) {
    let fix = Remedy.write(model, for: argument)
    return [Refusal(.otherModel(macro: macro, named: named, model: model), at: argument, fix: fix)]
  }
  let sets = expansion.pathSets
  var refusals: [Refusal] = []
  if expansion.genericArgumentClause == nil, !sets.contains(where: \.namesModel) {
    let fix = Remedy.write("\(macro)<\(model)>", for: expansion.macroName, "write ‘<\(model)>’")
    refusals.append(Refusal(.unnamedModel(macro: macro, model: model), at: expansion.macroName, fix: fix))
  }
  for set in sets {
    guard let list = set.as(ArrayExprSyntax.self) else {
      let fix = set.is(KeyPathExprSyntax.self) ? Remedy.write("[\(set.trimmedDescription)]", for: set) : nil
      refusals.append(Refusal(.withoutBrackets(macro: macro), at: set, fix: fix))
      continue
    }
    for element in list.elements.map(\.expression) {
      guard let path = element.as(KeyPathExprSyntax.self) else {
        refusals.append(Refusal(.notAPath(macro: macro), at: element, fix: writePath(element)))
        continue
      }
      guard let name = path.firstName, !stored.contains(name) else { continue }
      refusals.append(Refusal(.withoutColumn(macro: macro, name: name, model: model), at: path))
    }
  }
  return refusals
}

/// A key path for the property's name, written as `.title` or `"title"`.
private func writePath(_ element: ExprSyntax) -> FixIt? {
  if let member = element.as(MemberAccessExprSyntax.self), member.base == nil {
    return Remedy.write("\\.\(member.declName.trimmedDescription)", for: element)
  }
  if let text = element.as(StringLiteralExprSyntax.self)?.representedLiteralValue {
    return Remedy.write("\\.\(text)", for: element)
  }
  return nil
}

extension ExprSyntax {
  /// Whether a key path in it says which model it is of.
  fileprivate var namesModel: Bool {
    let paths = self.as(ArrayExprSyntax.self)?.elements.map(\.expression) ?? [self]
    return paths.contains { $0.as(KeyPathExprSyntax.self)?.root != nil }
  }
}

extension MacroExpansionDeclSyntax {
  /// Whether `@Model` reads it.
  var isMarker: Bool { ["Index", "Unique", "FullText"].contains(macroName.text) }

  /// What is given to `#Index`, `#Unique` or `#FullText`: lists of key paths, as a rule.
  var pathSets: [ExprSyntax] { arguments.compactMap { $0.label == nil ? $0.expression : nil } }

  /// The model whose properties `#Index`, `#Unique` or `#FullText` names, where it is another than the one it is in.
  func otherModel(than model: String) -> (argument: TypeSyntax, name: String)? {
    guard isMarker,
      let argument = genericArgumentClause?.arguments.first?.argument,
      let type = Syntax(argument).as(TypeSyntax.self)  // a type itself in older swift-syntax
    else { return nil }
    let last = type.as(MemberTypeSyntax.self)?.name.text ?? type.trimmedDescription
    return last == model || last == "Self" ? nil : (type, last)
  }
}

extension IfConfigDeclSyntax {
  /// Leaves what stands in it without the `#if`, where it has one clause.
  var removal: FixIt? {
    guard clauses.count == 1, let elements = clauses.first?.elements else { return nil }
    return Remedy.write(elements.trimmedDescription, for: self, "remove the #if")
  }

  /// The members of all its clauses, whichever are active.
  var memberDeclarations: [DeclSyntax] {
    clauses.flatMap { clause -> [DeclSyntax] in
      guard let members = clause.elements?.as(MemberBlockItemListSyntax.self) else { return [] }
      return members.flatMap { member in
        member.decl.as(IfConfigDeclSyntax.self)?.memberDeclarations ?? [member.decl]
      }
    }
  }
}

/// Where to point: at the name, if there is one.
func nameNode(_ declaration: DeclSyntax) -> Syntax {
  declaration.as(VariableDeclSyntax.self)?.bindings.first.map { Syntax($0.pattern) } ?? Syntax(declaration)
}

private func remove(_ attribute: AttributeSyntax, from declaration: ClassDeclSyntax) -> FixIt {
  var rest = declaration.attributes.filter { $0.id != attribute.id }
  if let first = rest.first {
    rest[rest.startIndex] = first.with(\.leadingTrivia, declaration.attributes.leadingTrivia)
  }
  return Remedy.replace(declaration.attributes, by: rest, "remove @\(attribute.attributeName.trimmedDescription)")
}
