import QuireRow
import QuireSQLite

/// Fetches by a predicate that SQL can evaluate only in part: SQL narrows, and the rest is evaluated on objects.
extension Fetcher {
  /// The objects that the whole predicate accepts, in order, after limit and offset.
  ///
  /// Rows are read in batches until the limit is reached; all at once if unsaved edits are among them. Reads of the
  /// objects are not tracked.
  func fetchByObjects<Model: PersistentModel>(_ query: ResolvedQuery, withEdits: Bool) throws -> [Model] {
    guard let remaining = query.remaining else { return [] }
    if !withEdits, hasChanges { return try fetchSaved(query) }
    var narrowed = query
    narrowed.select = query.candidates
    let (end, overflows) = (query.select.limit ?? .max).addingReportingOverflow(query.select.offset)
    let limit = overflows ? .max : end
    var result: [Model] = []
    if withEdits, try hasPendingRows(narrowed) {
      result = try accepted(try fetchWithEdits(narrowed), remaining, narrowed)
    } else {
      let keys = try keys(try narrowed.select.statement())
      for start in stride(from: 0, to: keys.count, by: Fetcher.batchOfCandidates)
      where result.count < limit || query.isSortedByObjects {
        let batch = keys[start..<min(keys.count, start + Fetcher.batchOfCandidates)]
        let candidates: [Model] = try run(
          try narrowed.objectStatement { query throws(QueryError) in try query.statement(forKeys: batch) }, query.entity
        )
        result += try accepted(candidates, remaining, query)
        core.sweeper.sweep()
      }
    }
    if query.isSortedByObjects { try sort(&result, remaining.values, query) }
    return Array(result.prefix(limit).dropFirst(query.select.offset))
  }

  /// The same without unsaved edits, which the objects of this context have: a context for this fetch alone evaluates the
  /// predicate, on the rows as they are saved.
  private func fetchSaved<Model: PersistentModel>(_ query: ResolvedQuery) throws -> [Model] {
    let store = try requireStore()
    let reader = ContextCore(store, number: store.nextContextNumber(), nil, follows: false)
    defer { reader.close() }
    let keys = try read { connection in
      try reader.reading(on: connection) {
        let models: [Model] = try reader.throwingDeferred {
          try reader.fetcher.fetchByObjects(query, withEdits: false)
        }
        return models.map(\._quireRowState.key)
      }
    }
    return try objects(query.entity, keys: keys)
  }

  private func sort<Model: PersistentModel>(
    _ models: inout [Model], _ computed: ComputedValues, _ query: ResolvedQuery
  ) throws {
    let store = try requireStore()
    let wasMuted = core.monitor.pointee.isMuted
    core.monitor.pointee.isMuted = true
    defer { core.monitor.pointee.isMuted = wasMuted }
    models = try read { connection in
      let rows = try PendingRows(core, store, on: connection)
      return models.map { ($0, rows.place(of: $0, in: query, computed: computed)) }.sorted { $0.1.precedes($1.1) }
        .map(\.0)
    }
  }

  private static var batchOfCandidates: Int { 1000 }

  private func accepted<Model: PersistentModel>(
    _ candidates: [Model], _ remaining: ObjectCondition, _ query: ResolvedQuery
  ) throws -> [Model] {
    let store = try requireStore()
    let wasMuted = core.monitor.pointee.isMuted
    core.monitor.pointee.isMuted = true
    defer { core.monitor.pointee.isMuted = wasMuted }
    return try read { connection in
      let rows = try PendingRows(core, store, on: connection)
      return candidates.filter {
        !$0.isDeleted && rows.accepts(remaining.condition, $0, query.entity, computed: remaining.values)
      }
    }
  }
}
