import SwiftSyntax

/// A projection as written and checked: what the code of its conformance is made from.
struct ProjectionSyntax {
  let name: String
  /// The model as named by the attribute.
  let model: String
  /// `public `, `package ` or nothing: generated requirements are as visible as the struct, and no more.
  let access: String
  /// What is read, in source order, which is the order of the columns.
  let fields: [FieldSyntax]

  /// - Parameter enclosing: What the struct stands in, innermost first: a struct in a `public extension` is public.
  init?(_ declaration: StructDeclSyntax, _ attribute: AttributeSyntax, in enclosing: [Syntax]) {
    guard let model = attribute.modelName else { return nil }
    self.model = model
    name = declaration.name.bareName
    access = declaration.modifiers.visible ?? enclosing.first?.as(ExtensionDeclSyntax.self)?.modifiers.visible ?? ""
    fields = declaration.memberBlock.members.compactMap { FieldSyntax($0.decl) }
  }
}

/// One stored property of a projection, as its declaration says.
struct FieldSyntax {
  let property: PropertySyntax
  /// The path of `@From`; nil where the field is named as the property it is read from.
  let path: KeyPathExprSyntax?

  /// Nil for what holds no value of the row.
  init?(_ declaration: DeclSyntax) {
    guard let variable = declaration.as(VariableDeclSyntax.self), variable.isStored, !variable.isOfType,
      let property = PropertySyntax(variable)
    else { return nil }
    self.property = property
    path = variable.attribute(named: "From")?.labeledArguments.first?.expression.as(KeyPathExprSyntax.self)
  }

  /// The model's property names on the way to the value.
  var names: [String] { path?.propertyNames ?? [property.name] }

  /// Nil where neither the annotation nor a literal says it.
  var type: String? { property.type ?? property.plain?.qualifiedName }
}

extension KeyPathExprSyntax {
  var propertyNames: [String] {
    components.compactMap { $0.component.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName.bareName }
  }
}

extension AttributeSyntax {
  /// `Book` of `@Projection(of: Book.self)`.
  var modelName: String? {
    guard let argument = labeledArguments.first, argument.label?.text == "of",
      let access = argument.expression.as(MemberAccessExprSyntax.self), access.declName.baseName.text == "self",
      let base = access.base
    else { return nil }
    return base.trimmedDescription
  }
}

extension DeclModifierListSyntax {
  fileprivate var visible: String? {
    for modifier in self {
      switch modifier.name.tokenKind {
      case .keyword(.public): return "public "
      case .keyword(.package): return "package "
      case .keyword(.internal), .keyword(.fileprivate), .keyword(.private): return ""
      default: continue
      }
    }
    return nil
  }
}
