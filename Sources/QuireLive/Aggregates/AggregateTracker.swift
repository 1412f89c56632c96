import QuireModel
import QuireRow
import QuireSQLite

/// Aggregates of a query's rows, by group or all together, updated as rows change.
///
/// A change is evaluated by the old and new values of the columns it reads; its row is removed from one group and added
/// to another: O(1), without SQL. Statements are run if an extreme value is removed and the next is not known (one
/// look-up, which uses an index on group and column), and if the query reaches other tables (a few, by key, for the
/// affected rows). All rows are read again if values were not captured, if a table was altered within a commit, and after
/// a commit of another process.
///
/// If the predicate has conditions on to-many relationships, or parts that only SQLite can evaluate, the keys of the
/// rows that count are stored too: nothing else says whether a row counted.
struct AggregateTracker {
  let select: SelectQuery
  let aggregates: [Aggregate]
  /// The column by which rows are grouped; without one, all rows are one group, under NULL.
  let group: ColumnPath?
  /// Whether that is a REAL column, whose values SQLite may return as integers.
  let groupsReals: Bool
  let columns: QueryColumns
  var cache: PlaceCache
  private var reading: Reading?
  private(set) var groups: [Value: Group] = [:]
  /// The keys of all rows that count; nil if a row's values alone say whether it counted.
  var members: KeySet?
  /// Whether a row's values do not say whether it counts.
  let needsMembers: Bool
  private let hasExtremes: Bool
  /// The number of statements it has run.
  var queriesRun = 0
  /// The number of times it has read all rows.
  private(set) var timesFilled = 0

  struct Group {
    /// The number of rows: a group without any is removed.
    var rows = 0
    var states: [AggregateState]
  }

  /// If there are more look-ups than this, all rows are read once instead.
  private static let mostLookUps = 64
  /// The name of the only group, if rows are not grouped.
  private static let onlyGroup: Set<Value> = [.null]

  init(_ select: SelectQuery, _ aggregates: [Aggregate], by group: ColumnPath? = nil, ofReals: Bool = false) {
    self.aggregates = aggregates
    self.group = group
    groupsReals = ofReals
    hasExtremes = aggregates.contains(where: \.isExtreme)
    needsMembers = select.filter?.needsRows ?? false
    var read = aggregates.compactMap(\.column)
    if let group { read.append(group) }
    var select = select
    columns = QueryColumns(select, (select.filter?.columns ?? []).union(read), related: select.filter?.related ?? [])
    // Last, if it is not a value of its own.
    if !columns.isOwn || read.isEmpty { read.append(ColumnPath(select.key)) }
    select.columns = read
    self.select = select
    cache = PlaceCache(count: 1 + columns.reached.count)
  }

  private var empty: Group { Group(states: aggregates.map(AggregateState.init)) }

  /// All rows together.
  var whole: Group { groups.first?.value ?? empty }

  /// The changes that can affect a group.
  var filters: [ChangeFilter] { columns.filters(where: select.filter) }

  /// The tables whose changes it reads.
  var tables: [String] { select.tables.union(columns.reached.compactMap { $0.steps.last?.table }).sorted() }

  /// A tracker of the same aggregates, loaded by reading all rows.
  func loaded(_ select: SelectQuery, on connection: Connection) throws -> AggregateTracker {
    var other = AggregateTracker(select, aggregates, by: group, ofReals: groupsReals)
    (other.queriesRun, other.timesFilled) = (queriesRun, timesFilled)
    try other.fill(on: connection)
    return other
  }

  /// Applies changes. If it throws, it must be loaded again.
  ///
  /// - Returns: The affected groups; nil if there is none.
  mutating func step(_ batch: CommitBatch, on connection: Connection) throws -> Set<Value>? {
    var touched: Set<Value> = []
    let isKnown = columns.isOwn ? judge(batch, &touched) : try follow(batch, &touched, on: connection)
    if isKnown, try lookUpExtremes(of: touched, on: connection) { return touched.isEmpty ? nil : touched }
    touched.formUnion(groups.keys)
    try fill(on: connection)
    return touched.union(groups.keys)
  }

  /// Applies changes by their values alone; false if these are not enough. Then `fill` corrects what was already
  /// applied.
  private mutating func judge(_ batch: CommitBatch, _ touched: inout Set<Value>) -> Bool {
    guard let changes = batch[select.table] else { return true }
    let places = cache.places(0, columns.own, key: select.key, in: changes.table)
    let reading = reading(by: places)
    let filter = select.filter
    func accepts(_ image: RowChange.RowValues, _ key: Int64) -> Bool {
      filter?.accepts { places.value($0.column, key, image) } ?? true
    }
    guard group == nil else {
      return Self.sides(of: changes, places) { image, key, isAdded in
        if accepts(image, key) { take(image, key, reading, isAdded, &touched) }
      }
    }
    // The only group: found by its position, and not by its name for every row.
    if groups.isEmpty { groups[.null] = empty }
    let only = groups.startIndex
    return Self.sides(of: changes, places) { image, key, isAdded in
      if !accepts(image, key) { return }
      touched = Self.onlyGroup
      _ = Self.change(&groups.values[only], isAdded) {
        reading.value(reading.aggregates[$0], key, image, orElse: .integer(1))
      }
    }
  }

  /// Passes the old and the new rows; false if the changes do not contain enough values.
  private static func sides(
    of changes: TableChanges, _ places: ColumnPlaces, _ take: (RowChange.RowValues, Int64, _ isAdded: Bool) -> Void
  ) -> Bool {
    for row in changes.rows.indices {
      guard case .integer(let key) = changes.rows[row].key else { continue }
      let kind = changes.rows[row].kind
      if kind == .update, places.areSame(in: changes.rows[row]) { continue }
      if kind != .insert {
        guard let old = changes.rows[row].old, places.areKnown(in: old) else { return false }
        take(old, key, false)
      }
      if kind != .delete {
        guard let new = changes.rows[row].new, places.areKnown(in: new) else { return false }
        take(new, key, true)
      }
    }
    return true
  }

  /// The positions of a change's values, found once for each form of the table.
  private final class Reading {
    let places: ColumnPlaces
    let group: Place
    let aggregates: [Place]

    enum Place {
      case column(Int)
      case key
      /// No column: rows are only counted, or all are one group.
      case none
    }

    init(_ places: ColumnPlaces, _ group: ColumnPath?, _ aggregates: [Aggregate]) {
      self.places = places
      func place(_ column: ColumnPath?) -> Place {
        column.map { column in places.place(of: column.column).map(Place.column) ?? .key } ?? .none
      }
      self.group = place(group)
      self.aggregates = aggregates.map { place($0.column) }
    }

    func value(_ place: Place, _ key: Int64, _ image: RowChange.RowValues, orElse value: Value) -> Value {
      switch place {
      case .column(let place): image[place] ?? .null
      case .key: .integer(key)
      case .none: value
      }
    }
  }

  private mutating func reading(by places: ColumnPlaces) -> Reading {
    if let reading, reading.places === places { return reading }
    let made = Reading(places, group, aggregates)
    reading = made
    return made
  }

  /// One side of a change.
  private mutating func take(
    _ image: RowChange.RowValues, _ key: Int64, _ reading: Reading, _ isAdded: Bool, _ touched: inout Set<Value>
  ) {
    let name = named(reading.value(reading.group, key, image, orElse: .null))
    touched.insert(name)
    change(name, isAdded) { reading.value(reading.aggregates[$0], key, image, orElse: .integer(1)) }
  }

  mutating func change(_ name: Value, _ isAdded: Bool, _ value: (Int) -> Value) {
    let aggregates = aggregates
    let isEmpty = Self.change(
      &groups[name, default: Group(states: aggregates.map(AggregateState.init))], isAdded, value)
    if isEmpty, group != nil { groups[name] = nil }
  }

  /// Changes the group in place: a copy of its sums would copy their digits too.
  ///
  /// - Returns: Whether its last row was removed.
  private static func change(_ group: inout Group, _ isAdded: Bool, _ value: (Int) -> Value) -> Bool {
    group.rows += isAdded ? 1 : -1
    for place in group.states.indices {
      if isAdded { group.states[place].add(value(place)) } else { group.states[place].remove(value(place)) }
    }
    return group.rows == 0
  }

  /// One representative for all values that SQL considers equal: an untyped column may hold both 1 and 1.0.
  func named(_ value: Value) -> Value {
    switch value {
    case .integer(let number) where groupsReals: .real(Double(number))
    case .real(let number) where !groupsReals: Int64(exactly: number).map(Value.integer) ?? value
    default: value
    }
  }

  // MARK: Queries

  mutating func fill(on connection: Connection) throws {
    groups = group == nil ? [.null: empty] : [:]
    members = needsMembers ? KeySet() : nil
    queriesRun += 1
    timesFilled += 1
    let sql = try start()
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    if onlyCounts {
      if try statement.step() { count(Int(try statement.row.int64(0))) }
    } else {
      try take(rowsOf: statement)
    }
  }

  /// The statement that reads all rows.
  func start() throws -> SQLText { onlyCounts ? try select.count() : try select.statement() }

  /// Whether a row's values before the change are needed, and not only whether it counted.
  var needsValues: Bool { !needsMembers || select.columns != [ColumnPath(select.key)] }

  /// Whether only the number of rows is needed: SQLite counts rows faster than it returns them.
  private var onlyCounts: Bool {
    group == nil && !needsMembers && aggregates.allSatisfy { $0.function == .count && $0.column == nil }
  }

  private mutating func count(_ rows: Int) {
    groups[.null] = Group(rows: rows, states: aggregates.map { AggregateState($0, count: rows) })
  }

  private mutating func take(rowsOf statement: Statement) throws {
    let places = Dictionary(
      select.columns.enumerated().map { ($1, Int32($0)) }, uniquingKeysWith: { first, _ in first })
    let groupPlace = group.flatMap { places[$0] }
    let own = aggregates.map { $0.column.flatMap { places[$0] } }
    let keyPlace = places[ColumnPath(select.key)] ?? 0
    while try statement.step() {
      let row = statement.row
      let name = groupPlace.map { named(row.value($0)) } ?? .null
      if groups[name] == nil { groups[name] = empty }
      groups[name]?.rows += 1
      for (place, column) in own.enumerated() {
        groups[name]?.states[place].add(column.map(row.value) ?? .integer(1))
      }
      members?.insert(try row.int64(keyPlace))
    }
  }

  /// - Returns: False if reading all rows is cheaper.
  private mutating func lookUpExtremes(of touched: Set<Value>, on connection: Connection) throws -> Bool {
    if !hasExtremes { return true }
    var wanted: [(name: Value, place: Int)] = []
    for name in touched {
      guard let group = groups[name] else { continue }
      for place in aggregates.indices where group.states[place].needsExtreme { wanted.append((name, place)) }
      if wanted.count > Self.mostLookUps { return false }
    }
    for (name, place) in wanted {
      let limit = groups[name]?.states[place].extremesWanted ?? 1
      let found = try extremes(aggregates[place], of: name, limit: limit, on: connection)
      groups[name]?.states[place].setExtremes(found)
    }
    return true
  }

  /// The query for a group's next extreme values; nil if the aggregate is not an extreme.
  func extremesQuery(_ aggregate: Aggregate, of name: Value, limit: Int = 1) -> SelectQuery? {
    guard var query = select.extremes(of: aggregate, limit: limit) else { return nil }
    if let group {
      let isInGroup: RowExpression =
        name == .null ? .isNull(.column(group)) : .compare(.equalOrAbsent, .column(group), .literal(name))
      query.filter = query.filter.map { .and([$0, isInGroup]) } ?? isInGroup
    }
    return query
  }

  private mutating func extremes(
    _ aggregate: Aggregate, of name: Value, limit: Int, on connection: Connection
  ) throws -> [Value] {
    guard let query = extremesQuery(aggregate, of: name, limit: limit) else { return [] }
    queriesRun += 1
    let sql = try query.statement()
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    var values: [Value] = []
    while try statement.step() { values.append(statement.row.value(0)) }
    return values
  }
}
