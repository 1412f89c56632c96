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
  let source: Source

  enum Source {
    /// The path of `@From`; nil where the field is named as the property it is read from.
    case path(KeyPathExprSyntax?)
    /// An aggregate: its name, the related objects, their property, and which of them count.
    case related(String, KeyPathExprSyntax, KeyPathExprSyntax?, ClosureExprSyntax?)
    case computed(ClosureExprSyntax)
    /// An aggregate of a group: its name, and the property it is of.
    case group(String, KeyPathExprSyntax?)
  }

  /// The attributes that say what a field is read from.
  static let attributes = ["From", "Count", "Sum", "Average", "Min", "Max", "Computed"]

  /// Nil for what holds no value of the row, and for what is refused.
  init?(_ declaration: DeclSyntax) {
    guard let variable = declaration.as(VariableDeclSyntax.self), variable.isStored, !variable.isOfType,
      let property = PropertySyntax(variable)
    else { return nil }
    self.property = property
    guard let attribute = variable.fieldAttributes.first else {
      source = .path(nil)
      return
    }
    let arguments = attribute.labeledArguments
    let paths = arguments.filter { $0.label == nil }.compactMap { $0.expression.as(KeyPathExprSyntax.self) }
    switch attribute.writtenName {
    case "From": source = .path(paths.first)
    case "Computed":
      guard let closure = arguments.first?.expression.as(ClosureExprSyntax.self) else { return nil }
      source = .computed(closure)
    case let name where paths.count == (name == "Count" ? 0 : 1): source = .group(name, paths.first)
    case let name:
      guard let objects = paths.first else { return nil }
      let condition = arguments.first { $0.label?.text == "where" }?.expression.as(ClosureExprSyntax.self)
      source = .related(name, objects, paths.dropFirst().first, condition)
    }
  }

  /// Nil where neither the annotation nor a literal says it.
  var type: String? { property.type ?? property.plain?.qualifiedName }
}

extension VariableDeclSyntax {
  var fieldAttributes: [AttributeSyntax] {
    attributes.compactMap { $0.as(AttributeSyntax.self) }.filter { FieldSyntax.attributes.contains($0.writtenName) }
  }
}

extension KeyPathExprSyntax {
  var propertyNames: [String] {
    components.compactMap { $0.component.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName.bareName }
  }
}

extension AttributeSyntax {
  /// Its name without a module.
  var writtenName: String {
    attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.as(MemberTypeSyntax.self)?.name.text ?? ""
  }

  /// Whether it is `@Projection(groupsOf:)`.
  var isOfGroups: Bool { labeledArguments.first?.label?.text == "groupsOf" }

  /// `Book` of `@Projection(of: Book.self)`.
  var modelName: String? {
    guard let argument = labeledArguments.first, argument.label?.text == "of" || isOfGroups,
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
