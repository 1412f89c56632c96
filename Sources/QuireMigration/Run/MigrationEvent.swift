/// What happens while migrations run, told as it does.
public enum MigrationEvent: Sendable {
  /// The database as it was before the first change is in this file.
  case backedUp(MigrationBackup)
  /// Its transaction is open, and its SQL about to run.
  case begins(MigrationVersion, title: String)
  /// Committed.
  case applied(AppliedMigration)
  /// Taken back and committed, with what was lost for good.
  case undone(AppliedMigration, losses: [MigrationLoss])
}
