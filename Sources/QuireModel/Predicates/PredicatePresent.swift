public import Foundation
import QuireRow

extension PredicateExpressions {
  /// A non-optional value compared with an optional: `$0.subtitle == $0.title`, where Swift promotes the value
  /// implicitly.
  public struct _Present<Wrapped: PredicateExpression>: PredicateExpression, CustomStringConvertible {
    /// Its result type.
    public typealias Output = Wrapped.Output?
    package let wrapped: Wrapped

    package init(_ wrapped: Wrapped) { self.wrapped = wrapped }

    /// Its value in Swift, for one row.
    public func evaluate(_ bindings: PredicateBindings) throws -> Wrapped.Output? { try wrapped.evaluate(bindings) }

    public var description: String { "Present(\(wrapped))" }
  }

  // `==` and `!=` between two parts of the row, one of which may be optional: Foundation compares only values of one
  // type.

  /// Written by `#Predicate`: `==` of two parts of the row.
  public static func _build_EqualInRow<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> Equal<LHS, RHS> where LHS.Output == RHS.Output, LHS.Output: Equatable
  { build_Equal(lhs: lhs, rhs: rhs) }

  /// Written by `#Predicate`: `==` of two parts of the row.
  public static func _build_EqualInRow<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> Equal<LHS, _Present<RHS>> where LHS.Output == RHS.Output?, RHS.Output: Equatable
  {
    build_Equal(lhs: lhs, rhs: _Present(rhs))
  }

  /// Written by `#Predicate`: `==` of two parts of the row.
  public static func _build_EqualInRow<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> Equal<_Present<LHS>, RHS> where RHS.Output == LHS.Output?, LHS.Output: Equatable
  {
    build_Equal(lhs: _Present(lhs), rhs: rhs)
  }

  /// Written by `#Predicate`: `!=` of two parts of the row.
  public static func _build_NotEqualInRow<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> NotEqual<LHS, RHS> where LHS.Output == RHS.Output, LHS.Output: Equatable
  { build_NotEqual(lhs: lhs, rhs: rhs) }

  /// Written by `#Predicate`: `!=` of two parts of the row.
  public static func _build_NotEqualInRow<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> NotEqual<LHS, _Present<RHS>> where LHS.Output == RHS.Output?, RHS.Output: Equatable
  {
    build_NotEqual(lhs: lhs, rhs: _Present(rhs))
  }

  /// Written by `#Predicate`: `!=` of two parts of the row.
  public static func _build_NotEqualInRow<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> NotEqual<_Present<LHS>, RHS> where RHS.Output == LHS.Output?, LHS.Output: Equatable
  {
    build_NotEqual(lhs: _Present(lhs), rhs: rhs)
  }
}

extension PredicateExpressions {
  // MARK: A choice between a value and nil

  /// Written by `#Predicate`: a value if a condition holds, or nil.
  @_disfavoredOverload
  public static func _build_ConditionalOrNil<Test, Then>(_ test: Test, then: Then)
    -> Conditional<Test, _Present<Then>, NilLiteral<Then.Output>>
  {
    build_Conditional(test, _Present(then), build_NilLiteral())
  }

  /// Written by `#Predicate`: a value that may be nil if a condition holds, or nil.
  public static func _build_ConditionalOrNil<Test, Then, Wrapped>(_ test: Test, then: Then)
    -> Conditional<Test, Then, NilLiteral<Wrapped>> where Then.Output == Wrapped?
  {
    build_Conditional(test, then, build_NilLiteral())
  }

  /// Written by `#Predicate`: nil if a condition holds, or a value.
  @_disfavoredOverload
  public static func _build_ConditionalOrNil<Test, Otherwise>(_ test: Test, otherwise: Otherwise)
    -> Conditional<Test, NilLiteral<Otherwise.Output>, _Present<Otherwise>>
  {
    build_Conditional(test, build_NilLiteral(), _Present(otherwise))
  }

  /// Written by `#Predicate`: nil if a condition holds, or a value that may be nil.
  public static func _build_ConditionalOrNil<Test, Otherwise, Wrapped>(_ test: Test, otherwise: Otherwise)
    -> Conditional<Test, NilLiteral<Wrapped>, Otherwise> where Otherwise.Output == Wrapped?
  {
    build_Conditional(test, build_NilLiteral(), otherwise)
  }
}

extension PredicateExpressions._Present: Sendable where Wrapped: Sendable {}

extension PredicateExpressions._Present: Codable where Wrapped: Codable {}

extension PredicateExpressions._Present: StandardPredicateExpression where Wrapped: StandardPredicateExpression {}

extension PredicateExpressions._Present: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term { try translation.term(of: wrapped) }
  func words(in translation: Translation) -> String { translation.words(wrapped) }
}

/// An expression that is never nil as a whole, whatever it wraps.
protocol PresentExpression {}
extension PredicateExpressions._Present: PresentExpression {}
