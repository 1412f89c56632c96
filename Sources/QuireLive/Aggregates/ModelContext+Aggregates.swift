public import Foundation
public import QuireModel
public import QuireRow

/// Counts, sums, averages and extremes that follow their rows.
///
/// Each equals what the fetch of the same name (`fetchCount`, `fetchSum`, `fetchAverage`, `fetchMin`, `fetchMax`) gives on
/// the committed state. To begin with all rows that match are read; from then on a commit costs what it changed of them,
/// without SQL but where the least or greatest value goes: then the next one is looked up, in an index on the column if
/// there is one. Reached through a to-one relationship, the rows concerned are read by key when a column on the way
/// changed. Where the predicate asks about a to-many relationship, so are the rows whose related rows changed, and the
/// keys of all that match are held (from a bit to some 30 bytes each, as they lie).
///
/// - Throws: as the fetch does.
extension ModelContext {
  /// How many rows match; see `fetchCount`.
  public func liveCount<Model: PersistentModel>(_ type: Model.Type, where predicate: Predicate<Model>? = nil) throws
    -> LiveValue<Int>
  {
    try owner.following.catchUp()
    let query = try AggregateQuery(countingWhere: predicate, in: try owner.requireStore())
    return try LiveValue(self, query.select, query.aggregates[0]) { $0.count }
  }

  /// The exact sum, 0 of nothing; see `fetchSum`. Beyond `Int` the value stays what it was and has an error, until it fits.
  public func liveSum<Model: PersistentModel, Value: Summable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Value.Total> {
    try measure(.sum, property, predicate) { try Value.total($0) }
  }

  /// The average, nil of nothing; see `fetchAverage`.
  public func liveAverage<Model: PersistentModel, Value: Summable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Double?> {
    try measure(.average, property, predicate) { try $0.average() }
  }

  /// The least value, nil of nothing; see `fetchMin`.
  public func liveMin<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Value?> {
    try measure(.minimum, property, predicate) { try Value?.decoded($0.extreme) }
  }

  public func liveMin<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value?>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Value?> {
    try measure(.minimum, property, predicate) { try Value?.decoded($0.extreme) }
  }

  /// The greatest value, nil of nothing; see `fetchMax`.
  public func liveMax<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Value?> {
    try measure(.maximum, property, predicate) { try Value?.decoded($0.extreme) }
  }

  public func liveMax<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value?>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Value?> {
    try measure(.maximum, property, predicate) { try Value?.decoded($0.extreme) }
  }

  private func measure<Model: PersistentModel, Value: Equatable>(
    _ function: Aggregate.Function, _ property: PartialKeyPath<Model>, _ predicate: Predicate<Model>?,
    _ read: @escaping (AggregateState) throws -> Value
  ) throws -> LiveValue<Value> {
    try owner.following.catchUp()
    let query = try AggregateQuery([(function, property)], where: predicate, in: try owner.requireStore())
    return try LiveValue(self, query.select, query.aggregates[0], read: read)
  }
}
