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
  /// How many rows the group has.
  public static var count: GroupAggregate { .init(function: .count, property: nil) { $0.count } }
}

extension GroupAggregate where Value == Double? {
  /// The nearest `Double` to the exact average; nil where all are nil.
  public static func average<Property: Summable>(_ property: KeyPath<Model, Property>) -> GroupAggregate {
    .init(function: .average, property: property) { try $0.average() }
  }
}

extension GroupAggregate {
  /// The exact sum, 0 where all are nil.
  public static func sum<Property: Summable>(_ property: KeyPath<Model, Property>) -> GroupAggregate
  where Value == Property.Total {
    .init(function: .sum, property: property) { try Property.total($0) }
  }

  /// The least value, nil where all are nil.
  public static func min<Property: StoredValue & Comparable>(_ property: KeyPath<Model, Property>) -> GroupAggregate
  where Value == Property? {
    .init(function: .minimum, property: property) { try Property?.decoded($0.extreme) }
  }

  public static func min<Property: StoredValue & Comparable>(_ property: KeyPath<Model, Property?>) -> GroupAggregate
  where Value == Property? {
    .init(function: .minimum, property: property) { try Property?.decoded($0.extreme) }
  }

  /// The greatest value, nil where all are nil.
  public static func max<Property: StoredValue & Comparable>(_ property: KeyPath<Model, Property>) -> GroupAggregate
  where Value == Property? {
    .init(function: .maximum, property: property) { try Property?.decoded($0.extreme) }
  }

  public static func max<Property: StoredValue & Comparable>(_ property: KeyPath<Model, Property?>) -> GroupAggregate
  where Value == Property? {
    .init(function: .maximum, property: property) { try Property?.decoded($0.extreme) }
  }
}

/// One group of rows: what they have in common, and their aggregates.
public struct GroupRow<Key, Values> {
  public let key: Key
  /// In the order in which they were asked for; a single one stands by itself.
  public let values: Values
}
