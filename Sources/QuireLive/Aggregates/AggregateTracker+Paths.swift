import QuireModel
import QuireRow
import QuireSQLite

/// Aggregates that reach other tables: the rows that a commit affects, and what each of them contributed before it.
extension AggregateTracker {
  /// Applies the changes if the query reads other tables.
  ///
  /// Affected are the rows that changed, those that lead to a changed row, and those whose related rows changed. Their
  /// present contribution is read by key. Their previous contribution is built from the old values in the changes and,
  /// for unchanged columns, from present values; if related rows decide whether a row counts, the stored keys say
  /// whether it did. This takes a few statements by key for the whole commit, which use an index on each foreign key.
  ///
  /// - Returns: False if values were not captured, or if reading all rows is cheaper.
  mutating func follow(_ batch: CommitBatch, _ touched: inout Set<Value>, on connection: Connection) throws -> Bool {
    // At least half of the rows of a large commit affect this one: too many to collect first.
    if let changes = batch[select.table], changes.rows.count > Self.mostAskedFor, changes.rows.count > rowCount / 4 {
      return false
    }
    guard let concerned = try followers(affectedBy: batch, on: connection) else { return false }
    if concerned.isEmpty { return true }
    if try areTooMany(concerned.count, on: connection) { return false }
    guard let before = try rowsBefore(concerned, batch, on: connection) else { return false }
    let now = try rowsNow(concerned, on: connection)
    for values in before { take(values, isAdded: false, &touched) }
    for values in now { take(values, isAdded: true, &touched) }
    if members != nil { hold(now, among: concerned) }
    return true
  }

  /// The number of rows that count.
  private var rowCount: Int { groups.values.reduce(0) { $0 + $1.rows } }

  /// Whether reading all rows is cheaper than reading so many by key, as they were and as they are.
  private mutating func areTooMany(_ concerned: Int, on connection: Connection) throws -> Bool {
    if concerned <= max(64, rowCount / 4) { return false }
    if concerned > Self.mostAskedFor { return true }
    // The number of matches does not say how many rows are read to find them. The highest key is an upper bound.
    var last = SelectQuery(from: select.table, key: select.key, columns: [ColumnPath(select.key)])
    last.order = [OrderTerm(ColumnPath(select.key), ascending: false)]
    last.limit = 1
    var highest: Int64 = 0
    try read(try last.statement(), on: connection) { highest = try $0.int64(0) }
    return Int64(concerned) > highest / 8
  }

  /// Up to this many rows, reading by key takes some milliseconds; beyond, an index may find the matching rows sooner.
  private static let mostAskedFor = 1_000

  /// Of these keys, those whose rows exist now are counted from here on.
  private mutating func hold(_ now: [[ColumnPath: Value]], among concerned: Set<Int64>) {
    for key in concerned { members?.remove(key) }
    let path = ColumnPath(select.key)
    for case .integer(let key)? in now.lazy.map({ $0[path] }) { members?.insert(key) }
  }

  /// Keys of the rows whose contribution may change; nil if the changes do not contain enough values.
  private mutating func followers(affectedBy batch: CommitBatch, on connection: Connection) throws -> Set<Int64>? {
    if !columns.tellsRelated(batch) { return nil }
    var result: Set<Int64> = []
    if let changes = batch[select.table] {
      let places = cache.places(0, columns.own, key: select.key, in: changes.table)
      for change in changes.rows where !places.areSame(in: change) {
        guard case .integer(let key) = change.key else { return nil }
        result.insert(key)
      }
    }
    for (slot, reached) in columns.reached.enumerated() {
      guard let table = reached.steps.last?.table, let changes = batch[table] else { continue }
      let places = cache.places(1 + slot, reached.columns, key: nil, in: changes.table)
      var ends: [Int64] = []
      for change in changes.rows where !places.areSame(in: change) {
        guard case .integer(let key) = change.key else { return nil }
        ends.append(key)
      }
      if ends.isEmpty { continue }
      let query = SelectQuery(from: select.table, key: select.key, columns: [ColumnPath(select.key)])
      try read(try query.statement(forKeys: ends, reachedBy: reached.steps), on: connection) { row in
        result.insert(try row.int64(0))
      }
    }
    if columns.related.isEmpty { return result }
    let deciding = columns
    result.formUnion(
      try deciding.keys(relatedIn: batch) { sql in
        var keys: [Int64?] = []
        try read(sql, on: connection) { row in if case .integer(let key) = row.value(0) { keys.append(key) } }
        return keys
      })
    return result
  }

  private mutating func rowsNow(_ keys: Set<Int64>, on connection: Connection) throws -> [[ColumnPath: Value]] {
    var rows: [[ColumnPath: Value]] = []
    let columns = select.columns
    try read(try select.statement(forKeys: keys.sorted()), on: connection) { row in
      rows.append(
        Dictionary(
          columns.enumerated().map { ($1, row.value(Int32($0))) }, uniquingKeysWith: { first, _ in first }))
    }
    return rows
  }

  /// The rows with these keys as they were before, if they existed and the filter accepted them.
  private mutating func rowsBefore(_ keys: Set<Int64>, _ batch: CommitBatch, on connection: Connection) throws
    -> [[ColumnPath: Value]]?
  {
    let keys = members.map { keys.filter($0.contains) } ?? keys
    if !needsValues { return keys.map { [ColumnPath(select.key): .integer($0)] } }
    guard let own = try before(keys, of: select.table, key: select.key, columns.own, slot: 0, batch, on: connection)
    else { return nil }
    var rows = own.map { _, values in
      Dictionary(values.map { (ColumnPath($0), $1) }, uniquingKeysWith: { first, _ in first })
    }
    // Each part of a path begins where a shorter one ends.
    for (slot, reached) in columns.reached.enumerated().sorted(by: { $0.element.steps.count < $1.element.steps.count })
    {
      guard let step = reached.steps.last else { continue }
      let foreignKey = ColumnPath(Array(reached.steps.dropLast()), step.foreignKey)
      let ends = Set(rows.compactMap { if case .integer(let key)? = $0[foreignKey] { key } else { nil } })
      guard
        let found = try before(
          ends, of: step.table, key: step.key, reached.columns, slot: 1 + slot, batch, on: connection)
      else { return nil }
      for place in rows.indices {
        guard case .integer(let end)? = rows[place][foreignKey], let values = found[end] else { continue }
        for (name, value) in values { rows[place][ColumnPath(reached.steps, name)] = value }
      }
    }
    return members != nil ? rows : rows.filter { row in select.filter?.accepts { row[$0] ?? .null } ?? true }
  }

  /// Columns of one table's rows as they were before: changed columns from the changes, the others as they are. Nil if
  /// a change does not contain a value.
  private mutating func before(
    _ keys: Set<Int64>, of table: String, key keyColumn: String, _ names: Set<String>, slot: Int, _ batch: CommitBatch,
    on connection: Connection
  ) throws -> [Int64: [String: Value]]? {
    var result: [Int64: [String: Value]] = [:]
    var unchanged = keys
    let names = names.union([keyColumn]).sorted()
    if let changes = batch[table] {
      let places = cache.places(
        slot, slot == 0 ? columns.own : columns.reached[slot - 1].columns,
        key: slot == 0 ? keyColumn : nil, in: changes.table)
      for change in changes.rows {
        guard case .integer(let key) = change.key, unchanged.remove(key) != nil, change.kind != .insert else {
          continue
        }
        guard let old = change.old, places.areKnown(in: old) else { return nil }
        result[key] = Dictionary(uniqueKeysWithValues: names.map { ($0, places.value($0, key, old)) })
      }
    }
    if unchanged.isEmpty { return result }
    let query = SelectQuery(
      from: table, key: keyColumn, columns: [ColumnPath(keyColumn)] + names.map { ColumnPath($0) })
    try read(try query.statement(forKeys: unchanged.sorted()), on: connection) { row in
      result[try row.int64(0)] = Dictionary(
        uniqueKeysWithValues: names.enumerated().map { ($1, row.value(Int32($0 + 1))) })
    }
    return result
  }

  private mutating func take(_ values: [ColumnPath: Value], isAdded: Bool, _ touched: inout Set<Value>) {
    let name = group.map { named(values[$0] ?? .null) } ?? .null
    touched.insert(name)
    let columns = aggregates.map(\.column)
    change(name, isAdded) { place in columns[place].map { values[$0] ?? .null } ?? .integer(1) }
  }

  private mutating func read(_ sql: SQLText, on connection: Connection, _ body: (RowCursor) throws -> Void) throws {
    queriesRun += 1
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    while try statement.step() { try body(statement.row) }
  }
}
