import SwiftSyntax

/// One stored property of a class, as its declaration says.
///
/// Made from a declaration that ``Member`` has found to be one property with a name.
struct PropertySyntax {
  /// Its name where the source declares it.
  let pattern: PatternSyntax
  /// As written in an expression: with backticks where they are needed.
  let reference: String
  /// As others know it: without backticks.
  let name: String
  /// The annotated type, if there is one; `T!` as `T?`.
  let type: String?
  /// As written.
  let annotation: TypeSyntax?
  let initialValue: ExprSyntax?
  /// Whether it is a `let` without a value: a plain stored property, which the row gives its value when the object is
  /// made.
  let isConstant: Bool
  /// Whether it is a `let` with a value, which it could not have from its row: it is made to have storage and accessors
  /// as a `var`, which the compiler allows in the Swift 5 language mode, with a warning.
  let isInitializedConstant: Bool
  /// Nil where only overload resolution can tell what the type is.
  let plain: PlainType?
  let willSet: AccessorDeclSyntax?
  let didSet: AccessorDeclSyntax?
  let attribute: AttributeSyntax?
  let relationship: AttributeSyntax?
  /// Whether another module's attribute stands before it: that of a macro, or a property wrapper's, which has a storage of
  /// its own under the usual name.
  private let hasOthersAttribute: Bool

  init?(_ variable: VariableDeclSyntax) {
    guard variable.bindings.count == 1, let binding = variable.bindings.first,
      let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
    else { return nil }
    pattern = binding.pattern
    reference = identifier.text
    name = identifier.bareName
    annotation = binding.typeAnnotation?.type
    if let forced = binding.typeAnnotation?.type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      type = forced.wrappedType.trimmedDescription + "?"
    } else {
      type = binding.typeAnnotation?.type.trimmedDescription
    }
    initialValue = binding.initializer?.value.trimmed
    isConstant = variable.isConstant && (initialValue == nil || !variable.isKept)
    isInitializedConstant = variable.isConstant && !isConstant
    plain =
      binding.typeAnnotation.map { PlainType($0.type) }
      ?? binding.initializer.flatMap { PlainType(initialValue: $0.value) }
    let observers = binding.accessorBlock
    willSet = observers?.accessor(.willSet)
    didSet = observers?.accessor(.didSet)
    attribute = variable.attribute(named: "Attribute")
    relationship = variable.attribute(named: "Relationship")
    hasOthersAttribute = !variable.othersAttributes.isEmpty
  }

  /// The private storage behind the property; a constant is its own.
  var storage: String { isConstant ? reference : (hasOthersAttribute ? "_kept_" : "_") + name }

  /// Whether an object has a value here without being given one: a declared value, or a variable optional's nil.
  var hasDefault: Bool { initialValue != nil || isOptional && !isConstant }

  /// The function whose overloads tell how the property is kept: of fewer, if the type is written as a list or an
  /// optional.
  var formFunction: String {
    func isList(_ type: TypeSyntax) -> Bool { type.is(ArrayTypeSyntax.self) || type.is(DictionaryTypeSyntax.self) }
    let wrapped =
      annotation?.as(OptionalTypeSyntax.self)?.wrappedType
      ?? annotation?.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType
    let kind =
      if let wrapped { isList(wrapped) ? "OfOptionalList" : "OfOptional" } else {
        annotation.map(isList) == true ? "OfList" : ""
      }
    return "Quire._Quire.form" + kind
  }

  /// Whether the annotated type is an optional as written.
  var isOptional: Bool {
    guard let type else { return false }
    return type.hasSuffix("?") || type.hasPrefix("Optional<") || type.hasPrefix("Swift.Optional<")
  }
}

/// What a member of the class is to the macro.
enum Member {
  /// A column or a relationship.
  case stored(PropertySyntax)
  /// Observed and not stored: `@Transient`, or `@Attribute(.ephemeral)`.
  case transient(PropertySyntax)
  /// Left alone: computed, static, `@ObservationIgnored`, `@Transient lazy`, and all that is no property.
  case other
  /// What is wrong, in the order of reading.
  case refused([Refusal])

  /// - Parameter declaration: A member of a class.
  init(_ declaration: DeclSyntax) {
    guard let variable = declaration.as(VariableDeclSyntax.self), variable.isStored, !variable.isOfType else {
      self = .other
      return
    }
    let refusals = checkStored(variable)
    if !refusals.isEmpty {
      self = .refused(refusals)
    } else if variable.isLeftAlone {
      self = .other
    } else if let property = PropertySyntax(variable) {
      self = !variable.isKept ? property.isConstant ? .other : .transient(property) : .stored(property)
    } else {
      self = .other
    }
  }
}

// MARK: Reading declarations

extension TokenSyntax {
  /// The name without backticks.
  var bareName: String {
    text.hasPrefix("`") && text.hasSuffix("`") && text.count > 2 ? String(text.dropFirst().dropLast()) : text
  }
}

extension VariableDeclSyntax {
  /// Whether it is a property of the type, or overrides one of a superclass.
  var isOfType: Bool { modifier(.static) != nil || modifier(.class) != nil || modifier(.override) != nil }

  /// Whether any of its bindings has storage: no accessors but `willSet` and `didSet`.
  var isStored: Bool { bindings.contains { $0.accessorBlock?.isOnlyObservers ?? true } }

  var isConstant: Bool { bindingSpecifier.tokenKind == .keyword(.let) }

  /// Whether the row has what it stores: it is neither `@Transient` nor `.ephemeral`.
  var isKept: Bool {
    if attribute(named: "Transient") != nil { return false }
    return attribute(named: "Attribute")?.labeledArguments.contains { $0.optionName == "ephemeral" } != true
  }

  /// Whether it stays a plain property, neither observed nor stored. A lazy one cannot have the accessors that observe it.
  var isLeftAlone: Bool {
    attribute(named: "ObservationIgnored") != nil || modifier(.lazy) != nil && attribute(named: "Transient") != nil
  }

  /// The modifier with that name: `lazy`, `weak`, `unowned`, …
  func modifier(_ keyword: Keyword) -> DeclModifierSyntax? {
    modifiers.first { $0.name.tokenKind == .keyword(keyword) }
  }

  func attribute(named name: String) -> AttributeSyntax? { attributes.first(named: name) }

  /// The attributes that are neither the language's nor Quire's: of macros and of property wrappers.
  var othersAttributes: [AttributeSyntax] {
    let known: Set = ["Attribute", "Relationship", "Transient", "ObservationIgnored", "MainActor"]
    return attributes.compactMap { $0.as(AttributeSyntax.self) }.filter {
      $0.lastName.first?.isUppercase == true && !known.contains($0.lastName)
    }
  }
}

extension AttributeListSyntax {
  /// The attribute with that name, with or without a module before it.
  func first(named name: String) -> AttributeSyntax? {
    for element in self {
      if let attribute = element.as(AttributeSyntax.self), attribute.lastName == name { return attribute }
    }
    return nil
  }

  /// The attributes, and those that stand in an `#if`.
  var withConditional: [AttributeSyntax] {
    flatMap { element in
      element.as(AttributeSyntax.self).map { [$0] } ?? element.as(IfConfigDeclSyntax.self)?.attributes ?? []
    }
  }
}

extension IfConfigDeclSyntax {
  /// The attributes of all its clauses, whichever are active.
  var attributes: [AttributeSyntax] {
    clauses.flatMap { $0.elements?.as(AttributeListSyntax.self)?.withConditional ?? [] }
  }
}

extension AttributeSyntax {
  /// Its name without a module before it.
  var lastName: String {
    attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.as(MemberTypeSyntax.self)?.name.text ?? ""
  }

  /// Its arguments with labels; empty without parentheses.
  var labeledArguments: [LabeledExprSyntax] {
    arguments.flatMap { $0.as(LabeledExprListSyntax.self) }.map(Array.init) ?? []
  }
}

extension LabeledExprSyntax {
  /// `cascade` of `.cascade` and `transformable` of `.transformable(by: …)`.
  var optionName: String? {
    let called = expression.as(FunctionCallExprSyntax.self)?.calledExpression ?? expression
    return called.as(MemberAccessExprSyntax.self)?.declName.baseName.text
  }
}

extension AccessorBlockSyntax {
  var isOnlyObservers: Bool {
    guard let list = accessors.as(AccessorDeclListSyntax.self) else { return false }
    return list.allSatisfy {
      $0.accessorSpecifier.tokenKind == .keyword(.willSet) || $0.accessorSpecifier.tokenKind == .keyword(.didSet)
    }
  }

  func accessor(_ keyword: Keyword) -> AccessorDeclSyntax? {
    accessors.as(AccessorDeclListSyntax.self)?.first { $0.accessorSpecifier.tokenKind == .keyword(keyword) }
  }
}
