public import CSQLite
public import QuireRow

extension _Quire {
  /// One prepared statement: bind, step, read ``row``, reset.
  ///
  /// It belongs to its connection's thread. A binding that fails (a value too large, no such parameter, a NaN) is
  /// remembered and thrown by the next step, so that the calls in between need no `try`. Between `step()` and `reset()`
  /// a reading statement keeps its transaction open: ``withRows(_:)``, ``forEachRow(_:)`` and ``run()`` always reset.
  public final class Statement {
    @usableFromInline let pointer: OpaquePointer
    /// A weak reference would slow the reference counting of the connection, which each read retains.
    private unowned let owner: Connection
    private let life: Connection.Life
    let effects: Effects
    /// The tables that it drops or alters, by their folded names.
    let alteredTables: Set<String>
    /// The original text, if it was prepared with other quotes around its names.
    private let written: String?
    /// Whether `step()` must take the slow path: a binding failed, or the statement alters the schema.
    @exclusivity(unchecked) @usableFromInline var needsCare: Bool
    @exclusivity(unchecked) var bindFailure: BindFailure?

    init(
      _ pointer: OpaquePointer, connection: Connection, effects: Effects, altering tables: Set<String>, written: String?
    ) {
      self.pointer = pointer
      owner = connection
      life = connection.life
      self.effects = effects
      alteredTables = tables
      self.written = written
      needsCare = !effects.isEmpty
    }

    deinit { if !life.mark.isInherited { sqlite3_finalize(pointer) } }

    /// Nil once it is gone.
    var connection: Connection? { life.isOver ? nil : owner }

    /// Further effects of a statement, found when it was prepared.
    struct Effects: OptionSet {
      let rawValue: UInt8
      static let altersSchema = Effects(rawValue: 1)
      static let createsVirtualTable = Effects(rawValue: 2)
      static let altersTable = Effects(rawValue: 4)
      static let dropsTable = Effects(rawValue: 8)
    }

    enum BindFailure {
      case refused(Int32, index: Int32)
      case notANumber(index: Int32)
    }
  }
}

// MARK: running

extension Statement {
  /// Goes to the next row; false at the end.
  @inlinable package func step() throws(SQLiteError) -> Bool {
    if needsCare { return try stepWithCare() }
    let code = sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    return try stepAgain(after: code)
  }

  /// Ends the current run. Bindings are kept, as in SQLite.
  @inlinable package func reset() {
    sqlite3_reset(pointer)
    if needsCare { forgetBindFailure() }
  }

  package func clearBindings() {
    sqlite3_clear_bindings(pointer)
    forgetBindFailure()
  }

  /// Steps to the end and resets: for statements whose rows are not needed.
  @inlinable package func run() throws(SQLiteError) {
    while try step() {}
    sqlite3_reset(pointer)
  }

  /// Runs the body with this statement and resets it in any case.
  @inlinable package func withRows<T>(_ body: (Statement) throws -> T) rethrows -> T {
    defer { reset() }
    return try body(self)
  }

  /// Calls the body for each row and resets in any case.
  @inlinable package func forEachRow(_ body: (inout RowCursor) throws -> Void) throws {
    defer { reset() }
    while try step() {
      var row = RowCursor(pointer)
      try body(&row)
    }
  }

  /// The body's result for the first row, nil without one; resets in any case.
  @inlinable package func firstRow<T>(_ body: (inout RowCursor) throws -> T) throws -> T? {
    defer { reset() }
    guard try step() else { return nil }
    var row = RowCursor(pointer)
    return try body(&row)
  }

  /// The row the last `step()` went to.
  @inlinable package var row: RowCursor { RowCursor(pointer) }
  @inlinable package var columnCount: Int32 { sqlite3_column_count(pointer) }
  /// After a schema change it is correct only after a step, when SQLite prepares the statement again.
  package func columnName(_ index: Int32) -> String {
    let name = sqlite3_column_name(pointer, index).map { String(cString: $0) } ?? ""
    return written.map { QuotedNames.column(name, of: Array(prepared.utf8), written: $0) } ?? name
  }
  package var columnNames: [String] { (0..<columnCount).map(columnName) }
  /// Whether it writes to no database file.
  package var isReadOnly: Bool { sqlite3_stmt_readonly(pointer) != 0 }
  /// Whether it is an EXPLAIN.
  package var isExplanation: Bool { sqlite3_stmt_isexplain(pointer) != 0 }
  package var sql: String { written ?? prepared }
  private var prepared: String { sqlite3_sql(pointer).map { String(cString: $0) } ?? "" }
  package var parameterCount: Int32 { sqlite3_bind_parameter_count(pointer) }
  /// The number of a named parameter such as `:title`; nil when there is none of that name.
  package func parameterIndex(_ name: String) -> Int32? {
    let index = sqlite3_bind_parameter_index(pointer, name)
    return index == 0 ? nil : index
  }
  /// The name of a parameter with its sigil; nil for a plain `?`.
  package func parameterName(_ index: Int32) -> String? {
    sqlite3_bind_parameter_name(pointer, index).map { String(cString: $0) }
  }
}

// MARK: failing

extension Statement {
  @usableFromInline @inline(never) func stepWithCare() throws(SQLiteError) -> Bool {
    if let bindFailure {
      forgetBindFailure()
      sqlite3_reset(pointer)
      throw error(for: bindFailure)
    }
    guard !effects.isEmpty, let guardian = connection?.guardian else {
      let code = sqlite3_step(pointer)
      if code == SQLITE_ROW { return true }
      if code == SQLITE_DONE { return false }
      return try stepAgain(after: code)
    }
    guardian.schemaWillChange(effects, altering: alteredTables)
    let code = sqlite3_step(pointer)
    let failure = code == SQLITE_ROW || code == SQLITE_DONE ? nil : failed(code)
    guardian.schemaDidChange()
    if let failure { throw failure }
    return code == SQLITE_ROW
  }

  /// Steps once more if the schema is such that this may help; else throws the error.
  @usableFromInline @inline(never) func stepAgain(after code: Int32) throws(SQLiteError) -> Bool {
    guard let connection, connection.looksAgain(after: code) else { throw failed(code) }
    sqlite3_reset(pointer)
    let code = sqlite3_step(pointer)
    if code == SQLITE_ROW || code == SQLITE_DONE { return code == SQLITE_ROW }
    throw failed(code)
  }

  /// Makes the error, resets the statement, and lets the connection check the state of the transaction.
  @usableFromInline @inline(never) func failed(_ code: Int32) -> SQLiteError {
    guard let connection else {
      sqlite3_reset(pointer)
      return SQLiteError(code: code, message: "the connection is closed", sql: sql)
    }
    let error = connection.error(code, sql: sql)
    sqlite3_reset(pointer)
    return connection.guardian?.statementFailed(error) ?? error
  }

  private func error(for failure: BindFailure) -> SQLiteError {
    switch failure {
    case .refused(let code, let index):
      SQLiteError(code: code, message: "parameter \(index): \(String(cString: sqlite3_errstr(code)))", sql: sql)
    case .notANumber(let index):
      SQLiteError(code: SQLITE_MISMATCH, message: "parameter \(index) is NaN, and SQLite keeps none", sql: sql)
    }
  }

  @usableFromInline func forgetBindFailure() {
    bindFailure = nil
    needsCare = !effects.isEmpty
  }
}

/// The owner of the transaction in which a connection's statements run: notified of what only a statement knows.
protocol ConnectionGuardian: AnyObject {
  /// - Parameter tables: Those that are dropped or altered, by their folded names.
  func schemaWillChange(_ effects: Statement.Effects, altering tables: Set<String>)
  func schemaDidChange()
  /// Returns the error to throw: another one if the transaction was lost before.
  func statementFailed(_ error: SQLiteError) -> SQLiteError
}

@usableFromInline package typealias Statement = _Quire.Statement
