internal import Dispatch
internal import Foundation
internal import QuireSQLite

// What comes from the log, by itself and when it is asked.
extension StoreNode {
  func hear(_ news: LogNews) {
    var isBack = false
    let isNew = memory.withLock { memory in
      switch news {
      case .entries(let entries):
        memory.reached()
        let before = memory.heard
        memory.hear(news: entries)
        return memory.heard > before
      case .turns(let turns, let sign):
        (memory.turns, memory.turnSign) = (turns, sign)
        return false
      case .reachable(let isReachable):
        if isReachable { memory.reached() } else { memory.unreached() }
        memory.beginNews()
        isBack = isReachable
        return isReachable
      }
    }
    self.news.signal()
    show()
    if isNew { tail.async { [weak self, isBack] in self?.follow(asking: isBack) } }
  }

  /// Asks the log how far it is, and lets news begin again if they have not brought what it had when it was last asked. A
  /// connection can be dead without a word: a member that is cut off from the others is silent, and so is a gateway behind
  /// which the member is gone.
  func checkNews() {
    follow(asking: true)
    guard memory.withLock({ $0.missesNews() }) else { return }
    subscription.withLock { subscription in
      if subscription == nil { return }  // it has ended
      memory.withLock { $0.beginNews() }
      subscription = log.follow(after: position) { [weak self] news in self?.hear(news) }
    }
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
  /// - Parameter isOver: Whether the caller has given up. Asked before each request of the log.
  /// - Throws: As ``catchUpWithLog(by:isOver:)``; `CancellationError` if the caller has given up.
  package func catchUp(isOver: @escaping @Sendable () -> Bool = { false }) async throws {
    try await onTail { node in
      try node.persistently(isOver) { try node.catchUpWithLog(by: $0, isOver: isOver) }
    }
  }

  /// Repeats what the log does not answer, for the whole of the patience: it may be electing a leader.
  func persistently<Result>(
    _ isOver: () -> Bool = { false }, _ body: (ContinuousClock.Instant) throws -> Result
  ) throws -> Result {
    let deadline = ContinuousClock.now + patience
    while true {
      if isOver() { throw CancellationError() }
      do {
        return try body(deadline)
      } catch SharedStoreError.cutOff where ContinuousClock.now < deadline {
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
  }

  /// As ``knownOutcome(of:isOver:)``, on a thread of the node's own.
  ///
  /// - Throws: ``SharedStoreError/outcomeUnknown(_:)`` if the log is silent. To be cut off would say that nothing was written.
  ///   `CancellationError` if the caller has given up.
  package func outcome(of commit: SharedCommit, isOver: @escaping @Sendable () -> Bool = { false }) async throws
    -> SharedCommit.Outcome
  {
    do {
      return try await onTail { node in
        try node.persistently(isOver) { _ in try node.knownOutcome(of: commit, isOver: isOver) }
      }
    } catch SharedStoreError.cutOff {
      throw SharedStoreError.outcomeUnknown(commit)
    }
  }

  private func onTail<Result: Sendable>(_ body: @escaping @Sendable (StoreNode) throws -> Result) async throws -> Result
  {
    try await withCheckedThrowingContinuation { continuation in
      tail.async { [self] in continuation.resume(with: Swift.Result { try body(self) }) }
    }
  }

  /// Reads the log to its end and repeats it.
  ///
  /// - Parameter isOver: Whether the caller has given up. Asked before each batch.
  /// - Throws: ``SharedStoreError``, and `CancellationError` if the caller has given up; what was repeated until then stays.
  package func catchUpWithLog(by deadline: ContinuousClock.Instant, isOver: () -> Bool = { false }) throws {
    if let stop = memory.withLock({ $0.isHalted ? $0.stop : nil }) { throw SharedStoreError.stopped(stop) }
    let standing = position  // before the log is asked: this node may append meanwhile
    let status = try ask { () throws(SharedLogError) in try log.status(by: deadline) }
    if status.log != id { throw halt(.otherLog(status.log)) }
    if status.last < standing { throw halt(.forked(at: status.last + 1)) }
    if try status.last == standing && !ends(at: status.end) { throw halt(.forked(at: standing)) }
    memory.withLock { $0.hear(last: status.last) }
    show()
    // Some first, then as many as are kept: what is large would be read again and again.
    var limit = min(16, StoreNode.batch)
    while position < status.last {
      if isOver() { throw CancellationError() }
      let before = position
      // Each batch has its time: there may be days of them.
      let entries = try ask { () throws(SharedLogError) in
        try log.entries(after: before, limit: limit, by: max(deadline, .now + patience))
      }
      memory.withLock { $0.hear(entries) }
      let size = entries.reduce(1) { $0 + $1.bytes.count }
      limit = max(1, min(StoreNode.batch, NodeMemory.sizeLimit / size * entries.count))
      try repeatWaiting()
      if position == before { break }  // another process of this machine is at it
    }
    show()
  }

  /// Whether the file has the history of a log that ends where it stands; also if another process has moved it meanwhile.
  private func ends(at end: LogEnd) throws -> Bool {
    guard let database = database.withLock({ $0.value }) else { return true }
    let place = try database.read { try NodePlace(sharedOn: $0) }
    return place.position != end.position || place.chain.starts(with: end.mark)
  }

  /// How many entries are one transaction of SQLite at most.
  static let batch = 200

  /// What became of a commit whose outcome was unknown: known when the file has its position.
  ///
  /// - Throws: ``SharedStoreError``, or ``QuireSQLite/DatabaseError``.
  package func knownOutcome(of commit: SharedCommit, isOver: () -> Bool = { false }) throws -> SharedCommit.Outcome {
    try catchUpWithLog(by: .now + patience, isOver: isOver)
    guard let database = database.withLock({ $0.value }) else { return .undecided }
    return try database.read { connection in
      let place = try NodePlace(sharedOn: connection)
      if place.position < commit.position { return .undecided }
      guard let bytes = try NodePlace.entry(at: commit.position, on: connection) else { return .forgotten }
      return try Entry(bytes).transactions.contains { $0.id == commit.id } ? .committed : .notCommitted
    }
  }

  // MARK: Calls of the log

  /// Makes a call of the log, and remembers whether it answers.
  func ask<Result>(_ body: () throws(SharedLogError) -> Result) throws -> Result {
    defer { show() }
    do {
      let result = try body()
      memory.withLock { $0.reached() }
      return result
    } catch {
      let explained = SharedStoreError(
        error,
        since: memory.withLock { memory in
          memory.unreached()
          return memory.cutOffSince ?? Date()
        })
      if case .stopped(let stop) = explained { throw halt(stop) }
      throw explained
    }
  }

  /// Stops following.
  func halt(_ stop: StoreNode.Stop) -> SharedStoreError {
    memory.withLock { $0.stop = stop }
    show()
    return .stopped(stop)
  }
}
