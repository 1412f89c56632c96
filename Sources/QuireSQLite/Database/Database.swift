internal import Foundation
package import QuireRow
internal import Synchronization

/// One database file: its writer, its readers, the numbering of its commits, and its subscribers.
///
/// Writing is for one thread at a time, which takes the lock itself; reading never waits for writing. Every commit of
/// this store has a number, counted from 1, and every reader knows the number of what it sees.
package final class Database: Sendable {
  package let configuration: DatabaseConfiguration
  /// Absolute, symbolic links resolved.
  package let path: String

  let lock = WriteLock()
  let clock = CommitClock()
  let interests = Interests()
  let subscribers = Subscribers()
  let validators = CommitValidators()
  let tables = ChangedTables()
  let readers: ReaderPool
  let positions: Positions
  // Touched only by the thread that holds `lock`.
  nonisolated(unsafe) private var writer: Writer?
  nonisolated(unsafe) private var pace: CheckpointPace
  nonisolated(unsafe) private var folder: TemporaryFolder?
  /// A checkpoint is due and waits for a position that has yet to leave the commit before.
  private let awaitsCheckpoint = Atomic(false)
  private let closed = Atomic(false)
  /// Held from COMMIT until subscribers are notified, and while a commit of another process is numbered and reported,
  /// so that notifications are in the order of the numbers. No thread waits for the file while it holds this lock.
  ///
  /// Guards how far the file's change log has been followed.
  let order = Locked(LogPlace())
  /// Run at the end of each transaction that has changed rows, before anything else looks at it.
  private let closing = Locked<Closing?>(nil)
  /// Tells this store's commits from others' in the change log.
  let process: String?
  let identity: FileIdentity?
  let watcher = Locked<ForeignWatcher?>(nil)
  /// Commits of this program outside the store, and the file's count of commits at the last check.
  let own = Locked((commits: [LocalCommits](), seen: Int64?.none))

  package init(_ configuration: DatabaseConfiguration) throws {
    var configuration = configuration
    let given: String
    switch configuration.location {
    case .file(let path):
      given = path
    case .temporary:
      let made = try TemporaryFolder()
      folder = made
      given = made.path + "/data.db"
      configuration.access = .create
    }
    self.configuration = configuration
    let path = try DatabaseFile(given).checked(for: configuration.access)
    self.path = path
    pace = CheckpointPace(pages: configuration.pagesBetweenCheckpoints)
    readers = ReaderPool(path: path, configuration: configuration)
    positions = Positions(clock: clock, pool: readers, path: path)
    if configuration.access == .readOnly {
      readers.giveBack(try readers.take())  // finds out now what the file is
      process = nil
    } else {
      let made = try Writer(path: path, configuration: configuration, interests: interests, tables: tables)
      writer = made
      process = made.log.process
    }
    identity = configuration.location == .temporary ? nil : FileIdentity(of: path)
    readers.expect(identity)
    if identity != nil { try startFollowing() }
    try startLog()
  }

  /// Switches the change log as the configuration says, and finds its end.
  private func startLog() throws {
    guard let writer else {
      let place = try read { try LogPlace(on: $0) }
      order.withLock { $0 = place }
      return
    }
    if let change = try writer.log.switching(configuration.changeLog) { try write { _ in try change() } }
    let place = try LogPlace(on: writer.connection)
    order.withLock { $0 = place }
  }

  private func startFollowing() throws {
    if let writer {
      clock.count.start(writer.connection, mayAsk: false)
    } else {
      let asks = try Connection(path: path, access: .readOnly, options: configuration.options(.reader))
      clock.count.start(asks, mayAsk: true)
    }
    clock.start { [weak self] in self?.numberForeign() }
  }

  deinit { shut() }

  /// The number of the latest commit.
  package var commitNumber: Int64 { clock.number }

  package var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

  /// Calls the body with every commit, in order, from the committing thread, under the write lock, right after COMMIT.
  ///
  /// The body must only put it somewhere: a write in it is ``DatabaseError/nestedWrite``.
  ///
  /// Commits of other processes come too: as rows if the file has a change log (``ChangeLog``), otherwise consecutive
  /// ones as one set without rows (``QuireRow/ChangeSet/rowsUnknown``); from whichever thread noticed first. While a
  /// file has subscribers, a separate thread watches for them.
  ///
  /// - Parameters:
  ///   - origin: The origin of commits that are not delivered: the subscriber's own.
  ///   - failed: Called at most once, when the file has been replaced, moved or deleted; it too must only record it.
  package func subscribe(
    exceptTo origin: ChangeSet.Origin? = nil, failed: (@Sendable (DatabaseError) -> Void)? = nil,
    _ body: @escaping @Sendable (ChangeSet) -> Void
  ) -> Subscription {
    defer { watch() }
    return subscribers.add(exceptTo: origin, failed: failed, body)
  }

  /// From the next transaction on these columns are in changes, until the token is cancelled or gone.
  package func addCapture(_ interest: CapturedColumns) -> CaptureToken { interests.add(interest) }

  /// A reader that stands at the latest commit.
  /// - Parameter pinsSnapshot: see ``SnapshotReader/pinsSnapshot``.
  package func makePosition(pinsSnapshot: Bool = true) -> SnapshotReader { SnapshotReader(positions, pinsSnapshot) }

  /// Runs the body on the latest committed state, which stays the same for all its statements.
  @discardableResult package func read<T>(_ body: (Connection) throws -> T) throws -> T {
    let reader = try readers.take()
    do {
      try reader.beginSnapshot()
    } catch {
      readers.giveBack(reader.endSnapshot() ? reader : nil)
      throw DatabaseError(error, path: path, waited: configuration.busyTimeout) ?? error
    }
    defer { readers.giveBack(reader.endSnapshot() ? reader : nil) }
    do {
      return try body(reader)
    } catch {
      throw DatabaseError.explaining(error, path: path)
    }
  }

  /// Writes the log into the file and closes it. Reads that are under way go on to their end; later ones throw.
  package func close() throws {
    try lock.lock(timeout: configuration.writeTimeout)
    defer { lock.unlock() }
    shut()
  }

  private func shut() {
    if closed.exchange(true, ordering: .sequentiallyConsistent) { return }
    watcher.withLock { $0.take() }?.stop()
    clock.count.close()
    positions.close()
    readers.close()
    subscribers.removeAll()
    // Where the file was replaced or moved, too: then its log is not beside it any longer.
    if configuration.location != .temporary { writer?.checkpoint(.truncating) }
    writer = nil
    folder = nil
  }
}

// MARK: writing

extension Database {
  /// Runs the body in a transaction and commits it; if it throws, nothing is written.
  ///
  /// The calling thread holds the write lock until this returns: never call it across an `await`.
  ///
  /// - Parameters:
  ///   - author: a name for the commit, which its subscribers get.
  ///   - leaving: a position that leaves the commit before this one with it (see
  ///     ``SnapshotReader/advanceAfterOwnCommit(_:)``), so that nothing has to be held for it.
  ///   - committed: called right after COMMIT with the lock held, after the subscribers.
  /// - Throws: What the body or a closure of ``beforeCommit(_:)`` throws; otherwise ``DatabaseError``. After
  ///   ``DatabaseError/commitOutcomeUnknown`` and ``DatabaseError/corrupt`` every later write throws the same error
  ///   until the database is opened again.
  @discardableResult package func write<T>(
    origin: ChangeSet.Origin = .sql, author: String? = nil, leaving position: SnapshotReader? = nil,
    _ body: (Transaction) throws -> T, committed: (T, Commit) -> Void = { _, _ in }
  ) throws -> T {
    do {
      return try transact(origin: origin, author: author, leaving: position, body, committed: committed)
    } catch let refusal as CommitRefusal {
      throw refusal.reason
    }
  }

  /// As `write`, with a refused commit distinguishable from other errors: ``CommitRefusal``.
  @discardableResult package func transact<T>(
    origin: ChangeSet.Origin, author: String?, leaving position: SnapshotReader?, _ body: (Transaction) throws -> T,
    committed: (T, Commit) -> Void
  ) throws -> T {
    try lock.lock(timeout: configuration.writeTimeout)
    defer { lock.unlock() }
    let writer = try readyWriter()
    let validators = validators.all
    if pace.wantsAnother(writer.frames, afterReturns: readers.returnCount), !positions.hasOldSnapshots {
      checkpoint(writer)
    }
    do {
      try writer.beginTransaction()
    } catch {
      throw explained(error)
    }
    numberForeign()
    let result: T
    var folded: [TableChanges]?
    do {
      let transaction = Transaction(writer: writer)
      result = try body(transaction)
      let deleted = writer.capture.highestDeletedKeys()
      if !deleted.isEmpty { try closing.withLock { $0 }?.run(transaction, deleted) }
      try writer.check()
      if !validators.isEmpty, writer.isNew {
        folded = try examine(writer, validators, origin: origin, author: author)
        try writer.check()
      }
      try writer.closeLog(origin: origin, author: author, number: clock.number + 1)
    } catch {
      writer.endTransaction()
      writer.rememberVersion()
      throw explained(error)
    }
    let commit = try order.withLock { place in
      try self.commit(writer, leaving: position)
      let isNew = writer.isNew
      if isNew { place.committed(writer.log.state, last: writer.log.last, schema: writer.loggedSchema) }
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
    if position == nil || position?.number == commit.number {
      checkpointIfDue(writer)
    } else {
      awaitsCheckpoint.store(isCheckpointDue(writer), ordering: .relaxed)
    }
    return result
  }

  /// If other processes commit too, reads right after a commit use one snapshot, which may include more than the
  /// commit.
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

  private struct Closing {
    let run: @Sendable (Transaction, [(table: String, key: Int64)]) throws -> Void
  }

  private func readyWriter() throws(DatabaseError) -> Writer {
    if isClosed { throw .closed(path: path) }
    if lookForReplacement() { throw .fileReplaced(path: path) }
    guard let writer else { throw .readOnly(path: path) }
    if let halted = writer.halted ?? readers.damageWatch.damage { throw halted }
    return writer
  }

  private func explained(_ error: any Error) -> any Error {
    guard let refused = error as? SQLiteError else { return error }
    return DatabaseError(refused, path: path, waited: configuration.busyTimeout) ?? refused
  }

  private func commit(_ writer: Writer, leaving position: SnapshotReader?) throws {
    let isNew = writer.isNew
    if isNew { positions.willCommit(leaving: position) }
    var outcome = Writer.Outcome.committed
    clock.commit {
      outcome = writer.commitTransaction()
      if case .committed = outcome { return (isNew, writer.hasWritten) }
      return (false, false)
    }
    if isNew { positions.didCommit(clock.number) }
    if case .committed = outcome { writer.log.committed() }
    writer.endTransaction()
    writer.rememberVersion()
    switch outcome {
    case .committed: return
    case .rolledBack(let error): throw explained(error)
    case .unknown(let code): throw DatabaseError.commitOutcomeUnknown(path: path, code: code)
    }
  }

  /// For a reader that left the commit before its own only after that write: its snapshot kept the log from starting
  /// over, so that the checkpoint had to wait. If another thread is writing now, the checkpoint is left to the next
  /// write.
  package func checkpointIfDue() {
    guard awaitsCheckpoint.load(ordering: .relaxed), (try? lock.lock(timeout: .zero)) != nil else { return }
    defer { lock.unlock() }
    if let writer { checkpointIfDue(writer) }
  }

  private func isCheckpointDue(_ writer: Writer) -> Bool { pace.isDue(writer.frames) }

  /// Keeps the log short: see ``DatabaseConfiguration/checkpointPages``.
  private func checkpointIfDue(_ writer: Writer) {
    awaitsCheckpoint.store(false, ordering: .relaxed)
    guard isCheckpointDue(writer) else { return }
    if writer.logSizeInBytes > configuration.logLimitInBytes { positions.giveUpOldSnapshots() }
    checkpoint(writer)
  }

  private func checkpoint(_ writer: Writer) {
    let isLarge = writer.logSizeInBytes > configuration.logLimitInBytes / 4
    let isWaiting = pace.waits(writer.frames)
    let returns = readers.returnCount
    let mode: Writer.CheckpointMode =
      isLarge && readers.lentCount == 0 ? .truncating : isWaiting ? .waiting(CheckpointPace.patience) : .passive
    writer.checkpoint(mode)
    pace.tried(writer.frames, waiting: isWaiting, returns: returns)
    positions.secure(renews: true)
  }
}
