internal import CSQLite
internal import Foundation

extension Connection {
  /// Copies this connection's whole database over the one of `destination`, as of one moment.
  ///
  /// For the destination it is one transaction: readers see either the old or the new content, and a process that dies
  /// leaves the old one. Other connections may write to the source meanwhile if it has a write-ahead log.
  ///
  /// - Parameter progress: Receives the pages copied and the total, some hundred times.
  /// - Throws: The error of SQLite, with the destination unchanged; `SQLITE_INTERRUPT` if one of the connections was
  ///   stopped.
  package func copy(to destination: Connection, _ progress: (Int, Int) -> Void = { _, _ in })
    throws(SQLiteError)
  {
    // A transaction of its own fixes the moment; otherwise SQLite would start over after each write of another program.
    let wasAutocommit = isAutocommit
    if wasAutocommit { try execute("BEGIN") }
    defer { if wasAutocommit { _ = try? execute("COMMIT") } }
    try execute("SELECT count(*) FROM sqlite_schema")
    guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
      throw destination.error(sqlite3_errcode(destination.handle), sql: nil)
    }
    var code = SQLITE_OK
    while code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED {
      guard pulse?.goesOn() != false, destination.pulse?.goesOn() != false else {
        sqlite3_backup_finish(backup)
        throw SQLiteError(code: SQLITE_INTERRUPT, message: "interrupted")
      }
      code = sqlite3_backup_step(backup, 256)
      // The connection's busy handler has already waited before SQLite returns this.
      if code == SQLITE_BUSY || code == SQLITE_LOCKED { break }
      let total = Int(sqlite3_backup_pagecount(backup))
      progress(total - Int(sqlite3_backup_remaining(backup)), total)
    }
    let finished = sqlite3_backup_finish(backup)
    if code == SQLITE_DONE, finished == SQLITE_OK { return }
    throw destination.error(code == SQLITE_DONE ? finished : code, sql: nil)
  }

  /// Up to a megabyte of the file itself from `offset` on, whatever it holds; empty at its end.
  ///
  /// - Throws: ``DatabaseError/inputOutput(path:code:reason:)``.
  func bytesOfFile(at offset: Int64) throws -> Data {
    var bytes = Data(count: 1 << 20)
    let count = bytes.withUnsafeMutableBytes { quire_read_file(handle, offset, $0.baseAddress, Int32($0.count)) }
    guard count >= 0 else { throw DatabaseError.inputOutput(path: path, code: SQLITE_IOERR) }
    return bytes.prefix(count)
  }

  /// Copies this connection's whole database, which is `database`, into one file of its own, which has its name only when
  /// it is whole and on the disk.
  ///
  /// - Returns: the file's size in bytes.
  /// - Throws: ``StoreBackupError``; ``DatabaseError`` for a path that cannot be a database's; ``SQLiteError`` for what cannot be
  ///   read, and with `SQLITE_INTERRUPT` after a stop. Then what was at the path is as before.
  package func copy(
    toFile path: String, of database: String, replacing: Bool, interruption: MigrationInterruption,
    _ progress: (Int, Int) -> Void
  ) throws -> Int {
    let target = try UnfinishedCopy.target(path, of: database, replacing: replacing)
    UnfinishedFile.removeAbandoned(to: target)
    let copy = UnfinishedCopy(of: database, to: target)
    try copy.fill(from: self, interruption: interruption, progress)
    if interruption.isStopped { throw SQLiteError(code: SQLITE_INTERRUPT, message: "interrupted") }
    try copy.finish(replacing: replacing)
    return SidecarFiles.size(of: target) ?? 0
  }
}
