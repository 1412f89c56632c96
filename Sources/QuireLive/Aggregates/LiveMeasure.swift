import QuireModel
import QuireRow
import QuireSQLite

/// One aggregate of all rows that match, followed: what ``LiveValue`` shows.
///
/// A sum beyond what its type holds is an error, and the value the last one there was, until it fits again.
final class LiveMeasure<Value: Equatable>: Participant, ValueSource {
  let owner: Owner
  private let context: ModelContext
  private(set) var tracker: AggregateTracker
  private let read: (AggregateState) throws -> Value
  private var attendance = Attendance()
  /// Whether the prepared step is to other rows.
  private var asksOther = false
  /// Statements of what it asked before.
  private var earlierQueries = 0
  private var shown: Shown
  private var next: (shown: Shown, error: (any Error)?)?
  private var isChanged = false
  private var changesError = false
  private var failedAt: Int64?
  private(set) var error: (any Error)?
  var value: Value { shown.value }
  var willChange: () -> Void = {}
  var didChange: () -> Void = {}
  /// Told where there is an error now and was none before, or the other way round.
  var didFail: () -> Void = {}

  private struct Shown {
    let value: Value
    /// As its column has it: equal texts may be of other bytes.
    let extreme: QuireRow.Value

    init(_ tracker: AggregateTracker, _ read: (AggregateState) throws -> Value) throws {
      let state = tracker.whole.states[0]
      value = try read(state)
      extreme = state.extreme
    }

    func isIdentical(to other: Shown) -> Bool { value == other.value && extreme == other.extreme }
  }

  /// - Throws: as the same aggregate does when it is fetched.
  init(
    _ context: ModelContext, _ select: SelectQuery, _ aggregate: Aggregate,
    read: @escaping (AggregateState) throws -> Value
  ) throws {
    self.context = context
    self.read = read
    let owner = context.owner
    self.owner = owner
    var tracker = AggregateTracker(select, [aggregate])
    try owner.readCommitted { try tracker.fill(on: $0) }
    shown = try Shown(tracker, read)
    self.tracker = tracker
    follow()
    try owner.tellIfSlow(explanation)
  }

  private func follow() {
    asksOther = false
    let interests = owner.store.map { [tracker] in tracker.columns.interests(in: $0.database) } ?? []
    attendance.begin(self, in: owner, wanting: interests)
  }

  var select: SelectQuery { tracker.select }
  var isPaused: Bool { attendance.isPaused }
  func pause() { attendance.pause(self, in: owner, at: commitNumber) }

  func prepare(asking select: SelectQuery) throws {
    var tracker = AggregateTracker(select, tracker.aggregates)
    try owner.readCommitted { try tracker.fill(on: $0) }
    next = (try Shown(tracker, read), nil)
    earlierQueries += self.tracker.queriesRun
    self.tracker = tracker
    asksOther = true
  }

  var queriesRun: Int { earlierQueries + tracker.queriesRun }
  var timesFilled: Int { tracker.timesFilled }
  /// For tests: makes it wrong.
  func injectFault() { tracker.forgetsPaths = true }
  var commitNumber: Int64 { attendance.pausedAt ?? failedAt ?? owner.position.number }
  var tables: [String] {
    tracker.select.tables.union(tracker.columns.reached.compactMap { $0.steps.last?.table }).sorted()
  }
  var concerns: [Concern] { tracker.concerns }
  var isFollowing: Bool { error == nil }

  func prepare(_ news: News, on connection: Connection) -> Bool {
    do {
      guard try tracker.step(news, on: connection) != nil else { return false }
      let shown = try Shown(tracker, read)
      if shown.isIdentical(to: self.shown), error == nil { return false }
      next = (shown, nil)
    } catch {
      next = (shown, owner.explained(error))
    }
    return true
  }

  func announce() { if let next, !next.shown.isIdentical(to: shown) { willChange() } }

  func apply() {
    guard let next else { return }
    isChanged = !next.shown.isIdentical(to: shown)
    changesError = (next.error == nil) != (error == nil)
    failedAt = next.error == nil ? nil : failedAt ?? owner.position.number
    (shown, error) = next
    self.next = nil
    if asksOther { follow() }
  }

  func tell() {
    if changesError {
      changesError = false
      didFail()
    }
    guard isChanged else { return }
    isChanged = false
    didChange()
  }
}
