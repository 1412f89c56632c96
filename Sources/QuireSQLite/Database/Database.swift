internal import Dispatch
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
  package let groupLimits = Locked(GroupLimits())
  /// Where queued writes are run; its thread ends when none has come for a while.
  let writes = DispatchQueue(label: "quire.writer")
  let clock = CommitClock()
  let interests = Interests()
  let subscribers = Subscribers()
  let validators = CommitValidators()
  let tables: ChangedTables
  let logSchemas: LogSchemas
  let readers: ReaderPool
  let positions: Positions
  let copies = RunningCopies()
  package let events = StoreEvents()
  // Touched only by the thread that holds `lock`.
  nonisolated(unsafe) private(set) var writer: Writer?
  nonisolated(unsafe) var pace: CheckpointPace
  nonisolated(unsafe) private var folder: TemporaryFolder?
  /// What every transaction has to pass before its COMMIT, if the file is shared with other machines.
  // Touched only by the thread that holds `lock`, as the three above.
  nonisolated(unsafe) var gate: Gate?
  /// The writer, in a transaction that waits for its thread: see ``KeptPlace``.
  // Touched only by the thread that holds `lock` or has kept its place for it.
  nonisolated(unsafe) var kept: Writer?
  /// A checkpoint is due and waits for a position that has yet to leave the commit before.
  let awaitsCheckpoint = Atomic(false)
  package let closed = ClosedFlag()
  /// Whether a temporary database takes no more writes.
  private let isSealed = Atomic(false)
  /// Held from COMMIT until subscribers are notified, and while a commit of another process is numbered and reported,
  /// so that notifications are in the order of the numbers. No thread waits for the file while it holds this lock.
  ///
  /// Guards how far the file's change log has been followed.
  let order = Locked(LogPlace())
  /// Run at the end of each transaction that has changed rows, before anything else looks at it.
  let closing = Locked<Closing?>(nil)
  /// Tells this store's commits from others' in the change log.
  let process: String?
  let identity: FileIdentity?
  let watcher = Locked<ForeignWatcher?>(nil)
  /// Commits of this program outside the store, and the file's count of commits at the last check.
  let own = Locked((commits: [LocalCommits](), seen: Int64?.none))

  package init(_ configuration: DatabaseConfiguration) throws {
    tables = ChangedTables()
    logSchemas = LogSchemas(tables)
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
    readers = ReaderPool(path: path, configuration: configuration, events: events)
    positions = Positions(clock: clock, pool: readers, path: path)
    if configuration.access == .readOnly {
      readers.giveBack(try readers.take())  // finds out now what the file is
      process = nil
    } else {
      let made: Writer
      do {
        made = try Writer(
          path: path, configuration: configuration, interests: interests, tables: tables, copies: copies,
          events: events)
      } catch {
        throw DatabaseError.explaining(error, path: path)
      }
      writer = made
      process = made.log.process
    }
    identity = configuration.location == .temporary ? nil : FileIdentity(of: path, hasLog: writer != nil)
    readers.expect(identity)
    if let identity { OpenWriteLocks.add(lock, of: identity) { [weak self] in self?.endKept() } }
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
      clock.count.start(try readers.makeConnection(), mayAsk: true) { [readers] in try? readers.makeConnection() }
    }
    clock.start { [weak self] in self?.numberForeign() }
  }

  deinit { shut() }

  /// The number of the latest commit.
  package var commitNumber: Int64 { clock.number }

  package var isClosed: Bool { closed.isSet }

  package var isReadOnly: Bool { configuration.access == .readOnly || isSealed.load(ordering: .relaxed) }

  /// Refuses all further writes: a temporary database, which cannot be opened for reading only, has its tables by now.
  package func seal() { isSealed.store(true, ordering: .relaxed) }

  /// - Throws: ``DatabaseError/closed(path:)`` in a process that was forked from the one that opened it. To be called before
  ///   anything that waits: threads of the parent may have had the locks.
  package func checkProcess() throws(DatabaseError) { if closed.isInherited { throw .closed(path: path) } }

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

  /// Returns when subscribers have been notified of every commit that readers can see now.
  package func waitForNotifications() { order.withLock { _ in } }

  /// From the next transaction on these columns are in changes, until the token is canceled or gone.
  package func addCapture(_ interest: CapturedColumns) -> CaptureToken { interests.add(interest) }

  /// A reader that stands at the latest commit.
  /// - Parameter pinsSnapshot: see ``SnapshotReader/pinsSnapshot``.
  package func makePosition(pinsSnapshot: Bool = true) -> SnapshotReader { SnapshotReader(positions, pinsSnapshot) }

  /// Runs the body on the latest committed state, which stays the same for all its statements.
  @discardableResult package func read<T>(_ body: (Connection) throws -> T) throws -> T {
    try checkProcess()
    let reader = try readers.take()
    do {
      try reader.beginSnapshot()
    } catch {
      readers.giveBack(reader.endSnapshot() ? reader : nil)
      throw readers.explaining(DatabaseError(error, path: path, waited: configuration.busyTimeout) ?? error)
    }
    defer { readers.giveBack(reader.endSnapshot() ? reader : nil) }
    do {
      return try body(reader)
    } catch {
      throw explaining(error)
    }
  }

  /// Writes the log into the file and closes it. Reads that are under way go on to their end; later ones throw.
  ///
  /// - Parameter first: Run when nothing can prevent it any longer.
  package func close(_ first: () -> Void = {}) throws {
    if closed.isInherited { return }
    try takeLock(timeout: configuration.writeTimeout)
    defer { unlock() }
    first()
    shut()
  }

  private func shut() {
    if closed.set() { return }
    OpenWriteLocks.remove(lock)
    watcher.withLock { $0.take() }?.stop()
    clock.count.close()
    positions.close()
    readers.close()
    subscribers.end()
    // Where the file was replaced or moved, too: then its log is not beside it any longer.
    if configuration.location != .temporary { writer?.writeAheadLog.checkpoint([.truncating]) }
    gate = nil
    writer = nil
    folder = nil
    events.end()
  }
}
