package import QuireRow
import QuireSQLite

/// Columns of the rows that match, as they would be if all unsaved edits were saved.
extension Fetcher {
  // MARK: In no order

  /// Passes the columns that `select` has of each row that matches.
  ///
  /// Where some edits are unsaved, a limit counts for the rows they do not touch.
  /// - Parameter select: What SQL is asked. Where the predicate has parts without SQL, the query's objects are asked for
  ///   the same columns.
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
    core.following.changed()
  }

  private func visit(_ sql: SQLText, _ body: (_ column: (Int) -> Value) throws -> Void) throws {
    try read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      while try statement.step() { try body { statement.row.value(Int32($0)) } }
    }
  }

  /// The keys of the rows whose answer unsaved edits may change, and the objects that the filter accepts among these and
  /// the unsaved ones; nil where no edit concerns the query.
  private func edited<Model: PersistentModel>(_ type: Model.Type, _ select: SelectQuery, _ entity: Entity) throws
    -> (keys: [Int64], objects: [Model])?
  {
    let store = try requireStore()
    var query = try ResolvedQuery(type, where: nil, sortBy: [], limit: nil, offset: 0, in: store)
    query.select = select
    query.select.columns = [ColumnPath(entity.keyColumn)]
    // What is read counts among what decides: an edited row that a path leads to changes it.
    query.select.order += select.columns.map { OrderTerm($0) }
    guard try hasPendingRows(query) else { return nil }
    let pending = pendingModels
    var objects = pending.compactMap { $0 as? Model }
    let saved = Set(objects.map(\._quireState.key).filter { $0 >= ModelState.firstKey })
    let reached = try rowsReaching(pending, query).union(rowsRelated(to: pending, query)).subtracting(saved)
    objects += try self.objects(entity, keys: reached.sorted())
    let accepted = try read { connection in
      let values = try PendingRows(core, store, on: connection)
      return objects.filter { model in
        !model.isDeleted && select.filter.map { values.accepts($0, model, entity) } ?? true
      }
    }
    return (saved.union(reached).sorted(), accepted)
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

  // MARK: In order

  /// The query's columns of each row, in its order, where objects have to be asked: because of unsaved edits, or for what
  /// has no SQL. Nil where one statement tells them.
  func valuesOfObjects<Model: PersistentModel>(_ type: Model.Type, _ query: ResolvedQuery) throws -> [[Value]]? {
    guard try query.remaining != nil || hasPendingRows(query) else { return nil }
    let objects = query.selectingKeys
    let models: [Model] =
      try query.remaining == nil ? fetchWithEdits(objects) : fetchByObjects(objects, withEdits: true)
    core.following.changed()
    return try values(of: models, query.select.columns, query.entity)
  }

  /// The different rows of the query's columns, in the order of their values; its limit counts these.
  func distinctValues<Model: PersistentModel>(_ type: Model.Type, _ query: ResolvedQuery, ascending: Bool) throws
    -> [[Value]]
  {
    let select = query.select
    let width = select.columns.count
    var rows: [[Value]] = []
    func add(_ column: (Int) -> Value) { rows.append((0..<width).map(column)) }
    defer { core.following.changed() }
    if query.remaining != nil {
      var all = query.selectingKeys
      all.select.limit = nil
      rows = try values(of: try fetchByObjects(all, withEdits: true) as [Model], select.columns, query.entity)
    } else if let edited = try edited(type, select, query.entity) {
      var others = select
      others.limit = nil
      try visit(try others.distinct(excluding: edited.keys), add)
      rows += try values(of: edited.objects, select.columns, query.entity)
    } else {
      try visit(try select.distinct(ascending: ascending), add)
      return rows
    }
    rows.sort { $0.isOrdered(before: $1, ascending: ascending) }
    let different = rows.indices.lazy.filter { place in
      place == 0 || rows[place - 1].isOrdered(before: rows[place], ascending: ascending)
    }
    return different.prefix(select.limit ?? .max).map { rows[$0] }
  }
}

extension ResolvedQuery {
  /// What objects are found by.
  fileprivate var selectingKeys: ResolvedQuery {
    var query = self
    query.select.columns = [ColumnPath(entity.keyColumn)]
    return query
  }
}

extension [Value] {
  fileprivate func isOrdered(before other: [Value], ascending: Bool) -> Bool {
    for (own, others) in zip(self, other) {
      let order = own.compare(to: others)
      if order != 0 { return (order < 0) == ascending }
    }
    return false
  }
}
