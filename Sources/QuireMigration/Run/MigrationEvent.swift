/// Events reported while migrations run.
public enum MigrationEvent: Sendable {
  /// This file contains the database as it was before the first change.
  case backedUp(MigrationBackup)
  /// Its transaction is open, and its SQL is about to run.
  case begins(MigrationVersion, title: String)
  /// Committed.
  case applied(AppliedMigration)
  /// Undone and committed, with the values that were lost permanently.
  case undone(AppliedMigration, losses: [MigrationLoss])
}
