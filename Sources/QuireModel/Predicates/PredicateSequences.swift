import Foundation
import QuireRow

// MARK: Lists and ranges

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    switch try translation.term(of: sequence) {
    case .captured(let list):
      guard let elements = list as? LHS.Output else { break }
      var subject = try translation.expression(of: element)
      let isComputed = subject.needsObject && Translation.isIdentifier(RHS.Output.self)
      if isComputed { subject = try translation.identity(of: element) }
      var values: [Value] = []
      let model = (element as? any IdentifierPath)?.identified
      for element in elements {
        // A list may contain another model's identifier; it matches no row of this one.
        if let model, let captured = Translation.unwrapped(element), !translation.resolver.identifies(captured, model) {
          continue
        }
        values.append(try translation.literal(element, in: self, as: isComputed ? .identity : .column))
      }
      let found = RowExpression.contains(values, subject)
      // A list without nil does not contain nil: the result is false, and true when negated.
      if RHS.Output.self is any AnyOptional.Type, !values.contains(.null) {
        return .expression(.coalesce(found, .false).folded)
      }
      return .expression(found.folded)
    case .toMany: throw translation.toManyRefusal(self)
    default: break
    }
    throw translation.refusal(
      self, "lists inside a column are not searched", "Make the elements a model of their own.")
  }
  func words(in translation: Translation) -> String {
    "\(translation.words(sequence)).contains(\(translation.words(element)))"
  }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    if case .toMany(let rows, let type) = try translation.term(of: sequence) {
      return .expression(.exists(try translation.rows(rows, of: type, meeting: test, variable.key)))
    }
    return .expression(.any(try translation.each(sequence, variable, test, in: self)).folded)
  }
  func words(in translation: Translation) -> String { "\(translation.words(sequence)).contains(where: …)" }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    if case .toMany(let rows, let type) = try translation.term(of: sequence) {
      return .expression(.each(of: rows, try translation.condition(test, on: type, variable.key)))
    }
    return .expression(.all(try translation.each(sequence, variable, test, in: self)).folded)
  }
  func words(in translation: Translation) -> String { "\(translation.words(sequence)).allSatisfy { … }" }
}

extension PredicateExpressions.Filter: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    switch try translation.term(of: sequence) {
    case .toMany(let rows, let type):
      return .toMany(try translation.rows(rows, of: type, meeting: filter, variable.key), type)
    default:
      if let kept = try? evaluate(PredicateBindings()) { return .captured(kept) }
      throw translation.refusal(self, "a list is filtered for every row", "Filter it before the predicate.")
    }
  }
  func words(in translation: Translation) -> String { "\(translation.words(sequence)).filter { … }" }
}

extension Translation {
  /// The test for each element of a captured list.
  fileprivate func each<S: PredicateExpression, T: PredicateExpression, E: PredicateExpression>(
    _ sequence: S, _ variable: PredicateExpressions.Variable<S.Output.Element>, _ test: T, in part: E
  ) throws(UntranslatablePredicate) -> [RowExpression] where S.Output: Sequence {
    switch try term(of: sequence) {
    case .captured(let list):
      guard let elements = list as? S.Output else { break }
      var tests: [RowExpression] = []
      for element in elements {
        tests.append(try binding(variable.key, to: .captured(element), called: "$0").expression(of: test))
      }
      return tests
    default: break
    }
    throw refusal(part, "lists inside a column are not searched", "Make the elements a model of their own.")
  }
}

extension PredicateExpressions.Range: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .range(
      lower: try translation.expression(of: lower), upper: try translation.expression(of: upper), isClosed: false)
  }
  func words(in translation: Translation) -> String { "\(translation.words(lower))..<\(translation.words(upper))" }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .range(lower: try translation.expression(of: lower), upper: try translation.expression(of: upper), isClosed: true)
  }
  func words(in translation: Translation) -> String { "\(translation.words(lower))...\(translation.words(upper))" }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    try translation.requireOrder(Element.Output.self, in: self)
    let type = Element.Output.self
    let subject = Columns.ordered(try translation.expression(of: element), as: type)
    var parts: [RowExpression] = []
    func add(_ comparison: RowExpression.Comparison, _ bound: RowExpression) {
      parts.append(.compare(comparison, subject, Columns.ordered(bound, as: type)).folded)
    }
    switch try translation.term(of: range) {
    case .range(let lower, let upper, let isClosed):
      if let lower { add(.greaterOrEqual, lower) }
      if let upper { add(isClosed ? .lessOrEqual : .less, upper) }
    case .captured(let value as any CapturedRange):
      let bounds = value.bounds
      if let lower = bounds.lower { add(.greaterOrEqual, .literal(try translation.literal(lower, in: self))) }
      if let upper = bounds.upper {
        add(bounds.isClosed ? .lessOrEqual : .less, .literal(try translation.literal(upper, in: self)))
      }
    default: throw translation.refusal(self, "the range is of an unknown kind", "Compare with its bounds.")
    }
    return .expression(.all(parts).folded)
  }
  func words(in translation: Translation) -> String {
    "(\(translation.words(range))).contains(\(translation.words(element)))"
  }
}

private protocol CapturedRange {
  var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { get }
}
extension Range: CapturedRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, false) }
}
extension ClosedRange: CapturedRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, true) }
}
extension PartialRangeFrom: CapturedRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, nil, true) }
}
extension PartialRangeThrough: CapturedRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, true) }
}
extension PartialRangeUpTo: CapturedRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, false) }
}

// MARK: Text

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .expression(try translation.text(.contains, base, other, in: self))
  }
  func words(in translation: Translation) -> String {
    "\(translation.words(base)).contains(\(translation.words(other)))"
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .expression(try translation.text(.startsWith, base, prefix, in: self))
  }
  func words(in translation: Translation) -> String {
    "\(translation.words(base)).starts(with: \(translation.words(prefix)))"
  }
}

extension Translation {
  func text<A: PredicateExpression, B: PredicateExpression, E: PredicateExpression>(
    _ test: RowExpression.TextTest, _ base: A, _ other: B, in part: E
  ) throws(UntranslatablePredicate) -> RowExpression {
    guard Columns.isText(A.Output.self), Columns.isText(B.Output.self) else {
      if case .toMany = try term(of: base) { throw toManyRefusal(part) }
      throw refusal(part, "only text is searched for a part of it", "Compare the whole, or store text.")
    }
    return RowExpression.text(test, try expression(of: base), try expression(of: other)).folded
  }
}
