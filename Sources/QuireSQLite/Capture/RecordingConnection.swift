internal import CSQLite
package import QuireRow

/// A connection on anybody's file that tells what rows a statement has changed, without a store around it: for tools
/// that take a write back.
///
/// The file keeps its journal mode, and users' SQL may do what it likes, transactions and ATTACH included. Where the file
/// keeps a change log, what is committed has its record there. Belongs to one thread at a time, as a ``Connection`` does.
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
  /// Whether the log has been opened in the present transaction.
  private var isLogOpen = false
  /// Numbers its commits in the log.
  private var number: Int64 = 0

  /// - Parameters:
  ///   - own: is told of its commits.
  ///   - author: who made them, for the change log.
  package init(path: String, busyTimeout: Duration, own: LocalCommits, author: String? = nil) throws {
    var options = ConnectionOptions()
    options.keepsJournalMode = true
    options.leavesNothing = true
    options.trustsSchema = true  // an index that triggers keep is kept
    options.busyTimeout = busyTimeout
    connection = try Connection(path: path, access: .readWrite, options: options)
    everything = interests.add(.everything)
    capture = try Capture(on: connection, interests: interests, tables: ChangedTables())
    enlist = try connection.prepare("INSERT INTO _quire_sensor VALUES (0)")
    log = LogWriter(connection)
    (self.own, self.author) = (own, author)
    own.recorded(as: log.process)
  }

  // MARK: Writing

  /// Runs the body and tells the rows it changed, folded, also those that triggers and foreign keys changed.
  ///
  /// Where no transaction is open the body is one of its own, and nothing of it stays if it throws; otherwise it is part
  /// of the one that is open, which SQLite's rules for a failed statement hold for. Costs memory for every row that is
  /// changed.
  package func record<T>(_ body: () throws -> T) throws -> (result: T, tables: [TableChanges]) {
    try transaction {
      try look()
      try capture.begin()
      defer { capture.end() }
      try enlist.run()
      let result = try body()
      if let failure = capture.failure {
        throw DatabaseError.captureFailed(table: failure.table, code: failure.code)
      }
      return (result, ChangeCoalescer(capture).tables())
    }
  }

  /// Runs the body and keeps nothing of what it changed: for more rows than memory should be spent on. Otherwise as
  /// ``record(_:)``.
  package func unrecorded(_ body: () throws -> Void) throws { try transaction(body) }

  /// Runs what alters the schema.
  ///
  /// - Parameter table: Whether it may alter a table that is there.
  package func alter(table: Bool, _ body: () throws -> Void) throws {
    try transaction {
      if table { log.tableWillBeAltered() }
      try body()
      log.schemaDidChange()
      if let failure = log.failure { throw failure }
    }
  }

  /// Runs the body with triggers and foreign keys' actions off, those of the change log too: of what it changes the log
  /// says that something has.
  ///
  /// - Parameter savepoint: Where a transaction is open: what to go back to where the body throws.
  package func withoutTriggers<T>(savepoint: String, _ body: () throws -> T) throws -> T {
    try connection.setTriggers(false)
    defer { try? connection.setTriggers(true) }
    return try transaction(savepoint: savepoint) {
      let result = try body()
      try log.noteGap()
      return result
    }
  }

  /// A transaction of its own where none is open.
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
      if isOwn {
        try ending { _ = try connection.execute("COMMIT") }
      } else if let savepoint {
        try connection.execute("RELEASE \(savepoint)")
      }
      return result
    } catch {
      if isOwn {
        if !connection.isAutocommit { try connection.execute("ROLLBACK") }
        transactionEnded()
      } else if let savepoint, !connection.isAutocommit {
        try connection.execute("ROLLBACK TO \(savepoint); RELEASE \(savepoint)")
      }
      throw error
    }
  }

  // MARK: The end of a transaction

  /// Runs what commits the open transaction.
  package func ending(_ body: () throws -> Void) throws {
    guard sqlite3_txn_state(connection.handle, "main") == SQLITE_TXN_WRITE else {
      defer { transactionEnded() }
      return try body()
    }
    if isLogOpen, log.isOn {
      number += 1
      try log.record(origin: .sql, author: author, number: number)
    }
    // Nobody else can commit meanwhile, so the next number is that of this one.
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

  /// To be called when a transaction may have ended otherwise.
  package func transactionEnded() {
    guard isLogOpen, connection.isAutocommit else { return }
    log.end()
    isLogOpen = false
  }

  /// How many pages have been written to the file or its log.
  private var pagesWritten: Int32 {
    var (now, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(connection.handle, SQLITE_DBSTATUS_CACHE_WRITE, &now, &highest, 0)
    return now
  }

  // MARK: The schema and the log

  /// Before anything is written in a transaction.
  private func openLog() throws {
    if isLogOpen { return }
    let version = try connection.schemaVersion()
    try log.begin(isFollowing: true, isAltered: version != loggedVersion)
    loggedVersion = version
    isLogOpen = true
  }

  /// The schema for which the log's state holds.
  private var loggedVersion: Int64?

  /// Takes notice of a schema that is another than at the last record.
  private func look() throws {
    let version = try connection.schemaVersion()
    if version == schemaVersion { return }
    schemaVersion = version
    capture.schemaDidChange(inTransaction: false)
    shadows = try SchemaReader(connection).tables().filter { $0.kind == .shadow }.map {
      interests.add(CapturedColumns(table: $0.name, columns: []))
    }
  }
}
