public import Foundation
public import QuireModel
import QuireRow

/// Groups of a model's rows as declared values that follow their rows.
///
///     let years = try context.live(YearShelf.self, where: #Predicate { $0.isAvailable }, sortBy: { $0.books > $1.books })
///     let token = observe { for shelf in years { print(shelf.year ?? 0, shelf.books) } }
///
/// What ``LiveGroups`` is, with rows of a declared type: always what the same `fetch` would give, a commit costs what it
/// changed, and code that reads the collection is invalidated when any row of it changed. See ``LiveResult`` for what all
/// live results share.
public final class LiveGroupRows<Row: GroupProjection>: LiveResult, RandomAccessCollection {
  let node: LiveNode<GroupsOperator<Value, Row>>

  init(_ context: ModelContext, _ query: AggregateQuery, _ form: GroupForm<Value, Row>) throws {
    node = try LiveNode(GroupsOperator(query, form), query.select, in: context.owner)
    super.init(node, in: context)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int {
    node.accessContent()
    return node.content.shown.count
  }
  public subscript(index: Int) -> Row {
    node.accessContent()
    return node.content.shown[index].row.values
  }

  /// Calls `body` after each transition that changed the rows, with what changed, by index, old and new; see
  /// ``Difference``. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Row>) -> Void) -> DifferenceToken {
    node.onDifference { body($0.map(\.values)) }
  }

  /// Groups other rows of its model: observers are notified of the difference at once, at the commit the context stands at.
  /// While the result is paused, it shows when that is resumed.
  ///
  /// - Throws: as `fetch` does; then nothing has changed.
  public func update(where predicate: Predicate<Row.Model>?) throws {
    try node.update { try node.query.updated(Row.Model.self, where: predicate, in: node.owner) }
  }
}

extension ModelContext {
  /// The groups of the rows that match, as values: one statement, committed rows alone.
  ///
  /// - Parameters:
  ///   - having: Which groups are shown.
  ///   - precedes: Their order, ties by what they are grouped by; without it that order, nil first and text by its bytes.
  ///   - limit: How many groups are shown.
  /// - Throws: as `fetch` of objects does, and ``AggregateError`` for a sum beyond `Int`.
  public func fetch<Row: GroupProjection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: ((Row) -> Bool)? = nil,
    sortBy precedes: ((Row, Row) -> Bool)? = nil, limit: Int? = nil
  ) throws -> [Row] {
    let (query, form) = try groups(type, predicate, having, precedes, limit)
    var tracker = AggregateTracker(query.select, query.aggregates, by: query.group, ofReals: form.groupsReals)
    try owner.readCommitted { try tracker.fill(on: $0) }
    var list = GroupList(form)
    _ = try list.take(Set(tracker.groups.keys), of: tracker)
    return list.entries.prefix(form.limit).map(\.row.values)
  }

  /// The same groups, followed; see ``LiveGroupRows``.
  ///
  /// - Throws: as `fetch` does. `having` and `precedes` must give the same answer for the same rows every time; they are
  ///   called in the middle of a move, and look at nothing else.
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
