internal import CSQLite
internal import Foundation

// A migration's connection differs in nearly every setting: a migration rebuilds tables that others refer to, and is
// not subject to the rules for readers and writers of rows. Nothing is captured, foreign keys stay as they are set, and
// scripts run statement by statement.

extension Connection {
  /// Opens the file at `path` for migrations, without changing its journal mode or anything else in it.
  ///
  /// - Parameters:
  ///   - interruption: Ends running or waiting statements with `SQLITE_INTERRUPT` or `SQLITE_BUSY`.
  ///   - beat: Called often while a statement runs or waits.
  /// - Throws: ``DatabaseError`` if the path does not lead to a database, ``SQLiteError`` for other errors of SQLite.
  package convenience init(
    migrating path: String, access: Access, busyTimeout: Duration, interruption: MigrationInterruption? = nil,
    beat: (@Sendable () -> Void)? = nil
  ) throws {
    let file = try DatabaseFile(path).checked(for: access)
    let pulse = MigrationPulse(interruption: interruption, busyTimeout: busyTimeout, beat: beat)
    if access == .readOnly { Self.recover(file, interruption) }
    let unlocked = access == .readOnly ? try UnlockedFile(file) : nil
    try self.init(migrating: file, as: path, access: access, unlocked: unlocked, pulse: pulse)
  }

  /// Opens a file to be written over, also one that SQLite cannot read: it is taken for empty, whatever it holds.
  ///
  /// A transaction replaces all that it holds; one that is rolled back leaves it as it was. Other programs may have it open.
  package convenience init(
    overwriting path: String, busyTimeout: Duration, interruption: MigrationInterruption? = nil,
    beat: (@Sendable () -> Void)? = nil
  ) throws {
    let file = try DatabaseFile(path).checked(for: .create)
    let pulse = MigrationPulse(interruption: interruption, busyTimeout: busyTimeout, beat: beat)
    try self.init(migrating: file, as: path, access: .create, unlocked: nil, pulse: pulse, overwrites: true)
  }

  /// Lets SQLite roll back the unfinished transaction of a process that died, which a read-only connection cannot do.
  ///
  /// A failure is not an error here: the next read reports it.
  private static func recover(_ file: String, _ interruption: MigrationInterruption?) {
    if Foundation.access(file + "-journal", F_OK) != 0 { return }
    // Who locks it lives, and its transaction is its own: the read waits for it, and need not wait twice.
    let pulse = MigrationPulse(interruption: interruption, busyTimeout: .zero, beat: nil)
    _ = try? Connection(migrating: file, as: file, access: .readWrite, unlocked: nil, pulse: pulse)
  }

  /// A private database that is deleted with the connection or the process: in memory, and on disk if it grows large
  /// (in `SQLITE_TMPDIR`, `/var/tmp` or `/tmp`).
  package static func temporary(interruption: MigrationInterruption? = nil, beat: (@Sendable () -> Void)? = nil) throws
    -> Connection
  {
    let pulse = MigrationPulse(interruption: interruption, busyTimeout: .zero, beat: beat)
    return try Connection(migrating: "", as: "a temporary database", access: .create, unlocked: nil, pulse: pulse)
  }

  /// An empty database that lives as long as this connection, to see how SQLite interprets a schema's statements.
  package static func inMemory() throws(SQLiteError) -> Connection {
    do {
      let pulse = MigrationPulse(interruption: nil, busyTimeout: .zero, beat: nil)
      return try Connection(migrating: ":memory:", as: "memory", access: .create, unlocked: nil, pulse: pulse)
    } catch let error as SQLiteError {
      throw error
    } catch {
      throw SQLiteError(code: SQLITE_NOMEM, message: "out of memory")
    }
  }

  /// Whether a migration was asked to stop.
  package var isStopped: Bool { pulse?.interruption?.isStopped == true }

  /// Called between statements: SQLite calls the pulse only inside a statement that takes long.
  package func checkStopped() throws(SQLiteError) {
    if pulse?.goesOn() == false { throw SQLiteError(code: SQLITE_INTERRUPT, message: "interrupted") }
  }
}
