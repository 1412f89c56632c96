import Foundation
import QuireRow

extension PredicateExpressions.Arithmetic: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    let operation: RowExpression.Arithmetic =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw translation.refusal(self, "the operator is unknown", "Use +, - or *.")
      }
    return .expression(try translation.arithmetic(operation, lhs, rhs, in: self))
  }
  func words(in translation: Translation) -> String {
    let sign =
      switch op {
      case .add: "+"
      case .subtract: "-"
      case .multiply: "*"
      @unknown default: "?"
      }
    return "(\(translation.words(lhs)) \(sign) \(translation.words(rhs)))"
  }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .expression(try translation.arithmetic(.divide, lhs, rhs, in: self))
  }
  func words(in translation: Translation) -> String { "(\(translation.words(lhs)) / \(translation.words(rhs)))" }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    let quotient = try translation.arithmetic(.divide, lhs, rhs, in: self)
    guard translation.isComputed, case .arithmetic(.divide, let dividend, let divisor) = quotient else {
      return .expression(quotient)
    }
    return .expression(
      .conditional(
        .compare(.equalOrAbsent, divisor, .literal(0)),
        then: .arithmetic(.multiply, dividend, .literal(.real(.infinity))), otherwise: quotient))
  }
  func words(in translation: Translation) -> String { "(\(translation.words(lhs)) / \(translation.words(rhs)))" }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .expression(try translation.arithmetic(.remainder, lhs, rhs, in: self))
  }
  func words(in translation: Translation) -> String { "(\(translation.words(lhs)) % \(translation.words(rhs)))" }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    try translation.requireNumber(Wrapped.Output.self, in: self)
    return .expression(.arithmetic(.subtract, .literal(0), try translation.expression(of: wrapped)).folded)
  }
  func words(in translation: Translation) -> String { "-\(translation.words(wrapped))" }
}

extension Translation {
  fileprivate func arithmetic<A: PredicateExpression, B: PredicateExpression, E: PredicateExpression>(
    _ operation: RowExpression.Arithmetic, _ lhs: A, _ rhs: B, in part: E
  ) throws(UntranslatablePredicate) -> RowExpression {
    try requireNumber(A.Output.self, in: part)
    return RowExpression.arithmetic(operation, try expression(of: lhs), try expression(of: rhs)).folded
  }

  fileprivate func requireNumber<E: PredicateExpression>(_ type: Any.Type, in part: E) throws(UntranslatablePredicate) {
    if type == Decimal.self {
      throw refusal(
        part, "decimals are stored as text, and SQLite does not calculate with them",
        "Calculate before the predicate, or store a whole number of the smallest unit.")
    }
    if isComputed, type == Float.self {
      throw refusal(part, "SQLite calculates in double precision", "Make the property a Double.")
    }
  }
}

// MARK: Refused by name

extension PredicateExpressions.StringContainsRegex: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    throw translation.refusal(
      self, "SQLite has no regular expressions",
      "Use contains or starts(with:), or filter the fetched objects in Swift.")
  }
  func words(in translation: Translation) -> String { "\(translation.words(subject)).contains(a regular expression)" }
}

extension PredicateExpressions.TypeCheck: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    throw translation.refusal(self, "a column has one type", "Leave the check out.")
  }
  func words(in translation: Translation) -> String { "\(translation.words(input)) is \(Desired.self)" }
}

extension PredicateExpressions.ConditionalCast: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    throw translation.refusal(self, "a column has one type", "Compare in that type.")
  }
  func words(in translation: Translation) -> String { "\(translation.words(input)) as? \(Desired.self)" }
}

extension PredicateExpressions.ForceCast: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    throw translation.refusal(self, "a column has one type", "Compare in that type.")
  }
  /// What the predicate says, for messages: text, and no cast of ours.
  func words(in translation: Translation) -> String { "\(translation.words(input)) as! \(Desired.self)" }
}

// MARK: Nested

extension PredicateExpressions.ExpressionEvaluate: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    guard let nested = try? expression.evaluate(PredicateBindings()) else {
      throw translation.refusal(self, "which expression it is depends on the row", "Capture one expression.")
    }
    var inner = translation
    for (variable, input) in repeat (each nested.variable, each input) {
      inner = inner.evaluating(variable, for: try translation.term(of: input), called: translation.words(input))
    }
    return try inner.term(of: nested.expression)
  }
  func words(in translation: Translation) -> String { "\(translation.words(expression)).evaluate(…)" }
}
