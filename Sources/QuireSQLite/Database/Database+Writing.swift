package import QuireRow
internal import Synchronization

extension Database {
  /// Runs the body in a transaction and commits it; if it throws, nothing of it is there.
  ///
  /// The calling thread holds the write lock until this returns: never call it across an `await`.
  ///
  /// - Parameters:
  ///   - author: a name for the commit, which its subscribers get.
  ///   - leaving: a position that leaves the commit before this one with it (see
  ///     ``SnapshotReader/advanceAfterOwnCommit(_:)``), so that nothing has to be held for it.
  ///   - committed: called right after COMMIT with the lock held, after the subscribers.
  /// - Throws: what the body throws, or who refuses the commit (``beforeCommit(_:)``); ``DatabaseError`` for the rest. After ``DatabaseError/commitOutcomeUnknown`` and
  ///   ``DatabaseError/corrupt`` every later write throws the same until the database is opened again.
  @discardableResult package func write<T>(
    origin: ChangeSet.Origin = .sql, author: String? = nil, leaving position: SnapshotReader? = nil,
    _ body: (Transaction) throws -> T, committed: (T, Commit) -> Void = { _, _ in }
  ) throws -> T {
    defer { leavePlace() }
    while true {
      do {
        return try transact(origin: origin, author: author, leaving: position, body, committed: committed)
      } catch let refusal as CommitRefusal {
        throw refusal.reason
      } catch is OutdatedTransaction {
        continue
      }
    }
  }

  /// The same with a refusal told apart from other errors: ``CommitRefusal``.
  ///
  /// - Parameters:
  ///   - keepsState: Whether the state that `leaving` leaves is kept for it until it does.
  ///   - waits: Whether to wait while others write, in this process and in others; if not, that is
  ///     ``DatabaseError/writerBusy(waited:)`` or ``DatabaseError/busy(path:waited:by:)`` at once.
  ///   - isTrial: Whether the body always throws, and nothing is to be committed.
  /// - Throws: ``OutdatedTransaction`` if the file is shared and the body is to be run again; never for a trial. The calling
  ///   thread has kept its place then, since it was this write that waited for the node's turn: call ``leavePlace()`` in the
  ///   end. The same holds for another ``ReturningWrite`` that the body throws.
  @discardableResult package func transact<T>(
    origin: ChangeSet.Origin, author: String?, leaving position: SnapshotReader?, keepsState: Bool = false,
    waits: Bool = true, isTrial: Bool = false,
    _ body: (Transaction) throws -> T, committed: (T, Commit) -> Void
  ) throws -> T {
    try checkProcess()
    let asked = events.now
    do {
      try lock.lock(timeout: waits ? configuration.writeTimeout : .zero)
    } catch {
      throw waits && error.isOthersWrite && Task.isCancelled ? CancellationError() : error
    }
    var isNext = false
    defer {
      if isNext { lock.keepPlace() } else { unlock() }
    }
    events.emit(since: asked) { .waitedForWriteLock($0) }
    let (writer, validators) =
      try kept.take().map { ($0, self.validators.all) } ?? begin(waiting: waits ? .task : .none)
    let result: T
    var folded: [TableChanges]?
    do {
      result = try body(Transaction(writer: writer))
      folded = try finish(writer, from: 0, validators, origin, author, number: clock.number + 1)
      if writer.isNew() { try gate?.pass([(0..<writer.capture.eventCount, author)], writer) { Task.isCancelled } }
    } catch {
      if !isTrial, (error as? any ReturningWrite)?.keeps == .transaction {
        (kept, isNext) = (writer, true)
        throw error
      }
      takeBack(writer)
      if isTrial { throw explained(error) }
      let settled = settled(error)
      isNext = settled is any ReturningWrite
      throw settled
    }
    let (committing, changes) = (events.now, writer.capture.eventCount)
    let commit = try order.withLock { place in
      let isNew = writer.isNew()
      do {
        try self.commit(writer, leaving: keepsState ? nil : position, numbers: isNew ? 1 : 0)
      } catch {
        throw gate?.error(error, ofMember: 0) ?? error
      }
      if isNew { place.committed(writer.log.state, end: writer.log.last, schema: writer.loggedSchema) }
      let commit = Commit(
        number: clock.number, origin: origin, author: author, token: place.token, isNew: isNew, folded: folded,
        writer: writer)
      if isNew && subscribers.want(origin) { subscribers.publish(commit.changes) }
      return commit
    }
    if isShared {
      showing(commit, of: writer) { committed(result, $0) }
    } else {
      committed(result, commit)
    }
    commit.finish()
    if commit.isNew {
      events.emit(since: committing) {
        .commit(number: commit.number, duration: $0, changes: Int(changes), logBytes: writer.writeAheadLog.sizeInBytes)
      }
    }
    if position == nil || position?.number == commit.number {
      checkpointIfDue(writer)
    } else {
      awaitsCheckpoint.store(isCheckpointDue(writer), ordering: .relaxed)
    }
    return result
  }

  /// Whether the calling thread writes: it holds the write lock.
  package var isWritten: Bool { lock.isMine }

  /// Begins a transaction.
  ///
  /// - Parameter patience: How long to wait while another process writes.
  /// - Returns: the writer, and who may refuse what is written: those that were there when it began.
  /// - Throws: ``DatabaseError/busy(path:waited:by:)``; ``DatabaseError/nestedWrite`` if the calling thread writes to the
  ///   file through another store; `CancellationError` if its task is canceled.
  func begin(waiting patience: LockPatience) throws -> (Writer, validators: [UInt64]) {
    let writer = try readyWriter()
    let validators = validators.all
    if pace.wantsAnother(writer.writeAheadLog.frames, afterReturns: readers.returnCount), !positions.hasOldSnapshots {
      checkpoint(writer.writeAheadLog)
    }
    do {
      try writer.beginTransaction(waiting: patience, under: lock)
    } catch {
      let explained = explained(error)
      guard let busy = explained as? DatabaseError, busy.isOthersWrite else { throw explained }
      if OpenWriteLocks.isMine(besides: lock) { throw DatabaseError.nestedWrite }
      throw Task.isCancelled ? CancellationError() : busy
    }
    numberForeign()
    return (writer, validators)
  }

  /// The end of a write, before its COMMIT or RELEASE: nothing is written after it.
  ///
  /// - Parameter first: The number of row events when it began.
  /// - Returns: the rows it changes, if anybody has looked at them.
  /// - Throws: ``CommitRefusal``, and what else keeps it from being committed.
  func finish(
    _ writer: Writer, from first: Int, _ validators: [UInt64], _ origin: ChangeSet.Origin, _ author: String?,
    number: Int64
  ) throws -> [TableChanges]? {
    try checkProcess()
    let deleted = writer.capture.highestDeletedKeys(from: first)
    if !deleted.isEmpty { try closing.withLock { $0 }?.run(Transaction(writer: writer), deleted) }
    try writer.check()
    guard writer.isNew(since: first) else { return nil }
    // Triggers refuse to change rows.
    if writer.hasAlteredSchema, gate == nil, try NodePlace(on: writer.connection) != nil {
      throw DatabaseError.shared(path: path)
    }
    var folded: [TableChanges]?
    if !validators.isEmpty {
      folded = try examine(writer, from: first, validators, origin: origin, author: author)
      try writer.check()
    }
    try writer.closeLog(origin: origin, author: author, number: number)
    return folded
  }

  /// Rolls the transaction back.
  func takeBack(_ writer: Writer) {
    writer.endTransaction()
    writer.rememberVersion()
  }

  /// Where others commit too, what is read right after a commit is read from one snapshot, which may show more than it.
  private func showing(_ commit: Commit, of writer: Writer, _ body: (Commit) -> Void) {
    let connection = writer.connection
    var shown: Int64?
    for round in 0..<1000 where shown == nil {
      if round > 0 { numberForeign() }
      do {
        shown = try clock.number(
          open: { () throws(SQLiteError) in try connection.beginSnapshot() }, close: { connection.endSnapshot() })
      } catch {
        break  // one that cannot be opened: then the connection shows what it shows, statement by statement
      }
    }
    defer { if shown != nil { connection.endSnapshot() } }
    guard let shown, shown != commit.number else { return body(commit) }
    let later = Commit(commit, shownAs: shown)
    body(later)
    later.finish()
  }

  /// From now on the body is called at the end of each transaction after which keys have no row any longer, with the
  /// highest of them by table. What it writes is part of the transaction.
  package func atDeletions(_ body: @escaping @Sendable (Transaction, [(table: String, key: Int64)]) throws -> Void) {
    closing.withLock { $0 = Closing(run: body) }
  }

  struct Closing {
    let run: @Sendable (Transaction, [(table: String, key: Int64)]) throws -> Void
  }

  func readyWriter() throws(DatabaseError) -> Writer {
    if isClosed { throw .closed(path: path) }
    if let writer, writer.writeAheadLog.isFoundCut { identity?.noteGone() }
    if lookForReplacement() { throw .fileReplaced(path: path) }
    guard let writer, !isReadOnly else { throw .readOnly(path: path) }
    if let halted = writer.halted ?? readers.damageWatch.damage { throw halted }
    return writer
  }

  func explained(_ error: any Error) -> any Error {
    guard let refused = error as? SQLiteError else { return readers.explaining(error) }
    return DatabaseError(refused, path: path, waited: configuration.busyTimeout) ?? readers.explaining(refused)
  }

  /// - Parameter numbers: How many commits it is in the store's numbering: one for each write that has changed anything.
  func commit(_ writer: Writer, leaving position: SnapshotReader?, numbers: Int64) throws {
    let isNew = numbers > 0
    if isNew { positions.willCommit(leaving: position) }
    var outcome = Writer.Outcome.committed
    clock.commit {
      outcome = writer.commitTransaction()
      if case .committed = outcome { return (numbers, writer.writeAheadLog.hasWritten) }
      return (0, false)
    }
    if isNew { positions.didCommit(clock.number) }
    if case .committed = outcome { writer.log.committed() }
    writer.endTransaction()
    writer.rememberVersion()
    let decider = gate.flatMap { writer === self.writer ? $0.decider : nil }
    switch outcome {
    case .committed: decider?.committed()
    case .rolledBack(let error): throw decider?.commitFailed(explained(error)) ?? explained(error)
    case .unknown(let code):
      let error = DatabaseError.commitOutcomeUnknown(path: path, code: code)
      throw decider?.commitFailed(error) ?? error
    }
  }

  /// For a context that left the commit before its own only after that write: its snapshot kept the log from starting
  /// over, so the checkpoint waited for it. If a write is under way, or this thread has kept its place for one, the next one
  /// does it.
  package func checkpointIfDue() {
    guard awaitsCheckpoint.load(ordering: .relaxed), !lock.isKept, (try? lock.lock(timeout: .zero)) != nil else {
      return
    }
    defer { unlock() }
    if let writer { checkpointIfDue(writer) }
  }

  private func isCheckpointDue(_ writer: Writer) -> Bool { pace.isDue(writer.writeAheadLog.frames) }

  /// Keeps the log short after commits of other processes: it is this store's snapshots that keep it from starting over,
  /// and a program that writes without a pause leaves none in which all of them could be renewed.
  ///
  /// - Parameter frames: The log's length.
  func checkpointForOthers(_ frames: Int) {
    guard frames >= configuration.pagesBetweenCheckpoints, !lock.isKept,
      (try? lock.lock(timeout: .zero)) != nil
    else { return }
    defer { unlock() }
    guard let writer else { return }
    writer.writeAheadLog.note(frames: frames)
    // Readers are waited for longer, and sooner: others do not wait for them at all.
    checkpointIfDue(writer, patientFrom: configuration.logLimitInBytes / 8)
  }

  /// Keeps the log short: see ``DatabaseConfiguration/checkpointPages``.
  ///
  /// - Parameter size: The log's size from which on readers are waited for longer; its limit by default.
  func checkpointIfDue(_ writer: Writer, patientFrom size: Int? = nil) {
    awaitsCheckpoint.store(false, ordering: .relaxed)
    guard isCheckpointDue(writer) else { return }
    let (log, limit) = (writer.writeAheadLog, max(configuration.logLimitInBytes, 1))
    if log.sizeInBytes >= limit { positions.giveUpOldSnapshots() }
    checkpoint(log, waiting: CheckpointPace.patience(outgrown: log.sizeInBytes / max(size ?? limit, 1)))
  }

  private func checkpoint(_ log: WriteAheadLog, waiting patience: Duration = CheckpointPace.patience(outgrown: 0)) {
    let isLarge = log.sizeInBytes > configuration.logLimitInBytes / 4
    let isTruncating = isLarge && readers.lentCount == 0
    let isWaiting = pace.waits(log.frames)
    let returns = readers.returnCount
    var modes: [WriteAheadLog.CheckpointMode] = isTruncating ? [.truncating] : [.passive]
    // For those who read just now, and those who are about to leave an older commit.
    if isWaiting { modes.append(.waiting(patience)) }
    log.checkpoint(modes) { [self] in
      guard log.isCopied else { return }
      numberForeign()
      positions.renew()
    }
    pace.tried(log.frames, waiting: isWaiting, returns: returns)
  }
}
