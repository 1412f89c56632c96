import Foundation
import QuireRow
import QuireSQLite

extension Migrator {
  /// Restores `backup`: the database's whole content becomes the backup's, in one transaction.
  ///
  /// The present content is first copied to a backup of its own; commits between the two steps are lost. If SQLite
  /// cannot read the database, its bytes and those of its log are copied. Programs that have the database open continue
  /// with the restored content.
  ///
  /// - Parameters:
  ///   - unchecked: Receives the tables of the backup that could not be checked for damage, because they need something
  ///     that only the application has, such as a collation; each with SQLite's message.
  ///   - progress: Receives the pages copied and the total.
  /// - Returns: The backup of the previous content; nil if the database was missing.
  /// - Throws: ``MigrationError``, also if the database is shared with other machines, because these would keep their
  ///   content, and if it is not an SQLite database and `backup` is not among ``MigrationBackup/all(of:)``. Then the
  ///   database is unchanged.
  @discardableResult
  public func restore(
    _ backup: String, unchecked: ([String: String]) -> Void = { _ in }, _ progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> MigrationBackup? {
    let source = try sound(backup)
    if !source.unchecked.isEmpty { unchecked(source.unchecked) }
    return try restore(source, progress)
  }

  /// A backup that was found complete and sound, open for reading.
  package struct SoundBackup {
    let path: String
    let connection: Connection
    /// The tables that could not be checked for damage; each with SQLite's message.
    package let unchecked: [String: String]
  }

  /// Checks everything that ``restore(_:unchecked:_:)`` would refuse, apart from what happens meanwhile.
  package func sound(_ backup: String) throws -> SoundBackup {
    if let numbers = FileNumbers(backup), numbers == FileNumbers(database) {
      throw MigrationError.backup(backup, reason: "it is the database itself")
    }
    let source = try opened(backup)
    try checkIsReplaceable(by: backup)
    return source
  }

  /// Restores a backup that was checked: see ``restore(_:unchecked:_:)``.
  package func restore(_ sound: SoundBackup, _ progress: (Int, Int) -> Void = { _, _ in }) throws -> MigrationBackup? {
    let (source, backup) = (sound.connection, sound.path)
    return try withBackup(keeping: backup) { copy in
      let destination = try present(before: backup, source, &copy)
      let kept = try copy?.finish()
      let hasLog = try translating { try leaveLog(of: destination, for: source, backup) }
      defer { if hasLog { _ = try? open(.readWrite).rows("PRAGMA journal_mode = WAL") } }
      do {
        try translating { try source.copy(to: destination, progress) }
      } catch {
        // On a full disk SQLite leaves rolling back to the next connection that opens the file.
        _ = try? open(.readOnly)
        throw error
      }
      return kept
    }
  }

  /// Refuses to replace a database that is shared with other machines, which would keep their content, and a file that is
  /// not a database unless the backup is its own.
  ///
  /// A database that cannot be read does not say whether it is shared: its backup does.
  private func checkIsReplaceable(by backup: String) throws {
    guard FileManager.default.fileExists(atPath: database) else { return }
    do {
      try checkIsNotShared()
    } catch let error as MigrationError where error.isOfContent {
      if case .unusable(.notADatabase) = error, !isOwn(backup) { throw error }
    }
  }

  package func checkIsNotShared() throws {
    if try translating({ try NodePlace(on: open(.readOnly)) }) != nil {
      throw MigrationError.database(.shared(path: database))
    }
  }

  private func isOwn(_ backup: String) -> Bool {
    MigrationBackup.all(of: database).contains { FileNumbers($0.path) == FileNumbers(backup) }
  }

  /// Copies what is there now, and opens the database to be written over.
  private func present(before backup: String, _ source: Connection, _ copy: inout UnfinishedBackup?) throws
    -> Connection
  {
    let log = SidecarFiles.size(of: database + "-wal") ?? 0
    if !FileManager.default.fileExists(atPath: database), log == 0 { return try open(.create) }
    do {
      try checkIsNotShared()
      copy = try translating { try copied(before: "restore") }
      return try open(.readWrite)
    } catch let error as MigrationError where error.isOfContent {
      // What cannot be read cannot say that it is shared, but its backup can.
      if try translating({ try NodePlace(on: source) }) != nil {
        throw MigrationError.database(.shared(path: database))
      }
      if case .unusable(.notADatabase) = error, !isOwn(backup) { throw error }
      return try translating { try unreadable(source, &copy) }
    }
  }

  /// Copies the bytes of a database that SQLite cannot read, and opens it to be written over.
  private func unreadable(_ source: Connection, _ copy: inout UnfinishedBackup?) throws -> Connection {
    MigrationBackup.removeUnfinished(of: database)
    let versions = try Set(files.map(\.version) + MigrationHistory.runs(on: source).map(\.version))
    let bytes = UnfinishedBackup(of: database, before: "restore", versions: versions)
    copy = bytes
    func goesOn() -> Bool {
      beat?()
      return interruption?.isStopped != true
    }
    // SQLite removes the log of an empty file when it opens it.
    let isEmpty = SidecarFiles.size(of: database) ?? 0 == 0
    if isEmpty { try bytes.fillBytes(from: nil, goesOn) }
    let destination = try Connection(
      overwriting: database, busyTimeout: wait, interruption: interruption, beat: beat)
    if !isEmpty {
      try destination.execute("BEGIN IMMEDIATE")
      defer { _ = try? destination.execute("ROLLBACK") }
      try bytes.fillBytes(from: destination, goesOn)
    }
    return destination
  }

  /// SQLite does not change the size of pages in a database with a write-ahead log: it is put aside meanwhile.
  ///
  /// - Returns: Whether it was.
  private func leaveLog(of destination: Connection, for source: Connection, _ backup: String) throws -> Bool {
    guard try destination.rows("PRAGMA journal_mode") == [["wal"]],
      try destination.rows("PRAGMA page_size") != source.rows("PRAGMA page_size")
    else { return false }
    guard (try? destination.rows("PRAGMA journal_mode = DELETE")) == [["delete"]] else {
      throw MigrationError.backup(
        backup,
        reason: "its pages have another size than those of \(database), which programs have open: end them first"
      )
    }
    return true
  }

  /// Opens a backup that is complete, for reading, and says which of its tables could not be checked.
  private func opened(_ backup: String) throws -> SoundBackup {
    do {
      let source = try Connection(
        migrating: backup, access: .readOnly, busyTimeout: wait, interruption: interruption, beat: beat)
      let (isSound, unchecked) = try Self.check(source)
      guard isSound else { throw MigrationError.backup(backup, reason: "it is damaged") }
      return SoundBackup(path: backup, connection: source, unchecked: unchecked)
    } catch let error as DatabaseError {
      throw MigrationError.backup(backup, reason: "\(error)")
    } catch let error as SQLiteError {
      if interruption?.isStopped == true { throw MigrationError.interrupted }
      throw MigrationError.backup(backup, reason: error.message)
    }
  }

  /// Checks the whole database; table by table if one of them needs what only its application has.
  private static func check(_ source: Connection) throws -> (isSound: Bool, unchecked: [String: String]) {
    if try missing(of: source, "PRAGMA quick_check(1)") == nil {
      return (try source.rows("PRAGMA quick_check(1)") == [["ok"]], [:])
    }
    var unchecked: [String: String] = [:]
    for table in try SchemaReader(source).objects(.table) where table.rootPage > 0 {
      let check = "PRAGMA quick_check(\(try quoted(identifier: table.name)))"
      if let missing = try missing(of: source, check) {
        unchecked[table.name] = missing
      } else if try source.rows(check) != [["ok"]] {
        return (false, unchecked)
      }
    }
    return (true, unchecked)
  }

  /// SQLite's message if the statement needs what only the application has.
  private static func missing(of source: Connection, _ sql: String) throws -> String? {
    do throws(SQLiteError) {
      _ = try source.rows("EXPLAIN " + sql)
      return nil
    } catch {
      guard error.isOfApplication else { throw error }
      return error.message
    }
  }
}

extension MigrationError {
  /// Whether it says that the file's content cannot be read: it is damaged, not a database, empty or missing.
  fileprivate var isOfContent: Bool {
    switch self {
    case .unusable(.notADatabase), .unusable(.empty), .database(.corrupt), .noDatabase: true
    case .database(.unreadable(_, let reason)): reason.hasPrefix("malformed database schema")
    default: false
    }
  }
}
