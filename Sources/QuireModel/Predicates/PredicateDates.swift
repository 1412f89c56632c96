public import Foundation
import QuireRow

extension PredicateExpressions {
  /// `+` and `-` of a date and seconds, for which Foundation has no expression.
  public struct _ShiftedDate<LHS: PredicateExpression, RHS: PredicateExpression>: PredicateExpression,
    CustomStringConvertible
  where LHS.Output == Date, RHS.Output == TimeInterval {
    /// Its result type.
    public typealias Output = Date
    package let lhs: LHS
    package let rhs: RHS
    package let isEarlier: Bool

    /// Its value in Swift, for one row.
    public func evaluate(_ bindings: PredicateBindings) throws -> Date {
      let seconds = try rhs.evaluate(bindings)
      return try lhs.evaluate(bindings) + (isEarlier ? -seconds : seconds)
    }

    public var description: String { "ShiftedDate(lhs: \(lhs), rhs: \(rhs), isEarlier: \(isEarlier))" }
  }

  /// Written by `#Predicate`: `+` of a date and seconds.
  @_disfavoredOverload
  public static func _build_Sum<LHS, RHS>(lhs: LHS, rhs: RHS) -> _ShiftedDate<LHS, RHS> {
    _ShiftedDate(lhs: lhs, rhs: rhs, isEarlier: false)
  }

  /// Written by `#Predicate`: `-` of a date and seconds.
  @_disfavoredOverload
  public static func _build_Difference<LHS, RHS>(lhs: LHS, rhs: RHS) -> _ShiftedDate<LHS, RHS> {
    _ShiftedDate(lhs: lhs, rhs: rhs, isEarlier: true)
  }

  /// Written by `#Predicate`: `-` of numbers.
  public static func _build_Difference<LHS, RHS>(lhs: LHS, rhs: RHS) -> Arithmetic<LHS, RHS>
  where LHS.Output == RHS.Output, LHS.Output: Numeric { build_Arithmetic(lhs: lhs, rhs: rhs, op: .subtract) }
}

extension PredicateExpressions._ShiftedDate: Sendable where LHS: Sendable, RHS: Sendable {}
extension PredicateExpressions._ShiftedDate: Codable where LHS: Codable, RHS: Codable {}
extension PredicateExpressions._ShiftedDate: StandardPredicateExpression
where LHS: StandardPredicateExpression, RHS: StandardPredicateExpression {}

extension PredicateExpressions._ShiftedDate: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    // Of captured values it is one; adding reals cannot end the program.
    if let date = try? evaluate(PredicateBindings()) { return .captured(date) }
    throw translation.refusal(
      self, "dates are stored as text, to which SQL adds no seconds",
      "Move the seconds to the other side of the comparison.")
  }
  func words(in translation: Translation) -> String {
    "(\(translation.words(lhs)) \(isEarlier ? "-" : "+") \(translation.words(rhs)))"
  }
}
