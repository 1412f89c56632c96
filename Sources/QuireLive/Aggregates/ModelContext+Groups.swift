public import Foundation
public import QuireModel
public import QuireRow

extension ModelContext {
  /// Fetches the groups of the rows that match, by a property of their own or of what a to-one relationship leads to,
  /// with aggregates of each group, unsaved edits included.
  ///
  ///     let shelves = try context.fetchGroups(
  ///       Book.self, by: \.author?.name, .count, .average(\.rating), having: { $0.values.0 > 1 },
  ///       sortBy: { $0.values.0 > $1.values.0 }, limit: 10)
  ///     for shelf in shelves { print(shelf.key ?? "nobody", shelf.values.0) }
  ///
  /// Nil is a key like any other. ``liveGroups(_:by:_:where:having:sortBy:limit:)`` follows the same groups in the
  /// committed state. Reads the needed columns of every row that matches, in one statement.
  ///
  /// - Parameters:
  ///   - having: Which groups are returned.
  ///   - precedes: Their order, ties by the key; by default that of the key: nil first, text by its bytes, a `Decimal` by its number.
  ///   - limit: The highest number of groups.
  /// - Throws: As `fetch` does, and an error for a sum beyond `Int`.
  public func fetchGroups<Model: PersistentModel, Key: StoredValue, each Result: Equatable>(
    _ type: Model.Type, by property: KeyPath<Model, Key>, _ aggregates: repeat GroupAggregate<Model, each Result>,
    where predicate: Predicate<Model>? = nil, having: ((GroupRow<Key, (repeat each Result)>) -> Bool)? = nil,
    sortBy precedes: ((GroupRow<Key, (repeat each Result)>, GroupRow<Key, (repeat each Result)>) -> Bool)? = nil,
    limit: Int? = nil
  ) throws -> [GroupRow<Key, (repeat each Result)>] {
    try owner.following.catchUp()
    let query = try AggregateQuery(
      terms(repeat each aggregates), by: property, where: predicate, in: try owner.requireStore(), evaluating: true,
      asking: owner)
    let form = groupForm(by: property, repeat each aggregates, having: having, sortBy: precedes, limit: limit)
    return try groups(of: type, query, form)
  }

  /// A live result of the groups of the rows that match; see ``LiveGroups``.
  ///
  /// - Throws: As ``fetchGroups(_:by:_:where:having:sortBy:limit:)``. `having` and `precedes` must give the same answer
  ///   for the same rows every time, and must not read anything else: they are called while the context advances.
  public func liveGroups<Model: PersistentModel, Key: StoredValue, each Result: Equatable>(
    _ type: Model.Type, by property: KeyPath<Model, Key>, _ aggregates: repeat GroupAggregate<Model, each Result>,
    where predicate: Predicate<Model>? = nil, having: ((GroupRow<Key, (repeat each Result)>) -> Bool)? = nil,
    sortBy precedes: ((GroupRow<Key, (repeat each Result)>, GroupRow<Key, (repeat each Result)>) -> Bool)? = nil,
    limit: Int? = nil
  ) throws -> LiveGroups<Key, (repeat each Result)> {
    try owner.following.catchUp()
    let query = try AggregateQuery(
      terms(repeat each aggregates), by: property, where: predicate, in: try owner.requireStore())
    let form = groupForm(by: property, repeat each aggregates, having: having, sortBy: precedes, limit: limit)
    return try LiveGroups(self, query, form)
  }

  private func groups<Model: PersistentModel, Key, Values>(
    of type: Model.Type, _ query: AggregateQuery, _ form: GroupForm<Key, Values>
  ) throws -> [GroupRow<Key, Values>] {
    var tracker = AggregateTracker(query.select, query.aggregates, by: query.group, ofReals: form.groupsReals)
    try tracker.fill(type, query, unsavedIn: owner)
    var list = GroupList(form.maker, of: query)
    _ = try list.take(Set(tracker.groups.keys), of: tracker)
    return list.entries.prefix(form.limit).map(form.row)
  }

  private func terms<Model: PersistentModel, each Result>(_ aggregates: repeat GroupAggregate<Model, each Result>) -> [(
    Aggregate.Function, PartialKeyPath<Model>?
  )] {
    var terms: [(Aggregate.Function, PartialKeyPath<Model>?)] = []
    for aggregate in repeat each aggregates { terms.append((aggregate.function, aggregate.property)) }
    return terms
  }

  private func groupForm<Model: PersistentModel, Key: StoredValue, each Result: Equatable>(
    by property: KeyPath<Model, Key>, _ aggregates: repeat GroupAggregate<Model, each Result>,
    having: ((GroupRow<Key, (repeat each Result)>) -> Bool)?,
    sortBy precedes: ((GroupRow<Key, (repeat each Result)>, GroupRow<Key, (repeat each Result)>) -> Bool)?, limit: Int?
  ) -> GroupForm<Key, (repeat each Result)> {
    GroupForm(
      groupsReals: Key._columnType == .real, key: { name in try Key.decoded(name) },
      values: { _, states in
        var place = 0
        func next<Value>(_ aggregate: GroupAggregate<Model, Value>) throws -> Value {
          defer { place += 1 }
          return try aggregate.read(states[place])
        }
        return (repeat try next(each aggregates))
      },
      areSame: { a, b in
        for (x, y) in repeat (each a, each b) { if x != y { return false } }
        return true
      },
      isShown: having, precedes: precedes, limit: Swift.max(0, limit ?? .max))
  }
}

extension AggregateTracker {
  /// Loads all rows as if unsaved edits were saved, for a fetch of groups.
  fileprivate mutating func fill<Model: PersistentModel>(
    _ type: Model.Type, _ query: AggregateQuery, unsavedIn owner: ContextCore
  )
    throws
  {
    var places: [ColumnPath: Int] = [:]
    for (place, column) in select.columns.enumerated() { places[column] = places[column] ?? place }
    let own = aggregates.map { $0.column.flatMap { places[$0] } }
    let groupPlace = group.flatMap { places[$0] }
    try owner.fetcher.visit(type, query, select) { column in
      let name = groupPlace.map(column).map(named) ?? .null
      change(name, true) { own[$0].map(column) ?? .integer(1) }
    }
  }
}
