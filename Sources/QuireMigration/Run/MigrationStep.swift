public import QuireSQLite

/// A part of a migration that is written in Swift. The file says where it belongs, with `-- migrate: step NAME`:
///
///     -- give every book its search key
///     ALTER TABLE book ADD COLUMN search_key TEXT;
///     -- migrate: step FillSearchKeys
///     CREATE INDEX book_search_key ON book(search_key);
///
/// and the program that carries it out has the step:
///
///     MigrationStep("FillSearchKeys") { database in
///       for row in try database.query("SELECT id, title FROM book") {
///         try database.query("UPDATE book SET search_key = \(searchKey(row[1])) WHERE id = \(row[0])")
///       }
///     }
///
/// A step runs in the migration's transaction, and also in a rehearsal on a copy before it: its effects outside the
/// database must tolerate that. A step may be in the undo section too.
public struct MigrationStep: Sendable {
  /// The name that the directive in the file gives. Unique among the steps of a program.
  public let name: String
  let run: @Sendable (MigrationDatabase) throws -> Void

  /// A step with the name of the directive.
  ///
  /// - Parameter run: Works on the given database only, and may run more than once. An error that it throws rolls the migration
  ///   back, and is thrown as ``MigrationError/stepFailed(_:file:reason:)``.
  public init(_ name: String, run: @escaping @Sendable (MigrationDatabase) throws -> Void) {
    self.name = name
    self.run = run
  }
}

/// The database on which a step works, in the migration's transaction. Valid only while the step runs.
public struct MigrationDatabase {
  let connection: Connection
  let watch: DataLossDetector?

  /// Runs one statement and returns all its rows. Interpolated values are bound, as ``SQL`` says.
  ///
  /// - Throws: The error of a value that cannot be bound; ``SQLiteError``, also for statements that no migration may
  ///   run: BEGIN, COMMIT, ATTACH, writing to the migrations' history.
  @discardableResult
  public func query(_ sql: SQL) throws -> [SQLRecord] {
    let statement = try BoundSQL(sql, in: nil)
    try watch?.willRun(ScriptStatement(text: statement.text))
    return try statement.run(on: connection).records
  }
}
