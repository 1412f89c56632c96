import QuireRow
import QuireSQLite

/// Unsaved edits of rows that a query reaches through a to-many relationship.
extension Fetcher {
  /// Whether an unsaved link or unlink could change the query's result.
  func hasPendingPairs(_ query: ResolvedQuery) -> Bool {
    guard !pending.joinEdits.isEmpty, let store else { return false }
    let tables = query.select.tables
    return pending.joinEdits.changes.keys.contains { tables.contains(store.joins[$0.join].name) }
  }

  /// Keys of the query's rows whose result may change by an unsaved edit of a related row or of the relationship: the
  /// rows it belongs to in the file, and those it belongs to now.
  func rowsRelated(to pending: [any PersistentModel], _ query: ResolvedQuery) throws -> Set<Int64> {
    var result: Set<Int64> = []
    for related in RelatedColumns.all(of: query.select.related) {
      guard let last = related.hops.last, let store, let entity = store.entity(ofTable: last.table) else { continue }
      let models = pending.filter { self.entity(of: $0)?.index == entity.index }
      let saved = models.map(\._quireRowState.key).filter { $0 >= ModelState.firstKey }
      if !saved.isEmpty { result.formUnion(try rows(leadingTo: Set(saved), related.hops[...], query)) }
      guard case .many(let relation) = last else { continue }
      let parents: [Int64?]
      switch relation.via {
      case .foreignKey(let column):
        guard let property = entity.property(ofColumn: column) else { continue }
        parents = models.map { $0._quireLink(property).currentKey }
      case .pairs(let table, let own, _):
        parents = core.pending.joinEdits.changes.keys.compactMap { pair in
          let join = store.joins[pair.join]
          if join.name != table { return nil }
          return join.first.name == own ? pair.first : pair.second
        }
      }
      let keys = Set(parents.compactMap { $0 }.filter { $0 >= ModelState.firstKey })
      if !keys.isEmpty { result.formUnion(try rows(leadingTo: keys, related.hops.dropLast(), query)) }
    }
    return result
  }

  /// The query's rows from which these hops lead, in the file, to rows with these keys.
  private func rows(leadingTo keys: Set<Int64>, _ hops: ArraySlice<RelatedHop>, _ query: ResolvedQuery) throws
    -> Set<Int64>
  {
    guard let last = hops.last, !keys.isEmpty else { return keys }
    let before = hops.dropLast()
    let sql = try last.statement(
      backFrom: keys.sorted(), to: before.last?.table ?? query.select.table, key: before.last?.key ?? query.select.key)
    let found = try read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      var found: Set<Int64> = []
      while try statement.step() { if case .integer(let key) = statement.row.value(0) { found.insert(key) } }
      return found
    }
    return try rows(leadingTo: found, before, query)
  }
}

extension PendingRows {
  /// The number of an object's related rows, as if all unsaved edits were saved.
  func count(_ rows: RelatedRows, of model: any PersistentModel, _ entity: Entity) -> Int? {
    guard let (model, entity) = row(behind: rows.steps, of: model, entity) else { return 0 }
    guard
      let property = entity.relationships.first(where: {
        entity.properties[$0].toMany.flatMap { store.relation($0, of: entity) } == rows.relation
      }), let side = entity.properties[property].toMany
    else { return nil }
    let target = store.entities[side.target]
    return owner.loader.targets(of: model, property).count { object in
      let child = target.model(object)
      return !child.isDeleted && accepts(rows.condition, child, target)
    }
  }

  func accepts(
    _ condition: RowExpression, _ model: any PersistentModel, _ entity: Entity, computed: ComputedValues? = nil
  ) -> Bool {
    condition.accepts(
      { value(of: $0, in: model, entity) }, related: { count($0, of: model, entity) },
      computed: { computed?.value($0, of: model) ?? .null })
  }
}
