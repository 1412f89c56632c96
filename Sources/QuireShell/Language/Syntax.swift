import QuireRow

/// A name and its position.
struct Name: Hashable, Sendable {
  let text: String
  let range: Range<Int>
}

/// A query or write of the model language as written: names are not resolved yet.
///
///     Book where author.name = "Lem" and year > 1960 select title, author.name order by year desc limit 5
struct ModelQuery: Hashable, Sendable {
  var source: Source
  /// Relations followed from the source, in order.
  var steps: [Step] = []
  /// Condition on the rows that the last step leads to, or on the source's.
  var filter: Syntax?
  var isDistinct = false
  /// Empty for all columns.
  var selected: [Selected] = []
  var groups: [Syntax] = []
  var having: Syntax?
  var order: [Order] = []
  var limit: Syntax?
  var offset: Syntax?
  /// Not empty for a write.
  var assignments: [Assignment] = []
  /// Byte offset of `set`, for messages.
  var setPlace: Range<Int>?

  enum Source: Hashable, Sendable {
    case model(Name, key: [Syntax])
    /// `_`: the last answer, `_3`: its third row.
    case kept(row: Int?, Range<Int>)
  }

  struct Step: Hashable, Sendable {
    let relation: Name
    /// Condition on the rows that the relation is followed from.
    var filter: Syntax?
  }

  struct Selected: Hashable, Sendable {
    let value: Syntax
    /// The name after `as`, otherwise the source text.
    let name: String
    let isNamed: Bool
  }

  struct Order: Hashable, Sendable {
    let value: Syntax
    var isDescending = false
    /// Nil as SQLite has it: first when ascending.
    var nullsFirst: Bool?
  }

  struct Assignment: Hashable, Sendable {
    let name: Name
    let value: Syntax
  }

  /// Whether nothing but the model is named.
  var isBare: Bool {
    guard case .model(_, let key) = source, key.isEmpty, steps.isEmpty, filter == nil, selected.isEmpty else {
      return false
    }
    return groups.isEmpty && order.isEmpty && limit == nil && offset == nil && assignments.isEmpty
  }
}

/// A value or condition with its position.
struct Syntax: Hashable, Sendable {
  let kind: Kind
  let range: Range<Int>
  /// The depth of nested values, including itself. Code that walks syntax recurses that deep; the parser makes nothing
  /// deeper than ``Parser/most``.
  let height: Int

  init(kind: Kind, range: Range<Int>) {
    self.kind = kind
    self.range = range
    height = 1 + (kind.parts.lazy.map(\.height).max() ?? 0)
  }

  indirect enum Kind: Hashable, Sendable {
    case literal(Value)
    /// A number of a key, with its text: a key of text is compared with that.
    case spelled(String, Syntax)
    case parameter(String)
    case path([Name])
    /// `*`
    case everything
    /// `Author 2`
    case row(Name, key: [Syntax])
    case unary(String, Syntax)
    /// A comparison.
    case binary(String, Syntax, Syntax)
    /// `a + b - c`, from the left: side by side and not inside one another, as there may be many.
    case chain(Syntax, [Link])
    /// `a and b and c`
    case all([Syntax])
    /// `a or b or c`
    case any([Syntax])
    case isNull(Syntax, isNegated: Bool)
    /// `is true`, `is not false`: whether a number is not 0.
    case isTruth(Syntax, Bool, isNegated: Bool)
    case oneOf(Syntax, [Syntax], isNegated: Bool)
    case between(Syntax, Syntax, Syntax, isNegated: Bool)
    /// `like`, `glob`, `contains`, `match`
    case match(String, Syntax, Syntax, isNegated: Bool)
    /// A function, or a condition on related rows: `any(books where …)`.
    case call(Name, [Syntax], where: Syntax?, isDistinct: Bool)
    case choice([Branch], otherwise: Syntax?)
    /// `cast(:x as real)`
    case cast(Syntax, to: String)
  }

  struct Branch: Hashable, Sendable {
    let when: Syntax
    let then: Syntax
  }

  struct Link: Hashable, Sendable {
    let sign: String
    let value: Syntax
  }
}

extension Syntax.Kind {
  /// The values right inside it, in the order in which they are written.
  var parts: [Syntax] {
    switch self {
    case .literal, .parameter, .path, .everything: []
    case .row(_, let key): key
    case .unary(_, let a), .isNull(let a, _), .isTruth(let a, _, _), .spelled(_, let a), .cast(let a, _): [a]
    case .binary(_, let a, let b), .match(_, let a, let b, _): [a, b]
    case .chain(let first, let links): [first] + links.map(\.value)
    case .all(let parts), .any(let parts): parts
    case .oneOf(let a, let values, _): [a] + values
    case .between(let a, let b, let c, _): [a, b, c]
    case .call(_, let arguments, let condition, _): arguments + (condition.map { [$0] } ?? [])
    case .choice(let branches, let otherwise):
      branches.flatMap { [$0.when, $0.then] } + (otherwise.map { [$0] } ?? [])
    }
  }
}

/// One statement of the model language.
enum ModelStatement: Sendable {
  case query(ModelQuery)
  /// The range is where the values end.
  case insert(Name, [ModelQuery.Assignment], end: Range<Int>)
  case delete(ModelQuery)

  var writes: Bool { if case .query(let query) = self { !query.assignments.isEmpty } else { true } }
}
