internal import CSQLite
internal import QuireRow

extension Connection {
  /// One transaction while no other connection has the file open, in this process or another.
  ///
  /// - Throws: ``DatabaseError/busy(path:waited:by:)`` if one has; what the body throws. The file is as it was then.
  package func alone(_ body: () throws -> Void) throws {
    let hadLog = try query("PRAGMA journal_mode").first == .text("wal")
    // SQLite removes the write-ahead log only if no other connection has the file open.
    if hadLog { try setJournalMode("DELETE") }
    defer { if hadLog { try? setJournalMode("WAL") } }
    do {
      try privileged { _ = try execute("BEGIN EXCLUSIVE") }
    } catch let error as SQLiteError where error.primaryCode == SQLITE_BUSY {
      throw DatabaseError.busy(path: path, waited: .zero)
    }
    do {
      try body()
      try privileged { _ = try execute("COMMIT") }
    } catch {
      privileged { _ = try? execute("ROLLBACK") }
      throw error
    }
  }

  private func setJournalMode(_ mode: String) throws {
    do {
      try privileged { _ = try query("PRAGMA journal_mode = \(mode)") }
    } catch let error as SQLiteError where error.primaryCode == SQLITE_BUSY {
      throw DatabaseError.busy(path: path, waited: .zero)
    }
  }
}

extension Connection {
  /// For a command that only looks: leaves no file beside the database.
  package convenience init(looking path: String, busyTimeout: Duration = .seconds(5)) throws(DatabaseError) {
    var options = ConnectionOptions()
    options.busyTimeout = busyTimeout
    options.leavesNothing = true
    try self.init(path: path, access: .readOnly, options: options)
  }
}
