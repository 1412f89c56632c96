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
    guard let store else { return false }
    let tables = query.select.tables
    for entity in store.entities where tables.contains(entity.table) {
      if pending.insertedPlaces[entity.index].contains(where: { pending.inserted[$0] != nil }) { return true }
    }
    func isReached(_ model: any PersistentModel) -> Bool {
      entity(of: model).map { tables.contains($0.table) } ?? false
    }
    return pending.edits.contains { $0._quireRowState.dirty != 0 && isReached($0) }
      || pending.deleted.contains(where: isReached) || !stepsToDeleted(query).isEmpty
  }

  var pendingModels: [any PersistentModel] {
    pending.edits.filter { $0._quireRowState.dirty != 0 } + pending.inserted.compactMap { $0 } + pending.deleted
  }

  /// Rows without unsaved edits come from SQL; the others are evaluated in memory, by the same condition and order.
  func fetchWithEdits<Model: PersistentModel>(_ query: ResolvedQuery) throws -> [Model] {
    if let found: [Model] = try fetchByValue(query) { return found }
    let edits: Edits<Model> = try edits(query)
    let rows: [Model] = try run(
      try query.fromStart.objectStatement { query throws(QueryError) in try query.statement(excluding: edits.keys) },
      query.entity)
    return try page(of: query, rows, edits.objects)
  }

  /// The number of rows that ``fetchWithEdits(_:)`` would give objects of.
  func countWithEdits<Model: PersistentModel>(_ type: Model.Type, _ query: ResolvedQuery) throws -> Int {
    var all = query.select
    (all.limit, all.offset) = (nil, 0)
    let count: Int
    if let found = try countByValue(type, query) {
      count = found
    } else {
      let edits: Edits<Model> = try edits(query)
      count = try edits.objects.count + number(all.count(excluding: edits.keys))
    }
    return min(max(0, count - query.select.offset), query.select.limit ?? .max)
  }

  /// The keys of the rows whose result unsaved edits may change, and the objects among these and the unsaved ones that
  /// the query's filter accepts.
  typealias Edits<Model> = (keys: [Int64], objects: [Model])

  func edits<Model: PersistentModel>(_ query: ResolvedQuery) throws -> Edits<Model> {
    let store = try requireStore()
    let pending = pendingModels
    var objects = pending.compactMap { $0 as? Model }
    let saved = Set(objects.map(\._quireRowState.key).filter { $0 >= ModelState.firstKey })
    let reached = try rowsReaching(pending, query).union(rowsRelated(to: pending, query)).subtracting(saved)
    objects += try self.objects(query.entity, keys: reached.sorted())
    let accepted = try read { connection in
      let values = try PendingRows(core, store, on: connection)
      return objects.filter { model in
        !model.isDeleted && query.select.filter.map { values.accepts($0, model, query.entity) } ?? true
      }
    }
    return (saved.union(reached).sorted(), accepted)
  }

  /// The query's objects: those of rows in its order, with others at their places.
  func page<Model: PersistentModel>(of query: ResolvedQuery, _ rows: [Model], _ others: [Model]) throws -> [Model] {
    let store = try requireStore()
    let all =
      others.isEmpty
      ? rows
      : try read { connection in merged(rows, others, query, try PendingRows(core, store, on: connection)) }
    return Array(all.dropFirst(query.select.offset).prefix(query.select.limit ?? .max))
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
  func stepsToDeleted(_ query: ResolvedQuery) -> [(steps: [ColumnPath.Step], keys: [Int64])] {
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
