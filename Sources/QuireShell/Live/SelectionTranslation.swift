import QuireRow

/// Resolved queries → selections.
///
/// Comparisons of a column with a value of its own kind become data, by which changes are evaluated without SQL.
/// Everything else stays SQL, which is run for changed rows: so every value is SQLite's, with its affinities and
/// collations. Queries whose result cannot be updated by changed rows are refused: groups, distinct rows, tables
/// without a row id, keys other than the row id, and sums over related rows, which SQLite rounds along the way.
struct SelectionTranslation {
  private let models: FileModels
  /// Values of `:name`, by bare name.
  private let parameters: [String: Value]
  /// The position of each alias's row.
  var places: [String: Place] = [:]
  var lastScope = 0

  struct Place {
    /// The row where the steps begin: 0 is the query's own, others are related rows.
    let scope: Int
    let steps: [ColumnPath.Step]
    let model: FileModel
  }

  init(_ models: FileModels, parameters: [String: Value]) {
    self.models = models
    self.parameters = parameters
  }

  /// - Throws: ``NotFollowed``; ``ShellFailure`` for a parameter without a value.
  mutating func selection(_ query: ResolvedQuery) throws -> Selection {
    if query.isDistinct { throw NotFollowed("rows are told apart by all their values") }
    if !query.groups.isEmpty || query.having != nil { throw NotFollowed("it makes groups") }
    let base = try model(ofTable: query.rows.tables.table)
    guard let key = base.rowID else { throw NotFollowed("\(base.name) has no row id") }
    try enter(query.rows.tables, base, scope: 0)
    var select = SelectQuery(from: base.table, key: key, columns: [])
    let conditions = try query.rows.conditions.map { try condition($0, 0) }
    if !conditions.isEmpty { select.filter = .all(conditions) }
    select.order = try query.order.flatMap { try order($0) }
    if !select.order.isEmpty, let other = places.values.first(where: { !$0.model.comparesBytes }) {
      throw NotFollowed("\(other.model.name) has an order of its own for texts")
    }
    select.limit = try query.limit.map { try number($0) }
    select.offset = try query.offset.map { try number($0) } ?? 0
    if let name = query.names?.first, query.rows.values == [.function("count", [.everything], isDistinct: false)] {
      guard select.limit == nil, select.offset == 0 else { throw NotFollowed("it counts some of the rows") }
      select.order = []
      return Selection(select: select, columns: [], tally: name)
    }
    guard let names = query.names else {
      return Selection(select: select, columns: base.columns.map { ($0.column, .column(ColumnPath($0.column))) })
    }
    let values = try query.rows.values.map { try value($0, 0) }
    return Selection(select: select, columns: Array(zip(names, values)))
  }

  /// How many rows the query has.
  mutating func tally(_ query: ResolvedQuery) throws -> Selection {
    if query.limit != nil || query.offset != nil { throw NotFollowed("it counts some of the rows") }
    var query = query
    query.order = []
    let found = try selection(query)
    if found.tally != nil { throw NotFollowed("it counts a number") }
    return Selection(select: found.select, columns: [], tally: "count")
  }

  private func number(_ resolved: Resolved) throws -> Int {
    let found = if case .parameter(let name) = resolved { try self.parameter(name) } else { resolved.literal }
    guard case .integer(let number)? = found else { throw NotFollowed("its limit is not a number") }
    return Int(clamping: number)
  }

  private mutating func order(_ order: ResolvedQuery.Order) throws -> [OrderTerm] {
    let value = try value(order.value, 0)
    let term = OrderTerm(value, ascending: !order.isDescending)
    guard let nullsFirst = order.nullsFirst, nullsFirst == order.isDescending else { return [term] }
    return [OrderTerm(.isNull(value), ascending: !nullsFirst, isNullable: false), term]
  }

  // MARK: Tables

  func model(ofTable table: String) throws -> FileModel {
    guard let model = models.all.first(where: { $0.table == table }) else {
      throw NotFollowed("\(table) is not a model")
    }
    if model.kind != .table { throw NotFollowed("\(model.name) is not a table") }
    return model
  }

  mutating func enter(
    _ tables: ResolvedTables, _ base: FileModel, scope: Int, steps: [ColumnPath.Step] = [], joins: Int = 0
  ) throws {
    if joins == 0 { places[tables.alias] = Place(scope: scope, steps: steps, model: base) }
    for join in tables.joins.dropFirst(joins) {
      guard join.isOptional, join.conditions.count == 1,
        case .infix("=", .column(join.alias, let key), .column(let alias, let column)) = join.conditions[0],
        let place = places[alias], place.scope == scope
      else { throw NotFollowed("it joins \(join.table)") }
      places[join.alias] = Place(
        scope: scope, steps: place.steps + [try step(place.model, column, to: join.table, key)],
        model: try model(ofTable: join.table))
    }
  }

  func step(_ model: FileModel, _ column: String, to table: String, _ key: String) throws -> ColumnPath.Step {
    try requireKey(model, column)
    try requireRowID(try self.model(ofTable: table), key)
    return ColumnPath.Step(column, to: table, key: key)
  }

  /// Whether a column holds row ids as integers and nothing that is equal to one, such as `'7'`.
  func requireKey(_ model: FileModel, _ column: String) throws {
    let affinity = model.column(named: column)?.affinity
    guard affinity == .integer || affinity == .numeric || model.rowID == column else {
      throw NotFollowed("\(model.name).\(column) is not a column of integers")
    }
  }

  func requireRowID(_ model: FileModel, _ column: String) throws {
    if model.rowID != column { throw NotFollowed("\(model.name).\(column) is not a row id") }
  }

  func path(_ alias: String, _ column: String, _ scope: Int) throws -> ColumnPath {
    guard let place = places[alias], place.scope == scope else {
      throw NotFollowed("a condition on related rows looks at the row they belong to")
    }
    return ColumnPath(place.steps, column)
  }

  private func parameter(_ name: String) throws(ShellFailure) -> Value {
    guard let value = parameters[String(name.dropFirst())] else { throw ShellFailure(missing: name) }
    return value
  }

  // MARK: Values

  /// As a condition: as in SQLite, a column is true if it is not 0.
  private mutating func condition(_ resolved: Resolved, _ scope: Int) throws -> RowExpression {
    let value = try value(resolved, scope)
    if case .column = value { return .written(["", ""], [value]) }
    return value
  }

  private mutating func values(_ list: [Resolved], _ scope: Int) throws -> [RowExpression] {
    var values: [RowExpression] = []
    for one in list { values.append(try value(one, scope)) }
    return values
  }

  mutating func conditions(_ list: [Resolved], _ scope: Int) throws -> [RowExpression] {
    var conditions: [RowExpression] = []
    for one in list { conditions.append(try condition(one, scope)) }
    return conditions
  }

  private mutating func value(_ resolved: Resolved, _ scope: Int) throws -> RowExpression {
    switch resolved {
    case .value(let value): return .literal(value)
    case .parameter(let name): return .literal(try parameter(name))
    case .column(let alias, let name): return .column(try path(alias, name, scope))
    case .everything: throw NotFollowed("* is not a value")
    case .prefix("NOT", let inner): return .not(try condition(inner, scope))
    case .prefix(let sign, let inner): return .written(["(\(sign)", ")"], [try value(inner, scope)])
    case .infix(let sign, let a, let b):
      if let data = try comparison(sign, a, b, scope) { return data }
      return .written(["(", " \(sign) ", ")"], try values([a, b], scope))
    case .chain(let first, let links):
      return .written(
        ["("] + links.map { " \($0.sign) " } + [")"], try values([first] + links.map(\.value), scope))
    case .all(let parts), .any(let parts):
      if parts.count > Self.mostTerms { throw NotFollowed("it has more than \(Self.mostTerms) terms in a row") }
      let conditions = try conditions(parts, scope)
      return if case .all = resolved { .all(conditions) } else { .any(conditions) }
    case .isNull(let inner, let isNegated):
      let isNull = RowExpression.isNull(try value(inner, scope))
      return isNegated ? .not(isNull) : isNull
    case .isTruth(let inner, let truth, let isNegated):
      let end = " IS \(isNegated ? "NOT " : "")\(truth ? "TRUE" : "FALSE"))"
      return .written(["(", end], [try value(inner, scope)])
    case .collated: throw NotFollowed("it compares keys by a collation")
    case .cast(let inner, let type): return .written(["CAST(", " AS \(type))"], [try value(inner, scope)])
    case .oneOf(let element, let list, let isNegated):
      let pieces = ["(", isNegated ? " NOT IN (" : " IN ("] + Array(repeating: ", ", count: max(0, list.count - 1))
      return .written(pieces + ["))"], try values([element] + list, scope))
    case .within(let elements, let rows, let isNegated):
      let found = try within(elements, rows, scope)
      return isNegated ? .not(found) : found
    case .between(let element, let low, let high, let isNegated):
      return .written(
        ["(", isNegated ? " NOT BETWEEN " : " BETWEEN ", " AND ", ")"], try values([element, low, high], scope))
    case .match(let word, let a, let b, let isNegated):
      return .written(["(", " \(isNegated ? "NOT " : "")\(word) ", ")"], try values([a, b], scope))
    case .function(let name, let arguments, let isDistinct):
      return try function(name, arguments, isDistinct, scope)
    case .choice(let parts, let otherwise):
      var pieces: [String] = []
      for place in parts.indices { pieces.append(place == 0 ? "(CASE WHEN " : place % 2 == 0 ? " WHEN " : " THEN ") }
      if otherwise != nil { pieces.append(" ELSE ") }
      return .written(pieces + [" END)"], try values(parts + (otherwise.map { [$0] } ?? []), scope))
    case .exists(let rows, let isNegated):
      let found = RowExpression.exists(try related(rows, scope).rows)
      return isNegated ? .not(found) : found
    case .aggregate(let rows): return try aggregate(rows, scope)
    }
  }

  /// A column and a value of its own kind, as data; nil for anything else.
  private func comparison(_ sign: String, _ a: Resolved, _ b: Resolved, _ scope: Int) throws -> RowExpression? {
    guard case .column(let alias, let name) = a, let place = places[alias],
      let affinity = place.model.column(named: name)?.affinity
    else { return nil }
    let value = if case .parameter(let name) = b { try parameter(name) } else { b.literal }
    switch (affinity, value) {
    case (.integer, .integer?), (.integer, .real?), (.real, .integer?), (.real, .real?), (.numeric, .integer?),
      (.numeric, .real?):
      break
    case (.text, .text?): if !place.model.comparesBytes { return nil }
    default: return nil
    }
    let comparisons: [String: RowExpression.Comparison] = [
      "=": .equalOrAbsent, "<>": .unequalOrAbsent, "<": .less, "<=": .lessOrEqual, ">": .greater,
      ">=": .greaterOrEqual,
    ]
    guard let comparison = comparisons[sign], let value else { return nil }
    return .compare(comparison, .column(try path(alias, name, scope)), .literal(value))
  }

  /// The highest number of terms side by side in a query for changed rows.
  private static let mostTerms = 250

  /// Functions whose result varies.
  private static let changing: Set = [
    "random", "randomblob", "changes", "total_changes", "last_insert_rowid", "current_date", "current_time",
    "current_timestamp",
  ]
  private static let times: Set = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"]

  private mutating func function(_ name: String, _ arguments: [Resolved], _ isDistinct: Bool, _ scope: Int) throws
    -> RowExpression
  {
    if ListWords.contains(name, arguments: arguments.count) || isDistinct {
      throw NotFollowed("\(name) is of all rows together")
    }
    let isNow = arguments.contains { $0.literal?.string?.lowercased() == "now" } || arguments.isEmpty
    if Self.changing.contains(name) || (Self.times.contains(name) && isNow) {
      throw NotFollowed("\(name) is another at other times")
    }
    if arguments.isEmpty { return .written(["\(name)()"], []) }
    let commas = Array(repeating: ", ", count: arguments.count - 1)
    return .written(["\(name)("] + commas + [")"], try values(arguments, scope))
  }
}

extension Resolved {
  /// Nil for anything other than a plain value.
  fileprivate var literal: Value? { if case .value(let value) = self { value } else { nil } }
}
