import Foundation
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
      $0.occasion == "\(first.version)" && $0.date >= first.start - 2
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
    let backup = UnfinishedBackup(of: database, before: occasion)
    MigrationBackup.removeUnfinished(of: database)
    try backup.fill(from: try open(.readOnly), interruption: interruption, beat: beat, progress)
    return backup
  }

  /// Restores `backup`: the database's whole content becomes the backup's, in one transaction.
  ///
  /// The present content is first copied to a backup of its own; commits between the two steps are lost. Programs that
  /// have the database open continue with the restored content.
  ///
  /// - Returns: The backup of the previous content; nil if the database was missing.
  /// - Throws: ``MigrationError``; then the database is unchanged.
  @discardableResult
  public func restore(_ backup: String, _ progress: (Int, Int) -> Void = { _, _ in }) throws -> MigrationBackup? {
    let source = try opened(backup)
    let isMissing = !FileManager.default.fileExists(atPath: database)
    let kept = try isMissing ? nil : translating { try copied(before: "restore").finish() }
    let destination = try open(isMissing ? .create : .readWrite)
    try translating { try source.copy(to: destination, progress) }
    return kept
  }

  /// Opens a backup that is complete, for reading.
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
