public import Foundation
public import QuireModel
public import QuireRow

extension ModelContext {
  /// The groups of the rows that match, by a property of their own or of what a to-one relationship leads to, with
  /// aggregates of each group; see ``LiveGroups``.
  ///
  /// - Parameters:
  ///   - having: Which groups are shown.
  ///   - precedes: Their order, ties by the key; without it that of the key, nil first and text by its bytes.
  ///   - limit: How many groups are shown.
  /// - Throws: as `fetch` does, and ``AggregateError`` for a sum beyond `Int`. `having` and `precedes` must give the
  ///   same answer for the same rows every time; they are called in the middle of a move, and look at nothing else.
  public func liveGroups<Model: PersistentModel, Key: StoredValue, each Result: Equatable>(
    _ type: Model.Type, by property: KeyPath<Model, Key>, _ aggregates: repeat GroupAggregate<Model, each Result>,
    where predicate: Predicate<Model>? = nil, having: ((GroupRow<Key, (repeat each Result)>) -> Bool)? = nil,
    sortBy precedes: ((GroupRow<Key, (repeat each Result)>, GroupRow<Key, (repeat each Result)>) -> Bool)? = nil,
    limit: Int? = nil
  ) throws -> LiveGroups<Key, (repeat each Result)> {
    try owner.settleThrowing()
    var terms: [(Aggregate.Function, PartialKeyPath<Model>?)] = []
    for aggregate in repeat each aggregates { terms.append((aggregate.function, aggregate.property)) }
    let query = try AggregateQuery(terms, by: property, where: predicate, in: try owner.requireStore())
    let form = GroupForm<Key, (repeat each Result)>(
      groupsReals: Key.columnType == .real, key: { name in try Key.decoded(name) },
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
    return try LiveGroups(self, query, form)
  }
}
