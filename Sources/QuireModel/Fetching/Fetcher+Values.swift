package import QuireRow
import QuireSQLite

/// Columns of the rows that match, as if all unsaved edits were saved.
extension Fetcher {
  // MARK: Unordered

  /// Passes the columns of `select` for each row that matches.
  ///
  /// If there are unsaved edits, a limit applies to the rows they do not affect.
  /// - Parameter select: The SQL query. If the predicate has parts without SQL, the same columns are read from the
  ///   query's objects.
  package func visit<Model: PersistentModel>(
    _ type: Model.Type, _ query: AggregateQuery, _ select: SelectQuery,
    _ body: (_ column: (Int) -> Value) throws -> Void
  ) throws {
    if query.remaining == nil {
      let edited = try edited(type, select, query.entity)
      try visit(edited.map { try select.statement(excluding: $0.keys) } ?? select.statement(), body)
      for row in try values(of: edited?.objects ?? [], select.columns, query.entity) { try body { row[$0] } }
    } else {
      var objects = try ResolvedQuery(type, where: nil, sortBy: [], limit: nil, offset: 0, in: requireStore())
      objects.select = query.select
      objects.remaining = query.remaining
      let models: [Model] = try fetchByObjects(objects, withEdits: true)
      for row in try values(of: models, select.columns, query.entity) { try body { row[$0] } }
    }
    core.following.hasRead()
  }

  private func visit(_ sql: SQLText, _ body: (_ column: (Int) -> Value) throws -> Void) throws {
    try read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      while try statement.step() { try body { statement.row.value(Int32($0)) } }
    }
  }

  /// The unsaved edits that affect the query; nil if none does.
  private func edited<Model: PersistentModel>(_ type: Model.Type, _ select: SelectQuery, _ entity: Entity) throws
    -> Edits<Model>?
  {
    let store = try requireStore()
    var query = try ResolvedQuery(type, where: nil, sortBy: [], limit: nil, offset: 0, in: store)
    query.select = select
    query.select.columns = [ColumnPath(entity.keyColumn)]
    // The columns that are read count as deciding columns: an edited row that a path leads to changes them.
    query.select.order += select.columns.map { OrderTerm($0) }
    return try hasPendingRows(query) ? edits(query) : nil
  }

  private func values<Model: PersistentModel>(of models: [Model], _ columns: [ColumnPath], _ entity: Entity) throws
    -> [[Value]]
  {
    if models.isEmpty { return [] }
    let store = try requireStore()
    return try read { connection in
      let values = try PendingRows(core, store, on: connection)
      return models.map { model in columns.map { values.value(of: $0, in: model, entity) } }
    }
  }

  // MARK: Ordered

  /// The query's columns of each row, in order, if objects have to be read because of unsaved edits or parts without
  /// SQL. Nil if one SQL statement is enough.
  func valuesOfObjects<Model: PersistentModel>(_ type: Model.Type, _ query: ResolvedQuery) throws -> [[Value]]? {
    guard try query.remaining != nil || hasPendingRows(query) else { return nil }
    let objects = query.selectingKeys
    let models: [Model] =
      try query.remaining == nil ? fetchWithEdits(objects) : fetchByObjects(objects, withEdits: true)
    core.following.hasRead()
    return try values(of: models, query.select.columns, query.entity)
  }

  /// The distinct rows of the query's columns, ordered by value; the query's limit counts distinct rows.
  /// - Parameter decimals: The columns of decimals, by position.
  func distinctValues<Model: PersistentModel>(
    _ type: Model.Type, _ query: ResolvedQuery, ascending: Bool, decimals: Set<Int>
  ) throws -> [[Value]] {
    let select = query.select
    let width = select.columns.count
    var rows: [[Value]] = []
    func add(_ column: (Int) -> Value) { rows.append((0..<width).map(column)) }
    defer { core.following.hasRead() }
    if query.remaining != nil {
      var all = query.selectingKeys
      all.select.limit = nil
      rows = try values(of: try fetchByObjects(all, withEdits: true) as [Model], select.columns, query.entity)
    } else if let edited = try edited(type, select, query.entity) {
      var others = select
      others.limit = nil
      try visit(try others.distinct(decimals: decimals, excluding: edited.keys), add)
      rows += try values(of: edited.objects, select.columns, query.entity)
    } else {
      try visit(try select.distinct(ascending: ascending, decimals: decimals), add)
      return rows
    }
    rows.sort { $0.isOrdered(before: $1, ascending: ascending, decimals: decimals) }
    let different = rows.indices.lazy.filter { place in
      place == 0 || rows[place - 1].isOrdered(before: rows[place], ascending: ascending, decimals: decimals)
    }
    return different.prefix(select.limit ?? .max).map { rows[$0] }
  }
}

extension ResolvedQuery {
  /// The same query with keys as its columns.
  fileprivate var selectingKeys: ResolvedQuery {
    var query = self
    query.select.columns = [ColumnPath(entity.keyColumn)]
    return query
  }
}

extension [Value] {
  fileprivate func isOrdered(before other: [Value], ascending: Bool, decimals: Set<Int>) -> Bool {
    for (place, (own, others)) in zip(self, other).enumerated() {
      let order = decimals.contains(place) ? DecimalOrder.compare(own, others) : own.compare(to: others)
      if order != 0 { return (order < 0) == ascending }
    }
    return false
  }
}
