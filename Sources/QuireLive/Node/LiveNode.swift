import QuireModel
import QuireSQLite

/// The lifecycle common to all live results: moves a result with its context from commit to commit in stages, and
/// stores its pause state, query, error and commit number. The content belongs to its operator; see ``LiveOperator``.
///
///     compute → willChange → apply → didChange
///
/// All results of a context go through one stage before any enters the next, so that no observer sees two of them at
/// different commits. Replacing the query and resuming go through the same stages, at the commit the context stands at.
/// Confined to its context's isolation.
final class LiveNode<Operator: LiveOperator> {
  let owner: ContextCore
  let content: Operator
  /// The query of what it shows, or will show when it is resumed.
  private(set) var query: Operator.Query
  private let observers = ResultObservers()
  private let listeners = DifferenceListeners<Operator.Output>()
  private var following = FollowState()
  private var failure: (any Error)?
  /// The commit that it shows if it failed to follow; otherwise nil.
  private var failedAt: Int64?
  /// Whether its operator's knowledge may be outdated.
  private var isStale = false
  private var computed: Transition?
  private var applied: Transition?

  /// The result of one run through the stages.
  private struct Transition {
    var number: Int64
    var delta: Operator.Delta?
    var error: (any Error)?
    /// Whether the result gains or loses an error.
    var changesError = false
    var changesContent: Bool { delta?.changesContent ?? false }
  }

  /// - Throws: as its operator does when it loads.
  init(_ content: Operator, _ query: Operator.Query, in owner: ContextCore) throws {
    self.owner = owner
    self.content = content
    self.query = query
    content.apply(try owner.readCommitted { try content.load(query, .start, on: $0) })
    follow()
    try owner.warnIfSlow(content.explanation)
  }

  // MARK: State

  /// Called by every read of what it shows.
  func accessContent() { observers.accessContent() }

  var commitNumber: Int64 { following.pausedAt ?? failedAt ?? owner.position.number }

  var error: (any Error)? {
    observers.accessError()
    if let failure { return failure }
    guard let error = content.shownError else { return nil }
    observers.accessContent()
    return error
  }

  var isPaused: Bool { following.pausedAt != nil }
  var queriesRun: Int { content.queriesRun }
  var explanation: LiveExplanation { get throws { try owner.readLatest(content.explanation) } }

  /// Calls `body` after each transition that changed the result. Ends with the token.
  func onDifference(_ body: @escaping (Operator.Output) -> Void) -> ChangeToken {
    let token = listeners.add(body)
    if isPaused { keepShown() } else { noteListeners() }
    return token
  }

  // MARK: Pausing, and replacing the query

  /// Stops following, and keeps what it shows. Inside a transition of its context it finishes that first.
  func pause() {
    owner.following.finishAnnouncing()
    if isPaused { return }
    following.pause(self, in: owner, at: commitNumber)
    content.pause()
    keepShown()
  }

  /// Follows again: one difference leads from what it showed to the present.
  ///
  /// - Throws: As its operator does when it loads; then it is still paused.
  func resume() throws {
    if !isPaused { return }
    try owner.following.catchUp()
    if !isPaused { return }  // an observer has resumed it meanwhile
    take(try loaded(query, .resuming(isLater: commitNumber != owner.position.number)))
  }

  /// Replaces the query: now, or when it is resumed.
  ///
  /// - Parameters:
  ///   - make: Makes the query, when the context shows the latest commit.
  ///   - isTaken: Called once nothing can fail any more, before observers are notified.
  /// - Throws: As `make`, and as its operator does when it loads; then nothing has changed.
  func update(_ make: () throws -> Operator.Query, isTaken: () -> Void = {}) throws {
    try owner.following.catchUp()
    let query = try make()
    let transition = isPaused ? nil : try loaded(query, .replacing(isCurrent: !isStale && failure == nil))
    self.query = query
    isTaken()
    if let transition { take(transition) }
  }

  private func loaded(_ query: Operator.Query, _ occasion: LoadOccasion) throws -> Transition {
    noteListeners()
    let delta = try owner.readCommitted { try content.load(query, occasion, on: $0) }
    isStale = false
    return Transition(number: owner.position.number, delta: delta, changesError: failure != nil)
  }

  private func take(_ transition: Transition) {
    computed = transition
    owner.following.take(self)
  }

  /// Reports an error that no commit caused, such as that of an assignment. Cleared by the next transition.
  ///
  /// - Parameter warning: What is said of it in the store's warnings.
  func report(_ error: any Error, _ warning: String) {
    owner.store?.warnings.emit(StoreWarning(.liveResult, warning))
    observers.willChange(content: false, error: true)
    failure = error
    observers.didChange(content: false, error: true)
  }

  // MARK: What it follows

  private func follow() {
    content.sourcesChanged = false
    following.follow(self, in: owner, wanting: owner.store.map { content.interests(in: $0.database) } ?? [])
  }

  private func followIfChanged() { if content.sourcesChanged, !isPaused { follow() } }

  private func noteListeners() {
    let hasListeners = !listeners.isEmpty
    if content.hasListeners == hasListeners { return }
    content.hasListeners = hasListeners
    followIfChanged()
  }

  private func keepShown() {
    noteListeners()
    guard commitNumber == owner.position.number, content.hasListeners else { return }
    do { try owner.toItsEnd { try owner.readCommitted(content.keepShown) } } catch { owner.deferError(error) }
  }
}

// MARK: Stages

extension LiveNode: CommitFollower {
  var tables: [String] { content.tables }
  var filters: [ChangeFilter] { content.filters }
  var followsSchema: Bool { content.followsSchema }
  var isFollowing: Bool { failure == nil }
  var shownKeys: (table: String, keys: [Int64])? { content.shownKeys }

  func shown(of wanted: Set<Int64>) -> [Int64] {
    if isStale || isPaused { return shownKeys?.keys.filter(wanted.contains) ?? [] }
    return content.shown(of: wanted)
  }

  func compute(_ batch: CommitBatch, on connection: Connection) -> Bool {
    defer { followIfChanged() }
    noteListeners()
    var next = Transition(number: batch.number)
    do {
      if let failure = batch.failure { throw failure }
      switch try outcome(of: batch, on: connection) {
      case .unchanged, .unknown: return false
      case .changed(let delta):
        if delta.isEmpty, failure == nil { return false }
        next.delta = delta
      case .failed(let error): next.error = owner.explained(error)
      }
    } catch {
      isStale = true
      next.error = owner.explained(error)
    }
    next.changesError = (next.error == nil) != (failure == nil)
    computed = next
    return true
  }

  private func outcome(of batch: CommitBatch, on connection: Connection) throws -> Outcome<Operator.Delta> {
    if !isStale, !batch.rowsUnknown, !isAltered(in: batch) {
      let outcome = try content.step(batch, on: connection)
      guard case .unknown = outcome else { return outcome }
    }
    let delta = try content.load(query, .batch(batch, isCurrent: failure == nil), on: connection)
    isStale = false
    return .changed(delta)
  }

  /// Whether one of its tables was dropped or altered, or occurs in several forms, because it was altered in between: then
  /// one description cannot read its values before and after.
  private func isAltered(in batch: CommitBatch) -> Bool {
    if !batch.alteredTables.isEmpty, content.tables.contains(where: batch.alters) { return true }
    if batch.tables.count < 2 || Set(batch.tables.map(\.table.name)).count == batch.tables.count { return false }
    return content.tables.contains { table in batch.tables.count { $0.table.name == table } > 1 }
  }

  func willChange() {
    guard let computed else { return }
    observers.willChange(content: computed.changesContent, error: computed.changesError)
    if let delta = computed.delta { content.willChange(delta) }
  }

  func apply() {
    guard let transition = computed else { return }
    computed = nil
    failedAt = transition.error == nil ? nil : failedAt ?? owner.position.number
    if failure == nil, let error = transition.error {
      owner.store?.warnings.emit(StoreWarning(.liveResult, "\(error)"))
    }
    failure = transition.error
    if let delta = transition.delta { content.apply(delta) }
    if isPaused { follow() } else { followIfChanged() }
    applied = transition
  }

  func didChange() {
    guard let transition = applied else { return }
    applied = nil
    observers.didChange(content: transition.changesContent, error: transition.changesError)
    guard let delta = transition.delta else { return }
    content.didChange(delta)
    if !listeners.isEmpty, let difference = content.difference(delta, commit: transition.number) {
      listeners.tell(difference)
    }
  }
}
