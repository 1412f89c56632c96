internal import CSQLite
internal import Foundation

/// A copy of a whole database on its way to its name: one file, at one commit, safe on the disk before it is called what
/// it is to be called. Released unfinished, it is gone.
///
/// Backups of a store, the copies made before a migration and `quire backup` are all made by this.
package final class UnfinishedCopy {
  private let database: String
  /// Its name in the end.
  package let path: String
  private var file: UnfinishedFile?
  /// The name that it has got.
  package private(set) var named: String?
  /// Whether the log of the database is copied with it.
  private var hasLog = false
  /// Whether it failed because the disk is full.
  package private(set) var isDiskFull = false

  /// - Parameters:
  ///   - database: The file that is copied; the copy gets its owner and rights.
  ///   - path: The copy's name, which nothing is written to until ``finish(replacing:)``.
  package init(of database: String, to path: String) {
    self.database = database
    self.path = path
  }

  /// Removes it if it has its name.
  package func discard() { if let named { Self.remove(named) } }

  /// Copies the content of `source`, as it is at one moment.
  ///
  /// - Parameters:
  ///   - interruption: Ends it with `SQLITE_INTERRUPT`.
  ///   - beat: Called often meanwhile.
  ///   - progress: Receives the pages copied and the total.
  /// - Throws: ``StoreBackupError`` if the file cannot be made or written; ``SQLiteError`` for what SQLite refuses to read.
  package func fill(
    from source: Connection, interruption: MigrationInterruption? = nil, beat: (@Sendable () -> Void)? = nil,
    _ progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    let file = try makeFile()
    do {
      let copy = try Connection(
        migrating: file.name, access: .create, busyTimeout: .seconds(5), interruption: interruption, beat: beat)
      try source.copy(to: copy, progress)
    } catch let error as SQLiteError
      where error.isFull || error.isInputOutput && !error.isReadFailure || error.isReadOnly
    {
      isDiskFull = error.isFull || error.isOverLimit && error.systemError == EDQUOT
      let reason = error.isFull ? "the disk is full" : FileObstacle.failing(error)
      throw StoreBackupError.cannotWrite(path: path, reason: reason ?? error.message)
    } catch DatabaseError.cannotCreate(_, let reason) {
      throw StoreBackupError.cannotWrite(path: path, reason: reason)
    } catch let error as DatabaseError {
      throw StoreBackupError.cannotWrite(path: path, reason: "\(error)")
    }
  }

  /// Copies the bytes of the database's file and of the log beside it, whatever they hold: of one that SQLite cannot read.
  ///
  /// - Parameters:
  ///   - connection: Has the file open, in a transaction that keeps writers away; nil if the file is empty or missing.
  ///   - goesOn: Asked now and then; if it says no, this ends with `SQLITE_INTERRUPT`.
  /// - Throws: As ``fill(from:interruption:beat:_:)``.
  package func fillBytes(from connection: Connection?, _ goesOn: () -> Bool) throws {
    let file = try makeFile()
    if let connection {
      try write(to: file.descriptor, goesOn) { try connection.bytesOfFile(at: $0) }
    }
    // SQLite has no locks on the log, which reading it would release.
    guard SidecarFiles.size(of: database + "-wal") ?? 0 > 0,
      let log = FileHandle(forReadingAtPath: database + "-wal")
    else { return }
    defer { try? log.close() }
    let copy = Foundation.open(file.name + "-wal", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
    guard copy >= 0 else { throw cannotWrite(errno) }
    defer { close(copy) }
    _ = UnfinishedFile.giveRights(of: database, to: copy)
    hasLog = true
    try write(to: copy, goesOn) { _ in try log.read(upToCount: 1 << 20) ?? Data() }
  }

  private func write(to copy: Int32, _ goesOn: () -> Bool, _ next: (_ offset: Int64) throws -> Data) throws {
    var offset: Int64 = 0
    while true {
      guard goesOn() else { throw SQLiteError(code: SQLITE_INTERRUPT, message: "interrupted") }
      var rest = try next(offset)
      if rest.isEmpty { break }
      offset += Int64(rest.count)
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Foundation.write(copy, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw cannotWrite(errno) }
        rest = rest.dropFirst(count)
      }
    }
    guard fsync(copy) == 0 else { throw cannotWrite(errno) }
  }

  /// Gives it its name, for good: when this returns, the name is on the disk too.
  ///
  /// - Parameter replacing: Whether a file of that name is replaced; if not, it is ``StoreBackupError/exists(path:)``.
  package func finish(replacing: Bool) throws(StoreBackupError) {
    try move(to: path, replacing: replacing)
  }

  /// As ``finish(replacing:)``, under the first of `path`, `path-2`, `path-3` … that is free.
  ///
  /// - Returns: the name.
  package func finishNumbered() throws(StoreBackupError) -> String {
    var name = path
    var number = 1
    while true {
      do {
        try move(to: name, replacing: false)
        return name
      } catch {
        guard case .exists = error else { throw error }
        number += 1
        name = "\(path)-\(number)"
      }
    }
  }

  private func move(to path: String, replacing: Bool) throws(StoreBackupError) {
    guard let file else { throw .cannotWrite(path: path, reason: FileObstacle.reason(ENOENT)) }
    let unfinished = file.name
    do {
      try file.move(to: path, replacing: replacing)
    } catch {
      if error.code == EEXIST { throw .exists(path: path) }
      throw cannotWrite(error.code)
    }
    named = path
    if hasLog { rename(unfinished + "-wal", path + "-wal") }
    syncFolder()
  }

  /// Makes the empty file with the database's owner and rights, whatever the process's mask.
  private func makeFile() throws(StoreBackupError) -> UnfinishedFile {
    do {
      let made = try UnfinishedFile(to: path)
      made.takeRights(of: database)
      file = made
      return made
    } catch {
      throw cannotWrite(error.code)
    }
  }

  private func cannotWrite(_ number: Int32) -> StoreBackupError {
    isDiskFull = number == ENOSPC || number == EDQUOT
    return .cannotWrite(path: path, reason: FileObstacle.reason(number))
  }

  private func syncFolder() {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let descriptor = Foundation.open(folder, O_RDONLY)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}

// MARK: names

extension UnfinishedCopy {
  /// Where a copy of `database` that is to be called `path` goes: absolute, with symbolic links resolved.
  ///
  /// Looks, and changes nothing; what is there may change until ``finish(replacing:)``, which looks again.
  ///
  /// - Throws: ``StoreBackupError`` if a file is there that is not to be replaced, if it is the database itself, if a program
  ///   writes to it, if beside it lies the log of another database, which SQLite would take for the copy's, or if SQLite would
  ///   take the copy for the log of a database; ``DatabaseError`` for a path that cannot be a database's.
  package static func target(_ path: String, of database: String, replacing: Bool) throws -> String {
    let resolved = try DatabaseFile(path).checked(for: .create)
    var (own, found) = (stat(), stat())
    if stat(resolved, &found) == 0 {
      if stat(database, &own) == 0, own.st_dev == found.st_dev, own.st_ino == found.st_ino {
        throw StoreBackupError.sameFile(path: path)
      }
      if !replacing { throw StoreBackupError.exists(path: path) }
    }
    for end in ["-wal", "-journal"] {
      if let size = SidecarFiles.size(of: resolved + end), size > 0 {
        throw StoreBackupError.inUse(path: path, file: resolved + end)
      }
    }
    // What it commits afterwards would go to a file without a name.
    if isLocked(resolved) { throw StoreBackupError.inUse(path: path, file: path) }
    if let owner = SidecarFiles.owner(of: resolved) {
      throw StoreBackupError.cannotWrite(path: path, reason: "SQLite would take it for a file of \(owner)")
    }
    return resolved
  }

  /// Whether a program is writing to a database, or keeps others from writing to it. One that reads it goes on with the old
  /// file and loses nothing.
  private static func isLocked(_ path: String) -> Bool {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK else {
      return false
    }
    // A write-ahead log that is not there has no user. Asking SQLite would make one, and leave it on a full disk.
    var header = [UInt8](repeating: 0, count: 20)
    let hasLog = quire_read_file(handle, 0, &header, 20) == 20 && header[18] == 2
    if hasLog, ["-wal", "-shm"].allSatisfy({ SidecarFiles.size(of: path + $0) == nil }) { return false }
    let code = sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil)
    if code == SQLITE_OK { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    return code & 0xff == SQLITE_BUSY
  }

  /// Removes a database's file and those that SQLite keeps beside it.
  package static func remove(_ path: String) {
    for end in ["", "-journal", "-wal", "-shm"] { unlink(path + end) }
  }
}
