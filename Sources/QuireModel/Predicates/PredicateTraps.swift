import Foundation

/// Parts of an expression that would trap when Foundation evaluates them: it calculates as Swift does.
enum Trap {
  /// Why evaluating it could trap; nil if it cannot.
  ///
  /// Examines all parts by reflection, because an expression of an unknown kind does not expose them.
  static func inside(_ part: Any) -> String? {
    if part is any CapturedValue { return nil }
    if let known = part as? any TrappingExpression, let reason = known.trap { return reason }
    for child in Mirror(reflecting: part).children {
      if let reason = inside(child.value) { return reason }
    }
    return nil
  }

  static func ofIntegers(_ type: Any.Type) -> String? {
    type is any FixedWidthInteger.Type ? "a whole number that does not fit would end the program" : nil
  }
}

private protocol CapturedValue {}
extension PredicateExpressions.Value: CapturedValue {}

private protocol TrappingExpression {
  var trap: String? { get }
}

extension PredicateExpressions.Arithmetic: TrappingExpression {
  fileprivate var trap: String? { Trap.ofIntegers(Output.self) }
}
extension PredicateExpressions.UnaryMinus: TrappingExpression {
  fileprivate var trap: String? { Trap.ofIntegers(Output.self) }
}
extension PredicateExpressions.IntDivision: TrappingExpression {
  fileprivate var trap: String? { "dividing by 0 would end the program" }
}
extension PredicateExpressions.IntRemainder: TrappingExpression {
  fileprivate var trap: String? { "dividing by 0 would end the program" }
}
extension PredicateExpressions.Range: TrappingExpression {
  fileprivate var trap: String? { PredicateExpressions.bounds(lower, upper) }
}
extension PredicateExpressions.ClosedRange: TrappingExpression {
  fileprivate var trap: String? { PredicateExpressions.bounds(lower, upper) }
}

extension PredicateExpressions {
  /// A range whose bounds are captured and in order cannot trap.
  fileprivate static func bounds<L: PredicateExpression, U: PredicateExpression>(_ lower: L, _ upper: U) -> String?
  where L.Output: Comparable, L.Output == U.Output {
    if let lower = lower as? Value<L.Output>, let upper = upper as? Value<U.Output>, lower.value <= upper.value {
      return nil
    }
    return "a range whose end comes before its start would end the program"
  }
}
