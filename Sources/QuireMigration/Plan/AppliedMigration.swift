/// One row of the version table: a migration as it was run on one database.
public struct AppliedMigration: Hashable, Sendable {
  /// The number of its file, which is unique in the table.
  public let version: MigrationVersion
  /// The title that its file had when it ran.
  public let title: String
  /// The SQL as it was run.
  public let up: String
  /// The SQL that undoes it, as its file said then; nil if the file had none.
  public let undo: String?
  /// Counts the migrations of this database from 1 in the order they ran.
  public let sequence: Int
  /// UTC, as `2026-11-02T09:00:11Z`.
  public let appliedAt: String
  /// How long it ran. 0 if it was only recorded.
  public let milliseconds: Int
  /// The program that ran it.
  public let by: String

  /// A row with these values; see the properties.
  public init(
    version: MigrationVersion, title: String, up: String, undo: String?, sequence: Int, appliedAt: String,
    milliseconds: Int, by: String
  ) {
    self.version = version
    self.title = title
    self.up = up
    self.undo = undo
    self.sequence = sequence
    self.appliedAt = appliedAt
    self.milliseconds = milliseconds
    self.by = by
  }
}

extension AppliedMigration {
  /// Whether it can be undone. Another tool's undo part may be empty, and then undoes nothing; an empty one of Quire's,
  /// as earlier versions recorded, counts as none.
  func canBeUndone(in format: MigrationFormat) -> Bool {
    guard let undo else { return false }
    return format != .quire || undo.contains { !$0.isWhitespace }
  }
}
