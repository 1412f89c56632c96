public import Foundation
public import QuireModel
public import QuireRow

/// Counts, sums, averages and extremes that are updated as their rows change.
///
/// Each equals the result of the fetch of the same name (`fetchCount`, `fetchSum`, `fetchAverage`, `fetchMin`,
/// `fetchMax`) on the committed state. All rows that match are read once at the start; then a commit costs what it
/// changed of them, without SQL. Exceptions: if the least or greatest value is removed, the next one is looked up, in
/// an index on the column if there is one. If the value is reached through a to-one relationship, affected rows are
/// read by key when a column on the path changes. If the predicate has a condition on a to-many relationship, so are
/// the rows whose related rows changed, and the keys of all matching rows are kept (from a bit to some 30 bytes each,
/// depending on their distribution).
///
/// - Throws: As the fetch does.
extension ModelContext {
  /// The number of rows that match; see `fetchCount`.
  public func liveCount<Model: PersistentModel>(_ type: Model.Type, where predicate: Predicate<Model>? = nil) throws
    -> LiveValue<Int>
  {
    try owner.following.catchUp()
    let query = try AggregateQuery(countingWhere: predicate, in: try owner.requireStore())
    return try LiveValue(self, query.select, query.aggregates[0]) { $0.count }
  }

  /// The exact sum, 0 if no row matches; see `fetchSum`. Beyond `Int` the result has an error and keeps its value until
  /// it fits.
  public func liveSum<Model: PersistentModel, Value: Summable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Value.Total> {
    try measure(.sum, property, predicate) { try Value._total($0) }
  }

  /// The average, nil if no row matches; see `fetchAverage`.
  public func liveAverage<Model: PersistentModel, Value: Summable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Double?> {
    try measure(.average, property, predicate) { try $0.average() }
  }

  /// The least value, nil if no row matches; see `fetchMin`.
  public func liveMin<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Value?> {
    try measure(.minimum, property, predicate) { try Value?.decoded($0.extreme) }
  }

  /// The least value of an optional property, nil where no row has one; see `fetchMin`.
  ///
  /// - Throws: As `fetchMin` does.
  public func liveMin<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value?>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Value?> {
    try measure(.minimum, property, predicate) { try Value?.decoded($0.extreme) }
  }

  /// The greatest value, nil if no row matches; see `fetchMax`.
  public func liveMax<Model: PersistentModel, Value: StoredValue & Comparable>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveValue<Value?> {
    try measure(.maximum, property, predicate) { try Value?.decoded($0.extreme) }
  }

  /// The greatest value of an optional property, nil where no row has one; see `fetchMax`.
  ///
  /// - Throws: As `fetchMax` does.
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
