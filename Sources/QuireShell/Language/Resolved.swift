import QuireRow

/// A value or condition with resolved names: columns of tables, each table with an alias.
indirect enum Resolved: Hashable, Sendable {
  case value(Value)
  case parameter(String)
  case column(alias: String, String)
  /// `*`, inside `count(*)` alone.
  case everything
  case prefix(String, Resolved)
  case infix(String, Resolved, Resolved)
  /// `a + b - c`, from the left.
  case chain(Resolved, [Link])
  case all([Resolved])
  case any([Resolved])
  case isNull(Resolved, isNegated: Bool)
  /// `IS TRUE`, `IS NOT FALSE` …
  case isTruth(Resolved, Bool, isNegated: Bool)
  case oneOf(Resolved, [Resolved], isNegated: Bool)
  /// `a IN (SELECT …)`
  case within([Resolved], ResolvedRows, isNegated: Bool)
  case between(Resolved, Resolved, Resolved, isNegated: Bool)
  case match(String, Resolved, Resolved, isNegated: Bool)
  case function(String, [Resolved], isDistinct: Bool)
  case choice([Resolved], otherwise: Resolved?)
  /// A value as it is compared by a collation.
  case collated(Resolved, by: String)
  /// - Parameter to: One of ``Parser/castTypes``.
  case cast(Resolved, to: String)
  /// Whether there are such rows.
  case exists(ResolvedRows, isNegated: Bool)
  /// An aggregate of such rows.
  case aggregate(ResolvedRows)
}

extension Resolved {
  /// The first column of a pair, as it is compared with the other.
  static func own(_ pair: Relation.Pair, of alias: String) -> Resolved {
    compared(pair.own, pair, pair.converted == .own, alias)
  }
  /// The second column of a pair, as it is compared with the first.
  static func other(_ pair: Relation.Pair, of alias: String) -> Resolved {
    compared(pair.other, pair, pair.converted == .other, alias)
  }

  /// The first column of a pair, for a list of values that the other is looked up in.
  static func listed(_ pair: Relation.Pair, of alias: String) -> Resolved {
    plain(.column(alias: alias, pair.own), pair.converted == .own)
  }

  private static func compared(_ name: String, _ pair: Relation.Pair, _ isConverted: Bool, _ alias: String) -> Resolved
  {
    let column = plain(.column(alias: alias, name), isConverted)
    return pair.collation.map { .collated(column, by: $0) } ?? column
  }

  /// Without the column's affinity, so that its values are converted and not those it is compared with.
  private static func plain(_ column: Resolved, _ isConverted: Bool) -> Resolved {
    isConverted ? .prefix("+", column) : column
  }

  struct Link: Hashable, Sendable {
    let sign: String
    let value: Resolved
  }
}

/// Tables joined to one another, from the first on.
struct ResolvedTables: Hashable, Sendable {
  let table: String
  let alias: String
  var joins: [Join] = []

  struct Join: Hashable, Sendable {
    let table: String
    let alias: String
    let conditions: [Resolved]
    /// Whether rows stay that have none there.
    let isOptional: Bool
  }
}

/// Rows of joined tables, and what is read of them: a query without order.
struct ResolvedRows: Hashable, Sendable {
  var tables: ResolvedTables
  var values: [Resolved]
  var conditions: [Resolved]
}

/// A whole query, ready to be written as SQL.
struct ResolvedQuery: Hashable, Sendable {
  var rows: ResolvedRows
  var isDistinct = false
  /// The values' names; nil if all columns of the first table are selected.
  var names: [String]?
  var groups: [Resolved] = []
  var having: Resolved?
  var order: [Order] = []
  var limit: Resolved?
  var offset: Resolved?
  /// The row id's name, if it is shown before all columns.
  var rowID: String?
  /// The model of its rows, if they are whole rows of one.
  var model: Int?

  /// The table whose columns are selected, each under its own name and in no group; nil if they are not of one table.
  var table: String? {
    guard let names else { return rows.tables.table }
    let isPlain = zip(names, rows.values).allSatisfy { .column(alias: rows.tables.alias, $0) == $1 }
    return isPlain && groups.isEmpty && !isDistinct ? rows.tables.table : nil
  }

  struct Order: Hashable, Sendable {
    let value: Resolved
    let isDescending: Bool
    let nullsFirst: Bool?
  }
}

/// A statement that writes.
enum ResolvedWrite: Hashable, Sendable {
  case insert(table: String, columns: [String], values: [Resolved])
  /// - Parameter keys: The identifying columns, if the rows must be found by a separate query.
  case update(rows: ResolvedRows, keys: [String]?, columns: [String], values: [Resolved])
  case delete(rows: ResolvedRows, keys: [String]?)

  var verb: String {
    switch self {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    }
  }
}
