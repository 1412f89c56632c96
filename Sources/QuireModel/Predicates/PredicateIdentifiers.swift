import Foundation
import QuireRow

// MARK: Identifiers

/// An expression that leads to a row's identifier.
protocol IdentifierPath {
  /// The row's model; nil if it leads to something else, such as a property that computes another object's identifier.
  var identified: Any.Type? { get }
}

extension PredicateExpressions.KeyPath: IdentifierPath {
  var identified: Any.Type? { identifiedModel(Root.Output.self, by: keyPath) }
}

extension PredicateExpressions._Path: IdentifierPath {
  var identified: Any.Type? { identifiedModel(Root.Output.self, by: keyPath) }
}

extension PredicateExpressions.OptionalFlatMap: IdentifierPath {
  var identified: Any.Type? { (transform as? any IdentifierPath)?.identified }
}

extension PredicateExpressions.ForcedUnwrap: IdentifierPath {
  var identified: Any.Type? { (inner as? any IdentifierPath)?.identified }
}

private func identifiedModel(_ type: Any.Type, by keyPath: AnyKeyPath) -> Any.Type? {
  guard let model = type as? any PersistentModel.Type, model.isIdentifier(keyPath) else { return nil }
  return model
}

extension Translation {
  /// - Throws: If a captured identifier is compared with identifiers of another model.
  func requireSameModel<L: PredicateExpression, R: PredicateExpression, E: PredicateExpression>(
    _ lhs: L, _ rhs: R, in part: E
  ) throws(UntranslatablePredicate) {
    func check<A: PredicateExpression, B: PredicateExpression>(_ path: A, _ other: B) throws(UntranslatablePredicate) {
      guard let model = (path as? any IdentifierPath)?.identified, case .captured(let value) = try term(of: other),
        let captured = Self.unwrapped(value), !resolver.identifies(captured, model)
      else { return }
      throw UntranslatablePredicate(
        part: words(part), reason: "the captured identifier is of another model than \(model)",
        advice: "Compare with the identifier of a \(model).", mayBeComputed: false)
    }
    try check(lhs, rhs)
    try check(rhs, lhs)
  }

  /// Both sides of a comparison, as SQL or by the model and key of identifiers: what objects compute may be the identifier
  /// of any model's object, and two models have rows of one key.
  func operands<L: PredicateExpression, R: PredicateExpression>(_ lhs: L, _ rhs: R) throws(UntranslatablePredicate) -> (
    RowExpression, RowExpression
  ) {
    let (a, b) = (try expression(of: lhs), try expression(of: rhs))
    guard a.needsObject || b.needsObject, Self.isIdentifier(L.Output.self) else { return (a, b) }
    return (try identity(of: lhs), try identity(of: rhs))
  }

  /// An identifier as the text of its model and key, as captured or as objects compute it.
  func identity<E: PredicateExpression>(of part: E) throws(UntranslatablePredicate) -> RowExpression {
    if case .captured(let value) = try term(of: part) { return .literal(try literal(value, in: part, as: .identity)) }
    return try expression(
      try computedTerm(part, refusal(part, "only objects tell it", "Compare stored properties."), as: .identity),
      of: part)
  }

  /// Whether the type is an identifier, or an optional of one.
  static func isIdentifier(_ type: Any.Type) -> Bool {
    guard let optional = type as? any AnyOptional.Type else { return type == PersistentIdentifier.self }
    return isIdentifier(optional.wrapped)
  }
}
