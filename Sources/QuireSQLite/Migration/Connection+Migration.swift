internal import CSQLite
internal import Foundation

// A connection for running migrations differs in nearly every setting: a migration rebuilds tables that others point to,
// and must not be held to what a reader or a writer of rows is held to. Nothing is captured, foreign keys stay as they are
// told to be, and scripts run statement by statement.

extension Connection {
  /// Opens the file at `path` for migrations, without changing its journal mode or anything else in it.
  ///
  /// - Parameters:
  ///   - interruption: Ends what runs or waits with `SQLITE_INTERRUPT` or `SQLITE_BUSY`.
  ///   - beat: Called often while something runs or waits.
  /// - Throws: ``DatabaseError`` for a path that leads to no database, ``SQLiteError`` for what SQLite says beside that.
  package convenience init(
    migrating path: String, access: Access, busyTimeout: Duration, interruption: MigrationInterruption? = nil,
    beat: (@Sendable () -> Void)? = nil
  ) throws {
    let file = try DatabaseFile(path).checked(for: access)
    let pulse = MigrationPulse(interruption: interruption, busyTimeout: busyTimeout, beat: beat)
    if access == .readOnly { Self.recover(file, pulse) }
    let unlocked = access == .readOnly ? try UnlockedFile(file) : nil
    try self.init(migrating: file, as: path, access: access, unlocked: unlocked, pulse: pulse)
  }

  /// Has SQLite roll back what a process that died in a transaction has left, which a connection for reading may not do.
  ///
  /// What cannot be done is no error here: reading then says why.
  private static func recover(_ file: String, _ pulse: MigrationPulse) {
    if Foundation.access(file + "-journal", F_OK) != 0 { return }
    _ = try? Connection(migrating: file, as: file, access: .readWrite, unlocked: nil, pulse: pulse)
  }

  /// A database of its own that is gone with the connection, or with the process: in memory, and on disk if it gets large
  /// (in `SQLITE_TMPDIR`, `/var/tmp` or `/tmp`).
  package static func temporary(interruption: MigrationInterruption? = nil, beat: (@Sendable () -> Void)? = nil) throws
    -> Connection
  {
    let pulse = MigrationPulse(interruption: interruption, busyTimeout: .zero, beat: beat)
    return try Connection(migrating: "", as: "a temporary database", access: .create, unlocked: nil, pulse: pulse)
  }

  /// An empty database that lives as long as this connection, for trying out what a schema's statements make of it.
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
}
