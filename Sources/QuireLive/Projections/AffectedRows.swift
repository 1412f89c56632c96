import QuireModel
import QuireRow
import QuireSQLite

/// Finds the rows of a projection, shown or look-ahead, that a commit may have changed.
///
/// Rows of the base table are found by key. For a table that a to-one path leads to, the operator stores which rows
/// reach which row: each row is read with the keys of the rows on its paths, and these are indexed both ways. A related
/// row that an aggregate counts has a foreign key, whose old and new values name the affected rows. The database is
/// queried only for join tables, and for relationships further away.
struct AffectedRows {
  /// The columns that the fields read, by table.
  let columns: QueryColumns
  private var cache: PlaceCache
  /// For each path to another table, by the key of the row at its end: the rows from which it leads there.
  private var reaching: [[Int64: Set<Int64>]]
  /// By row: the ends of its paths; empty if the fields read only the base table.
  private var reached: [Int64: [Int64?]] = [:]

  init(_ select: SelectQuery, _ fields: [RowExpression]) {
    columns = QueryColumns(
      select, fields.reduce(into: []) { $0.formUnion($1.columns) }, related: fields.flatMap(\.related))
    cache = PlaceCache(count: 1 + columns.reached.count)
    reaching = Array(repeating: [:], count: columns.reached.count)
  }

  var tables: Set<String> {
    Set(columns.reached.compactMap { $0.steps.last?.table } + columns.related.flatMap(\.tables) + [columns.table])
  }

  /// The columns with the keys of the paths' ends, to be read with each row.
  var ends: [ColumnPath] {
    columns.reached.compactMap { path in
      path.steps.last.map { ColumnPath(Array(path.steps.dropLast()), $0.foreignKey) }
    }
  }

  /// The rows that the changes may affect; nil if the changes do not contain enough values.
  ///
  /// - Parameter ask: Runs a statement that returns one column of keys.
  mutating func keys(in batch: CommitBatch, held isHeld: (Int64) -> Bool, _ ask: (SQLText) throws -> [Int64?]) throws
    -> Set<Int64>?
  {
    guard columns.tellsRelated(batch) else { return nil }
    var result: Set<Int64> = []
    if let changes = batch[columns.table] {
      let places = cache.places(0, columns.own, key: columns.key, in: changes.table)
      for row in changes.rows.indices where changes.rows[row].kind == .update {
        guard case .integer(let key) = changes.rows[row].key, isHeld(key) else { continue }
        if !places.areSame(in: changes.rows[row]) { result.insert(key) }
      }
    }
    for (slot, path) in columns.reached.enumerated() {
      guard let table = path.steps.last?.table, let changes = batch[table] else { continue }
      let places = cache.places(1 + slot, path.columns, key: nil, in: changes.table)
      for change in changes.rows where !places.areSame(in: change) {
        guard case .integer(let end) = change.key else { continue }
        for key in reaching[slot][end] ?? [] where isHeld(key) { result.insert(key) }
      }
    }
    for key in try columns.keys(relatedIn: batch, ask) where isHeld(key) {
      result.insert(key)
    }
    return result
  }

  // MARK: Index of the paths' ends

  mutating func take(_ ends: [Int64: [Int64?]]) {
    for (key, now) in ends where reached[key] != now {
      forget(key)
      reached[key] = now
      for (slot, end) in now.enumerated() {
        if let end { reaching[slot][end, default: []].insert(key) }
      }
    }
  }

  mutating func forget(_ keys: Set<Int64>) { for key in keys { forget(key) } }

  mutating func forgetAll() {
    reached.removeAll()
    for slot in reaching.indices { reaching[slot].removeAll() }
  }

  mutating func forget(_ key: Int64) {
    guard let before = reached.removeValue(forKey: key) else { return }
    for (slot, end) in before.enumerated() {
      guard let end else { continue }
      reaching[slot][end]?.remove(key)
      if reaching[slot][end]?.isEmpty == true { reaching[slot][end] = nil }
    }
  }
}
