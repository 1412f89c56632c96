import CSQLite
import Foundation
package import QuireRow

/// A connection for running migrations: nothing is cached or captured, foreign keys stay as they are told to be, and
/// scripts run statement by statement.
///
/// Separate from the store's connections because nearly every setting differs: a migration rebuilds tables that others
/// point to, and must not be held to what a reader or a writer of rows is held to. Used by one thread at a time.
package final class MigrationConnection {
  let handle: OpaquePointer
  /// What the authorizer was asked and refused last; filled while a script runs.
  var refused: String?
  let pulse: MigrationPulse
  /// Whether SQL that is given to it was written for SQLite's shell or another tool: strings may stand in double quotes, and
  /// `PRAGMA foreign_keys`, without effect in a transaction, is no error there. What the file's own views and triggers say
  /// may always hold such strings.
  package var takesQuotedStrings = false

  /// Opens the file at `path`, without changing its journal mode or anything else in it.
  ///
  /// SQLite looks at the content at the first statement only, so one is run here.
  ///
  /// - Parameters:
  ///   - interruption: ends what runs or waits with `SQLITE_INTERRUPT` or `SQLITE_BUSY`.
  ///   - beat: called often while something runs or waits.
  /// - Throws: ``DatabaseError`` for a path that leads to no database, ``SQLiteError`` for what SQLite says beside that.
  package convenience init(
    path: String, access: Access, busyTimeout: Duration, interruption: MigrationInterruption? = nil,
    beat: (@Sendable () -> Void)? = nil
  ) throws {
    let file = try DatabaseFile(path).checked(for: access)
    let pulse = MigrationPulse(interruption: interruption, busyTimeout: busyTimeout, beat: beat)
    if access == .readOnly { Self.recover(file, pulse) }
    let unlocked = access == .readOnly ? try UnlockedFile(file) : nil
    try self.init(file: unlocked?.uri ?? file, path: path, access: access, pulse: pulse)
  }

  /// Has SQLite roll back what a process that died in a transaction has left, which a connection for reading may not do.
  ///
  /// What cannot be done is no error here: reading then says why.
  private static func recover(_ file: String, _ pulse: MigrationPulse) {
    guard access(file + "-journal", F_OK) == 0 else { return }
    let connection = try? MigrationConnection(file: file, path: file, access: .readWrite, pulse: pulse)
    _ = try? connection?.query("SELECT count(*) FROM sqlite_schema")
  }

  /// A database of its own that is gone with the connection, or with the process: in memory, and on disk where it gets
  /// large (in `SQLITE_TMPDIR`, `/var/tmp` or `/tmp`).
  package static func temporary(interruption: MigrationInterruption? = nil, beat: (@Sendable () -> Void)? = nil) throws
    -> MigrationConnection
  {
    let pulse = MigrationPulse(interruption: interruption, busyTimeout: .zero, beat: beat)
    return try MigrationConnection(file: "", path: "a temporary database", access: .create, pulse: pulse)
  }

  private init(file: String, path: String, access: Access, pulse: MigrationPulse) throws {
    let flags =
      switch access {
      case .readOnly: SQLITE_OPEN_READONLY
      case .readWrite: SQLITE_OPEN_READWRITE
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      file, &opened, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard let opened, code == SQLITE_OK else {
      let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(opened)
      throw access == .create
        ? DatabaseError.cannotCreate(path: path, reason: message) : .unreadable(path: path, reason: message)
    }
    handle = opened
    self.pulse = pulse
    pulse.install(on: handle)
    for (option, value) in Self.switches {
      let code = quire_db_config(handle, option, value)
      if code != SQLITE_OK { throw failure(code) }
    }
    do {
      try query("PRAGMA cell_size_check = ON")
      try query("SELECT count(*) FROM sqlite_schema")
    } catch {
      if error.primaryCode == SQLITE_NOTADB { throw DatabaseError.notADatabase(path: path) }
      throw error
    }
  }

  /// An empty database that lives as long as this connection, for trying out what a schema's statements make of it.
  package static func inMemory() throws(SQLiteError) -> MigrationConnection {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(":memory:", &opened, flags | SQLITE_OPEN_EXRESCODE, nil)
    guard let opened, code == SQLITE_OK else {
      sqlite3_close_v2(opened)
      throw SQLiteError(code: code, message: "out of memory")
    }
    let connection = MigrationConnection(handle: opened)
    for (option, value) in switches {
      let code = quire_db_config(opened, option, value)
      if code != SQLITE_OK { throw connection.failure(code) }
    }
    return connection
  }

  private init(handle: OpaquePointer) {
    self.handle = handle
    pulse = MigrationPulse(interruption: nil, busyTimeout: .zero, beat: nil)
  }

  /// The schema is trusted, because it is what a migration is about: without that SQLite 3.40 refuses an index on
  /// `json_extract(…)`, and writing to a table whose triggers keep a full-text index. There is no function here but
  /// SQLite's own.
  private static let switches: [(Int32, Int32)] = [
    (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1), (SQLITE_DBCONFIG_DQS_DML, 1),
    (SQLITE_DBCONFIG_DQS_DDL, 1), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
  ]

  deinit { sqlite3_close_v2(handle) }

  package var isStopped: Bool { pulse.interruption?.isStopped == true }

  /// False inside a transaction, and after an error that ended one.
  package var isAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

  /// Runs one statement of ours and gives all its rows.
  @discardableResult
  package func query(_ sql: String, _ arguments: [Value] = []) throws(SQLiteError) -> [[Value]] {
    let statement = try prepared(sql)
    defer { sqlite3_finalize(statement) }
    return try rows(of: statement, sql, arguments)
  }

  /// Runs one statement that somebody else wrote and gives all its rows.
  package func query(_ sql: BoundSQL) throws(SQLiteError) -> [Record] {
    let statement = try prepared(sql.text)
    defer { sqlite3_finalize(statement) }
    let parameters = stride(from: 1, through: sqlite3_bind_parameter_count(statement), by: 1)
    let values = try sql.values(
      for: parameters.map { sqlite3_bind_parameter_name(statement, $0).map { String(cString: $0) } })
    let rows = try rows(of: statement, sql.text, values)
    let names = ColumnNames(
      (0..<sqlite3_column_count(statement)).map { sqlite3_column_name(statement, $0).map { String(cString: $0) } ?? "" }
    )
    return rows.map { Record(values: $0, names: names) }
  }

  private func prepared(_ sql: String) throws(SQLiteError) -> OpaquePointer {
    let prepared = prepare(sql)
    guard prepared.code == SQLITE_OK, let statement = prepared.pointer else { throw failure(prepared.code, sql: sql) }
    return statement
  }

  private func rows(of statement: OpaquePointer, _ sql: String, _ arguments: [Value]) throws(SQLiteError) -> [[Value]] {
    for (index, argument) in arguments.enumerated() {
      let code = bind(argument, to: statement, at: Int32(index + 1))
      guard code == SQLITE_OK else { throw failure(code) }
    }
    var rows: [[Value]] = []
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return rows }
      guard code == SQLITE_ROW else { throw failure(code, sql: sql) }
      rows.append((0..<sqlite3_column_count(statement)).map { column($0, of: statement) })
    }
  }

  private func prepare(_ sql: String) -> QuotedNames.Prepared {
    let written = Array(sql.utf8) + [0]
    let text = takesQuotedStrings ? nil : QuotedNames.inBackticks(written)
    return prepare(text ?? written, written: written, at: 0)
  }

  /// Prepares the statement that begins at byte `offset` of a text that ends in a NUL.
  func prepare(_ text: [UInt8], written: [UInt8], at offset: Int) -> QuotedNames.Prepared {
    text.withUnsafeBytes { text in
      written.withUnsafeBytes { written in
        guard let start = text.baseAddress?.assumingMemoryBound(to: CChar.self),
          let own = written.baseAddress?.assumingMemoryBound(to: CChar.self)
        else { return QuotedNames.Prepared(code: SQLITE_NOMEM, pointer: nil, length: 0) }
        let count = Int32(clamping: text.count - offset)
        return QuotedNames.prepare(start + offset, written: own + offset, count: count, flags: 0, on: handle)
      }
    }
  }

  func failure(_ code: Int32, sql: String? = nil) -> SQLiteError {
    SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)), sql: sql)
  }

  private func bind(_ value: Value, to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(statement, index)
    case .integer(let number): return sqlite3_bind_int64(statement, index, number)
    case .real(let number): return sqlite3_bind_double(statement, index, number)
    case .text(let text):
      var text = text
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { quire_bind_text(statement, index, $0.baseAddress, $0.count) }
      }
    case .blob(let data): return data.withUnsafeBytes { quire_bind_blob(statement, index, $0.baseAddress, $0.count) }
    case .malformedText(let data):
      return data.withUnsafeBytes {
        quire_bind_text(statement, index, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
      }
    }
  }

  private func column(_ index: Int32, of statement: OpaquePointer) -> Value {
    func bytes(_ start: UnsafeRawPointer?) -> Data {
      start.map { Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, index))) } ?? Data()
    }
    switch sqlite3_column_type(statement, index) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, index))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, index))
    case SQLITE_TEXT:
      let data = bytes(sqlite3_column_text(statement, index).map(UnsafeRawPointer.init))
      return String(validating: data, as: UTF8.self).map { .text($0) } ?? .malformedText(data)
    case SQLITE_BLOB: return .blob(bytes(sqlite3_column_blob(statement, index)))
    default: return .null
    }
  }
}

extension SQLiteError {
  /// Said of the whole database, where it is locked, read-only, full, failing or damaged; nil where the statement is
  /// at fault.
  package func databaseError(path: String, waited: Duration) -> DatabaseError? {
    DatabaseError(self, path: path, waited: waited)
  }
}
