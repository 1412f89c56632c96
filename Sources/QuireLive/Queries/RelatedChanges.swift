import QuireModel
import QuireRow
import QuireSQLite

/// Changes of rows that a query reads through to-many relationships.
extension QueryColumns {
  /// Whether the changes contain the old and new owner of each row. They do unless the transaction began before the
  /// columns were requested, or a table was altered in it.
  func tellsRelated(_ batch: CommitBatch) -> Bool {
    related.allSatisfy { $0.origins(in: batch) != nil }
  }
}

extension RelatedColumns {
  /// The join table that the last hop goes through, and its column that leads back.
  fileprivate var pairs: (table: String, own: String)? {
    guard case .many(let relation)? = hops.last, case .pairs(let table, let own, _) = relation.via else { return nil }
    return (table, own)
  }

  /// The foreign key by which the last hop leads back.
  private var foreignKey: String? {
    guard case .many(let relation)? = hops.last, case .foreignKey(let column) = relation.via else { return nil }
    return column
  }

  /// The table's changes without updates that leave all the columns unchanged.
  fileprivate func changes(in batch: CommitBatch) -> [TableChanges] {
    batch.tables.filter { $0.table.name == hops.last?.table }.map { changes in
      let places = ColumnPlaces(columns, key: nil, in: changes.table)
      return TableChanges(table: changes.table, rows: changes.rows.filter { !places.areSame(in: $0) })
    }
  }

  /// The keys that the changes are about: of rows at the end of the path, or of rows one hop before it. Nil if the
  /// changes do not contain them.
  func origins(in batch: CommitBatch) -> (ends: Set<Int64>, before: Set<Int64>)? {
    var (ends, before): (Set<Int64>, Set<Int64>) = ([], [])
    for changes in changes(in: batch) {
      if let foreignKey {
        guard let keys = Self.values(of: foreignKey, in: changes) else { return nil }
        before.formUnion(keys)
      } else {
        for change in changes.rows { if case .integer(let key) = change.key { ends.insert(key) } }
      }
    }
    if let pairs {
      for changes in batch.tables where changes.table.name == pairs.table {
        guard let keys = Self.values(of: pairs.own, in: changes) else { return nil }
        before.formUnion(keys)
      }
    }
    return (ends, before)
  }

  /// All keys that a column held before or holds after the changes, without NULL.
  private static func values(of column: String, in changes: TableChanges) -> Set<Int64>? {
    guard let place = changes.table.index(of: column) else { return nil }
    var values: Set<Int64> = []
    for change in changes.rows {
      let images = [
        (isThere: change.kind != .insert, image: change.old),
        (isThere: change.kind != .delete, image: change.new),
      ]
      for (isThere, image) in images where isThere {
        guard let value = image?[place] else { return nil }
        if case .integer(let key) = value { values.insert(key) }
      }
    }
    return values
  }

  /// The changes of this table, and of its join tables, that count.
  var filters: [ChangeFilter] {
    let own = hops.last.map { [ChangeFilter($0.table, columns: columns)] } ?? []
    return own + (pairs.map { [ChangeFilter($0.table)] } ?? [])
  }

  /// The columns to be captured in changes of this table.
  var interests: [(table: String, columns: Set<String>)] {
    var result: [(table: String, columns: Set<String>)] = []
    if let table = hops.last?.table { result.append((table, columns)) }
    if let pairs { result.append((pairs.table, [pairs.own])) }
    return result
  }
}

extension QueryColumns {
  /// Keys of the query's rows whose related rows changed: the old and the new owner of each changed row.
  ///
  /// - Parameter ask: Runs a statement that returns one column of keys.
  func keys(relatedIn batch: CommitBatch, _ ask: (SQLText) throws -> [Int64?]) throws
    -> Set<Int64>
  {
    var result: Set<Int64> = []
    for related in related {
      guard let (ends, before) = related.origins(in: batch) else {
        continue  // cannot happen: `tellsRelated` was checked
      }
      let hops = related.hops
      result.formUnion(try keys(leadingTo: ends, by: hops[...], ask))
      result.formUnion(try keys(leadingTo: before, by: hops.dropLast(), ask))
    }
    return result
  }

  /// Follows the path back, as the file has it now. A row that left the path has changed itself, and is found by its
  /// own change.
  private func keys(leadingTo keys: Set<Int64>, by hops: ArraySlice<RelatedHop>, _ ask: (SQLText) throws -> [Int64?])
    throws -> Set<Int64>
  {
    guard let last = hops.last, !keys.isEmpty else { return keys }
    let before = hops.dropLast()
    let sql = try last.statement(
      backFrom: keys.sorted(), to: before.last?.table ?? table, key: before.last?.key ?? key)
    return try self.keys(leadingTo: Set(try ask(sql).compactMap { $0 }), by: before, ask)
  }
}

extension WindowOperator {
  func keys(relatedIn batch: CommitBatch, on connection: Connection) throws -> Set<Int64> {
    try columns.keys(relatedIn: batch) { sql in
      try rows(sql, on: connection) { row in if case .integer(let key) = row.value(0) { key } else { nil } }
    }
  }
}
