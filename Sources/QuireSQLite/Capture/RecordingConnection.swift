package import QuireRow

/// A connection on anybody's file that tells what rows a statement has changed, without a store around it: for tools
/// that take a write back.
///
/// The file keeps its journal mode, and users' SQL may do what it likes, transactions and ATTACH included. Belongs to
/// one thread at a time, as a ``Connection`` does.
package final class RecordingConnection {
  package let connection: Connection
  private let capture: Capture
  private let interests = Interests()
  private let everything: InterestToken
  private var shadows: [InterestToken] = []
  private var schemaVersion: Int64?
  private let enlist: Statement

  package init(path: String, busyTimeout: Duration) throws {
    var options = ConnectionOptions()
    options.keepsJournalMode = true
    options.leavesNothing = true
    options.busyTimeout = busyTimeout
    connection = try Connection(path: path, access: .readWrite, options: options)
    everything = interests.add(.everything)
    capture = try Capture(on: connection, interests: interests, tables: ChangedTables())
    enlist = try connection.prepare("INSERT INTO _quire_sensor VALUES (0)")
  }

  deinit { capture.uninstall() }

  /// Runs the body and tells the rows it changed, folded, also those that triggers and foreign keys changed.
  ///
  /// Where no transaction is open the body is one of its own, and nothing of it stays if it throws; otherwise it is part
  /// of the one that is open, which SQLite's rules for a failed statement hold for. Costs memory for every row that is
  /// changed.
  package func record<T>(_ body: () throws -> T) throws -> (result: T, tables: [TableChanges]) {
    let isOwn = connection.isAutocommit
    if isOwn { try connection.execute("BEGIN IMMEDIATE") }
    do {
      try look()
      try capture.begin()
      defer { capture.end() }
      try enlist.run()
      let result = try body()
      if let failure = capture.failure {
        throw DatabaseError.captureFailed(table: failure.table, code: failure.code)
      }
      let tables = Fold(capture).tables()
      if isOwn { try connection.execute("COMMIT") }
      return (result, tables)
    } catch {
      if isOwn, !connection.isAutocommit { try connection.execute("ROLLBACK") }
      throw error
    }
  }

  /// Runs the body and keeps nothing of what it changed: for more rows than memory should be spent on. Otherwise as
  /// ``record(_:)``.
  package func unrecorded(_ body: () throws -> Void) throws {
    let isOwn = connection.isAutocommit
    if isOwn { try connection.execute("BEGIN IMMEDIATE") }
    do {
      try body()
      if isOwn { try connection.execute("COMMIT") }
    } catch {
      if isOwn, !connection.isAutocommit { try connection.execute("ROLLBACK") }
      throw error
    }
  }

  /// Takes notice of a schema that is another than at the last record.
  private func look() throws {
    let version = try connection.schemaVersion()
    if version == schemaVersion { return }
    schemaVersion = version
    capture.schemaDidChange(inTransaction: false)
    let found = try connection.query("SELECT name FROM pragma_table_list WHERE type = 'shadow' AND schema = 'main'")
    shadows = found.rows.compactMap { row in
      if case .text(let name) = row[0] { interests.add(Interest(table: name, columns: [])) } else { nil }
    }
  }

  /// Runs the body with triggers and foreign keys off; a transaction must not be open.
  package func withoutTriggers<T>(_ body: () throws -> T) throws -> T {
    try connection.setTriggers(false)
    defer { try? connection.setTriggers(true) }
    return try body()
  }
}
