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
      refusals += checkField(variable, of: attribute.modelName ?? "")
    } else if let conditional = member.as(IfConfigDeclSyntax.self) {
      refusals += conditional.memberDeclarations.compactMap(checkConditional)
    }
  }
  let isEmpty = projection.memberBlock.members.allSatisfy { FieldSyntax($0.decl) == nil }
  if refusals.isEmpty, isEmpty { refusals.append(.init(.empty(name: name), at: projection.name)) }
  return refusals
}

private func notAStruct(_ declaration: some DeclGroupSyntax) -> ProjectionRefusal {
  let keyword = declaration.introducer
  let kind = ["class": "a class", "enum": "an enum", "actor": "an actor"][keyword.text] ?? "this"
  let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.text ?? "…"
  return .init(.notAStruct(kind: kind, name: name), at: keyword)
}

private func checkField(_ variable: VariableDeclSyntax, of model: String) -> [ProjectionRefusal] {
  let from = variable.attribute(named: "From")
  let names = variable.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareName }
  if !variable.isStored || variable.isOfType {
    return from.map { [.init(.notStored(name: names.first ?? "this"), at: $0)] } ?? []
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
  return from.flatMap { checkPath($0, of: model) }.map { [$0] } ?? []
}

/// A path that the compiler would take, and that leads to no column.
private func checkPath(_ from: AttributeSyntax, of model: String) -> ProjectionRefusal? {
  guard let argument = from.labeledArguments.first?.expression else { return nil }  // the compiler misses it
  guard let path = argument.as(KeyPathExprSyntax.self), let root = path.root?.trimmedDescription else {
    return .init(.pathNotLiteral(model: model), at: argument)
  }
  if root.split(separator: ".").last != model.split(separator: ".").last {
    return .init(.otherModel(root: root, model: model), at: argument)
  }
  for component in path.components {
    if let mark = component.component.as(KeyPathOptionalComponentSyntax.self) {
      if mark.questionOrExclamationMark.tokenKind == .exclamationMark { return .init(.forced, at: argument) }
    } else if !component.component.is(KeyPathPropertyComponentSyntax.self) {
      return .init(.noProperty, at: argument)
    }
  }
  return nil
}

/// A row has the same columns in every build.
private func checkConditional(_ member: DeclSyntax) -> ProjectionRefusal? {
  FieldSyntax(member).map { .init(.conditional(name: $0.property.name), at: nameNode(member)) }
}
