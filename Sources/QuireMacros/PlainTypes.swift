import SwiftSyntax

/// A type every Swift programmer means the same by, so that a macro may rely on its name: stored as itself, without the
/// overload resolution that other types need.
struct PlainType {
  /// The name, such as `Int`, without module and without optional.
  let name: String
  let isOptional: Bool

  /// What a vacant object holds where nothing is declared; `nil` for an optional.
  var zero: String { isOptional ? "nil" : Self.zeros[name]! }

  /// Whether ``zero`` costs as much as reading a value.
  var hasCostlyZero: Bool { !isOptional && (name == "URL" || name == "Decimal") }

  /// Whether its values hold no references, so that one is overwritten at no cost.
  var isFlat: Bool { !["String", "Data", "URL"].contains(name) }

  /// - Parameter type: as written: `Int`, `Swift.Int`, `Int?` or `Optional<Int>`.
  init?(_ type: TypeSyntax) {
    let (base, depth) = unwrapped(type)
    guard depth < 2, let name = plainName(base) else { return nil }
    self.name = name
    isOptional = depth == 1
  }

  /// The type of a declaration without annotation, where its initial value says it at a glance: a literal, `Date()`,
  /// `Date.now`, `UUID()` or `Data()`.
  init?(initialValue: ExprSyntax) {
    guard let name = plainName(initialValue) else { return nil }
    self.name = name
    isOptional = false
  }

  /// The label of the comparison of two values of this type.
  var comparison: String {
    switch name {
    case "String": "text"
    case "Data": "data"
    default: "plain"
    }
  }

  /// The type for generated code where none is written.
  var qualifiedName: String { (Self.foundation.contains(name) ? "Foundation." : "Swift.") + name }

  static let foundation: Set<String> = ["CGFloat", "Date", "Data", "UUID", "URL", "Decimal", "TimeInterval"]

  private static let zeros: [String: String] = [
    "String": "\"\"", "Bool": "false",
    "Int": "0", "Int8": "0", "Int16": "0", "Int32": "0", "Int64": "0",
    "UInt": "0", "UInt8": "0", "UInt16": "0", "UInt32": "0", "UInt64": "0",
    "Double": "0", "Float": "0", "CGFloat": "0", "TimeInterval": "0", "Decimal": "0",
    "Date": "Foundation.Date(timeIntervalSinceReferenceDate: 0)", "Data": "Foundation.Data()",
    "UUID": "Foundation.UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))",
    "URL": "Foundation.URL(fileURLWithPath: \"/\")",
  ]

  fileprivate static func knows(_ name: String) -> Bool { zeros[name] != nil }
}

/// The type without its optionals, and how many there were.
func unwrapped(_ type: TypeSyntax) -> (base: TypeSyntax, depth: Int) {
  let wrapped: TypeSyntax
  if let optional = type.as(OptionalTypeSyntax.self) {
    wrapped = optional.wrappedType
  } else if let forced = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
    wrapped = forced.wrappedType
  } else if let argument = optionalArgument(type) {
    wrapped = argument
  } else if let tuple = type.as(TupleTypeSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
    return unwrapped(only.type)  // only parentheses
  } else {
    return (type, 0)
  }
  let (base, depth) = unwrapped(wrapped)
  return (base, depth + 1)
}

/// `T` of `Optional<T>` and `Swift.Optional<T>`.
private func optionalArgument(_ type: TypeSyntax) -> TypeSyntax? {
  let clause: GenericArgumentClauseSyntax?
  if let identifier = type.as(IdentifierTypeSyntax.self), identifier.name.text == "Optional" {
    clause = identifier.genericArgumentClause
  } else if let member = type.as(MemberTypeSyntax.self), member.name.text == "Optional",
    member.baseType.trimmedDescription == "Swift"
  {
    clause = member.genericArgumentClause
  } else {
    return nil
  }
  return (clause?.arguments.first?.argument).flatMap { Syntax($0).as(TypeSyntax.self) }
}

private func plainName(_ type: TypeSyntax) -> String? {
  if let identifier = type.as(IdentifierTypeSyntax.self), identifier.genericArgumentClause == nil {
    return PlainType.knows(identifier.name.text) ? identifier.name.text : nil
  }
  if let member = type.as(MemberTypeSyntax.self), member.genericArgumentClause == nil, PlainType.knows(member.name.text)
  {
    let module = PlainType.foundation.contains(member.name.text) ? "Foundation" : "Swift"
    return member.baseType.trimmedDescription == module ? member.name.text : nil
  }
  return nil
}

private func plainName(_ value: ExprSyntax) -> String? {
  if value.is(StringLiteralExprSyntax.self) { return "String" }
  if value.is(IntegerLiteralExprSyntax.self) { return "Int" }
  if value.is(FloatLiteralExprSyntax.self) { return "Double" }
  if value.is(BooleanLiteralExprSyntax.self) { return "Bool" }
  if let prefixed = value.as(PrefixOperatorExprSyntax.self), prefixed.operator.text == "-" {
    let number = plainName(prefixed.expression)
    return number == "Int" || number == "Double" ? number : nil
  }
  switch value.trimmedDescription {
  case "Date()", "Date.now", "Foundation.Date()", "Foundation.Date.now": return "Date"
  case "UUID()", "Foundation.UUID()": return "UUID"
  case "Data()", "Foundation.Data()": return "Data"
  default: return nil
  }
}
