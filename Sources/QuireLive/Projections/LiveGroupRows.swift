public import Foundation
public import Observation
public import QuireModel
import QuireRow
import QuireSQLite

/// Groups of a model's rows as declared values that follow their rows.
///
///     let years = try context.live(YearShelf.self, where: #Predicate { $0.isAvailable }, sortBy: { $0.books > $1.books })
///     let token = observe { for shelf in years { print(shelf.year ?? 0, shelf.books) } }
///
/// What ``LiveGroups`` is, with rows of a declared type: always what the same `fetch` would give, a commit costs what it
/// changed, and who reads the collection is woken when any row of it changed. Kept as long as somebody holds it; confined
/// to its context's isolation.
public final class LiveGroupRows<Row: GroupProjection>: Observable, RandomAccessCollection {
  let groups: LiveGroups<Value, Row>

  init(_ groups: LiveGroups<Value, Row>) { self.groups = groups }

  public var startIndex: Int { 0 }
  public var endIndex: Int { groups.endIndex }
  public subscript(index: Int) -> Row { groups[index].values }

  /// The commit the rows stand at.
  public var commitNumber: Int64 { groups.commitNumber }
  /// Why it could not follow the last commit, such as a sum beyond `Int`; nil while it does. The rows stay what they
  /// were until it can.
  public var error: (any Error)? { groups.error }
  /// How many statements it has run since it was made.
  public var queriesRun: Int { groups.queriesRun }

  /// Calls `body` after each move that changed the rows, with what changed, by index, old and new; see ``Difference``.
  /// Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Row>) -> Void) -> DifferenceToken {
    groups.onDifference { difference in
      let changes = difference.changes.map { change -> Difference<Row>.Change in
        switch change {
        case .insert(let at, let new): .insert(at: at, new: new.values)
        case .delete(let at, let old): .delete(at: at, old: old.values)
        case .move(let from, let to, let old, let new): .move(from: from, to: to, old: old.values, new: new.values)
        case .update(let at, let old, let new): .update(at: at, old: old.values, new: new.values)
        }
      }
      body(Difference(commit: difference.commit, changes: changes))
    }
  }

  // MARK: Asking something else, and pausing

  /// Groups other rows of its model from now on; see ``LiveGroups/retarget(where:)``.
  ///
  /// - Throws: as `fetch` does; then nothing has changed.
  public func retarget(where predicate: Predicate<Row.Model>?) throws { try groups.retarget(where: predicate) }

  public var isPaused: Bool { groups.isPaused }

  /// Stops following: the rows and their commit number stay what they are, and commits cost nothing.
  public func pause() { groups.pause() }

  /// Goes on: one difference leads from what it showed to the present. Costs what making it did.
  ///
  /// - Throws: as `fetch` does; then it is paused still.
  public func resume() throws { try groups.resume() }
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
    return LiveGroupRows(try LiveGroups(self, query, form))
  }

  func groups<Row: GroupProjection>(
    _ type: Row.Type, _ predicate: Predicate<Row.Model>?, _ having: ((Row) -> Bool)?,
    _ precedes: ((Row, Row) -> Bool)?, _ limit: Int?
  ) throws -> (AggregateQuery, GroupForm<Value, Row>) {
    try owner.following.settleThrowing()
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
