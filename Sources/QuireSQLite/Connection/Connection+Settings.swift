internal import CSQLite
internal import Foundation
internal import QuireRow

// Each setting that guarantees depend on is read back: SQLite silently ignores a PRAGMA that it does not know or cannot
// apply.

extension Connection {
  func configure() throws {
    sqlite3_busy_timeout(handle, busyMilliseconds)
    for (option, value) in Connection.switches { try set(option, value) }
    if options.trustsSchema { try set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1) }
    if options.isTemporary { try set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
    let code = quire_functions_install(handle)
    if code != SQLITE_OK { throw error(code, sql: nil) }
    try addRegularExpressions()
    // A file that is not a database is detected at the first read, not at open.
    _ = try query("PRAGMA schema_version")
    if access != .readOnly {
      // The way to a write-ahead log syncs four times.
      if options.isTemporary { try execute("PRAGMA synchronous = OFF") }
      if options.role != .reader, !options.keepsJournalMode { try useLog() }
      try set("synchronous", options.synchronous.rawValue, reads: options.synchronous.level)
      try execute("PRAGMA journal_size_limit = \(64 << 20)")
    }
    try set("foreign_keys", "ON", reads: "1")
    try set("cell_size_check", "ON", reads: "1")
    try set("mmap_size", "0", reads: "0")
    try set("cache_size", "\(-max(options.cacheSizeInBytes >> 10, 64))")
    if !options.checkpointsItself { try set("wal_autocheckpoint", "0", reads: "0") }
    if options.role == .reader { try set("query_only", "ON", reads: "1") }
    if options.role != .free { installAuthorizer() }
    cache.removeAll()
  }

  /// Makes the file a WAL database, if it is not one yet.
  ///
  /// SQLite does not wait here for a program that writes the file in its old mode, such as one that creates it at this
  /// moment: it reports at once that the file is busy.
  private func useLog() throws {
    let end = ContinuousClock.now + options.busyTimeout
    while true {
      do {
        return try set("journal_mode", "WAL", reads: "wal")
      } catch let error as SQLiteError where error.primaryCode == SQLITE_BUSY && ContinuousClock.now < end {
        usleep(1000)
      }
    }
  }

  /// Whether the file uses JSON functions in its tables or indexes, and has no views and no triggers but those of change logs
  /// and shared stores. All that its schema can call then are functions, and a connection has only SQLite's own and ours.
  private var needsJSON: Bool {
    guard (try? set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1)) != nil else { return false }
    defer { try? set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0) }
    // A schema that cannot be read is reported by the first statement.
    guard let objects = try? SchemaReader(self).objects() else { return false }
    return objects.contains { $0.sql.map { $0.lowercased().contains("json") || $0.contains("->") } == true }
      && objects.allSatisfy { object in
        ![.trigger, .view].contains(object.kind) || ChangeLog.isTrigger(object.name) || NodeTables.isGuard(object)
      }
  }

  /// Whether to try again, because the file has a table that calls JSON functions: this connection admits them from now on, if
  /// it may.
  func looksAgain(after code: Int32) -> Bool {
    guard code & 0xff == SQLITE_CORRUPT, !options.trustsSchema, SQLiteFunctions.refusesJSON,
      error(code, sql: nil).isUnsafeSchema
    else { return false }
    if privileged({ needsJSON }) { try? set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1) }
    return true
  }

  /// The journal mode is kept, and foreign keys are off until they are switched on.
  ///
  /// The schema is trusted, because migrations change it: otherwise SQLite 3.40 refuses an index on `json_extract(…)`,
  /// and writes to a table whose triggers maintain a full-text index. This connection has only SQLite's own functions and ours.
  ///
  /// - Parameter reads: Whether the content is read, which is an error if the file is not a database.
  func configureForMigrations(reads: Bool) throws {
    pulse?.install(on: handle)
    for (option, value) in Connection.switches where option != SQLITE_DBCONFIG_ENABLE_FKEY {
      try set(option, option == SQLITE_DBCONFIG_TRUSTED_SCHEMA ? 1 : value)
    }
    try execute("PRAGMA cell_size_check = ON")
    try addGuardFunction()
    try addRegularExpressions()
    // SQLite reads the content only at the first statement.
    if reads { try execute("SELECT count(*) FROM sqlite_schema") }
  }

  /// Switches triggers and the actions of foreign keys on or off; the latter only if no transaction is open.
  func setTriggers(_ areOn: Bool, keys: Bool? = nil) throws(SQLiteError) {
    try set(SQLITE_DBCONFIG_ENABLE_TRIGGER, areOn ? 1 : 0)
    try set(SQLITE_DBCONFIG_ENABLE_FKEY, keys ?? areOn ? 1 : 0)
  }

  /// Whether the tables of virtual tables' content can be written by statements of their own.
  func setDefensive(_ isOn: Bool) throws(SQLiteError) { try set(SQLITE_DBCONFIG_DEFENSIVE, isOn ? 1 : 0) }

  private func set(_ option: Int32, _ value: Int32) throws(SQLiteError) {
    let code = quire_db_config(handle, option, value)
    if code != SQLITE_OK { throw error(code, sql: nil) }
  }

  private static let switches: [(Int32, Int32)] = [
    (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_DQS_DML, 1),
    (SQLITE_DBCONFIG_DQS_DDL, 1), (SQLITE_DBCONFIG_ENABLE_FKEY, 1), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
  ]

  private func set(_ name: String, _ value: String, reads expected: String? = nil) throws {
    try execute("PRAGMA \(name) = \(value)")
    guard let expected else { return }
    let found = try query("PRAGMA \(name)").first.map(text) ?? "nothing"
    if name == "mmap_size" && found == "nothing" { return }  // a file system without it
    if found != expected { throw DatabaseError.setting(name, expected: expected, found: found) }
  }

  private func text(_ value: Value) -> String {
    if case .text(let text) = value { text } else { "\(value)" }
  }
}

extension Synchronous {
  /// As SQLite reads it back.
  var level: String {
    switch self {
    case .full: "2"
    case .normal: "1"
    case .off: "0"
    }
  }
}

extension Duration {
  /// Whole milliseconds, clamped to SQLite's range.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    if seconds < 0 { return 0 }
    if seconds > 2_000_000 { return 2_000_000_000 }
    return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
  }
}
