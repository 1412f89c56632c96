import Foundation
import QuireRow
import QuireSQLite

/// Holds commits made elsewhere until their context takes them, and gives access to the context's isolation.
///
/// It receives commits only while the context shows something (``follow(_:of:)``): a context that holds nothing costs a
/// commit nothing, and is not woken.
///
/// The writer's thread adds commits; the context removes them on its own isolation. The context's core is accessed only
/// on that isolation, and is held until it is closed: a weak reference would give it a side table, which slows the
/// reference counting of every object made or freed (12 ns instead of 3). The actor is held weakly, because container →
/// mailbox → actor → context would be a reference cycle.
package final class Mailbox: @unchecked Sendable {
  // Unchecked for `owner` and `subscription`: both are set before the mailbox is shared or on the context's isolation,
  // and read only there. Everything else is protected by the mutex.
  fileprivate struct State {
    var commits: [ChangeSet] = []
    /// Combined earlier commits: a context that does not advance stores each changed row once.
    var folded: ChangeSet?
    /// The latest commit that has arrived, whether taken or not.
    var latest: Int64 = 0
    /// What happened to the file, until the context has read it.
    var failure: DatabaseError?
    var isHopScheduled = false
    /// How often a commit or a failure has scheduled a job on the context's isolation, for tests.
    var wakeUps = 0
    var isFollowing = false
    var isClosed = false
    weak var isolation: (any Actor)?
  }
  private let state: Locked<State>
  private var owner: ContextCore?
  private var subscription: Subscription?

  init(isolation: (any Actor)?) {
    state = Locked(State(isolation: isolation))
  }

  func attach(_ owner: ContextCore) { self.owner = owner }

  func bind(to isolation: any Actor) { state.withLock { $0.isolation = isolation } }

  func close() {
    state.withLock { $0.isClosed = true }
    ignore()
    owner = nil
  }

  /// Receives commits from now on. Those before are not here: ``look(after:)`` tells whether there were any.
  func follow(_ database: Database, exceptTo origin: ChangeSet.Origin) {
    state.withLock { $0.isFollowing = true }
    subscription = database.subscribe(exceptTo: origin, failed: { self.fail($0) }) { self.receive($0) }
    let latest = database.commitNumber
    state.withLock { $0.latest = max($0.latest, latest) }
  }

  /// Receives no more commits: the context shows nothing that they could change.
  func ignore() {
    subscription?.cancel()
    subscription = nil
    state.withLock {
      $0.isFollowing = false
      $0.commits.removeAll()
      $0.folded = nil
    }
  }

  /// How often it has woken its context, for tests.
  package var wakeUps: Int { state.withLock { $0.wakeUps } }

  /// On the writer's thread, under its lock: only queues. The context's own commits do not come here; it advances to
  /// them inside its save.
  func receive(_ commit: ChangeSet) {
    let actor: (any Actor)? = state.withLock { state in
      if !state.isFollowing { return nil }
      state.commits.append(commit)
      if state.commits.count >= Mailbox.bound { state.fold() }
      state.latest = commit.number
      return state.scheduleHop()
    }
    if let actor { enqueue(on: actor) { self.deliver(on: $0) } }
  }

  /// On any thread: there will be no more commits, for this reason.
  func fail(_ error: DatabaseError) {
    let actor: (any Actor)? = state.withLock { state in
      if state.isClosed { return nil }
      state.failure = error
      return state.scheduleHop()
    }
    if let actor { enqueue(on: actor) { self.deliver(on: $0) } }
  }

  /// What has arrived: a failure, which is taken, and whether there are commits after that one, here or missed.
  func look(after number: Int64) -> (failure: DatabaseError?, isBehind: Bool) {
    state.withLock { ($0.failure.take(), $0.isBehind(number)) }
  }

  private func deliver(on isolation: isolated any Actor) {
    let isFollowing = state.withLock { state in
      state.isHopScheduled = false
      return state.isFollowing
    }
    guard isFollowing, let owner else { return }
    owner.following.settle()
    owner.following.endTurnIfIdle()
  }

  /// - Returns: Whether the turn will end automatically, because there is an actor to run its end.
  func scheduleTurnEnd() -> Bool {
    guard let actor = state.withLock({ $0.isClosed ? nil : $0.isolation }) else { return false }
    enqueue(on: actor) { self.endTurn(on: $0) }
    return true
  }

  /// The context was released, on any thread: its core is emptied on its isolation, or here if it has none.
  func closeOwner(_ owner: ContextCore) {
    guard let actor = state.withLock({ $0.isolation }) else {
      owner.close()
      return
    }
    nonisolated(unsafe) let owner = owner  // transferred: no other code uses a core whose context is gone
    enqueue(on: actor) { _ in owner.close() }
  }

  /// Runs work on the context's isolation; with nil, on any thread, if the context is closed or has none.
  func run(_ work: @escaping @Sendable (ContextCore?) -> Void) {
    guard let actor = state.withLock({ $0.isClosed ? nil : $0.isolation }) else { return work(nil) }
    enqueue(on: actor) { self.run(work, on: $0) }
  }

  private func run(_ work: (ContextCore?) -> Void, on isolation: isolated any Actor) { work(owner) }

  private func endTurn(on isolation: isolated any Actor) { owner?.following.endTurn() }

  /// Waits until a commit has arrived here. Readers can see it a moment earlier, before the writer delivers it.
  ///
  /// One that was delivered before the context followed does not arrive: then it is known when all deliveries under way
  /// have ended.
  func wait(for number: Int64, in database: Database) {
    func isThere() -> Bool { state.withLock { !$0.isFollowing || $0.latest >= number } }
    for _ in 0..<100 {
      if isThere() { return }
      sched_yield()
    }
    database.waitForNotifications()
    state.withLock { $0.latest = max($0.latest, number) }
  }

  /// How many commits wait uncombined.
  private static let bound = 1024

  /// The commits up to and including `number`, without taking them; nil as for ``take(upTo:)``.
  func waiting(upTo number: Int64) -> [ChangeSet]? {
    state.withLock { state in
      if let folded = state.folded, folded.number > number { return nil }
      return (state.folded.map { [$0] } ?? []) + state.commits.prefix { $0.number <= number }
    }
  }

  /// Takes the commits up to and including `number`; nil if the combined commits extend beyond it.
  func take(upTo number: Int64) -> [ChangeSet]? {
    state.withLock { state in
      if state.commits.isEmpty, state.folded == nil { return [] }
      if let folded = state.folded, folded.number > number { return nil }
      let end = state.commits.firstIndex { $0.number > number } ?? state.commits.endIndex
      let taken = (state.folded.map { [$0] } ?? []) + state.commits[..<end]
      state.folded = nil
      state.commits.removeSubrange(..<end)
      return taken
    }
  }
}

extension Mailbox.State {
  /// Whether there are commits after that one, here or missed.
  fileprivate func isBehind(_ number: Int64) -> Bool { !commits.isEmpty || folded != nil || latest > number }

  /// - Returns: The actor on which the context is to be woken; nil if it has none, or will be woken already.
  fileprivate mutating func scheduleHop() -> (any Actor)? {
    guard !isHopScheduled, let isolation else { return nil }
    isHopScheduled = true
    wakeUps += 1
    return isolation
  }

  fileprivate mutating func fold() {
    guard let last = commits.last else { return }
    let all = (folded.map { [$0] } ?? []) + commits
    folded = ChangeSet(
      number: last.number, origin: Set(all.map(\.origin)).count == 1 ? last.origin : .otherProcess,
      tables: CommitBatch.tables(of: all),
      rowsUnknown: all.contains(where: \.rowsUnknown),
      // Empty stands for all tables, if rows are unknown.
      alteredTables: all.contains(where: \.allIsUnknown) ? [] : all.reduce(into: []) { $0.formUnion($1.alteredTables) },
      altersSchema: all.contains(where: \.altersSchema),
      captured: all.map(\.captured).min() ?? .max)
    commits.removeAll(keepingCapacity: true)
  }
}
