import Foundation
import QuireSQLite

extension Migrator {
  /// Records the present text of `version`'s file as the one that ran: for an edit without effect, or an undo section
  /// written later.
  ///
  /// - Returns: What was recorded before.
  /// - Throws: ``MigrationError``, also for a file that is empty now.
  public func accept(_ version: MigrationVersion) throws -> AppliedMigration {
    guard let file = file(version) else { throw MigrationError.unknownVersion(version) }
    if file.isEmpty { throw MigrationError.empty(file: file.path) }
    let connection = try open(.readWrite)
    return try inTransaction(on: connection, keys: false) {
      let history = try MigrationHistory.read(from: connection)
      guard let applied = history.first(where: { $0.version == version }) else {
        throw MigrationError.notApplied(version)
      }
      try MigrationHistory.replace(with: file, on: connection)
      return applied
    }
  }

  /// Records every file up to `version` as applied without running it: for a database that already has their tables.
  ///
  /// Does not check whether it has them.
  ///
  /// - Returns: What was recorded now; files that had run are not included.
  public func baseline(_ version: MigrationVersion) throws -> [AppliedMigration] {
    guard files.contains(where: { $0.version == version }) else { throw MigrationError.unknownVersion(version) }
    let connection = try open(.readWrite)
    return try inTransaction(on: connection, keys: false) {
      let history = try MigrationHistory.read(from: connection)
      let plan = MigrationPlan(files: files, history: history)
      // A file older than one that has run is a problem that a baseline may fix.
      for problem in plan.problems {
        if case .outOfOrder = problem { continue }
        throw MigrationError.history(problem)
      }
      var sequence = history.map(\.sequence).max() ?? 0
      let now = Date.now.formatted(.iso8601)
      if let empty = plan.pending(to: version).first(where: \.isEmpty) { throw MigrationError.empty(file: empty.path) }
      let recorded = plan.pending(to: version).map { file -> AppliedMigration in
        sequence += 1
        return AppliedMigration(
          version: file.version, title: file.title, up: file.up, undo: file.undo, sequence: sequence, appliedAt: now,
          milliseconds: 0, by: by + " baseline")
      }
      for migration in recorded { try MigrationHistory.record(migration, on: connection) }
      return recorded
    }
  }
}
