internal import CSQLite
internal import Foundation
internal import QuireRow

/// The writing connection with its transaction and capture. Guarded by the write lock.
final class Writer: ConnectionGuardian {
  let connection: Connection
  let capture: Capture
  let log: LogWriter
  private let begin, enlist, commit, rollback, savepoint, release, rollbackTo: Statement
  let writeAheadLog: WriteAheadLog
  private let events: StoreEvents
  private var turns = WriteTurns(at: .now)
  private var others: OtherProcesses

  private(set) var isInTransaction = false
  /// The error that ended the transaction behind our back. Until the write is over, the connection is read-only.
  private var lost: SQLiteError?
  /// Why writing has stopped permanently.
  private(set) var halted: DatabaseError?
  private(set) var hasAlteredSchema = false
  /// Whether it has dropped a table: SQLite reports no rows then, nor that another table may get its name.
  private(set) var hasDroppedTable = false
  /// The tables it has dropped or altered, by their folded names: SQLite does not report what becomes of their rows.
  private(set) var alteredTables: Set<String> = []
  private(set) var schemaGeneration = 0
  private(set) var followsForeignCommit = false
  /// How many transactions have followed a foreign commit.
  private(set) var foreignCommitCount = 0
  /// The schema in a transaction that altered it, just before COMMIT.
  private(set) var loggedSchema: (version: Int64, tables: [SchemaReader.Object])?
  private var dataVersion: UInt32
  private(set) var schemaVersion: Value?
  var ownTriggers: OwnTriggers?

  init(
    path: String, configuration: DatabaseConfiguration, interests: Interests, tables: ChangedTables,
    copies: RunningCopies, events: StoreEvents
  ) throws {
    self.events = events
    others = OtherProcesses(path)
    let connection = try Connection(path: path, access: configuration.access, options: configuration.options(.writer))
    self.connection = connection
    capture = try Capture(on: connection, interests: interests, tables: tables)
    log = LogWriter(connection)
    connection.privilege += 1
    defer { connection.privilege -= 1 }
    begin = try connection.prepare("BEGIN IMMEDIATE")
    enlist = try connection.prepare("INSERT INTO _quire_sensor VALUES (0)")
    commit = try connection.prepare("COMMIT")
    rollback = try connection.prepare("ROLLBACK")
    savepoint = try connection.prepare("SAVEPOINT quire")
    release = try connection.prepare("RELEASE quire")
    rollbackTo = try connection.prepare("ROLLBACK TO quire")
    writeAheadLog = try WriteAheadLog(of: connection, copies: copies, events: events)
    schemaVersion = try connection.query("PRAGMA schema_version").first
    dataVersion = quire_data_version(connection.handle)
    connection.guardian = self
  }

  private func run(_ statement: Statement) throws(SQLiteError) {
    try connection.privileged { () throws(SQLiteError) in try statement.run() }
  }
}

// MARK: one transaction

extension Writer {
  /// - Parameters:
  ///   - patience: How long to wait while another process holds the file's lock.
  ///   - lock: The store's own, with which it does not wait for a write of the calling thread through another store.
  func beginTransaction(waiting patience: LockPatience, under lock: WriteLock? = nil) throws {
    events.follow(connection)
    leaveTurn(waiting: patience, under: lock)
    try connection.waitingForLock(patience, under: lock) { () throws(SQLiteError) in try run(begin) }
    isInTransaction = true
    hasAlteredSchema = false
    hasDroppedTable = false
    alteredTables = []
    loggedSchema = nil
    do {
      let isAltered = try lookForForeignCommit()
      try ownTriggers?.renew(for: schemaVersion, on: connection)
      try capture.begin()
      try run(enlist)
      try log.begin(isFollowing: followsForeignCommit, isAltered: isAltered)
    } catch {
      endTransaction()
      throw error
    }
  }

  /// Pauses if other stores could not write for long. A write that does not wait for others does not pause either.
  private func leaveTurn(waiting patience: LockPatience, under lock: WriteLock?) {
    if !turns.isDue(at: .now) || patience.isOver { return }
    let isBesideOthers = lock.map(OpenWriteLocks.areOthers) ?? false || others.haveOpen()
    if isBesideOthers { usleep(UInt32(WriteTurns.pause / .microseconds(1))) }
  }

  /// Another connection's commit may have altered the schema, and its rows are unknown.
  ///
  /// - Returns: whether it has altered it.
  private func lookForForeignCommit() throws(SQLiteError) -> Bool {
    let version = quire_data_version(connection.handle)
    followsForeignCommit = version != dataVersion
    guard followsForeignCommit else { return false }
    turns.othersHaveWritten(at: .now)
    foreignCommitCount += 1
    dataVersion = version
    let schema = try connection.privileged { () throws(SQLiteError) in
      try connection.query("PRAGMA schema_version").first
    }
    guard schema != schemaVersion else { return false }
    schemaVersion = schema
    schemaGeneration += 1
    capture.schemaDidChange()
    return true
  }

  /// Whether it has done anything that anybody can see, or has since there were so many row events.
  func isNew(since events: Int = 0) -> Bool { capture.eventCount > events || hasAlteredSchema }

  /// Whether the transaction cannot be committed any more, whatever is rolled back in it.
  var isBroken: Bool { lost != nil || halted != nil || log.failure != nil || capture.failure != nil }

  enum Outcome {
    case committed
    case rolledBack(SQLiteError)
    case unknown(Int32)
  }

  /// What must hold before COMMIT is tried.
  func check() throws {
    if let lost { throw lost }
    if let failure = log.failure { throw failure }
    if let failure = capture.failure { throw DatabaseError.captureFailed(table: failure.table, code: failure.code) }
  }

  /// The last that is written: the change log's record, where there is one to keep.
  func closeLog(origin: ChangeSet.Origin, author: String?, number: Int64) throws {
    if log.isOn {
      if hasDroppedTable { try log.noteGap() }  // its rows are not logged
      try log.record(origin: origin, author: author, number: number)
    }
    if hasAlteredSchema {
      loggedSchema = (try LogState.schema(of: connection), try LogState.tables(of: connection))
    }
  }

  func commitTransaction() -> Outcome {
    writeAheadLog.willCommit()
    errno = 0  // what is there afterward is of this call
    do {
      try run(commit)
      ownTriggers?.committed()
      return .committed
    } catch {
      // BUSY, a deferred foreign key and a refusal of our own leave the transaction open; a full disk or a file at its
      // limit rolls back. Any other failure that ended it may have come after the commit was on the disk.
      guard connection.isAutocommit else { return .rolledBack(error) }
      switch error.primaryCode {
      case SQLITE_FULL, SQLITE_BUSY, SQLITE_CONSTRAINT, SQLITE_INTERRUPT, SQLITE_ABORT: return .rolledBack(error)
      case _ where error.isOverLimit: return .rolledBack(error)
      default:
        halted = .commitOutcomeUnknown(path: connection.path, code: error.code)
        return .unknown(error.code)
      }
    }
  }

  /// Rolls back what is still open, and makes the connection ready for the next transaction.
  func endTransaction() {
    capture.end()
    log.end()
    isInTransaction = false
    turns.transactionEnded(at: .now)
    if connection.isInherited { return }
    let wasLost = lost != nil
    ownTriggers?.rolledBack()
    if !connection.isAutocommit {
      do {
        try run(rollback)
      } catch {
        halted = .inputOutput(path: connection.path, code: error.code, reason: FileObstacle.failing(error))
      }
      if hasAlteredSchema { schemaDidChange() }
    } else if wasLost, hasAlteredSchema {
      schemaDidChange()
    }
    lost = nil
    connection.defersForeignKeys = false
    if wasLost {
      do {
        try connection.privileged { () throws(SQLiteError) in _ = try connection.execute("PRAGMA query_only = OFF") }
      } catch {
        halted = .inputOutput(path: connection.path, code: error.code, reason: FileObstacle.failing(error))
      }
    }
    if connection.hasOpenTransaction { connection.resetBusyStatements() }
  }

  /// Called after a commit of ours or a rollback: what happens to the file from now on is not ours.
  func rememberVersion() {
    dataVersion = quire_data_version(connection.handle)
    guard hasAlteredSchema else { return }
    schemaVersion = connection.privileged { try? connection.query("PRAGMA schema_version").first }
  }

  func savepoint<T>(_ body: () throws -> T) throws -> T {
    try run(savepoint)
    do {
      let result = try body()
      try run(release)
      return result
    } catch {
      try goBack { () throws(SQLiteError) in try run(release) }
      throw error
    }
  }

  /// Runs the body as the first that a savepoint does: if it throws, its changes are undone with that savepoint, which stays.
  func beginningSavepoint<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      try goBack {}
      throw error
    }
  }

  /// Undoes what was done since the innermost savepoint.
  private func goBack(_ end: () throws(SQLiteError) -> Void) throws {
    if let lost { throw lost }
    do throws(SQLiteError) {
      try run(rollbackTo)
      try end()
    } catch {
      lost = lost ?? error  // what the savepoint did is still there: the whole transaction must go
    }
    if hasAlteredSchema { capture.schemaDidChange() }
  }
}

// MARK: writes that are committed together

extension Writer {
  /// Runs one write of a group: if it throws, what it did is undone, and what was before it is as it was.
  func member(_ body: () throws -> Void) throws {
    let log = log.mark
    var failure: (any Error)?
    do {
      try savepoint {
        do {
          try body()
          try settleForeignKeys()
        } catch {
          failure = error  // what the body makes of it, also where SQLite has ended the whole transaction
          throw error
        }
      }
    } catch {
      self.log.goBack(to: log)
      loggedSchema = nil
      if hasAlteredSchema {
        // Undone: a member that has altered the schema and is not is the last of its group.
        hasAlteredSchema = false
        hasDroppedTable = false
        alteredTables = []
        schemaGeneration += 1
      }
      // What was deferred has been rolled back with it.
      if !isBroken { try deferForeignKeysNoLonger() }
      throw failure ?? error
    }
  }

  /// What a commit would refuse concerns the write that has done it.
  private func settleForeignKeys() throws {
    try refuseViolations()
    try deferForeignKeysNoLonger()
  }

  /// - Throws: What COMMIT would throw where a foreign key refers to nothing.
  func refuseViolations() throws(SQLiteError) {
    if connection.hasDeferredViolations {
      throw SQLiteError(code: SQLITE_CONSTRAINT | 3 << 8, message: "FOREIGN KEY constraint failed", sql: nil)
    }
  }

  private func deferForeignKeysNoLonger() throws {
    guard connection.defersForeignKeys else { return }
    try connection.execute("PRAGMA defer_foreign_keys = OFF")
    connection.defersForeignKeys = false
  }
}

// MARK: what statements tell

extension Writer {
  func schemaWillChange(_ effects: Statement.Effects, altering tables: Set<String>) {
    if isInTransaction, effects.contains(.altersTable) { log.tableWillBeAltered() }
    if !effects.isDisjoint(with: [.altersTable, .dropsTable]) { try? ownTriggers?.remove(from: connection) }
    if effects.contains(.dropsTable) { hasDroppedTable = true }
    alteredTables.formUnion(tables)
    capture.log.pointee.is_ignoring = effects.contains(.createsVirtualTable) ? 1 : 0
  }

  func schemaDidChange() {
    capture.log.pointee.is_ignoring = 0
    hasAlteredSchema = true
    schemaGeneration += 1
    capture.schemaDidChange()
    if isInTransaction { log.schemaDidChange() }
  }

  func statementFailed(_ error: SQLiteError) -> SQLiteError {
    if let lost { return lost }
    if error.isCorrupt, halted == nil { halted = .corrupt(path: connection.path, sql: error.sql) }
    if isInTransaction, connection.isAutocommit {
      // The transaction is gone. Statements that follow would each commit on their own: they must not write.
      lost = error
      connection.privileged { _ = try? connection.execute("PRAGMA query_only = ON") }
    }
    return error
  }
}
