import QuireRow
import QuireSQLite

/// Fetching by a predicate of which SQL has only a part: it narrows, and objects are asked for the rest.
extension Fetcher {
  /// The objects that the whole predicate accepts, in order, limit and offset counted.
  ///
  /// Rows come a batch at a time until the limit is reached; with unsaved edits among them all at once. What is asked of
  /// the objects is not tracked.
  func fetchByObjects<Model: PersistentModel>(_ query: ResolvedQuery, withEdits: Bool) throws -> [Model] {
    guard let remaining = query.remaining else { return [] }
    var narrowed = query
    narrowed.select.limit = nil
    narrowed.select.offset = 0
    let (end, overflows) = (query.select.limit ?? .max).addingReportingOverflow(query.select.offset)
    let limit = overflows ? .max : end
    var result: [Model] = []
    if withEdits, try hasPendingRows(narrowed) {
      result = try accepted(try fetchWithEdits(narrowed), remaining, narrowed)
    } else {
      let keys = try keys(try narrowed.select.statement())
      for start in stride(from: 0, to: keys.count, by: Fetcher.batchOfCandidates) where result.count < limit {
        let batch = keys[start..<min(keys.count, start + Fetcher.batchOfCandidates)]
        let candidates: [Model] = try run(
          try narrowed.objectStatement { query throws(QueryError) in try query.statement(forKeys: batch) }, query.entity
        )
        result += try accepted(candidates, remaining, query)
        core.sweeper.sweep()
      }
    }
    return Array(result.prefix(limit).dropFirst(query.select.offset))
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
