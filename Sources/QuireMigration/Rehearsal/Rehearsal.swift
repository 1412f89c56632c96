package import QuireSQLite

/// What came of running the pending migrations on a copy: each with what it changes. Nothing was changed.
public struct Rehearsal: Sendable {
  public let entries: [Entry]
  /// Size of the copy.
  public let bytes: Int
  /// How long copying took.
  public let copying: Duration
  /// Whether it was a copy of the schema without rows: then nothing is known of rows and losses.
  public let isSchemaOnly: Bool

  /// One migration that ran on the copy.
  public struct Entry: Sendable {
    public let file: MigrationFile
    public let milliseconds: Int
    package let differences: [SchemaDifference]
    public let losses: [MigrationLoss]
    /// Rows of each table that is rebuilt, or has more or fewer of them.
    public let rows: [Rows]
    /// How many indexes and triggers the tables that are rebuilt have kept.
    public let kept: (indexes: Int, triggers: Int)
    /// How many foreign keys point nowhere that did before; with a new one it would have failed.
    public let brokenKeys: Int
    /// Indexes, triggers and views that are gone although no statement drops them: a rebuild forgot them.
    package let forgotten: [SchemaDifference]
  }

  /// How many rows a table has before and after; nil where it is not there.
  public struct Rows: Hashable, Sendable {
    public let table: String
    public let before: Int?
    public let after: Int?

    public init(table: String, before: Int?, after: Int?) {
      self.table = table
      self.before = before
      self.after = after
    }
  }

  public var losses: [MigrationLoss] { entries.flatMap(\.losses) }
}
