/// A condition or a value over the columns of one row and the rows it references, as data.
///
/// One tree has two meanings that agree on every row: SQL text (``SelectQuery``, ``sql()``) and ``evaluate(_:)``.
/// Both are three-valued: NULL stands for what is not there, and a condition accepts a row when it is true.
///
/// | | NULL in gives | beside Swift |
/// |---|---|---|
/// | `equal`, `unequal` | 0 or 1: NULL equals NULL alone | `==`, `!=` of optionals |
/// | `equalOrAbsent`, `unequalOrAbsent`, `less` … | NULL | `==` … of what an optional chain found |
/// | `all`, `any`, `not` | Kleene's logic | the same without NULL |
/// | `oneOf` | NULL (0 for an empty list) | `list.contains(x)` |
/// | `contains`, `startsWith`, `endsWith` | NULL | by UTF-8 bytes: canonically equal spellings differ |
/// | `containsFolded` | NULL | `localizedStandardContains`, folding A–Z and a–z alone: see ``ASCIICaseFolding`` |
/// | `count` | NULL | of text: Unicode scalars before the first NUL character; of a blob: bytes |
/// | `lowercased` | NULL | A–Z alone: see ``ASCIICaseFolding`` |
/// | `decimalOrder` | NULL | what orders decimals that are kept as text: see ``DecimalOrder`` |
/// | `joined` | NULL | `+` of texts |
/// | `arithmetic` | NULL | division by zero is NULL; an integer result beyond 64 bits becomes a real |
/// | `exists`, `countRows`, `aggregate` | 0 or none: NULL references nothing | questions about the rows of a to-many: see ``needsRows`` |
/// | `written` | as the SQL says | SQL that nothing here has a meaning for: see ``needsRows`` |
///
/// Operands are taken to be of their columns' declared types, as the predicate translation makes them (SQLite would
/// convert text compared with a number, `evaluate` does not), and columns to have collation BINARY.
package indirect enum RowExpression: Hashable, Sendable {
  case column(ColumnPath)
  case literal(Value)
  /// True if every operand is, and if there are none. Use ``all(_:)`` to make it.
  case and([RowExpression])
  /// True if any operand is, false if there are none. Use ``any(_:)`` to make it.
  case or([RowExpression])
  case not(RowExpression)
  case compare(Comparison, RowExpression, RowExpression)
  case isNull(RowExpression)
  /// The values must not include NULL.
  case oneOf(RowExpression, [Value])
  case text(TextTest, RowExpression, RowExpression)
  case count(RowExpression)
  case conditional(RowExpression, then: RowExpression, otherwise: RowExpression)
  /// The first that is not NULL.
  case coalesce(RowExpression, RowExpression)
  case arithmetic(Arithmetic, RowExpression, RowExpression)
  /// Whether there are any such rows.
  case exists(RelatedRows)
  /// The number of such rows.
  case countRows(RelatedRows)
  /// An aggregate of a column of such rows, as the connection's exact functions compute it: NULL is skipped; without
  /// values a sum is 0 and everything else NULL. Only a query can compute it: `evaluate` gives NULL.
  case aggregate(Aggregate.Function, RelatedRows)
  /// Maps the letters A to Z to a to z: SQLite's `lower`, see ``ASCIICaseFolding``.
  case lowercased(RowExpression)
  /// The key of a decimal by which it is compared and sorted: see ``DecimalOrder``.
  case decimalOrder(RowExpression)
  /// One text after the other.
  case joined(RowExpression, RowExpression)
  /// A value that only Swift can compute, from the row's object: it has no SQL, and ``necessary`` narrows the rows.
  case computed(ComputedValue)
  /// Pieces of SQL around operands, one more than there are operands: `["substr(", ", 2)"]`. Only a query can compute
  /// it: `evaluate` gives NULL. The same row must always give the same value.
  case written([String], [RowExpression])

  package enum Comparison: Hashable, Sendable {
    case equal, unequal
    case equalOrAbsent, unequalOrAbsent
    case less, lessOrEqual, greater, greaterOrEqual
  }

  package enum TextTest: Hashable, Sendable { case contains, startsWith, endsWith, containsFolded }

  /// `divide` truncates toward zero between integers; `remainder` has the dividend's sign.
  package enum Arithmetic: Hashable, Sendable { case add, subtract, multiply, divide, remainder }
}

// MARK: Construction

extension RowExpression {
  package static let `true` = RowExpression.literal(1)
  package static let `false` = RowExpression.literal(0)
  package static let null = RowExpression.literal(.null)

  /// The conjunction, without operands that are always true, and false if one is always false.
  package static func all(_ operands: [RowExpression]) -> RowExpression {
    var rest: [RowExpression] = []
    for operand in operands {
      switch operand {
      case .and(let inner): rest += inner
      case .literal(1): continue
      case .literal(0): return .false
      default: rest.append(operand)
      }
    }
    return rest.isEmpty ? .true : rest.count == 1 ? rest[0] : .and(rest)
  }

  /// The disjunction, without operands that are always false, and true if one is always true.
  package static func any(_ operands: [RowExpression]) -> RowExpression {
    var rest: [RowExpression] = []
    for operand in operands {
      switch operand {
      case .or(let inner): rest += inner
      case .literal(0): continue
      case .literal(1): return .true
      default: rest.append(operand)
      }
    }
    return rest.isEmpty ? .false : rest.count == 1 ? rest[0] : .or(rest)
  }

  package static prefix func ! (operand: RowExpression) -> RowExpression {
    switch operand {
    case .literal(1): .false
    case .literal(0): .true
    case .not(.column): .not(operand)
    case .not(let inner) where inner.isCondition: inner
    default: .not(operand)
    }
  }

  /// Whether a value is one of `values`, which may include NULL; NULL then counts as a value.
  package static func contains(_ values: [Value], _ element: RowExpression) -> RowExpression {
    let present = values.filter { $0 != .null }
    let found = RowExpression.oneOf(element, present)
    return present.count == values.count ? found : .any([.isNull(element), found])
  }

  /// Whether it can only be 0, 1 or NULL.
  var isCondition: Bool {
    switch self {
    case .literal(1), .literal(0), .literal(.null), .and, .or, .not, .compare, .isNull, .oneOf, .text, .exists: true
    case .column, .literal, .count, .arithmetic, .joined, .countRows, .aggregate, .written, .lowercased, .decimalOrder,
      .computed:
      false
    case .conditional(_, let a, let b), .coalesce(let a, let b): a.isCondition && b.isCondition
    }
  }
}

// MARK: Columns and tables

extension RowExpression {
  /// All columns it reads of its row and those it references; for related rows, the columns that determine them.
  package var columns: Set<ColumnPath> {
    var found: Set<ColumnPath> = []
    collectColumns(into: &found)
    return found
  }

  /// The tables it reaches through foreign keys, in either direction; the base table only if it is reached that way.
  package var tables: Set<String> {
    related.reduce(into: Set(columns.flatMap { $0.steps.map(\.table) })) { $0.formUnion($1.tables) }
  }

  private func collectColumns(into found: inout Set<ColumnPath>) {
    switch self {
    case .column(let path): found.insert(path)
    case .exists(let rows), .countRows(let rows), .aggregate(_, let rows): found.insert(rows.origin)
    default: break
    }
    for operand in operands { operand.collectColumns(into: &found) }
  }

  /// The direct operands, over the same row.
  package var operands: [RowExpression] {
    switch self {
    case .column, .literal, .exists, .countRows, .aggregate, .computed: []
    case .and(let operands), .or(let operands), .written(_, let operands): operands
    case .not(let a), .isNull(let a), .oneOf(let a, _), .count(let a), .lowercased(let a), .decimalOrder(let a): [a]
    case .compare(_, let a, let b), .text(_, let a, let b), .coalesce(let a, let b), .arithmetic(_, let a, let b),
      .joined(let a, let b):
      [a, b]
    case .conditional(let a, let b, let c): [a, b, c]
    }
  }

  /// Whether this is certainly NULL if `absent` says that a part of it is.
  ///
  /// May be false although it is NULL: then an optional chain has an unnecessary CASE.
  package func isNull(where absent: (RowExpression) -> Bool) -> Bool {
    if absent(self) { return true }
    switch self {
    case .column, .isNull, .exists, .countRows, .aggregate, .written, .computed: return false
    case .literal(let value): return value == .null
    case .not(let a), .count(let a), .lowercased(let a), .decimalOrder(let a): return a.isNull(where: absent)
    case .oneOf(let a, let values): return !values.isEmpty && a.isNull(where: absent)
    case .and(let operands), .or(let operands):
      return !operands.isEmpty && operands.allSatisfy { $0.isNull(where: absent) }
    case .compare(.equal, _, _), .compare(.unequal, _, _): return false
    case .compare(_, let a, let b), .text(_, let a, let b), .arithmetic(_, let a, let b), .joined(let a, let b):
      return a.isNull(where: absent) || b.isNull(where: absent)
    case .coalesce(let a, let b): return a.isNull(where: absent) && b.isNull(where: absent)
    case .conditional(_, let a, let b): return a.isNull(where: absent) && b.isNull(where: absent)
    }
  }
}
