public import Foundation
public import QuireRow
import QuireSQLite

/// Aggregates asked for once, unsaved edits included.
extension Owner {
  func aggregate<Model: PersistentModel>(
    _ function: Aggregate.Function, _ keyPath: PartialKeyPath<Model>, where predicate: Predicate<Model>?
  ) throws -> AggregateState {
    try settleThrowing()
    let store = try requireStore()
    let query = try AggregateQuery([(function, keyPath)], where: predicate, in: store, evaluating: true)
    var state = AggregateState(query.aggregates[0])
    if query.remaining != nil {
      try visitObjects(Model.self, query) { state.add($0) }
      changed()
      return state
    }
    var rows = query.select
    if let column = state.aggregate.column {
      let isExtreme = function == .minimum || function == .maximum
      if isExtreme {
        rows = rows.extreme(of: column, isGreatest: function == .maximum)
      } else {
        rows.columns = [column]
      }
    }
    try visit(Model.self, rows, query.entity) { state.add($0) }
    changed()
    return state
  }

  /// The aggregated value of each object that a predicate with parts without SQL accepts.
  private func visitObjects<Model: PersistentModel>(
    _ type: Model.Type, _ query: AggregateQuery, _ body: (Value) -> Void
  ) throws {
    let store = try requireStore()
    var objects = try ResolvedQuery(type, where: nil, sortBy: [], limit: nil, offset: 0, in: store)
    objects.select = query.select
    objects.remaining = query.remaining
    let models: [Model] = try fetchByObjects(objects, withEdits: true)
    try read { connection in
      let values = try PendingRows(self, store, on: connection)
      for model in models {
        body(query.aggregates[0].column.map { values.value(of: $0, in: model, query.entity) } ?? .integer(1))
      }
    }
  }

  /// The first column of each row, as it would be if all edits were saved. Where some are unsaved, a limit counts for the
  /// rows they do not touch.
  private func visit<Model: PersistentModel>(
    _ type: Model.Type, _ select: SelectQuery, _ entity: Entity, _ body: (Value) -> Void
  ) throws {
    guard let column = select.columns.first else { return }
    let store = try requireStore()
    var sql = try select.statement()
    var candidates: [Model] = []
    // What is read counts among what decides: an edited row that a path leads to changes it.
    var query = try ResolvedQuery(type, where: nil, sortBy: [], limit: nil, offset: 0, in: store)
    query.select = select
    query.select.columns = [ColumnPath(entity.keyColumn)]
    if select.order.isEmpty { query.select.order = [OrderTerm(column)] }
    if hasPendingRows(query) {
      let pending = pendingModels
      candidates = pending.compactMap { $0 as? Model }
      let saved = Set(candidates.map(\._quireState.key).filter { $0 >= ModelState.firstKey })
      let reached = try rowsReaching(pending, query).union(rowsRelated(to: pending, query)).subtracting(saved)
      candidates += try objects(entity, keys: reached.sorted())
      sql = try select.statement(excluding: saved.union(reached))
    }
    try read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      while try statement.step() { body(statement.row.value(0)) }
      if candidates.isEmpty { return }
      let values = try PendingRows(self, store, on: connection)
      for model in candidates where !model.isDeleted {
        guard select.filter.map({ values.accepts($0, model, entity) }) ?? true else { continue }
        body(values.value(of: column, in: model, entity))
      }
    }
  }
}

/// Values of all rows that match, unsaved edits included. `live…` follows the same values on the committed state.
///
/// - Throws: as `fetch` does, and ``AggregateError``. NULL is skipped everywhere.
extension ModelContext {
  /// The exact sum: of whole numbers an `Int`, of reals the nearest `Double` to it; 0 of nothing.
  ///
  /// Reads the column of every row that matches. A sum of whole numbers beyond `Int` is an error.
  public func fetchSum<Model: PersistentModel, Value: Summable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> Value.Total {
    try Value.total(try owner.aggregate(.sum, property, where: predicate))
  }

  /// The nearest `Double` to the exact average; nil of nothing.
  public func fetchAverage<Model: PersistentModel, Value: Summable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> Double? {
    try owner.aggregate(.average, property, where: predicate).average()
  }

  /// The least value in the order of its column, text by its bytes; nil of nothing. With an index one look-up.
  public func fetchMin<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> Value? {
    try Value?.decoded(try owner.aggregate(.minimum, property, where: predicate).extreme)
  }

  public func fetchMin<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value?>, where predicate: Predicate<Model>? = nil
  ) throws -> Value? {
    try Value?.decoded(try owner.aggregate(.minimum, property, where: predicate).extreme)
  }

  /// The greatest value, as ``fetchMin(_:where:)`` finds the least.
  public func fetchMax<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> Value? {
    try Value?.decoded(try owner.aggregate(.maximum, property, where: predicate).extreme)
  }

  public func fetchMax<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value?>, where predicate: Predicate<Model>? = nil
  ) throws -> Value? {
    try Value?.decoded(try owner.aggregate(.maximum, property, where: predicate).extreme)
  }
}

extension StoredValue {
  /// The value a column holds.
  package static func decoded(_ value: QuireRow.Value) throws(ValueError) -> Self {
    try read(from: ImageSource([value]), at: 0)
  }
}
