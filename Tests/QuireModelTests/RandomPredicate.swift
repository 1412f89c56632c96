import Quire
import TestSupport

/// A well-typed predicate over ``Bookshop/Book``, made as `#Predicate` makes one.
struct RandomPredicate {
  /// Values at their limits, spellings that are canonically equal, calculations that Swift would trap on: what SQL and
  /// memory must agree on, and Foundation is not asked.
  let isWild: Bool
  private var random: Random
  private var values: Random
  private var row = PredicateExpressions.Variable<Bookshop.Book>()

  /// - Parameter values: The seed of numbers and texts, if they are to be others than the form's seed gives.
  static func make(seed: UInt64, values: UInt64? = nil, isWild: Bool, depth: Int) -> Predicate<Bookshop.Book> {
    Predicate { variable in
      var made = RandomPredicate(
        isWild: isWild, random: Random(seed: seed), values: Random(seed: (values ?? seed) &+ 1_000_000))
      made.row = variable
      return made.condition(depth)
    }
  }

  private init(isWild: Bool, random: Random, values: Random) {
    self.isWild = isWild
    self.random = random
    self.values = values
  }

  private mutating func pick<T>(_ values: [T]) -> T { random.pick(values) }

  // MARK: Parts, by type

  private mutating func condition(_ depth: Int) -> Asked<Bool> {
    switch random.below(depth > 0 ? 22 : 7) {
    case 0: return property(\.isAvailable)
    case 1: return equal(property(\.isSigned), value(pick([true, false, nil])))
    case 2: return isNil(year())
    case 3: return equal(year(), value(pick([integer(), nil])))
    case 4: return contains([text(), text()], word(0))
    case 5: return tagged(text())
    case 6: return contains(pick([[nil, 1907, 1910], [integer()], []]), year())
    case 7, 8: return and(condition(depth - 1), condition(depth - 1))
    case 9, 10: return or(condition(depth - 1), condition(depth - 1))
    case 11, 12: return not(condition(depth - 1))
    case 13, 14: return compare(number(depth - 1), number(depth - 1))
    case 15: return compare(fraction(depth - 1), fraction(depth - 1))
    case 16: return compare(word(depth - 1), word(depth - 1))
    case 17: return search(word(depth - 1), word(depth - 1))
    case 18: return choose(condition(depth - 1), condition(depth - 1), condition(depth - 1))
    case 19: return replace(property(\.isSigned), condition(depth - 1))
    case 20: return ofAuthor(text())
    default: return equal(number(depth - 1), number(depth - 1))
    }
  }

  private func year() -> Asked<Int?> { property(\.year) }

  private mutating func number(_ depth: Int) -> Asked<Int> {
    switch random.below(depth > 0 ? 9 : 3) {
    case 0: return property(\.pages)
    case 1: return value(integer())
    case 2: return replace(year(), value(integer()))
    case 3, 4: return calculate(pick(["+", "-", "*"]), number(depth - 1), number(depth - 1))
    case 5: return isWild ? divide(number(depth - 1), number(depth - 1)) : divide(number(depth - 1), value(7))
    case 6: return count(word(depth - 1))
    case 7: return computedCount()
    default: return choose(condition(depth - 1), number(depth - 1), number(depth - 1))
    }
  }

  private mutating func fraction(_ depth: Int) -> Asked<Double> {
    switch random.below(depth > 0 ? 5 : 3) {
    case 0: return property(\.weight)
    case 1: return value(real())
    case 2: return replace(property(\.rating), value(real()))
    case 3: return calculate(pick(["+", "-", "*"]), fraction(depth - 1), fraction(depth - 1))
    default: return choose(condition(depth - 1), fraction(depth - 1), fraction(depth - 1))
    }
  }

  private mutating func word(_ depth: Int) -> Asked<String> {
    switch random.below(depth > 0 ? 6 : 3) {
    case 0: return property(\.title)
    case 1: return value(text())
    case 2: return replace(property(\.subtitle), value(text()))
    case 3: return property(\.shout)
    case 4: return join(word(depth - 1), word(depth - 1))
    default: return choose(condition(depth - 1), word(depth - 1), word(depth - 1))
    }
  }

  // MARK: Values

  private mutating func integer() -> Int {
    isWild
      ? values.pick([0, 1, -1, 7, 1907, .max, .min, 1 << 53, (1 << 53) + 1]) : values.pick([0, 1, 30, 90, 1907, -30])
  }
  private mutating func real() -> Double {
    isWild
      ? values.pick([0, -0.0, 0.5, 1e308, -1e308, .infinity, -.infinity, .leastNonzeroMagnitude, 0x1p53])
      : values.pick([0, 0.25, 0.5, 2, 3.5])
  }
  private mutating func text() -> String { values.pick(isWild ? Self.wildTexts : Self.texts) }

  static let texts = ["", "Left", "left", "hand", "The Left Hand", "eft", "%", "Œuvres", "rare", "A story", "Kofi"]
  static let wildTexts = [
    "", "a", "A", "\u{E9}", "e\u{301}", "É", "a\0b", "\0", "日本", "\u{10FFFF}", "%", "👩‍👩‍👧", "ab", "Left", "rare",
  ]
}

// MARK: Making

private typealias P = PredicateExpressions
private typealias Asked<Output> = any StandardPredicateExpression<Output>
private typealias Operand = StandardPredicateExpression

extension RandomPredicate {
  private func property<T>(_ path: any KeyPath<Bookshop.Book, T> & Sendable) -> Asked<T> {
    P.build_KeyPath(root: row, keyPath: path)
  }
  private func value<T: Codable & Sendable>(_ value: T) -> Asked<T> { P.build_Arg(value) }

  private func and(_ a: some Operand<Bool>, _ b: some Operand<Bool>) -> Asked<Bool> {
    P.build_Conjunction(lhs: a, rhs: b)
  }
  private func or(_ a: some Operand<Bool>, _ b: some Operand<Bool>) -> Asked<Bool> {
    P.build_Disjunction(lhs: a, rhs: b)
  }
  private func not(_ a: some Operand<Bool>) -> Asked<Bool> { P.build_Negation(a) }
  private func equal<T: Equatable>(_ a: some Operand<T>, _ b: some Operand<T>) -> Asked<Bool> {
    P.build_Equal(lhs: a, rhs: b)
  }
  private func isNil<T>(_ a: some Operand<T?>) -> Asked<Bool> where T: Equatable {
    P.build_Equal(lhs: a, rhs: P.build_NilLiteral())
  }
  private mutating func compare<T: Comparable>(_ a: some Operand<T>, _ b: some Operand<T>) -> Asked<Bool> {
    P.build_Comparison(
      lhs: a, rhs: b, op: pick([.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual]))
  }
  private func contains<T: Equatable & Codable & Sendable>(_ list: [T], _ element: some Operand<T>) -> Asked<Bool> {
    P.build_contains(P.build_Arg(list), element)
  }
  private func choose<T>(_ test: some Operand<Bool>, _ a: some Operand<T>, _ b: some Operand<T>) -> Asked<T> {
    P.build_Conditional(test, a, b)
  }
  private func replace<T>(_ a: some Operand<T?>, _ b: some Operand<T>) -> Asked<T> {
    P.build_NilCoalesce(lhs: a, rhs: b)
  }
  private func calculate<T: Numeric>(_ sign: String, _ a: some Operand<T>, _ b: some Operand<T>) -> Asked<T> {
    switch sign {
    case "+": P.build_Arithmetic(lhs: a, rhs: b, op: .add)
    case "-": P.build_Arithmetic(lhs: a, rhs: b, op: .subtract)
    default: P.build_Arithmetic(lhs: a, rhs: b, op: .multiply)
    }
  }
  private func join(_ a: some Operand<String>, _ b: some Operand<String>) -> Asked<String> {
    P._build_Sum(lhs: a, rhs: b)
  }
  private func divide(_ a: some Operand<Int>, _ b: some Operand<Int>) -> Asked<Int> { P.build_Division(lhs: a, rhs: b) }
  private func count(_ a: some Operand<String>) -> Asked<Int> { P.build_KeyPath(root: a, keyPath: \.count) }
  private func computedCount() -> Asked<Int> {
    P.build_KeyPath(root: P.build_KeyPath(root: row, keyPath: \.words), keyPath: \.count)
  }
  private mutating func search(_ a: some Operand<String>, _ b: some Operand<String>) -> Asked<Bool> {
    switch random.below(4) {
    case 0: P.build_contains(a, b)
    case 1: P.build_starts(a, with: b)
    case 2: P._build_hasSuffix(a, b)
    default: P.build_localizedStandardContains(a, b)
    }
  }
  /// `$0.tags.flatMap { $0.contains { $0.word == text } } ?? false`
  private func tagged(_ text: String) -> Asked<Bool> {
    P.build_NilCoalesce(
      lhs: P.build_flatMap(P.build_KeyPath(root: row, keyPath: \.tags)) { tags in
        P.build_contains(tags) { tag in
          P.build_Equal(lhs: P.build_KeyPath(root: tag, keyPath: \.word), rhs: P.build_Arg(text))
        }
      }, rhs: P.build_Arg(false))
  }
  /// `$0.author?.name == text`
  private func ofAuthor(_ text: String) -> Asked<Bool> {
    P.build_Equal(
      lhs: P.build_flatMap(P.build_KeyPath(root: row, keyPath: \.author)) { author in
        P.build_KeyPath(root: author, keyPath: \.name)
      }, rhs: P.build_Arg(text as String?))
  }
}
