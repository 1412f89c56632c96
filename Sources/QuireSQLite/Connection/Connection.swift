internal import CSQLite
internal import Foundation
package import QuireRow

/// A SQLite connection with defensive settings, which are verified by reading them back.
///
/// Belongs to one thread at a time and has no locks of its own: the code that lends it out ensures that. Untrusted
/// schema functions, extensions and writes to SQLite's own tables are off, foreign keys are on, `mmap` is off (a
/// truncated file would cause a SIGBUS), text keeps its NULs. In SQL passed to the connection, double quotes enclose
/// names and never strings; in the file's own views, triggers and checks they may enclose either, as is SQLite's
/// default.
@usableFromInline package final class Connection {
  package let handle: OpaquePointer
  /// Absolute, with symbolic links resolved.
  package let path: String
  package let access: Access
  let options: ConnectionOptions
  /// The busy timeout as SQLite takes it: it is set again after each wait of another length.
  let busyMilliseconds: Int32
  var cache = StatementCache()
  /// By ``ReaderStatement``.
  var readerStatements: [Statement?] = ReaderStatement.allCases.map { _ in nil }
  weak var guardian: (any ConnectionGuardian)?
  /// For statements that outlive it.
  let life = Life()

  final class Life {
    var isOver = false
    let mark = ProcessMark()
  }

  /// Whether it was opened by the process from which this one was forked.
  var isInherited: Bool { life.mark.isInherited }

  // Effects that the authorizer records while a statement is prepared.
  var effects: Statement.Effects = []
  /// The tables that it drops or alters.
  var alteredTables: Set<String> = []
  var refusal: String?
  /// The columns a statement reads, while they are being recorded.
  var reads: StatementReads?
  /// Above 0 while our own statements are prepared or run.
  var privilege = 0
  /// Whether foreign keys are checked by the COMMIT alone, until it or a rollback has come.
  var defersForeignKeys = false
  /// What may end the statement that runs.
  var interruption: Interruption?
  /// How many bodies are running whose statements end with the task.
  var tasks = 0
  /// How many calls are under way whose statements nothing ends: see ``toItsEnd(_:)``.
  var callsToTheEnd = 0
  var isWatchedForInterruptions = false
  /// Released after the file is closed.
  private let footprint: SidecarFiles.Removal?
  private let openFile: OpenFile
  private let unlocked: UnlockedFile?
  /// Reports the statements that run, while there are observers.
  var tracer: StatementTracer?
  /// Counts the steps of running statements and may stop them.
  var watch: RunWatch?
  /// For a migration's connection: whether to continue, and how long to wait for a lock.
  let pulse: MigrationPulse?
  /// Why a migration's statement was refused last, while a script runs.
  var refused: String?
  /// Whether double quotes may enclose strings in SQL passed to it, as in SQL written for SQLite's shell or other
  /// tools. In a migration, `PRAGMA foreign_keys` is not an error then either.
  package var takesQuotedStrings = false
  /// For a migration of a shared store: remembers what is run, for other nodes.
  package var recorder: MigrationRecorder?

  package convenience init(path: String, access: Access, options: ConnectionOptions = ConnectionOptions())
    throws(DatabaseError)
  {
    try self.init(path: path, access: access, options: options, expecting: nil, leaving: nil)
  }

  /// - Parameter file: The file that the path must lead to. Another one at the path is not read: SQLite would take the log
  ///   and the index beside it for that file's, and empty the index that connections of this process still use.
  /// - Parameter footprint: What the connections of a store that only reads remove together at their end.
  init(
    path: String, access: Access, options: ConnectionOptions, expecting file: FileIdentity?,
    leaving footprint: SidecarFiles.Removal? = nil
  ) throws(DatabaseError) {
    let path = try DatabaseFile(path).checked(for: access)
    self.path = path
    self.access = access
    self.options = options
    busyMilliseconds = options.busyTimeout.milliseconds
    pulse = nil
    self.footprint = options.leavesNothing ? SidecarFiles.Removal(of: path) : footprint
    unlocked = access == .readOnly && options.vfs == nil ? try UnlockedFile(path) : nil
    let begun = ContinuousClock.now
    handle = try Connection.open(unlocked?.uri ?? path, as: path, access, vfs: options.vfs)
    openFile = OpenFile(path)
    // SQLite has opened the file, and read nothing.
    if let file, !file.isThere() { throw .fileReplaced(path: path) }
    do {
      try configure()
    } catch {
      throw Connection.explain(error, path: path, access, waited: ContinuousClock.now - begun)
    }
    self.footprint?.isOpen()
  }

  /// With the settings of a migration: see ``init(migrating:access:busyTimeout:interruption:beat:)``.
  ///
  /// - Parameters:
  ///   - path: The path that SQLite opens.
  ///   - name: The file's name in messages.
  ///   - overwrites: Whether the file is taken for empty: see ``init(overwriting:busyTimeout:interruption:beat:)``.
  init(
    migrating path: String, as name: String, access: Access, unlocked: UnlockedFile?, pulse: MigrationPulse,
    overwrites: Bool = false
  ) throws {
    self.path = path
    self.access = access
    self.pulse = pulse
    self.unlocked = unlocked
    options = ConnectionOptions()
    busyMilliseconds = options.busyTimeout.milliseconds
    footprint = access == .readOnly ? SidecarFiles.Removal(of: path) : nil
    handle = try Connection.open(unlocked?.uri ?? path, as: name, access, vfs: nil)
    openFile = OpenFile(path)
    if overwrites { _ = quire_db_config(handle, SQLITE_DBCONFIG_RESET_DATABASE, 1) }
    do {
      try configureForMigrations(reads: !overwrites)
    } catch let error as SQLiteError where error.primaryCode == SQLITE_NOTADB {
      throw DatabaseError.notADatabase(path: name)
    }
    footprint?.isOpen()
  }

  deinit {
    life.isOver = true
    watch?.leave()
    // To close it would roll back the parent's transaction in the index that they share.
    if isInherited { return }
    tracer = nil
    sqlite3_progress_handler(handle, 0, nil, nil)
    cache.removeAll()
    readerStatements = ReaderStatement.allCases.map { _ in nil }
    sqlite3_set_authorizer(handle, nil, nil)
    // An interruption lasts until the next statement begins. It would also end the last checkpoint, and the file would
    // keep its log beside it.
    sqlite3_exec(handle, "SELECT 1", nil, nil, nil)
    if access != .readOnly, pulse == nil, !options.keepsJournalMode, isLogCut {
      _ = quire_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }
    sqlite3_close_v2(handle)  // closes after the last held statement
  }

  private static func open(
    _ file: String, as path: String, _ access: Access, vfs: String?
  ) throws(DatabaseError) -> OpaquePointer {
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    switch access {
    case .readOnly: flags |= SQLITE_OPEN_READONLY
    case .readWrite: flags |= SQLITE_OPEN_READWRITE
    case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    }
    var handle: OpaquePointer?
    if file.hasPrefix("file:") { flags |= SQLITE_OPEN_URI }
    if ProcessMark.isInherited(path) { throw .closed(path: path) }
    let code = sqlite3_open_v2(file, &handle, flags, vfs)
    guard code == SQLITE_OK, let handle else {
      let reason =
        handle.map { handle in
          FileObstacle.opening(path, isNew: access == .create, number: sqlite3_system_errno(handle))
            ?? String(cString: sqlite3_errmsg(handle))
        } ?? "out of memory"
      sqlite3_close_v2(handle)
      throw access == .create ? .cannotCreate(path: path, reason: reason) : .unreadable(path: path, reason: reason)
    }
    return handle
  }

  /// Explains the error of the first read of a file.
  private static func explain(_ error: any Error, path: String, _ access: Access, waited: Duration) -> DatabaseError {
    guard let error = error as? SQLiteError else {
      return error as? DatabaseError ?? .unreadable(path: path, reason: "\(error)")
    }
    switch error.primaryCode {
    case SQLITE_NOTADB: return .notADatabase(path: path)
    case SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_CANTOPEN,
      _ where error.isFull || error.isReadOnly && access != .readOnly && !error.isUnfinished:
      return DatabaseError(error, path: path, waited: waited) ?? .unreadable(path: path, reason: error.message)
    case SQLITE_READONLY where error.isUnfinished: return .unreadable(path: path, reason: DatabaseError.unfinished)
    case SQLITE_READONLY: return .unreadable(path: path, reason: FileObstacle.writing(path) ?? error.message)
    default: return .unreadable(path: path, reason: FileObstacle.failing(error) ?? error.message)
    }
  }
}

// MARK: statements

extension Connection {
  /// The statement with this text, reset and without bindings; prepared once and kept.
  package func statement(_ sql: String) throws(SQLiteError) -> Statement {
    switch cache.take(sql) {
    case .free(let statement): return renewed(statement)
    case .inUse: return try prepare(sql)
    case .missing:
      let statement = try prepare(sql)
      cache.keep(statement, for: sql)
      return statement
    }
  }

  /// As ``statement(_:)``, found by number; the text is only made if the statement must be prepared.
  package func statement(_ id: StatementID, _ sql: @autoclosure () throws -> String) throws -> Statement {
    switch cache.take(id) {
    case .free(let statement): return renewed(statement)
    case .inUse: return try prepare(sql())
    case .missing:
      let statement = try prepare(sql())
      cache.keep(statement, for: id)
      return statement
    }
  }

  private func renewed(_ statement: Statement) -> Statement {
    sqlite3_reset(statement.pointer)
    sqlite3_clear_bindings(statement.pointer)
    if statement.needsCare { statement.forgetBindFailure() }
    return statement
  }

  /// A statement that is not cached. Text after the first statement, other than comments, is an error.
  package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    var rest = Script(sql, takesQuotedStrings: takesQuotedStrings)
    guard let statement = try next(of: &rest) else {
      throw SQLiteError(code: SQLITE_MISUSE, message: "there is no statement in the text", sql: sql)
    }
    if try next(of: &rest) != nil {
      throw SQLiteError(code: SQLITE_MISUSE, message: "there is more than one statement in the text", sql: sql)
    }
    return statement
  }

  /// Runs one statement with values, or several without; result rows are ignored.
  ///
  /// - Returns: The number of rows that the last statement inserted, updated or deleted.
  @discardableResult
  package func execute(_ sql: String, _ arguments: [Value] = []) throws(SQLiteError) -> Int {
    if !arguments.isEmpty {
      let statement = try statement(sql)
      try statement.bind(all: arguments)
      try statement.run()
      return changes
    }
    var rest = Script(sql, takesQuotedStrings: takesQuotedStrings)
    while let statement = try next(of: &rest) {
      try statement.bind(all: [])
      try statement.run()
    }
    return changes
  }

  /// Runs short statements that take back work. A stop from another thread does not end them: it may come when the work it
  /// is for has failed already.
  package func executeUnstopped(_ sql: String) throws(SQLiteError) {
    for _ in 1..<100 {
      do throws(SQLiteError) {
        try execute(sql)
        return
      } catch  where error.isInterrupted {
        // Each stop ends one attempt.
      }
    }
    try execute(sql)
  }

  /// To be called after a rollback: one that meets a full disk or a failing one is left to the file's next reader, with the
  /// journal that it needs. This connection is that reader, so that the file is whole by itself.
  package func finishRollback(after error: any Error) {
    guard let error = error as? SQLiteError, error.isFull || error.isInputOutput else { return }
    _ = try? query("PRAGMA schema_version")
  }

  /// All rows of one statement.
  package func query(_ sql: String, _ arguments: [Value] = []) throws(SQLiteError) -> QueryResult {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(all: arguments)
    var rows: [[Value]] = []
    while try statement.step() {
      let row = statement.row
      rows.append((0..<row.count).map(row.value))
    }
    return QueryResult(columns: statement.columnNames, rows: rows)
  }

  /// As ``query(_:_:)``, without the columns' names; a statement without arguments is not cached.
  @discardableResult
  package func rows(_ sql: String, _ arguments: [Value] = []) throws(SQLiteError) -> [[Value]] {
    if !arguments.isEmpty { return try query(sql, arguments).rows }
    let statement = try prepare(sql)
    defer { statement.reset() }
    var rows: [[Value]] = []
    while try statement.step() {
      let row = statement.row
      rows.append((0..<row.count).map(row.value))
    }
    return rows
  }

  /// Runs our own SQL, to which the rules for users' SQL do not apply.
  func privileged<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
    privilege += 1
    defer { privilege -= 1 }
    return try body()
  }
}

/// Rows as values, for tests, tools and small queries.
package struct QueryResult: Hashable, Sendable {
  package let columns: [String]
  package let rows: [[Value]]
  /// The first column of the first row.
  package var first: Value? { rows.first?.first }
}

// MARK: state

extension Connection {
  /// The number of rows that the last INSERT, UPDATE or DELETE changed, without those of triggers and cascades.
  package var changes: Int { Int(sqlite3_changes64(handle)) }
  /// Whether a foreign key refers to a row that is not there, which COMMIT would refuse.
  package var hasDeferredViolations: Bool {
    var (now, highest): (Int32, Int32) = (0, 0)
    return sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &now, &highest, 0) == SQLITE_OK && now != 0
  }
  package var totalChanges: Int { Int(sqlite3_total_changes64(handle)) }
  package var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }
  /// Whether the file is read without locks and has changed since it was opened: then reads may mix several states, and
  /// the file must be opened again.
  package var isPassed: Bool { unlocked?.hasChanged ?? false }
  /// Whether the file is read without locks, so that other programs' commits are not noticed.
  package var isUnlocked: Bool { unlocked != nil }
  /// Whether no transaction is open; must be checked after every error, because some errors end the transaction.
  package var isAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

  /// Resets unfinished statements, which would keep the transaction open.
  func resetBusyStatements() {
    var statement = sqlite3_next_stmt(handle, nil)
    while let found = statement {
      if sqlite3_stmt_busy(found) != 0 { sqlite3_reset(found) }
      statement = sqlite3_next_stmt(handle, found)
    }
  }

  /// Whether another program has truncated the file of the write-ahead log: it is shorter than its index says. A checkpoint
  /// would then damage the database. Only for a connection in WAL mode.
  var isLogCut: Bool { quire_wal_is_cut(handle) != 0 }

  var hasOpenTransaction: Bool { sqlite3_txn_state(handle, "main") != SQLITE_TXN_NONE }
}
