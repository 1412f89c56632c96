import Foundation
import QuireRow
import QuireSQLite

/// Queries over rows with unsaved edits, answered as if all edits were saved.
extension Fetcher {
  /// Whether any unsaved edit could change the result: of the query's own rows, or of rows that its paths reach.
  func hasPendingRows(_ query: ResolvedQuery) throws -> Bool {
    guard hasChanges else { return false }
    try core.editing.deleteCascades()
    if hasPendingPairs(query) { return true }
    let tables = query.select.tables
    return pendingModels.contains { model in entity(of: model).map { tables.contains($0.table) } ?? false }
      || !stepsToDeleted(query).isEmpty
  }

  var pendingModels: [any PersistentModel] {
    pending.edits.filter { $0._quireRowState.dirty != 0 } + pending.inserted.compactMap { $0 } + pending.deleted
  }

  /// Rows without unsaved edits come from SQL; the others are evaluated in memory, by the same condition and order.
  func fetchWithEdits<Model: PersistentModel>(_ query: ResolvedQuery) throws -> [Model] {
    let store = try requireStore()
    let pending = pendingModels
    var candidates: [Model] = pending.compactMap { $0 as? Model }
    let saved = Set(candidates.map(\._quireRowState.key).filter { $0 >= ModelState.firstKey })
    let reached = try rowsReaching(pending, query).union(rowsRelated(to: pending, query)).subtracting(saved)
    candidates += try objects(query.entity, keys: reached.sorted())
    let (end, overflows) = (query.select.limit ?? .max).addingReportingOverflow(query.select.offset)
    var untouched = query
    untouched.select.offset = 0
    untouched.select.limit = overflows || query.select.limit == nil ? nil : end
    let affected = saved.union(reached)
    let rows: [Model] = try run(
      try untouched.objectStatement { query throws(QueryError) in try query.statement(excluding: affected) },
      query.entity)
    let result = try read { connection in
      let values = try PendingRows(core, store, on: connection)
      let matching = candidates.filter { model in
        !model.isDeleted && query.select.filter.map { values.accepts($0, model, query.entity) } ?? true
      }
      return merged(rows, matching, query, values)
    }
    return Array(result.dropFirst(query.select.offset).prefix(query.select.limit ?? .max))
  }

  /// Merges other rows into ordered rows, at their positions.
  private func merged<Model: PersistentModel>(
    _ rows: [Model], _ others: [Model], _ query: ResolvedQuery, _ values: PendingRows
  ) -> [Model] {
    var result: [Model] = []
    result.reserveCapacity(rows.count + others.count)
    var start = 0
    for (model, place) in others.map({ ($0, values.place(of: $0, in: query)) }).sorted(by: { $0.1.precedes($1.1) }) {
      var low = start
      var high = rows.count
      while low < high {
        let middle = (low + high) / 2
        if values.place(of: rows[middle], in: query).precedes(place) { low = middle + 1 } else { high = middle }
      }
      result += rows[start..<low]
      result.append(model)
      start = low
    }
    return result + rows[start...]
  }

  /// The references that the query asks for and that may lead to objects whose deletion is unsaved, with these objects' keys.
  private func stepsToDeleted(_ query: ResolvedQuery) -> [(steps: [ColumnPath.Step], keys: [Int64])] {
    guard !pending.deleted.isEmpty, let store else { return [] }
    return query.select.decidingColumns.compactMap { path in
      guard let entity = store.entity(ofTable: path.steps.last?.table ?? query.select.table),
        let property = entity.property(ofColumn: path.column), let side = entity.properties[property].toOne
      else { return nil }
      let target = store.entities[side.target]
      let keys = pending.deleted.filter { self.entity(of: $0)?.index == target.index }.map(\._quireRowState.key)
        .filter { $0 >= ModelState.firstKey }
      let last = ColumnPath.Step(path.column, to: target.table, key: target.keyColumn)
      return keys.isEmpty ? nil : (path.steps + [last], keys)
    }
  }

  /// Keys of the query's rows whose paths lead to an object with unsaved edits, or that refer to one whose deletion is
  /// unsaved.
  func rowsReaching(_ pending: [any PersistentModel], _ query: ResolvedQuery) throws -> Set<Int64> {
    let paths = Set(query.select.decidingColumns.map(\.steps)).filter { !$0.isEmpty }
    var result: Set<Int64> = []
    var all = query.select
    all.filter = nil
    for (steps, keys) in stepsToDeleted(query) {
      result.formUnion(try self.keys(try all.statement(forKeys: keys, reachedBy: steps)))
    }
    for path in paths {
      for length in 1...path.count {
        let steps = Array(path.prefix(length))
        let touched = pending.filter { entity(of: $0)?.table == steps[length - 1].table }
          .map(\._quireRowState.key).filter { $0 >= ModelState.firstKey }
        if touched.isEmpty { continue }
        result.formUnion(try keys(try all.statement(forKeys: touched, reachedBy: steps)))
      }
    }
    return result
  }
}
