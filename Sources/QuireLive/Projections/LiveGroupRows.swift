public import Foundation
public import QuireModel
import QuireRow

/// Groups of a model's rows as declared values that are updated as the rows change.
///
///     let years = try context.live(YearShelf.self, where: #Predicate { $0.isAvailable }, sortBy: { $0.books > $1.books })
///     let token = observe { for shelf in years { print(shelf.year ?? 0, shelf.books) } }
///
/// As ``LiveGroups``, with rows of a declared type: always equals the same `fetch`; the cost of a commit depends on
/// what it changed; code that reads the collection is invalidated when any of its rows changed. See ``LiveResult`` for
/// what all live results have in common.
public final class LiveGroupRows<Row: GroupProjection>: LiveResult, RandomAccessCollection {
  let node: LiveNode<GroupsOperator<Value, Row>>

  init(_ context: ModelContext, _ query: AggregateQuery, _ form: GroupForm<Value, Row>) throws {
    node = try LiveNode(GroupsOperator(query, form), query.select, in: context.owner)
    super.init(node, in: context)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int {
    node.accessContent()
    return node.content.count
  }
  public subscript(index: Int) -> Row {
    node.accessContent()
    return node.content[index].values
  }

  /// Calls `body` after each transition that changed the rows, with what changed, by index, old and new; see
  /// ``Difference``. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Row>) -> Void) -> ChangeToken {
    node.onDifference { body($0.map(\.values)) }
  }

  /// Replaces the predicate: observers are notified of the difference immediately, at the context's commit. If the
  /// result is paused, the difference shows when it is resumed.
  ///
  /// - Throws: As `fetch` does; then nothing has changed.
  public func update(where predicate: Predicate<Row.Model>?) throws {
    try node.update { try node.query.updated(Row.Model.self, where: predicate, in: node.owner) }
  }
}

extension ModelContext {
  /// The groups of the rows that match, as values: one statement, committed rows only.
  ///
  /// - Parameters:
  ///   - having: Which groups are returned.
  ///   - precedes: Their order, ties by the group's key; by default that of the key: nil first, text by its bytes, a `Decimal` by its number.
  ///   - limit: The highest number of groups.
  /// - Throws: As `fetch` of objects does, and an error for a sum beyond `Int`.
  public func fetch<Row: GroupProjection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: ((Row) -> Bool)? = nil,
    sortBy precedes: ((Row, Row) -> Bool)? = nil, limit: Int? = nil
  ) throws -> [Row] {
    let (query, form) = try groups(type, predicate, having, precedes, limit)
    var tracker = AggregateTracker(query.select, query.aggregates, by: query.group, ofReals: form.groupsReals)
    try owner.readCommitted { try tracker.fill(on: $0) }
    var list = GroupList(form.maker, of: query)
    _ = try list.take(Set(tracker.groups.keys), of: tracker)
    return list.entries.prefix(form.limit).map { form.row($0).values }
  }

  /// A live result of the groups of the rows that match; see ``LiveGroupRows``.
  ///
  /// - Throws: As `fetch` does. `having` and `precedes` must give the same answer for the same rows every time, and
  ///   must not read anything else: they are called while the context advances.
  public func live<Row: GroupProjection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: ((Row) -> Bool)? = nil,
    sortBy precedes: ((Row, Row) -> Bool)? = nil, limit: Int? = nil
  ) throws -> LiveGroupRows<Row> {
    let (query, form) = try groups(type, predicate, having, precedes, limit)
    return try LiveGroupRows(self, query, form)
  }

  func groups<Row: GroupProjection>(
    _ type: Row.Type, _ predicate: Predicate<Row.Model>?, _ having: ((Row) -> Bool)?,
    _ precedes: ((Row, Row) -> Bool)?, _ limit: Int?
  ) throws -> (AggregateQuery, GroupForm<Value, Row>) {
    try owner.following.catchUp()
    let definition = Row._quireGroups
    let query = try AggregateQuery(
      definition.aggregates, by: definition.key, where: predicate, in: try owner.requireStore())
    let form = GroupForm<Value, Row>(
      groupsReals: definition.groupsReals, key: { $0 }, values: definition.row, areSame: { $0 == $1 },
      isShown: having.map { having in { having($0.values) } },
      precedes: precedes.map { precedes in { precedes($0.values, $1.values) } }, limit: Swift.max(0, limit ?? .max))
    return (query, form)
  }
}
