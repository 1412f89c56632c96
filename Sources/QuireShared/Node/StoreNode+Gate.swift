import Foundation
package import QuireSQLite

// Called on the writing thread with the write lock held.
extension StoreNode: CommitGate {
  /// Other nodes were first: the transaction is to be run again.
  private struct Behind: Error {}

  /// The commits of a transaction, and the error of each: the log may have them, or has them, and the file does not.
  private struct NotHere: ErrorOfEachCommit {
    let commits: [SharedCommit]
    let error: @Sendable (SharedCommit) -> SharedStoreError
    /// Of what was taken back with them, and is not in the log.
    let rest: SharedStoreError

    func ofWrite(_ index: Int?) -> any Error { index.map { error(commits[$0]) } ?? rest }
  }

  package func pass(_ writes: [GatedWrite], on connection: Connection, isOver: () -> Bool) throws {
    if let stop = memory.withLock({ $0.isHalted ? $0.stop : nil }) { throw SharedStoreError.stopped(stop) }
    // In the transaction: another process of this machine may have moved the file.
    var place = try NodePlace(sharedOn: connection)
    guard let chain = Chain(place.chain) else { throw NodePlaceError.damaged }
    let transactions = writes.map { Entry.Transaction(author: $0.author, rows: $0.rows) }
    let (bytes, parts) = try logged(Entry(after: chain, node: place.node, transactions), at: place.position + 1)
    let commits = transactions.map { SharedCommit(position: place.position + 1, id: $0.id) }
    let next = chain.after(bytes)
    memory.withLock { memory in
      memory.stand(at: place.position)
      memory.inFlight = bytes
    }
    do {
      try append(bytes, after: place.position, chain, next, commits, isOver: isOver)
    } catch {
      memory.withLock { $0.inFlight = nil }
      show()
      if case SharedStoreError.outcomeUnknown = error {
        let since = memory.withLock { $0.cutOffSince } ?? Date()
        throw NotHere(commits: commits, error: { .outcomeUnknown($0) }, rest: .cutOff(since: since))
      }
      if let parts { try? log.remove(parts.group, by: .now + patience) }
      throw error
    }
    memory.withLock { memory in
      memory.passed = commits
      memory.won()
    }
    place.position += 1
    place.chain = next.bytes
    do {
      try place.write(
        keeping: [KeptEntry(position: place.position, time: transactions[0].time, node: place.node, bytes: bytes)],
        on: connection)
    } catch {
      throw commitFailed(error) ?? error
    }
  }

  /// An entry's bytes for the log: the entry, or where its bytes are beside the log if they are too many.
  func logged(_ entry: Entry, at position: Int64) throws -> ([UInt8], EntryParts?) {
    let bytes = entry.bytes
    if bytes.count <= EntryParts.inlineLimit { return (bytes, nil) }
    if bytes.count > EntryParts.sizeLimit {
      throw SharedStoreError.tooLarge(bytes: bytes.count, limit: EntryParts.sizeLimit)
    }
    let parts = try ask { () throws(SharedLogError) in
      try EntryParts(storing: bytes, at: position, log, patience: patience)
    }
    var carrier = entry
    carrier.kind = entry.kind == .migration ? .largeMigration : .parts
    for index in carrier.transactions.indices { carrier.transactions[index].rows = index == 0 ? parts.bytes : [] }
    return (carrier.bytes, parts)
  }

  /// Has every node say what its file contains at one position.
  ///
  /// - Returns: that position; this node has said it then.
  /// - Throws: ``SharedStoreError``.
  package func appendCheck() throws -> Int64 {
    guard let database = database.withLock({ $0.value }) else { throw SharedStoreError.notShared(path: "") }
    try catchUpWithLog(by: .now + patience)
    return try database.replaying { replayer in
      while true {
        if let stop = memory.withLock({ $0.isHalted ? $0.stop : nil }) { throw SharedStoreError.stopped(stop) }
        let place = try database.read { try NodePlace(sharedOn: $0) }
        guard let chain = Chain(place.chain) else { throw NodePlaceError.damaged }
        let transaction = Entry.Transaction(rows: [])
        let entry = Entry(.check, after: chain, node: place.node, [transaction])
        let bytes = entry.bytes
        do {
          try append(
            bytes, after: place.position, chain, chain.after(bytes),
            [SharedCommit(position: place.position + 1, id: transaction.id)])
        } catch is Behind {
          try catchUp(with: replayer) { false }
          continue
        } catch {
          endTurn()
          throw error
        }
        memory.withLock { memory in
          memory.won()
          memory.hear([LoggedEntry(position: place.position + 1, bytes: bytes)])
        }
        try repeatWaiting(with: replayer)
        return place.position + 1
      }
    }
  }

  /// Appends a migration, at the place of its commit.
  ///
  /// - Throws: ``OutdatedTransaction`` if other nodes were first.
  func appendMigration(
    _ bytes: [UInt8], _ parts: EntryParts?, _ chain: Chain, _ next: Chain, _ commit: SharedCommit
  ) throws {
    memory.withLock { memory in
      memory.stand(at: commit.position - 1)
      memory.inFlight = bytes
    }
    do {
      try append(bytes, after: commit.position - 1, chain, next, [commit])
    } catch {
      memory.withLock { $0.inFlight = nil }
      if case SharedStoreError.outcomeUnknown = error {
        endTurn()
        throw error
      }
      if let parts { try? log.remove(parts.group, by: .now + patience) }
      if error is Behind { throw OutdatedTransaction() }
      endTurn()
      throw error
    }
    memory.withLock { memory in
      memory.passed = [commit]
      memory.won()
    }
  }

  package func isOutdated(_ error: any Error) -> Bool {
    if error is Behind || mayBeOutdated(error) { return true }
    endTurn()
    return false
  }

  private func mayBeOutdated(_ error: any Error) -> Bool {
    let isAboutRows: Bool
    switch error {
    case is any ErrorAboutRows, is CommitRefusal: isAboutRows = true
    case let refused as SQLiteError: isAboutRows = refused.code & 0xff == 19  // a constraint
    default: isAboutRows = false
    }
    // A refusal is to be true at the end of the log.
    let (isCutOff, position) = memory.withLock { ($0.state != .current && $0.cutOffSince != nil, $0.position) }
    guard isAboutRows, !isCutOff else { return false }
    let entries = try? ask { () throws(SharedLogError) in
      try log.entries(after: position, limit: StoreNode.batch, by: .now + min(patience, .seconds(1)))
    }
    guard let entries, !entries.isEmpty else { return false }
    memory.withLock { $0.hear(entries) }
    // On rows that are newer than the write it is true as well: others may never pause.
    return lose() <= patience
  }

  package func catchUp(with replayer: Replayer, isOver: () -> Bool) throws {
    do {
      try repeatWaiting(with: replayer)
      try waitForTurn(with: replayer, isOver: isOver)
    } catch {
      endTurn()  // the write is not run again
      throw error
    }
    show()
  }

  package func committed() {
    let position = memory.withLock { memory -> Int64? in
      memory.inFlight = nil
      guard let commit = memory.passed.first else { return nil }
      memory.passed = []
      memory.stand(at: commit.position)
      return commit.position
    }
    guard let position else { return endTurn() }
    show()
    keepUp(at: position)
  }

  package func commitFailed(_ error: any Error) -> (any Error)? {
    let reason = "\(error)"
    let (commits, stop) = memory.withLock { memory -> ([SharedCommit], Stop?) in
      memory.inFlight = nil
      defer { memory.passed = [] }
      guard let position = memory.passed.last?.position else { return ([], nil) }
      let stop = Stop.notHere(at: position, reason: reason)
      memory.hear(last: position)
      memory.stop = stop
      return (memory.passed, stop)
    }
    show()
    guard let stop else { return nil }
    return NotHere(commits: commits, error: { .committedNotHere($0, reason: reason) }, rest: .stopped(stop))
  }

  // MARK: Appending

  private enum Attempt { case added, behind, unreachable, unknown, refused(String) }

  /// Returns when the log has the entry at its place.
  ///
  /// After an unknown outcome it asks what is there: the entry, which was added then; another one; or nothing, and then it
  /// is sent again. It can be added at this place alone, so that it is never there twice.
  ///
  /// - Parameters:
  ///   - next: The chain with the entry.
  ///   - isOver: Whether all callers have given up; then it is not sent again, unless the log may have it.
  private func append(
    _ bytes: [UInt8], after position: Int64, _ chain: Chain, _ next: Chain, _ commits: [SharedCommit],
    isOver: () -> Bool = { false }
  ) throws {
    let end = LogEnd(position: position, mark: chain.mark)
    let deadline = ContinuousClock.now + patience
    // What is sent later may be answered too late, and would leave in doubt what is certain until then.
    let last = deadline - patience / 10
    var isUnknown = false
    var pause = 0.002
    while true {
      switch try attempt(bytes, after: end, next.mark, wasSent: isUnknown, by: deadline) {
      case .added: return
      case .behind: throw try outrun()
      case .unknown: isUnknown = true
      case .unreachable: break
      case .refused(let reason):
        // What fills etcd's quota is refused, and is there all the same.
        let there: [LoggedEntry]?
        do throws(SharedLogError) {
          there = try log.entries(after: position, limit: 1, by: deadline)
        } catch {
          // What refuses reads too, such as without a password, has looked at neither.
          if case .refused = error, !isUnknown { throw SharedStoreError.refused(reason: reason) }
          there = nil
        }
        if there?.first?.bytes == bytes { return }
        if there?.isEmpty == true, !isUnknown { throw SharedStoreError.refused(reason: reason) }
        isUnknown = true
      }
      if ContinuousClock.now + .seconds(pause) >= last || !isUnknown && isOver() {
        let since = memory.withLock { memory in
          memory.unreached()
          return memory.cutOffSince ?? Date()
        }
        guard isUnknown else { throw SharedStoreError.cutOff(since: since) }
        tail.async { [weak self] in self?.follow(asking: true) }  // news of it may have been passed over
        throw SharedStoreError.outcomeUnknown(commits[0])
      }
      Thread.sleep(forTimeInterval: pause)
      pause = min(pause * 2, 0.1)
    }
  }

  private func attempt(
    _ bytes: [UInt8], after end: LogEnd, _ mark: [UInt8], wasSent: Bool, by deadline: ContinuousClock.Instant
  ) throws -> Attempt {
    var answer: Appended?
    // A log that was silent is asked first: what takes connections for it, as etcd's gateway does, would take the entry too,
    // and what became of it would not be known.
    let wasSilent = memory.withLock { $0.cutOffSince != nil }
    do throws(SharedLogError) {
      if wasSent || wasSilent {
        let entries = try log.entries(after: end.position, limit: StoreNode.batch, by: deadline)
        if !entries.isEmpty { answer = .behind(entries) }
      }
      if answer == nil {
        let isNext = memory.withLock { $0.isNext }
        answer = try log.append(bytes, after: end, mark: mark, turn: Turn(node: name), isNext: isNext, by: deadline)
      }
    } catch {
      switch error {
      case .unreachable: return .unreachable
      case .outcomeUnknown: return .unknown
      case .refused(let reason): return .refused(reason)
      case .tooLarge(let limit): throw SharedStoreError.tooLarge(bytes: bytes.count, limit: limit)
      case .trimmed(let oldest): throw halt(.trimmed(oldest: oldest))
      case .otherLog(let log): throw halt(.otherLog(log))
      case .noLog: throw halt(.noLog)
      }
    }
    memory.withLock { $0.reached() }
    switch answer {
    case .added: return .added
    case .behind(let entries) where entries.first?.bytes == bytes: return .added  // it arrived twice
    case .behind(let entries):
      memory.withLock { memory in
        memory.hear(entries)
        memory.isQueued = true
      }
      return .behind
    case .forked(let last): throw halt(.forked(at: min(last + 1, end.position)))
    case .queued, nil:
      memory.withLock { $0.isQueued = true }
      return .behind
    }
  }

  /// - Returns: the error that has the transaction run again.
  /// - Throws: When others have been first for too long.
  private func outrun() throws -> any Error {
    let waited = lose()
    if waited > contention { throw SharedStoreError.contended(waited: waited) }
    return Behind()
  }

  /// For how long others may be first.
  private var contention: Duration { patience * 4 }

  /// Others were first.
  ///
  /// - Returns: for how long they have been.
  private func lose() -> Duration {
    let now = ContinuousClock.now
    return memory.withLock { memory in
      // What was given up long ago does not count. A wait for a turn, which lies between, is shorter.
      if memory.lostAt.map({ $0.duration(to: now) > contention }) ?? true { memory.losingSince = nil }
      let since = memory.losingSince ?? now
      (memory.losingSince, memory.lostAt) = (since, now)
      return since.duration(to: now)
    }
  }
}
