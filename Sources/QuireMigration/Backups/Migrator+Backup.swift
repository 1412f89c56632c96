import Foundation
import QuireRow
import QuireSQLite

extension Migrator {
  /// Copies the database under the write lock that `holder` has, if ``backsUp`` is set and the database is not empty.
  /// The copy is renamed to a backup just before the change is committed, so that a failed change leaves none.
  func backUpIfNeeded(before occasion: String, _ holder: Connection) throws -> UnfinishedBackup? {
    guard backsUp else { return nil }
    // SQLite would report this only when the first page is written: the backup would be made in vain, or would itself
    // fail.
    guard FileManager.default.isWritableFile(atPath: database) else { throw DatabaseError.readOnly(path: database) }
    let tables = try SchemaReader(holder).objects(.table)
    if tables.allSatisfy({ SQLName.folded($0.name).hasPrefix("_quire_") }) { return nil }
    return try copied(before: occasion)
  }

  /// Whether another process that migrates at the same time has made a backup of the common initial state: before it
  /// ran the first migration that is not among `known`.
  func isBackedUp(_ known: Set<MigrationVersion>, _ holder: Connection) throws -> Bool {
    let runs = try MigrationHistory.runs(on: holder)
    guard let first = runs.last(where: { !known.contains($0.version) }) else { return false }
    // The record counts in whole seconds.
    return MigrationBackup.all(of: database).contains {
      $0.isBefore(first.version) && $0.date >= first.start - 2
    }
  }

  /// The migrations of the latest deploy: those that ran last, in quick succession, by one process or several.
  func deployed(_ holder: Connection) throws -> Set<MigrationVersion> {
    var deployed: Set<MigrationVersion> = []
    var next: MigrationHistory.Run?
    for run in try MigrationHistory.runs(on: holder) {
      if let next, next.start.timeIntervalSince(run.end) > 60 { break }
      deployed.insert(run.version)
      next = run
    }
    return deployed
  }

  /// A copy of the database that does not have a backup's name yet.
  func copied(before occasion: String, _ progress: (Int, Int) -> Void = { _, _ in }) throws -> UnfinishedBackup {
    let source = try open(.readOnly)
    let versions = try Set(files.map(\.version) + MigrationHistory.runs(on: source).map(\.version))
    let backup = UnfinishedBackup(of: database, before: occasion, versions: versions)
    MigrationBackup.removeUnfinished(of: database)
    try backup.fill(from: source, interruption: interruption, beat: beat, progress)
    return backup
  }

  /// Restores `backup`: the database's whole content becomes the backup's, in one transaction.
  ///
  /// The present content is first copied to a backup of its own; commits between the two steps are lost. Programs that
  /// have the database open continue with the restored content.
  ///
  /// - Parameters:
  ///   - unchecked: Receives the tables of the backup that could not be checked for damage, because they need what only
  ///     the application has, such as a collation; each with SQLite's message.
  ///   - progress: Receives the pages copied and the total.
  /// - Returns: The backup of the previous content; nil if the database was missing.
  /// - Throws: ``MigrationError``, also if the database is shared with other machines: they would not go back. Then the
  ///   database is unchanged.
  @discardableResult
  public func restore(
    _ backup: String, unchecked: ([String: String]) -> Void = { _ in }, _ progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> MigrationBackup? {
    let (source, tables) = try opened(backup)
    if !tables.isEmpty { unchecked(tables) }
    let isMissing = !FileManager.default.fileExists(atPath: database)
    if !isMissing, try translating({ try NodePlace(on: open(.readOnly)) }) != nil {
      throw MigrationError.database(.shared(path: database))
    }
    let kept = try isMissing ? nil : translating { try copied(before: "restore").finish(keeping: backup) }
    let destination = try open(isMissing ? .create : .readWrite)
    let hasLog = try translating { try leaveLog(of: destination, for: source, backup) }
    defer { if hasLog { _ = try? destination.rows("PRAGMA journal_mode = WAL") } }
    try translating { try source.copy(to: destination, progress) }
    return kept
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
  private func opened(_ backup: String) throws -> (Connection, unchecked: [String: String]) {
    do {
      let source = try Connection(
        migrating: backup, access: .readOnly, busyTimeout: wait, interruption: interruption, beat: beat)
      let (isSound, unchecked) = try Self.check(source)
      guard isSound else { throw MigrationError.backup(backup, reason: "it is damaged") }
      return (source, unchecked)
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

extension SQLiteError {
  /// Whether it says that something is missing which a program adds to SQLite.
  var isOfApplication: Bool {
    ["no such collation sequence", "no such function", "no such module", "unknown tokenizer"].contains {
      message.contains($0)
    }
  }
}
