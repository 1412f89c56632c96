import Foundation
import QuireRow

/// Well-typed expressions over the tables of ``ExpressionTests``, with every trap a value can be.
struct RandomExpression {
  var random: SeededGenerator

  static let author = ColumnPath.Step("author_id", to: "author")
  static let country = ColumnPath.Step("country_id", to: "country")

  static let numbers: [ColumnPath] = [
    "id", "i", "j", "r", ColumnPath([author], "id"), ColumnPath([author], "age"),
    ColumnPath([author, country], "size"),
  ]
  static let texts: [ColumnPath] = [
    "s", "t", ColumnPath([author], "name"), ColumnPath([author, country], "name"),
  ]
  static let flags: [ColumnPath] = ["flag", "done", ColumnPath([author], "alive")]
  static let blobs: [ColumnPath] = ["d"]
  static let anything: [ColumnPath] = ["x"]

  static let someIntegers: [Int64] = [
    0, 1, -1, 2, 3, 7, 10, -5, .max, .min, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1, 1_000_000_007,
  ]
  static let someReals: [Double] = [
    0, -0.0, 0.5, 1, 2, -1.5, 3, 1e18, 0x1p53, 0x1p63, -0x1p63, 1e308, -1e308, .infinity, -.infinity,
    .leastNonzeroMagnitude,
  ]
  static let someTexts: [String] = [
    "", "a", "A", "ab", "aB", "ABC", "b", "ba", "é", "e\u{301}", "É", "zz", "\u{D7FF}", "\u{E000}", "\u{10FFFF}",
    "a\u{10FFFF}", "a\u{10FFFF}b", "a\0b", "\0", "ab\0AB", "日本", "日", "%", "_", "10", "1e3", " a", "\"q\\", "\n\u{1}",
  ]
  static let someBlobs: [Data] = [Data(), Data([0]), Data([255, 0, 1]), Data("ab".utf8)]

  mutating func integer() -> Value { .integer(random.pick(Self.someIntegers)) }
  mutating func real() -> Value { .real(random.pick(Self.someReals)) }
  mutating func text() -> Value { .text(random.pick(Self.someTexts)) }
  mutating func blob() -> Value { .blob(random.pick(Self.someBlobs)) }

  mutating func number(_ depth: Int) -> RowExpression {
    switch Int.random(in: 0..<(depth > 0 ? 11 : 5), using: &random) {
    case 0...2: return .column(random.pick(Self.numbers))
    case 3: return .literal(integer())
    case 4: return .literal(real())
    case 5...7:
      return .arithmetic(
        random.pick([.add, .subtract, .multiply, .divide, .remainder]), number(depth - 1), number(depth - 1))
    case 8: return .count(random.chance(3, in: 4) ? text(depth - 1) : .column(random.pick(Self.blobs)))
    case 9: return .conditional(condition(depth - 1), then: number(depth - 1), otherwise: number(depth - 1))
    default: return .coalesce(number(depth - 1), number(depth - 1))
    }
  }

  mutating func text(_ depth: Int) -> RowExpression {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &random) {
    case 0...2: return .column(random.pick(Self.texts))
    case 3, 4: return .literal(text())
    case 5:
      return .conditional(
        condition(depth - 1), then: text(depth - 1), otherwise: random.chance(1, in: 3) ? .null : text(depth - 1))
    case 6: return .lowercased(text(depth - 1))
    case 7: return .joined(text(depth - 1), text(depth - 1))
    default: return .coalesce(text(depth - 1), text(depth - 1))
    }
  }

  mutating func condition(_ depth: Int) -> RowExpression {
    if depth <= 0 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: return random.pick([.true, .false, .null])
      case 1: return !.column(random.pick(Self.flags))
      case 2: return .compare(comparison(), .column(random.pick(Self.anything)), .column(random.pick(Self.anything)))
      default: return .column(random.pick(Self.flags))
      }
    }
    switch Int.random(in: 0..<14, using: &random) {
    case 0, 1: return .and(conditions(depth - 1))
    case 2: return .or(conditions(depth - 1))
    case 3: return random.chance(1, in: 2) ? .all(conditions(depth - 1)) : .any(conditions(depth - 1))
    case 4: return .not(condition(depth - 1))
    case 5: return !condition(depth - 1)
    case 6, 7: return .compare(comparison(), number(depth - 1), number(depth - 1))
    case 8: return .compare(comparison(), text(depth - 1), text(depth - 1))
    case 9: return .compare(comparison(), .column(random.pick(Self.blobs)), .literal(blob()))
    case 10: return .isNull(random.chance(1, in: 2) ? number(depth - 1) : text(depth - 1))
    case 11:
      let count =
        random.chance(1, in: 3) ? Int.random(in: 0...20, using: &random) : Int.random(in: 0...3, using: &random)
      if random.chance(1, in: 2) {
        return .contains((0..<count).map { _ in text() } + (random.chance(1, in: 5) ? [.null] : []), text(depth - 1))
      }
      let wholes = random.chance(1, in: 2)
      return .contains((0..<count).map { _ in wholes ? integer() : real() }, number(depth - 1))
    case 12:
      return .text(random.pick([.contains, .startsWith, .endsWith, .containsFolded]), text(depth - 1), text(depth - 1))
    default: return .coalesce(condition(depth - 1), random.pick([.false, .true]))
    }
  }

  /// One with parts that only Swift can tell.
  mutating func computedCondition(_ depth: Int) -> RowExpression {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 2), using: &random) {
    case 0: return .computed(ComputedValue(Int.random(in: 0..<4, using: &random), words: "computed"))
    case 1: return condition(1)
    case 2, 3: return .all([computedCondition(depth - 1), computedCondition(depth - 1)])
    case 4: return .any([computedCondition(depth - 1), computedCondition(depth - 1)])
    case 5: return .not(computedCondition(depth - 1))
    case 6: return !computedCondition(depth - 1)
    case 7: return .coalesce(computedCondition(depth - 1), random.pick([.false, .true]))
    default:
      return .conditional(
        computedCondition(depth - 1), then: computedCondition(depth - 1), otherwise: computedCondition(depth - 1))
    }
  }

  private mutating func conditions(_ depth: Int) -> [RowExpression] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in condition(depth) }
  }

  private mutating func comparison() -> RowExpression.Comparison {
    random.pick([
      .equal, .unequal, .equalOrAbsent, .unequalOrAbsent, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ])
  }
}
