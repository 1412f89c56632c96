import Foundation
import QuireSQLite
import QuireShared

extension Migrator {
  /// Copies the database under the write lock that `holder` has, if ``backsUp`` is set and the database is not empty.
  /// The copy is renamed to a backup just before the change is committed, so that a failed change leaves none.
  func backUpIfNeeded(before occasion: String, _ holder: Connection) throws -> UnfinishedBackup? {
    guard backsUp else { return nil }
    // SQLite would report this only when the first page is written: the backup would be made in vain, or would itself
    // fail.
    guard FileManager.default.isWritableFile(atPath: database) else {
      throw DatabaseError.readOnly(path: database, reason: FileObstacle.writing(database))
    }
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

  /// Gives a backup its name for good, before a statement without a transaction: that is in the file before there is a
  /// COMMIT to wait for.
  func finish(
    _ backup: inout UnfinishedBackup?, deployed: Set<MigrationVersion> = [], _ happened: (MigrationEvent) throws -> Void
  ) throws {
    guard let made = backup else { return }
    backup = nil
    try happened(.backedUp(made.finish()))
    made.prune(deployed: deployed)
  }

  /// Runs `body`, a transaction with its commit, which may make a backup. If it fails, the backup goes, and all earlier ones
  /// stay; unless it is not known whether it was committed.
  ///
  /// - Parameter happened: Receives the backup that stays.
  func withBackup<T>(
    keeping used: String? = nil, deployed: () -> Set<MigrationVersion> = { [] },
    _ happened: (MigrationEvent) throws -> Void = { _ in }, _ body: (inout UnfinishedBackup?) throws -> T
  ) throws -> T {
    var backup: UnfinishedBackup?
    let result: T
    do {
      result = try body(&backup)
    } catch {
      switch error {
      case SharedStoreError.outcomeUnknown, SharedStoreError.committedNotHere, MigrationError.database(.inputOutput),
        MigrationError.database(.commitOutcomeUnknown):
        if let made = backup?.finished { try happened(.backedUp(made)) }
      default: backup?.discard()
      }
      throw error
    }
    backup?.prune(deployed: deployed(), keeping: used)
    if let made = backup?.finished { try happened(.backedUp(made)) }
    return result
  }
}
