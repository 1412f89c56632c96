internal import CSQLite
internal import QuireRow

extension Connection {
  /// Runs `script`, one statement after the other, until its end or the first error; result rows are discarded.
  ///
  /// SQLite itself finds the end of each statement (the tail pointer), so triggers need no special delimiter. With
  /// `inTransaction`, an authorizer refuses what has no meaning inside a transaction: BEGIN, COMMIT, ROLLBACK,
  /// savepoints, ATTACH, and pragmas that would be ignored. Writing to a table in `protected` is always refused. The
  /// triggers of a change log are dropped first, because a column that a trigger names cannot be dropped: the store's
  /// next writer makes them again and marks the gap.
  ///
  /// - Parameter before: Called for each statement after SQLite has parsed it and before it runs; may query the
  ///   connection.
  /// - Returns: The number of statements that ran.
  package func run(
    script: String, inTransaction: Bool, protected: Set<String> = [],
    before: ((ScriptStatement) throws(SQLiteError) -> Void)? = nil
  ) throws(MigrationScriptError) -> Int {
    var bytes = Array(script.utf8)
    bytes.append(0)
    let text = takesQuotedStrings ? bytes : QuotedNames.inBackticks(bytes) ?? bytes
    if inTransaction { try dropLogTriggers() }
    if inTransaction { recorder?.add(.script(script, takesQuotedStrings: takesQuotedStrings)) }
    return try underRules(inTransaction: inTransaction, protected: protected) {
      () throws(MigrationScriptError) -> Int in
      var offset = 0
      var count = 0
      while offset < bytes.count - 1 {
        let (next, ran) = try runStatement(of: text, written: bytes, at: offset, before)
        offset = next
        if ran { count += 1 }
      }
      return count
    }
  }

  /// Pragmas that may be given a value inside a transaction: they work there, or only read.
  package static let migrationPragmas: Set<String> = [
    "user_version", "application_id", "defer_foreign_keys", "legacy_alter_table", "table_info", "table_xinfo",
    "table_list", "index_info", "index_xinfo", "index_list", "foreign_key_list", "foreign_key_check",
    "integrity_check", "quick_check", "optimize", "analysis_limit", "recursive_triggers", "case_sensitive_like",
    "ignore_check_constraints",
  ]

  /// Runs `body` with the same refusals as in a script.
  package func underRules<T, E: Error>(
    inTransaction: Bool, protected: Set<String>, _ body: () throws(E) -> T
  ) throws(E) -> T {
    let rules = Rules(connection: self, inTransaction: inTransaction, protected: protected)
    return try withExtendedLifetime(rules) { () throws(E) -> T in
      sqlite3_set_authorizer(handle, authorize, Unmanaged.passUnretained(rules).toOpaque())
      defer { sqlite3_set_authorizer(handle, nil, nil) }
      return try body()
    }
  }

  private func dropLogTriggers() throws(MigrationScriptError) {
    do {
      for trigger in try SchemaReader(self).objects(.trigger) where trigger.name.hasPrefix(LogForm.triggerPrefix) {
        try execute("DROP TRIGGER \(try quoted(identifier: trigger.name))")
      }
    } catch let error as SQLiteError {
      throw MigrationScriptError(error: error, statement: 0..<0, offset: nil, refused: nil)
    } catch {
      throw MigrationScriptError(
        error: SQLiteError(code: SQLITE_ERROR, message: "\(error)"), statement: 0..<0, offset: nil, refused: nil)
    }
  }

  /// Prepares the statement that begins at byte `offset` of a text that ends in a NUL.
  private func prepare(_ text: [UInt8], written: [UInt8], at offset: Int) -> QuotedNames.Prepared {
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

  /// Runs the statement that begins at `offset`; returns where the next one begins and whether there was a statement.
  private func runStatement(
    of text: [UInt8], written bytes: [UInt8], at offset: Int, _ before: ((ScriptStatement) throws(SQLiteError) -> Void)?
  ) throws(MigrationScriptError) -> (next: Int, ran: Bool) {
    refused = nil
    let prepared = prepare(text, written: bytes, at: offset)
    let (code, length, statement) = (prepared.code, prepared.length, prepared.pointer)
    defer { sqlite3_finalize(statement) }
    func failed(_ code: Int32) -> MigrationScriptError {
      let error = error(code, sql: nil)
      let place = Int(sqlite3_error_offset(handle))
      return MigrationScriptError(
        error: error,
        statement: offset..<(length > 0 ? offset + length : bytes.count - 1),
        offset: place >= 0 ? offset + place : nil, refused: refused)
    }
    guard code == SQLITE_OK else { throw failed(code) }
    let next = length > 0 ? offset + length : bytes.count - 1
    guard let statement else { return (next, false) }
    if recorder != nil, let reading = ClockReading.first(in: bytes, from: offset) {
      refused = "\(reading)\(MigrationScriptError.elsewhere)"
      throw failed(SQLITE_AUTH)
    }
    if let before {
      do {
        try before(ScriptStatement(text: String(decoding: bytes[offset..<min(next, bytes.count - 1)], as: UTF8.self)))
      } catch {
        throw MigrationScriptError(error: error, statement: offset..<next, offset: nil, refused: nil)
      }
    }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: continue
      case SQLITE_DONE: return (next, true)
      case let code: throw failed(code)
      }
    }
  }
}

/// One statement of a script.
package struct ScriptStatement: Hashable, Sendable {
  /// As written, from the end of the previous statement.
  package let text: String

  package init(text: String) { self.text = text }
}

/// The statement of a script that failed.
package struct MigrationScriptError: Error, Hashable, Sendable {
  package let error: SQLiteError
  /// Byte offsets in the script, from the end of the previous statement.
  package let statement: Range<Int>
  /// The byte that SQLite reports, if any.
  package let offset: Int?
  /// What the authorizer refused, such as `COMMIT` or `PRAGMA journal_mode`.
  package let refused: String?

  /// Behind the name of what was refused because other machines could not repeat it.
  package static let elsewhere = ", which is another value on each machine of a shared store"

  /// This error in terms of a longer script that contains the failed one from byte `start` on.
  package func shifted(by start: Int) -> MigrationScriptError {
    MigrationScriptError(
      error: error, statement: statement.lowerBound + start..<statement.upperBound + start,
      offset: offset.map { $0 + start }, refused: refused)
  }
}

/// The authorizer's rules, while one script runs.
private final class Rules {
  // The script runs inside a method of the connection, which therefore outlives it.
  unowned let connection: Connection
  let inTransaction: Bool
  let protected: Set<String>

  init(connection: Connection, inTransaction: Bool, protected: Set<String>) {
    self.connection = connection
    self.inTransaction = inTransaction
    self.protected = protected
  }

  private static let unrepeatable: Set<String> = [
    "random", "randomblob", "current_timestamp", "current_date", "current_time", "last_insert_rowid", "changes",
    "total_changes",
  ]

  /// The name of what is refused; nil if it may run.
  func refusal(_ action: Int32, _ first: String?, _ second: String?, database: String?) -> String? {
    switch action {
    case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE, SQLITE_DROP_TABLE:
      // VACUUM fills a temporary database of this name.
      guard let first, protected.contains(first.lowercased()), database != "vacuum_db" else { return nil }
      return "writing to \(first)"
    case SQLITE_ALTER_TABLE:
      guard let second, protected.contains(second.lowercased()) else { return nil }
      return "writing to \(second)"
    case SQLITE_TRANSACTION where inTransaction: return first ?? "a transaction"
    case SQLITE_SAVEPOINT where inTransaction: return first == "BEGIN" ? "SAVEPOINT" : first ?? "SAVEPOINT"
    // VACUUM attaches a database without a name. One with a name would also be written by a rehearsal.
    case SQLITE_ATTACH where inTransaction || first?.isEmpty == false: return "ATTACH"
    case SQLITE_DETACH where inTransaction: return "DETACH"
    case SQLITE_PRAGMA where inTransaction && second != nil:
      guard let first, !Connection.migrationPragmas.contains(first.lowercased()) else { return nil }
      if connection.takesQuotedStrings, first.lowercased() == "foreign_keys" { return nil }
      return "PRAGMA \(first)"
    // Its value would be another one on other nodes.
    case SQLITE_FUNCTION where connection.recorder != nil:
      guard let second, Rules.unrepeatable.contains(second.lowercased()) else { return nil }
      return "\(second)\(MigrationScriptError.elsewhere)"
    default: return nil
    }
  }
}

private let authorize:
  @convention(c) (
    UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
    UnsafePointer<CChar>?
  ) -> Int32 = { context, action, first, second, database, _ in
    guard let context else { return SQLITE_OK }
    let rules = Unmanaged<Rules>.fromOpaque(context).takeUnretainedValue()
    let name = rules.refusal(
      action, first.map { String(cString: $0) }, second.map { String(cString: $0) },
      database: database.map { String(cString: $0) })
    guard let name else { return SQLITE_OK }
    rules.connection.refused = name
    return SQLITE_DENY
  }
