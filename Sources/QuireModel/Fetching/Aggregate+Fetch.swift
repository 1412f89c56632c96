public import Foundation
public import QuireRow
import QuireSQLite

/// Aggregates asked for once, unsaved edits included.
extension Fetcher {
  func aggregate<Model: PersistentModel>(
    _ function: Aggregate.Function, _ keyPath: PartialKeyPath<Model>, where predicate: Predicate<Model>?
  ) throws -> AggregateState {
    try core.following.catchUp()
    let store = try requireStore()
    let query = try AggregateQuery([(function, keyPath)], where: predicate, in: store, evaluating: true, asking: core)
    var state = AggregateState(query.aggregates[0])
    var select = query.select
    if let column = state.aggregate.column {
      let isExtreme = function == .minimum || function == .maximum
      if isExtreme {
        select = select.extreme(of: column, isGreatest: function == .maximum)
      } else {
        select.columns = [column]
      }
    }
    try visit(Model.self, query, select) { state.add($0(0)) }
    return state
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
    try Value.total(try owner.fetcher.aggregate(.sum, property, where: predicate))
  }

  /// The nearest `Double` to the exact average; nil of nothing.
  public func fetchAverage<Model: PersistentModel, Value: Summable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> Double? {
    try owner.fetcher.aggregate(.average, property, where: predicate).average()
  }

  /// The least value in the order of its column, text by its bytes; nil of nothing. With an index one look-up.
  public func fetchMin<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> Value? {
    try Value?.decoded(try owner.fetcher.aggregate(.minimum, property, where: predicate).extreme)
  }

  /// The least value that is not nil; nil if there is none. As ``fetchMin(_:where:)`` of a property that is not optional.
  public func fetchMin<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value?>, where predicate: Predicate<Model>? = nil
  ) throws -> Value? {
    try Value?.decoded(try owner.fetcher.aggregate(.minimum, property, where: predicate).extreme)
  }

  /// The greatest value, as ``fetchMin(_:where:)`` finds the least.
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
    try read(from: ImageSource([value]), at: 0)
  }
}
