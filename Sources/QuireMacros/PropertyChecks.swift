import SwiftDiagnostics
import SwiftSyntax

/// What is wrong with a declaration that stores something, in the order of reading; empty if nothing is.
func checkStored(_ variable: VariableDeclSyntax) -> [Refusal] {
  let conditional = checkConditionalAttributes(variable)
  if !conditional.isEmpty { return conditional }
  if variable.isLeftAlone { return checkIgnored(variable) }
  if let refusal = checkShape(variable) { return [refusal] }
  guard let binding = variable.bindings.first,
    let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
  else { return [] }
  let name = identifier.bareName
  let isTransient = !variable.isKept
  return [
    checkName(name, at: identifier),
    isTransient ? checkDefault(binding) : checkType(binding, name: name),
  ].compactMap { $0 } + checkAttributes(variable, binding, name: name, isTransient: isTransient)
}

/// Attributes on a property that has no column anyway. That it is not to be kept is true of it.
func checkUnstored(_ variable: VariableDeclSyntax) -> [Refusal] {
  ["Attribute", "Relationship"].compactMap { name in
    guard let attribute = variable.attribute(named: name) else { return nil }
    if name == "Attribute", attribute.arguments?.trimmedDescription == ".ephemeral" { return nil }
    let property = variable.bindings.first?.pattern.trimmedDescription ?? "this"
    let fix = Remedy.remove(attribute, "remove @\(name)")
    return Refusal(.noColumn(attribute: name, name: property), at: attribute, fix: fix)
  }
}

// MARK: The declaration

/// Attributes in an `#if`, which would be read in no build.
private func checkConditionalAttributes(_ variable: VariableDeclSyntax) -> [Refusal] {
  let read: Set = ["Attribute", "Relationship", "Transient", "ObservationIgnored"]
  return variable.attributes.compactMap { $0.as(IfConfigDeclSyntax.self) }.flatMap { conditional in
    conditional.attributes.filter { read.contains($0.lastName) }.map {
      Refusal(.conditionalMarker(marker: "@\($0.lastName)"), at: $0, fix: conditional.removal)
    }
  }
}

/// Not one `var` with one name.
private func checkShape(_ variable: VariableDeclSyntax) -> Refusal? {
  let names = variable.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareName }
  guard names.count == variable.bindings.count, let name = names.first else {
    return Refusal(.pattern, at: variable.bindings.first.map { Syntax($0.pattern) } ?? Syntax(variable.bindings))
  }
  if names.count > 1, let first = variable.bindings.first {
    return Refusal(.several(names: names), at: first.pattern, fix: split(variable))
  }
  if let modifier = variable.modifier(.lazy) { return Refusal(.lazy(name: name), at: modifier) }
  if let modifier = variable.modifier(.unowned) {
    return Refusal(.unowned(name: name), at: modifier, fix: Remedy.remove(modifier, "remove ‘unowned’"))
  }
  if let actor = variable.attribute(named: "MainActor") {
    return Refusal(.isolated(name: name), at: actor, fix: Remedy.remove(actor, "remove @MainActor"))
  }
  return checkWrapper(variable, name: name)
}

/// A property wrapper, judging by its name: an attribute that is unknown may be a macro's. Of another wrapper the compiler
/// says that it cannot be applied.
private func checkWrapper(_ variable: VariableDeclSyntax, name: String) -> Refusal? {
  guard let wrapper = variable.othersAttributes.first(where: { wellKnownWrappers.contains($0.lastName) }) else {
    return nil
  }
  if wrapper.lastName == "Published" {
    return Refusal(.published(name: name), at: wrapper, fix: Remedy.remove(wrapper, "remove @Published"))
  }
  let kept = "@ObservationIgnored \(wrapper.trimmedDescription)"
  let fix = Remedy.write(kept, for: wrapper, "write ‘@ObservationIgnored’")
  return Refusal(.wrapper(name: name, wrapper: wrapper.lastName), at: wrapper, fix: fix)
}

/// Of SwiftUI, Combine and App Intents, and of libraries that many apps use.
private let wellKnownWrappers: Set<String> = [
  "AppStorage", "SceneStorage", "Published", "State", "Binding", "Bindable", "Environment", "EnvironmentObject",
  "StateObject", "ObservedObject", "FetchRequest", "Query", "FocusState", "GestureState", "ScaledMetric", "Namespace",
  "Parameter", "Property", "UserDefault", "UserDefaults", "Default", "Keychain", "Inject", "Injected", "InjectedObject",
  "LazyInjected", "Dependency", "Shared", "SharedReader", "CloudStorage", "Clamped", "Clamping", "Trimmed",
  "Capitalized",
  "Atomic", "Locked", "Lazy",
]

/// A declaration for each name, with what stood before the first; a type belongs to the names before it too.
private func split(_ variable: VariableDeclSyntax) -> FixIt? {
  guard variable.bindings.allSatisfy({ $0.accessorBlock == nil }) else { return nil }
  var whole = variable.with(\.leadingTrivia, [])
  whole.bindings = []
  let head = whole.trimmedDescription
  var lines: [String] = []
  var type: String?
  for binding in variable.bindings.reversed() {
    if let written = binding.typeAnnotation {
      type = written.trimmedDescription
    } else if binding.initializer != nil {
      type = nil  // its value says it
    }
    let value = binding.initializer.map { " \($0.trimmedDescription)" } ?? ""
    lines.append("\(head) \(binding.pattern.trimmedDescription)\(type ?? "")\(value)")
  }
  let text = lines.reversed().joined(separator: "\n\(variable.indentation)")
  let names = variable.bindings.count
  return Remedy.write(text, for: variable, "write \(names) declarations")
}

/// A `let` with a value: what is offered in its place.
func checkConstant(_ variable: VariableDeclSyntax, _ property: PropertySyntax) -> Refusal? {
  guard property.isInitializedConstant else { return nil }
  return Refusal(.constant(name: property.name), at: variable.bindingSpecifier, fix: makeVariable(variable))
}

private func makeVariable(_ variable: VariableDeclSyntax) -> FixIt {
  let isPrivate = variable.modifier(.private) != nil || variable.modifier(.fileprivate) != nil
  let text = isPrivate ? "var" : "private(set) var"
  let keyword = variable.bindingSpecifier.with(\.tokenKind, .identifier(text))
  return Remedy.replace(variable.bindingSpecifier, by: keyword, "write ‘\(text)’")
}

private func checkName(_ name: String, at identifier: TokenSyntax) -> Refusal? {
  if name.hasPrefix("_quire") { return Refusal(.reservedPrefix(name: name), at: identifier) }
  if reservedNames.contains(name) { return Refusal(.reservedName(name: name), at: identifier) }
  return nil
}

/// What every model has from `PersistentModel` and its extensions. A property called `isDeleted` or `hasChanges` stands
/// before that of the extension, as it does in SwiftData; Quire itself asks the extension.
private let reservedNames: Set<String> = ["persistentModelID", "modelContext", "hashValue"]

// MARK: Its type and its value

private func checkType(_ binding: PatternBindingSyntax, name: String) -> Refusal? {
  guard let type = binding.typeAnnotation?.type else { return checkValue(binding, name: name) }
  let (base, depth) = unwrapped(type)
  if depth > 1 {
    let single = base.trimmedDescription + "?"
    let fix = Remedy.write(single, for: type)
    return Refusal(.nestedOptional(name: name, type: type.trimmedDescription), at: type, fix: fix)
  }
  let unattributed = base.as(AttributedTypeSyntax.self)?.baseType ?? base
  if unattributed.is(FunctionTypeSyntax.self) { return Refusal(.function(name: name), at: type) }
  if unattributed.is(TupleTypeSyntax.self) { return Refusal(.tuple(name: name), at: type) }
  if unattributed.is(SomeOrAnyTypeSyntax.self) || ["Any", "AnyObject"].contains(unattributed.trimmedDescription) {
    return Refusal(.existential(name: name, type: type.trimmedDescription), at: type)
  }
  return nil
}

private func checkValue(_ binding: PatternBindingSyntax, name: String) -> Refusal? {
  guard let value = binding.initializer?.value else { return Refusal(.untyped(name: name), at: binding.pattern) }
  if value.is(ClosureExprSyntax.self) { return Refusal(.function(name: name), at: binding.pattern) }
  if let tuple = value.as(TupleExprSyntax.self), tuple.elements.count != 1 {
    return Refusal(.tuple(name: name), at: binding.pattern)
  }
  return nil
}

private func checkDefault(_ binding: PatternBindingSyntax) -> Refusal? {
  if binding.initializer != nil { return nil }
  let isConstant = binding.parent?.parent?.as(VariableDeclSyntax.self)?.isConstant == true
  if !isConstant, let type = binding.typeAnnotation?.type, unwrapped(type).depth > 0 { return nil }
  return Refusal(.withoutDefault(name: binding.pattern.trimmedDescription), at: binding.pattern)
}

private func checkIgnored(_ variable: VariableDeclSyntax) -> [Refusal] {
  if variable.modifier(.lazy) != nil { return [] }
  // A property wrapper with arguments makes its value itself.
  if variable.othersAttributes.contains(where: { $0.arguments != nil }) { return checkUnstored(variable) }
  let shape = variable.bindings.compactMap(checkDefault)
  return shape + checkUnstored(variable)
}

// MARK: Its attributes

private func checkAttributes(
  _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax, name: String, isTransient: Bool
) -> [Refusal] {
  var refusals: [Refusal] = []
  for kind in ["Attribute", "Relationship"] {
    guard let attribute = variable.attribute(named: kind) else { continue }
    refusals += checkSecond(attribute, of: variable)
    if isTransient, variable.attribute(named: "Transient") != nil || kind == "Relationship" {
      let fix = Remedy.remove(attribute, "remove @\(kind)")
      refusals.append(Refusal(.transientWith(attribute: kind), at: attribute, fix: fix))
      continue
    }
    refusals += attribute.labeledArguments.compactMap(checkArgument)
    if kind == "Relationship", let type = binding.typeAnnotation?.type,
      let refusal = checkTarget(type, name: name, attribute)
    {
      refusals.append(refusal)
    }
  }
  return refusals
}

/// Attributes of the same name after the first, which alone is read.
private func checkSecond(_ first: AttributeSyntax, of variable: VariableDeclSyntax) -> [Refusal] {
  let all = variable.attributes.compactMap { $0.as(AttributeSyntax.self) }.filter { $0.lastName == first.lastName }
  let arguments = all.flatMap(\.labeledArguments).map { $0.with(\.trailingComma, nil).trimmed }
  let options = arguments.filter { $0.label == nil }, named = arguments.filter { $0.label != nil }
  let whole = "@\(first.lastName)(\((options + named).map(\.description).joined(separator: ", ")))"
  return all.filter { $0.id != first.id }.map {
    Refusal(.secondMarker(marker: "@\(first.lastName)", whole: whole), at: $0)
  }
}

/// An argument of `@Attribute` or `@Relationship`.
private func checkArgument(_ argument: LabeledExprSyntax) -> Refusal? {
  if argument.label == nil, let rule = argument.optionName, deleteRules.contains(rule) {
    let fix = Remedy.write("deleteRule: .\(rule)", for: argument.expression)
    return Refusal(.ruleWithoutLabel(rule: rule), at: argument.expression, fix: fix)
  }
  guard argument.label?.text == "inverse", !argument.expression.is(NilLiteralExprSyntax.self) else { return nil }
  guard let path = argument.expression.as(KeyPathExprSyntax.self) else {
    return Refusal(.inverseNotLiteral, at: argument.expression)
  }
  return path.root == nil ? Refusal(.inverseWithoutModel, at: path) : nil
}

/// A relationship to what can't be a model, judging by its name.
private func checkTarget(_ type: TypeSyntax, name: String, _ attribute: AttributeSyntax) -> Refusal? {
  let base = unwrapped(type).base
  let written = type.trimmedDescription
  let removal = Remedy.remove(attribute, "remove @Relationship")
  if let array = base.as(ArrayTypeSyntax.self) {
    let isValue = PlainType(array.element) != nil || unwrapped(array.element).base.is(ArrayTypeSyntax.self)
    return isValue ? Refusal(.valueAsRelationship(name: name, type: written), at: type, fix: removal) : nil
  }
  if let set = base.as(IdentifierTypeSyntax.self), set.name.text == "Set",
    let element = set.genericArgumentClause?.arguments.first?.argument
  {
    let array = "[\(element.trimmedDescription)]"
    let fix = Remedy.write(array, for: set)
    return Refusal(.setAsRelationship(name: name, element: element.trimmedDescription), at: type, fix: fix)
  }
  if PlainType(base) != nil || base.is(DictionaryTypeSyntax.self) {
    return Refusal(.valueAsRelationship(name: name, type: written), at: type, fix: removal)
  }
  return nil
}

/// Rules that the first beta of SwiftData took without a label.
private let deleteRules: Set<String> = ["cascade", "nullify", "deny", "noAction"]

extension AttributeSyntax {
  /// The arguments as written, to stand in a call; without rules that lack their label, which are refused.
  var forwarded: String {
    labeledArguments.filter { $0.label != nil || !deleteRules.contains($0.optionName ?? "") }
      .map { $0.with(\.trailingComma, nil).trimmedDescription }.joined(separator: ", ")
  }
}

extension SyntaxProtocol {
  /// The blanks before its first word on its line.
  var indentation: String {
    var blanks = ""
    for piece in leadingTrivia {
      switch piece {
      case .newlines, .carriageReturns, .carriageReturnLineFeeds: blanks = ""
      case .spaces(let count): blanks += String(repeating: " ", count: count)
      case .tabs(let count): blanks += String(repeating: "\t", count: count)
      default: break
      }
    }
    return blanks
  }
}
