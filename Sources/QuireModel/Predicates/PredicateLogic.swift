import Foundation
import QuireRow

extension PredicateExpressions.Conjunction: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    let first = try translation.expression(of: lhs)
    if first == .false { return .expression(first) }  // what follows relies on it, and may unwrap nil
    return .expression(.all([first, try translation.expression(of: rhs)]).folded)
  }
  func words(in translation: Translation) -> String { "\(translation.words(lhs)) && \(translation.words(rhs))" }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    let first = try translation.expression(of: lhs)
    if first == .true { return .expression(first) }
    return .expression(.any([first, try translation.expression(of: rhs)]).folded)
  }
  func words(in translation: Translation) -> String { "\(translation.words(lhs)) || \(translation.words(rhs))" }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .expression((!(try translation.expression(of: wrapped))).folded)
  }
  func words(in translation: Translation) -> String { "!\(translation.words(wrapped))" }
}

extension PredicateExpressions.Equal: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .expression(try translation.equality(lhs, rhs, isEqual: true, in: self))
  }
  func words(in translation: Translation) -> String { "\(translation.words(lhs)) == \(translation.words(rhs))" }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .expression(try translation.equality(lhs, rhs, isEqual: false, in: self))
  }
  func words(in translation: Translation) -> String { "\(translation.words(lhs)) != \(translation.words(rhs))" }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    try translation.requireOrder(LHS.Output.self, in: self)
    try translation.requireSameModel(lhs, rhs, in: self)
    let comparison: RowExpression.Comparison =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw translation.refusal(self, "the comparison is unknown", "Use <, <=, > or >=.")
      }
    let type = LHS.Output.self
    let (a, b) = try translation.operands(lhs, rhs)
    return .expression(.compare(comparison, Columns.ordered(a, as: type), Columns.ordered(b, as: type)).folded)
  }
  func words(in translation: Translation) -> String {
    let sign =
      switch op {
      case .lessThan: "<"
      case .lessThanOrEqual: "<="
      case .greaterThan: ">"
      case .greaterThanOrEqual: ">="
      @unknown default: "?"
      }
    return "\(translation.words(lhs)) \(sign) \(translation.words(rhs))"
  }
}

extension Translation {
  /// `==` and `!=`: for optionals, nil equals nil; otherwise a missing value (of an optional chain) stays missing.
  fileprivate func equality<L: PredicateExpression, R: PredicateExpression, E: PredicateExpression>(
    _ lhs: L, _ rhs: R, isEqual: Bool, in part: E
  ) throws(UntranslatablePredicate) -> RowExpression {
    let isOptional = L.Output.self is any AnyOptional.Type
    if rhs is any NilExpression, let isThere = try presence(of: lhs) { return isEqual ? !isThere : isThere }
    if lhs is any NilExpression, let isThere = try presence(of: rhs) { return isEqual ? !isThere : isThere }
    try requireSameModel(lhs, rhs, in: part)
    if isMissing(lhs) || isMissing(rhs) { return .literal(.null) }
    if let answer = try equalityOfNestedOptionals(lhs, rhs, in: part) { return answer == isEqual ? .true : .false }
    let (a, b) = try operands(lhs, rhs)
    // What is unwrapped by force and was nil is unknown, and no nil that would equal another.
    if isOptional, isUnwrapped(lhs) != isUnwrapped(rhs) {
      let (value, unwrapped) = isUnwrapped(lhs) ? (b, a) : (a, b)
      let (isNil, isMissing) = (RowExpression.isNull(value).folded, RowExpression.isNull(unwrapped).folded)
      return isEqual
        ? .and([.or([!isNil, isMissing]), .compare(.equalOrAbsent, a, b)])
        : .or([.and([isNil, !isMissing]), .compare(.unequalOrAbsent, a, b)])
    }
    switch (a, b) {
    case (_, .literal(.null)) where !isOptional, (.literal(.null), _) where !isOptional: return .literal(.null)
    case (let value, .literal(.null)), (.literal(.null), let value):
      return (isEqual ? .isNull(value) : !RowExpression.isNull(value)).folded
    case (let value, .literal(let truth)) where L.Output.self == Bool.self,
      (.literal(let truth), let value) where L.Output.self == Bool.self:
      if case .literal = value { break }
      return (truth == 1) == isEqual ? value : !value
    default: break
    }
    let comparison: RowExpression.Comparison =
      switch (isOptional, isEqual) {
      case (true, true): .equal
      case (true, false): .unequal
      case (false, true): .equalOrAbsent
      case (false, false): .unequalOrAbsent
      }
    return RowExpression.compare(comparison, a, b).folded
  }

  private func isUnwrapped<P: PredicateExpression>(_ side: P) -> Bool {
    (side as? any UnwrappedExpression)?.isUnwrapped ?? false
  }

  private func isMissing<P: PredicateExpression>(_ side: P) -> Bool {
    (side as? any UnwrappedExpression)?.isMissing ?? false
  }

  /// Whether both are equal, if they are optionals of optionals of which one is captured and nil as a whole: then the other,
  /// which is there, differs whatever is in it. A column has one NULL, so what else could be nil as a whole is refused.
  private func equalityOfNestedOptionals<L: PredicateExpression, R: PredicateExpression, E: PredicateExpression>(
    _ lhs: L, _ rhs: R, in part: E
  ) throws(UntranslatablePredicate) -> Bool? {
    guard let outer = L.Output.self as? any AnyOptional.Type, outer.wrapped is any AnyOptional.Type else { return nil }
    func isWhole<P: PredicateExpression>(_ side: P) -> Bool { side is any PresentExpression }
    func captured<P: PredicateExpression>(_ side: P) throws(UntranslatablePredicate) -> (any AnyOptional)? {
      if case .captured(let value) = try term(of: side) { value as? any AnyOptional } else { nil }
    }
    if let left = try captured(lhs), let right = try captured(rhs), left.payload == nil || right.payload == nil {
      return left.payload == nil && right.payload == nil
    }
    if isWhole(lhs), let value = try captured(rhs) { return value.payload == nil ? false : nil }
    if isWhole(rhs), let value = try captured(lhs) { return value.payload == nil ? false : nil }
    if isWhole(lhs), isWhole(rhs) { return nil }
    throw refusal(part, "an optional of an optional is not a column", "Unwrap it with ‘flatMap’ or ‘??’.")
  }

  /// - Throws: If SQLite orders the type's column differently from Swift.
  func requireOrder<E: PredicateExpression>(_ type: Any.Type, in part: E) throws(UntranslatablePredicate) {
    if Columns.ordersAlike(type) { return }
    throw refusal(
      part, "SQLite may sort the column of \(type) otherwise than Swift its values",
      "Compare a stored number or text, or make it CaseIterable with cases in the order of their raw values.")
  }
}

// MARK: Optionals

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    let base = try translation.term(of: wrapped)
    let name = translation.words(wrapped) + "?"
    switch base {
    case .captured(let value):
      guard let payload = Translation.unwrapped(value) else { return .captured(Optional<Any>.none as Any) }
      return try translation.binding(variable.key, to: .captured(payload), called: translation.words(wrapped))
        .term(of: transform)
    case .row(let row):
      let inner = try translation.binding(variable.key, to: base, called: name).term(of: transform)
      return try absent(inner, translation, unless: row.reference.map { .column($0) }) { part in
        guard case .column(let path) = part else { return false }
        return path == row.reference || path.steps.starts(with: row.steps)
      }
    case .expression(let value):
      let inner = try translation.binding(variable.key, to: base, called: name).term(of: transform)
      return try absent(inner, translation, unless: value) { $0 == value }
    case .toMany, .range:
      return try translation.binding(variable.key, to: base, called: name).term(of: transform)
    }
  }

  /// `inner`, or NULL if the optional is nil; unchanged if it is NULL in that case anyway.
  private func absent(
    _ inner: Term, _ translation: Translation, unless present: RowExpression?, _ isAbsent: (RowExpression) -> Bool
  ) throws(UntranslatablePredicate) -> Term {
    let result: RowExpression
    switch inner {
    case .expression(let expression): result = expression
    case .captured(let value): result = .literal(try translation.literal(value, in: self))
    case .row, .toMany, .range: return inner
    }
    guard let present, !result.isNull(where: isAbsent) else { return .expression(result) }
    return .expression(.conditional(!RowExpression.isNull(present), then: result, otherwise: .null).folded)
  }

  func words(in translation: Translation) -> String {
    translation.binding(variable.key, to: .captured(0), called: translation.words(wrapped) + "?").words(transform)
  }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  /// If there is nothing to unwrap, the enclosing condition is NULL and accepts no row; nothing traps.
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    let term = try translation.term(of: inner)
    guard case .captured(let value) = term else { return term }
    guard let optional = value as? any AnyOptional else { return term }
    guard let payload = optional.payload else {
      throw translation.refusal(self, "the captured value is nil", "Unwrap it before the predicate.")
    }
    return .captured(payload)
  }
  func words(in translation: Translation) -> String { "\(translation.words(inner))!" }
}

/// `nil` as it is written.
private protocol NilExpression {}
extension PredicateExpressions.NilLiteral: NilExpression {}

/// An expression whose value is missing if something in it was unwrapped by force and was nil.
private protocol UnwrappedExpression {
  var isUnwrapped: Bool { get }
  /// Whether what was unwrapped is a captured value that is nil, as for an index that a list does not have.
  var isMissing: Bool { get }
}

extension PredicateExpressions.ForcedUnwrap: UnwrappedExpression {
  fileprivate var isUnwrapped: Bool { !(Output.self is any AnyOptional.Type) }
  fileprivate var isMissing: Bool {
    if let captured = inner as? PredicateExpressions.Value<Output?>, case nil = captured.value { true } else { false }
  }
}

extension PredicateExpressions._Present: UnwrappedExpression {
  fileprivate var isUnwrapped: Bool { (wrapped as? any UnwrappedExpression)?.isUnwrapped ?? false }
  fileprivate var isMissing: Bool { (wrapped as? any UnwrappedExpression)?.isMissing ?? false }
}

extension PredicateExpressions.KeyPath: UnwrappedExpression {
  fileprivate var isUnwrapped: Bool {
    !(Output.self is any AnyOptional.Type) && (root as? any UnwrappedExpression)?.isUnwrapped ?? false
  }
  fileprivate var isMissing: Bool { (root as? any UnwrappedExpression)?.isMissing ?? false }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    let first = try translation.term(of: lhs)
    switch first {
    case .captured(let value):
      if let payload = Translation.unwrapped(value) { return .captured(payload) }
      return try translation.term(of: rhs)
    case .toMany: return first
    case .row:
      throw translation.refusal(self, "it chooses between two objects", "Choose between their properties instead.")
    case .expression, .range:
      return .expression(
        .coalesce(try translation.expression(of: lhs), try translation.expression(of: rhs)).folded)
    }
  }
  func words(in translation: Translation) -> String { "\(translation.words(lhs)) ?? \(translation.words(rhs))" }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    let condition = try translation.expression(of: test)
    if case .literal(let truth) = condition {
      return truth == 1 ? try translation.term(of: trueBranch) : try translation.term(of: falseBranch)
    }
    return .expression(
      .conditional(
        condition, then: try translation.expression(of: trueBranch),
        otherwise: try translation.expression(of: falseBranch)))
  }
  func words(in translation: Translation) -> String {
    "\(translation.words(test)) ? \(translation.words(trueBranch)) : \(translation.words(falseBranch))"
  }
}
