package import QuireSQLite

/// The result of running the pending migrations on a copy: what each of them changes. The database was not changed.
public struct Rehearsal: Sendable {
  /// The migrations that ran on the copy, in their order.
  public let entries: [Entry]
  /// Size of the copy.
  public let bytes: Int
  /// How long copying took.
  public let copying: Duration
  /// Whether it was a copy of the schema without rows: then rows and losses are unknown.
  public let isSchemaOnly: Bool
  /// The last of the migrations that are making the database, which was empty before; nil unless some of them have run
  /// and others have not.
  package let lastOfCreation: MigrationVersion?

  /// One migration that ran on the copy.
  public struct Entry: Sendable {
    /// The file that ran.
    public let file: MigrationFile
    /// How long it ran on the copy.
    public let milliseconds: Int
    package let differences: [SchemaDifference]
    /// The values that it removed or changed for good; empty if only the schema was copied.
    public let losses: [MigrationLoss]
    /// Rows of each table that is rebuilt, or whose number of rows changes.
    public let rows: [Rows]
    /// How many indexes and triggers the rebuilt tables have kept.
    public let kept: (indexes: Int, triggers: Int)
    /// How many foreign keys referred to missing rows before; a new one would have been an error.
    public let brokenKeys: Int
    /// Tables whose keys could not be checked, because they need what only the application has; with SQLite's message.
    package let uncheckedKeys: [String: String]
    /// Indexes and triggers that disappeared although no statement drops them, lost in a rebuild; and the keys, views and
    /// triggers of other tables that one has left to a table that is gone; and full-text indexes that no longer agree with
    /// their table.
    package let forgotten: [SchemaDifference]
    /// The keys, views and triggers that refer to a table or view that it drops, and that no later file mends.
    package var dangling: [SchemaDifference] = []
    /// Both as sentences.
    package var leftBehind: [String] {
      forgotten.map { ($0.kind == .virtualTable ? "an index does not fit: " : "the rebuild forgets ") + "\($0)" }
        + dangling.map { "what it drops is still used: \($0)" }
    }
  }

  /// The number of rows of a table before and after; nil if it does not exist.
  public struct Rows: Hashable, Sendable {
    /// The table's name.
    public let table: String
    /// The number of rows before the migration; nil if there was no such table.
    public let before: Int?
    /// The number of rows after the migration; nil if there is no such table any more.
    public let after: Int?

    /// The numbers of rows of a table.
    public init(table: String, before: Int?, after: Int?) {
      self.table = table
      self.before = before
      self.after = after
    }
  }

  /// The losses of all migrations, in their order.
  public var losses: [MigrationLoss] { entries.flatMap(\.losses) }
}
