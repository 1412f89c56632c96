internal import CSQLite
package import QuireRow

/// A connection on any SQLite file that reports the rows a statement has changed, without a store: for tools that undo
/// writes.
///
/// The file keeps its journal mode, and users' SQL is not restricted, transactions and ATTACH included. If the file has
/// a change log, commits are recorded there. Belongs to one thread at a time, like a ``Connection``.
package final class RecordingConnection {
  package let connection: Connection
  private let capture: Capture
  private let interests = Interests()
  private let everything: CaptureToken
  private var shadows: [CaptureToken] = []
  private var schemaVersion: Int64?
  private let enlist: Statement
  private let log: LogWriter
  private let own: LocalCommits
  private let author: String?
  /// Whether the log has been opened in the current transaction.
  private var isLogOpen = false
  /// Numbers its commits in the log.
  private var number: Int64 = 0

  /// - Parameters:
  ///   - own: Is notified of its commits.
  ///   - author: The author of its commits, for the change log.
  /// - Throws: ``DatabaseError/shared(path:)`` if the file is shared: triggers refuse to change its rows, and nothing would
  ///   keep its schema as it is on other machines.
  package init(path: String, busyTimeout: Duration, own: LocalCommits, author: String? = nil) throws {
    var options = ConnectionOptions()
    options.keepsJournalMode = true
    options.leavesNothing = true
    options.trustsSchema = true  // triggers must maintain full-text indexes
    options.busyTimeout = busyTimeout
    connection = try Connection(path: path, access: .readWrite, options: options)
    if try NodePlace(on: connection) != nil { throw DatabaseError.shared(path: path) }
    everything = interests.add(.everything)
    capture = try Capture(on: connection, interests: interests, tables: ChangedTables(), prefersRowID: true)
    enlist = try connection.prepare("INSERT INTO _quire_sensor VALUES (0)")
    log = LogWriter(connection)
    (self.own, self.author) = (own, author)
    own.recorded(as: log.process)
  }

  // MARK: Writing

  /// Runs the body and returns the net changes of rows, including those by triggers and foreign keys.
  ///
  /// If no transaction is open, the body is a transaction of its own, which is rolled back if it throws; otherwise it
  /// is part of the open one, for which SQLite's rules for a failed statement apply. Costs memory for every changed
  /// row.
  package func record<T>(_ body: () throws -> T) throws -> (result: T, tables: [TableChanges]) {
    let (result, tables) = try record(limitInBytes: 0, body)
    return (result, tables ?? [])
  }

  /// As ``record(_:)``; without the changes, nil, if recording them takes more memory than the limit.
  ///
  /// - Parameters:
  ///   - savepoint: If a transaction is open, the savepoint to roll back to if the body throws.
  ///   - limitInBytes: Of the record while it is made; as values the changes take a few times as much. 0 for no limit.
  package func record<T>(
    savepoint: String? = nil, limitInBytes: Int, _ body: () throws -> T
  ) throws -> (result: T, tables: [TableChanges]?) {
    try transaction(savepoint: savepoint) {
      try look()
      try capture.begin()
      capture.limit(to: limitInBytes)
      defer { capture.end() }
      try enlist.run()
      let result = try body()
      if let failure = capture.failure {
        throw DatabaseError.captureFailed(table: failure.table, code: failure.code)
      }
      return (result, capture.hasGivenUp ? nil : ChangeCoalescer(capture).tables())
    }
  }

  /// Runs the body without recording its changes: for more rows than should be kept in memory. Otherwise as
  /// ``record(_:)``.
  package func unrecorded<T>(savepoint: String? = nil, _ body: () throws -> T) throws -> T {
    try transaction(savepoint: savepoint, body)
  }

  /// Runs a change of the schema.
  ///
  /// - Parameter table: Whether it may alter an existing table.
  package func alter(table: Bool, _ body: () throws -> Void) throws {
    try transaction {
      if table { log.tableWillBeAltered() }
      try body()
      log.schemaDidChange()
      if let failure = log.failure { throw failure }
    }
  }

  /// Runs the body with triggers and foreign keys' actions off, including those of the change log, which records only
  /// that something has changed.
  ///
  /// - Parameter savepoint: If a transaction is open, the savepoint to roll back to if the body throws.
  package func withoutTriggers<T>(savepoint: String, _ body: () throws -> T) throws -> T {
    let checksKeys = try connection.query("PRAGMA foreign_keys").first == 1
    try connection.setTriggers(false)
    defer { try? connection.setTriggers(true, keys: checksKeys) }
    return try transaction(savepoint: savepoint) {
      let result = try body()
      try log.noteGap()
      return result
    }
  }

  /// A transaction of its own, unless one is open.
  private func transaction<T>(savepoint: String? = nil, _ body: () throws -> T) throws -> T {
    let isOwn = connection.isAutocommit
    if isOwn {
      try connection.execute("BEGIN IMMEDIATE")
    } else if let savepoint {
      try connection.execute("SAVEPOINT \(savepoint)")
    }
    do {
      try openLog()
      let result = try body()
      // A stop that came when the last statement had run, while its changes were collected.
      if isOwn || savepoint != nil, connection.watch?.wasStopped == true {
        throw SQLiteError(code: SQLITE_INTERRUPT, message: "interrupted")
      }
      if isOwn {
        try ending { _ = try connection.execute("COMMIT") }
      } else if let savepoint {
        try connection.execute("RELEASE \(savepoint)")
      }
      return result
    } catch {
      if isOwn {
        if !connection.isAutocommit { try connection.executeUnstopped("ROLLBACK") }
        connection.finishRollback(after: error)
        transactionEnded()
      } else if let savepoint, !connection.isAutocommit {
        try connection.executeUnstopped("ROLLBACK TO \(savepoint); RELEASE \(savepoint)")
      }
      throw error
    }
  }

  // MARK: The end of a transaction

  /// Runs a statement that commits the open transaction.
  package func ending(_ body: () throws -> Void) throws {
    guard sqlite3_txn_state(connection.handle, "main") == SQLITE_TXN_WRITE else {
      defer { transactionEnded() }
      return try body()
    }
    if isLogOpen, log.isOn {
      number += 1
      try log.record(origin: .sql, author: author, number: number)
    }
    // No other connection can commit meanwhile, so this commit gets the next number.
    let next = try connection.fileCommitCount().map { Int64(UInt32(truncatingIfNeeded: $0 + 1)) }
    let written = pagesWritten
    if let next { own.add(next) }
    defer {
      if let next, !connection.isAutocommit || pagesWritten == written { own.remove(next) }
      transactionEnded()
    }
    try body()
    log.committed()
  }

  /// Must be called if a transaction may have ended in another way.
  package func transactionEnded() {
    guard isLogOpen, connection.isAutocommit else { return }
    log.end()
    isLogOpen = false
  }

  /// The number of pages written to the file or its log.
  private var pagesWritten: Int32 {
    var (now, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(connection.handle, SQLITE_DBSTATUS_CACHE_WRITE, &now, &highest, 0)
    return now
  }

  // MARK: The schema and the log

  /// Called before anything is written in a transaction.
  private func openLog() throws {
    if isLogOpen { return }
    let version = try connection.schemaVersion()
    try log.begin(isFollowing: true, isAltered: version != loggedVersion)
    loggedVersion = version
    isLogOpen = true
  }

  /// The schema version for which the log's state is valid.
  private var loggedVersion: Int64?

  /// Updates the state if the schema has changed since the last record.
  private func look() throws {
    let version = try connection.schemaVersion()
    if version == schemaVersion { return }
    schemaVersion = version
    capture.schemaDidChange()
    shadows = try SchemaReader(connection).tables().filter { $0.kind == .shadow }.map {
      interests.add(CapturedColumns(table: $0.name, columns: []))
    }
  }
}
