import SwiftSyntax

/// All that is wrong with a declaration marked `@Projection`, in the order of the source; empty if nothing is.
func checkProjection(_ declaration: some DeclGroupSyntax, _ attribute: AttributeSyntax) -> [ProjectionRefusal] {
  guard let projection = declaration.as(StructDeclSyntax.self) else { return [notAStruct(declaration)] }
  var refusals: [ProjectionRefusal] = []
  let name = projection.name.bareName
  if attribute.modelName == nil { refusals.append(.init(.withoutModel, at: attribute)) }
  if let generics = projection.genericParameterClause { refusals.append(.init(.generic(name: name), at: generics)) }
  if let actor = projection.attributes.first(named: "MainActor") { refusals.append(.init(.globalActor, at: actor)) }
  if !refusals.isEmpty { return refusals }
  for member in projection.memberBlock.members.map(\.decl) {
    if let variable = member.as(VariableDeclSyntax.self) {
      refusals += checkField(variable, of: attribute.modelName ?? "", inGroups: attribute.isOfGroups)
    } else if let conditional = member.as(IfConfigDeclSyntax.self) {
      refusals += conditional.memberDeclarations.compactMap(checkConditional)
    }
  }
  let isEmpty = projection.memberBlock.members.allSatisfy { FieldSyntax($0.decl) == nil }
  if refusals.isEmpty, isEmpty { refusals.append(.init(.empty(name: name), at: projection.name)) }
  if refusals.isEmpty, attribute.isOfGroups { refusals += checkKeys(projection) }
  return refusals
}

private func notAStruct(_ declaration: some DeclGroupSyntax) -> ProjectionRefusal {
  let keyword = declaration.introducer
  let kind = ["class": "a class", "enum": "an enum", "actor": "an actor"][keyword.text] ?? "this"
  let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.text ?? "…"
  return .init(.notAStruct(kind: kind, name: name), at: keyword)
}

/// Groups have one property in common.
private func checkKeys(_ projection: StructDeclSyntax) -> [ProjectionRefusal] {
  let fields = projection.memberBlock.members.compactMap { FieldSyntax($0.decl) }
  let keys = fields.filter { if case .path = $0.source { true } else { false } }.map(\.property)
  if keys.isEmpty { return [.init(.ungrouped, at: projection.name)] }
  return keys.count == 1 ? [] : [.init(.manyKeys(names: keys.map(\.name)), at: keys[1].pattern)]
}

private func checkField(_ variable: VariableDeclSyntax, of model: String, inGroups: Bool) -> [ProjectionRefusal] {
  let attributes = variable.fieldAttributes
  let names = variable.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareName }
  if !variable.isStored || variable.isOfType {
    return attributes.map { .init(.notStored(name: names.first ?? "this", attribute: $0.writtenName), at: $0) }
  }
  guard names.count == variable.bindings.count, names.count == 1, let binding = variable.bindings.first else {
    return [.init(.several(names: names), at: variable.bindings)]
  }
  let name = names[0]
  if let modifier = variable.modifier(.lazy) { return [.init(.lazy(name: name), at: modifier)] }
  if variable.bindingSpecifier.tokenKind == .keyword(.let), binding.initializer != nil {
    return [.init(.constant(name: name), at: variable.bindingSpecifier)]
  }
  if binding.typeAnnotation == nil, let value = binding.initializer?.value, PlainType(initialValue: value) == nil {
    return [.init(.untyped(name: name), at: binding.pattern)]
  }
  if attributes.count > 1 { return [.init(.twoSources(name: name), at: attributes[1])] }
  return attributes.first.flatMap { checkSource($0, of: model, inGroups, name) }.map { [$0] } ?? []
}

/// What the compiler would take as arguments, and the database could not.
private func checkSource(_ attribute: AttributeSyntax, of model: String, _ inGroups: Bool, _ field: String)
  -> ProjectionRefusal?
{
  let arguments = attribute.labeledArguments
  let kind = attribute.writtenName
  if kind == "Computed" {
    if inGroups { return .init(.computedOfGroup(name: field), at: attribute) }
    return arguments.first.flatMap { checkComputed($0.expression, of: model) }
  }
  let paths = arguments.filter { $0.label == nil }.map(\.expression)
  if kind != "From" {
    let ofGroup = kind == "Count" ? 0 : 1
    if inGroups, arguments.count > ofGroup { return .init(.relatedOfGroup, at: attribute) }
    if !inGroups, paths.count == ofGroup { return .init(.withoutObjects(attribute: kind, model: model), at: attribute) }
  }
  if let path = paths.first, let refusal = checkPath(path, of: model) { return refusal }
  if let value = paths.dropFirst().first, let refusal = checkValuePath(value) { return refusal }
  if let condition = arguments.first(where: { $0.label?.text == "where" })?.expression,
    !condition.is(ClosureExprSyntax.self), !condition.is(NilLiteralExprSyntax.self)
  {
    return .init(.conditionNotLiteral, at: condition)
  }
  return nil
}

/// A path that the compiler would take, and that leads to no column.
private func checkPath(_ argument: ExprSyntax, of model: String) -> ProjectionRefusal? {
  guard let path = argument.as(KeyPathExprSyntax.self), let root = path.root?.trimmedDescription else {
    return .init(.pathNotLiteral(model: model), at: argument)
  }
  if !isSame(root, model) { return .init(.otherModel(root: root, model: model), at: argument) }
  return checkComponents(path)
}

/// The path from a related object.
private func checkValuePath(_ argument: ExprSyntax) -> ProjectionRefusal? {
  guard let path = argument.as(KeyPathExprSyntax.self) else { return .init(.valuePathNotLiteral, at: argument) }
  return checkComponents(path)
}

private func checkComponents(_ path: KeyPathExprSyntax) -> ProjectionRefusal? {
  for component in path.components {
    if let mark = component.component.as(KeyPathOptionalComponentSyntax.self) {
      if mark.questionOrExclamationMark.tokenKind == .exclamationMark { return .init(.forced, at: path) }
    } else if !component.component.is(KeyPathPropertyComponentSyntax.self) {
      return .init(.noProperty, at: path)
    }
  }
  return nil
}

private func checkComputed(_ value: ExprSyntax, of model: String) -> ProjectionRefusal? {
  guard let closure = value.as(ClosureExprSyntax.self) else {
    return .init(.computationNotLiteral(model: model), at: value)
  }
  let parameters = closure.signature?.parameterClause?.as(ClosureParameterClauseSyntax.self)?.parameters
  guard let type = parameters?.first?.type?.trimmedDescription else {
    return .init(.computationUntyped(model: model), at: value)
  }
  return isSame(type, model) ? nil : .init(.otherComputation(type: type, model: model), at: value)
}

/// Whether two names are of one type, as far as a macro can see.
private func isSame(_ a: String, _ b: String) -> Bool { a.split(separator: ".").last == b.split(separator: ".").last }

/// A row has the same columns in every build.
private func checkConditional(_ member: DeclSyntax) -> ProjectionRefusal? {
  FieldSyntax(member).map { .init(.conditional(name: $0.property.name), at: nameNode(member)) }
}
