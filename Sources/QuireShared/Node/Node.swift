internal import Dispatch
internal import Foundation
internal import Observation
package import QuireSQLite

/// One file that follows a shared log: it repeats what other nodes have committed, and lets a transaction of its own be
/// committed only when the log has it, at the position on which it was made.
package final class Node: Sendable, Observable {
  /// The log's name.
  package let name: String
  /// This machine's name among the nodes.
  package let node: String
  /// How long a write waits for a log that does not answer.
  package let patience: Duration
  let log: any SharedLog
  let id: UUID
  let memory = Locked(NodeMemory())
  /// What observers of the state were last told.
  private let shown = Locked(NodeState.current)
  /// Observers are told here: never under the write lock.
  private let telling = DispatchQueue(label: "quire.node-state")
  private let registrar = ObservationRegistrar()
  private let database = Locked(WeakDatabase())
  private let subscription = Locked<LogSubscription?>(nil)
  /// Repeats what news bring.
  let tail: DispatchQueue
  /// Signaled by news, for a write that waits for its turn.
  let news = DispatchSemaphore(value: 0)

  private struct WeakDatabase { weak var value: Database? }

  /// - Parameter place: Where the file stands.
  init(_ log: any SharedLog, _ place: NodePlace, patience: Duration) {
    self.log = log
    self.patience = patience
    (name, node, id) = (place.name, place.node, place.log)
    tail = DispatchQueue(label: "quire.node")
    memory.withLock { $0.stand(at: place.position) }
  }

  /// Lets a database follow a log. Other nodes' commits come from now on; those that are there already come first.
  ///
  /// - Parameter patience: How long a write waits for a log that does not answer.
  /// - Throws: ``SharedStoreError`` if the file is not shared under that name. An unreachable log is not an error.
  package static func attach(
    _ database: Database, to log: any SharedLog, named name: String, patience: Duration
  ) throws -> Node {
    guard let place = try database.read({ try NodePlace(on: $0) }) else {
      throw SharedStoreError.notShared(path: database.path)
    }
    if place.name != name {
      throw SharedStoreError.otherName(path: database.path, expected: name, found: place.name)
    }
    let node = Node(log, place, patience: patience)
    node.database.withLock { $0.value = database }
    try database.install(node)
    do {
      try node.catchUpWithLog(by: .now + patience)
    } catch let error as SharedStoreError {
      guard case .cutOff = error else { throw error }
    }
    node.subscription.withLock {
      $0 = log.follow(after: node.position) { [weak node] news in node?.hear(news) }
    }
    return node
  }

  /// The last position that the file has.
  package var position: Int64 { memory.withLock { $0.position } }

  /// How it stands to the log now. Observable.
  package var state: NodeState {
    registrar.access(self, keyPath: \.state)
    return memory.withLock { $0.state }
  }

  /// Has observers of ``state`` told if it has changed. Called after each change of the memory, also under locks.
  func show() {
    let now = memory.withLock { $0.state }
    let isNew = shown.withLock { shown in
      defer { shown = now }
      return shown != now
    }
    guard isNew else { return }
    telling.async { [self] in registrar.withMutation(of: self, keyPath: \.state) {} }
  }

  // MARK: Following

  private func hear(_ news: LogNews) {
    var isBack = false
    let isNew = memory.withLock { memory in
      switch news {
      case .entries(let entries):
        memory.reached()
        let before = memory.heard
        memory.hear(entries)
        return memory.heard > before
      case .turns(let turns):
        memory.turns = turns
        return false
      case .reachable(let isReachable):
        if isReachable { memory.reached() } else { memory.unreached() }
        isBack = isReachable
        return isReachable
      }
    }
    self.news.signal()
    show()
    if isNew { tail.async { [weak self, isBack] in self?.follow(asking: isBack) } }
  }

  /// Repeats what has come.
  ///
  /// - Parameter asks: Whether the log is asked for what may have been missed; it is in any case if something is missing.
  func follow(asking asks: Bool) {
    if memory.withLock({ $0.isHalted }) { return }
    do {
      try repeatWaiting()
      if asks || memory.withLock({ $0.heard > $0.position }) { try catchUpWithLog(by: .now + patience) }
    } catch {}  // the state says it; the next news or write tries again
    show()
  }

  private func repeatWaiting() throws {
    guard let database = database.withLock({ $0.value }) else { return }
    try database.replaying { try repeatWaiting(with: $0) }
  }

  /// Reads the log to its end and repeats it, on a thread of the node's own.
  ///
  /// - Throws: As ``catchUpWithLog(by:)``.
  package func catchUp() async throws { try await onTail { try $0.catchUpWithLog(by: .now + $0.patience) } }

  /// As ``outcome(of:)``, on a thread of the node's own.
  package func outcome(of commit: SharedCommit) async throws -> SharedOutcome {
    try await onTail { node in try node.knownOutcome(of: commit) }
  }

  private func onTail<Result: Sendable>(_ body: @escaping @Sendable (Node) throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      tail.async { [self] in continuation.resume(with: Swift.Result { try body(self) }) }
    }
  }

  /// Reads the log to its end and repeats it.
  ///
  /// - Throws: ``SharedStoreError``; what was repeated until then stays.
  package func catchUpWithLog(by deadline: ContinuousClock.Instant) throws {
    if let stop = memory.withLock({ $0.isHalted ? $0.stop : nil }) { throw SharedStoreError.stopped(stop) }
    let standing = position  // before the log is asked: this node may append meanwhile
    let status = try ask { () throws(SharedLogError) in try log.status(by: deadline) }
    if status.log != id { throw halt(.otherLog(status.log)) }
    if status.last < standing { throw halt(.forked(at: status.last + 1)) }
    memory.withLock { $0.hear(last: status.last) }
    show()
    while position < status.last {
      let before = position
      let entries = try ask { () throws(SharedLogError) in
        try log.entries(after: before, limit: Node.batch, by: deadline)
      }
      memory.withLock { $0.hear(entries) }
      try repeatWaiting()
      if position == before { break }  // another process of this machine is at it
    }
    show()
  }

  /// How many entries are one transaction of SQLite at most.
  static let batch = 200

  /// What became of a commit whose outcome was unknown: known when the file has its position.
  ///
  /// - Throws: ``SharedStoreError``, or ``QuireSQLite/DatabaseError``.
  package func knownOutcome(of commit: SharedCommit) throws -> SharedOutcome {
    try catchUpWithLog(by: .now + patience)
    guard let database = database.withLock({ $0.value }) else { return .undecided }
    return try database.read { connection in
      let place = try NodePlace(sharedOn: connection)
      if place.position < commit.position { return .undecided }
      guard let bytes = try NodePlace.entry(at: commit.position, on: connection) else { return .undecided }
      return try Entry(bytes).transactions.contains { $0.id == commit.id } ? .committed : .notCommitted
    }
  }

  // MARK: Calls of the log

  /// Makes a call of the log, and remembers whether it answers.
  func ask<Result>(_ body: () throws(SharedLogError) -> Result) throws -> Result {
    do {
      let result = try body()
      memory.withLock { $0.reached() }
      return result
    } catch {
      switch error {
      case .unreachable, .outcomeUnknown:
        let since = memory.withLock { memory in
          memory.unreached()
          return memory.cutOffSince ?? Date()
        }
        throw SharedStoreError.cutOff(since: since)
      case .trimmed(let oldest): throw halt(.trimmed(oldest: oldest))
      case .otherLog(let log): throw halt(.otherLog(log))
      case .tooLarge(let limit): throw SharedStoreError.tooLarge(bytes: limit, limit: limit)
      }
    }
  }

  /// Stops following.
  func halt(_ stop: NodeStop) -> SharedStoreError {
    memory.withLock { $0.stop = stop }
    return .stopped(stop)
  }
}
