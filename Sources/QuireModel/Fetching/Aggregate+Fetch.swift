public import Foundation
public import QuireRow
import QuireSQLite

/// Fetches of aggregates, unsaved edits included.
extension Fetcher {
  func aggregate<Model: PersistentModel>(
    _ function: Aggregate.Function, _ keyPath: PartialKeyPath<Model>, where predicate: Predicate<Model>?
  ) throws -> AggregateState {
    try core.following.catchUp()
    let store = try requireStore()
    let query = try AggregateQuery([(function, keyPath)], where: predicate, in: store, evaluating: true, asking: core)
    var state = AggregateState(query.aggregates[0])
    var select = query.select
    if let extremes = select.extremes(of: state.aggregate, limit: 1) {
      select = extremes
    } else if let column = state.aggregate.column {
      select.columns = [column]
    }
    try visit(Model.self, query, select) { state.add($0(0)) }
    return state
  }
}

/// Values computed from all rows that match, unsaved edits included. `live…` follows the same values in the committed
/// state.
///
/// - Throws: As `fetch` does, and an error for a sum of whole numbers beyond `Int`. NULL is skipped everywhere.
extension ModelContext {
  /// The exact sum: of whole numbers an `Int`, of reals the nearest `Double`; 0 if no row matches.
  ///
  /// Reads the column of every row that matches. A sum of whole numbers beyond `Int` is an error.
  public func fetchSum<Model: PersistentModel, Value: Summable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> Value.Total {
    try Value._total(try owner.fetcher.aggregate(.sum, property, where: predicate))
  }

  /// The nearest `Double` to the exact average; nil if no row matches.
  public func fetchAverage<Model: PersistentModel, Value: Summable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> Double? {
    try owner.fetcher.aggregate(.average, property, where: predicate).average()
  }

  /// The least value in the order of its column, text by its bytes; nil if no row matches. With an index it is one
  /// look-up.
  public func fetchMin<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> Value? {
    try Value?.decoded(try owner.fetcher.aggregate(.minimum, property, where: predicate).extreme)
  }

  /// The least value that is not nil; nil if there is none. As `fetchMin`, for an optional property.
  public func fetchMin<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value?>, where predicate: Predicate<Model>? = nil
  ) throws -> Value? {
    try Value?.decoded(try owner.fetcher.aggregate(.minimum, property, where: predicate).extreme)
  }

  /// The greatest value, ordered as in `fetchMin`.
  public func fetchMax<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> Value? {
    try Value?.decoded(try owner.fetcher.aggregate(.maximum, property, where: predicate).extreme)
  }

  /// The greatest value that is not nil; nil if there is none.
  public func fetchMax<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value?>, where predicate: Predicate<Model>? = nil
  ) throws -> Value? {
    try Value?.decoded(try owner.fetcher.aggregate(.maximum, property, where: predicate).extreme)
  }
}

extension StoredValue {
  /// The value a column holds.
  package static func decoded(_ value: SQLValue) throws(ValueError) -> Self {
    try _read(from: ImageSource([value]), at: 0)
  }
}
