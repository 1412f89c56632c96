import Foundation
import QuireSQLite

extension Migrator {
  /// Copies the database as it is under the write lock that `holder` has, where ``backsUp`` says so and there is
  /// anything in it. The copy is not called a backup yet: that it becomes when the change it is for is about to be
  /// committed, so that what fails leaves none.
  func backUpIfNeeded(before occasion: String, _ holder: Connection) throws -> UnfinishedBackup? {
    guard backsUp else { return nil }
    // SQLite says so when the first page is to be written; a backup would be made in vain, or be what fails.
    guard FileManager.default.isWritableFile(atPath: database) else { throw DatabaseError.readOnly(path: database) }
    let tables = try SchemaReader(holder).objects(.table)
    if tables.allSatisfy({ SQLName.folded($0.name).hasPrefix("_quire_") }) { return nil }
    return try copied(before: occasion)
  }

  /// Whether another process that migrates at the same time has made a backup of what was there before both: before it ran
  /// the first migration that is not among `known`.
  func isBackedUp(_ known: Set<MigrationVersion>, _ holder: Connection) throws -> Bool {
    let runs = try MigrationHistory.runs(on: holder)
    guard let first = runs.last(where: { !known.contains($0.version) }) else { return false }
    // The record counts in whole seconds.
    return MigrationBackup.all(of: database).contains {
      $0.occasion == "\(first.version)" && $0.date >= first.start - 2
    }
  }

  /// The migrations that ran last, one soon after the other: by one process or several.
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

  /// A copy of the database that has no backup's name yet.
  func copied(before occasion: String, _ progress: (Int, Int) -> Void = { _, _ in }) throws -> UnfinishedBackup {
    let backup = UnfinishedBackup(of: database, before: occasion)
    MigrationBackup.removeUnfinished(of: database)
    do {
      let source = try open(.readOnly)
      try backup.makeFile()
      let copy = try Connection(
        migrating: backup.unfinished, access: .create, busyTimeout: wait, interruption: interruption, beat: beat)
      try source.copy(to: copy, progress)
      return backup
    } catch let error as SQLiteError {
      guard error.isFull || error.isInputOutput || error.isReadOnly else { throw error }
      throw MigrationError.backup(backup.path, reason: error.isFull ? "the disk is full" : error.message)
    } catch let error as DatabaseError {
      throw MigrationError.backup(backup.path, reason: "\(error)")
    }
  }

  /// Puts `backup` back: the database's whole content becomes the backup's, in one transaction.
  ///
  /// What is there now is copied to a backup of its own first; what others commit between the two is lost. Programs that
  /// have the database open go on with the content put back.
  ///
  /// - Returns: the copy of what was there; nil where the database was missing.
  /// - Throws: ``MigrationError``; then the database is as before.
  @discardableResult
  public func restore(_ backup: String, _ progress: (Int, Int) -> Void = { _, _ in }) throws -> MigrationBackup? {
    let source = try opened(backup)
    let isMissing = !FileManager.default.fileExists(atPath: database)
    let kept = try isMissing ? nil : translating { try copied(before: "restore").finish() }
    let destination = try open(isMissing ? .create : .readWrite)
    try translating { try source.copy(to: destination, progress) }
    return kept
  }

  /// A backup that is whole, opened for reading.
  private func opened(_ backup: String) throws -> Connection {
    do {
      let source = try Connection(
        migrating: backup, access: .readOnly, busyTimeout: wait, interruption: interruption, beat: beat)
      let check = try source.rows("PRAGMA quick_check(1)")
      guard check == [["ok"]] else { throw MigrationError.backup(backup, reason: "it is damaged") }
      return source
    } catch let error as DatabaseError {
      throw MigrationError.backup(backup, reason: "\(error)")
    } catch let error as SQLiteError {
      if interruption?.isStopped == true { throw MigrationError.interrupted }
      throw MigrationError.backup(backup, reason: error.message)
    }
  }
}
