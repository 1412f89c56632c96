public import QuireModel
public import QuireRow

/// One column of a grouped result: an aggregate of the rows of each group.
///
///     try context.liveGroups(Book.self, by: \.year, .count, .average(\.rating))
public struct GroupAggregate<Model: PersistentModel, Value> {
  let function: Aggregate.Function
  let property: PartialKeyPath<Model>?
  let read: (AggregateState) throws -> Value
}

extension GroupAggregate where Value == Int {
  /// The number of rows in the group.
  public static var count: GroupAggregate { .init(function: .count, property: nil) { $0.count } }
}

extension GroupAggregate where Value == Double? {
  /// The nearest `Double` to the exact average; nil if all values are nil.
  public static func average<Property: Summable>(_ property: KeyPath<Model, Property>) -> GroupAggregate {
    .init(function: .average, property: property) { try $0.average() }
  }
}

extension GroupAggregate {
  /// The exact sum; 0 if all values are nil.
  public static func sum<Property: Summable>(_ property: KeyPath<Model, Property>) -> GroupAggregate
  where Value == Property.Total {
    .init(function: .sum, property: property) { try Property._total($0) }
  }

  /// The least value; nil if all values are nil.
  public static func min<Property: StoredValue & Comparable>(_ property: KeyPath<Model, Property>) -> GroupAggregate
  where Value == Property? {
    .init(function: .minimum, property: property) { try Property?.decoded($0.extreme) }
  }

  /// The least value of an optional property; rows in which it is nil do not count. Nil where it is nil in all.
  public static func min<Property: StoredValue & Comparable>(_ property: KeyPath<Model, Property?>) -> GroupAggregate
  where Value == Property? {
    .init(function: .minimum, property: property) { try Property?.decoded($0.extreme) }
  }

  /// The greatest value; nil if all values are nil.
  public static func max<Property: StoredValue & Comparable>(_ property: KeyPath<Model, Property>) -> GroupAggregate
  where Value == Property? {
    .init(function: .maximum, property: property) { try Property?.decoded($0.extreme) }
  }

  /// The greatest value of an optional property; rows in which it is nil do not count. Nil where it is nil in all.
  public static func max<Property: StoredValue & Comparable>(_ property: KeyPath<Model, Property?>) -> GroupAggregate
  where Value == Property? {
    .init(function: .maximum, property: property) { try Property?.decoded($0.extreme) }
  }
}

/// One group of rows: its key and its aggregates.
public struct GroupRow<Key, Values> {
  /// The value that the rows of the group have in common.
  public let key: Key
  /// The aggregates' values, in the order of the arguments; a single one is not a tuple.
  public let values: Values
}
