package import QuireSQLite

/// The SQL that turns one schema into another and keeps the rows.
///
/// ALTER is used if SQLite supports it. Everything else is a rebuild: a new table, the rows copied, the old one
/// dropped, the new one renamed, and dependent indexes, triggers and views made again. Run it as a migration, in which
/// foreign keys are off and checked at the end.
///
/// The SQL is tested while it is written, on an empty copy of the first schema in memory. The result leads to the
/// second schema, or there is an error.
///
///     let change = try SchemaChange(from: database, to: models, renames: [SchemaRename("book.title:book.heading")!])
///     print(change.sql)
package struct SchemaChange: Sendable {
  /// In order; empty if the schemas are equal.
  package let statements: [Statement]
  /// The differences, before anything is renamed.
  package let differences: [SchemaDifference]
  /// The statements that undo it; nil if that is impossible. Dropped tables and columns come back empty.
  package let undo: [Statement]?
  /// The tables and virtual tables that go with all that is in them.
  package let dropped: [SQLName]
  /// Whether one of the statements or of those that undo them holds a string in double quotes. A file of Quire's with an
  /// undo part cannot have them.
  package let holdsQuotedStrings: Bool

  package struct Statement: Hashable, Sendable {
    package let sql: String
    /// What to know before running it, for a comment above it.
    package let note: String?
    /// Columns into which it puts NULL, which they refuse, because nothing says what their rows should have.
    package var unfilled: [String] = []
  }

  /// - Parameters:
  ///   - keeping: Which objects that only the first schema has stay. Columns of tables that both have do not.
  ///   - rebuilding: Tables to rebuild even if nothing in them changes.
  ///   - dropping: Tables that may not stay although others are kept.
  package init(
    from: DatabaseSchema, to: DatabaseSchema, renames: [SchemaRename] = [], keeping kept: KeptNames = .none,
    rebuilding: Set<SQLName> = [], dropping: Set<SQLName> = []
  ) throws(SchemaChangeError) {
    var writer = try SchemaWriter(from: from)
    writer.kept = kept
    writer.rebuilding = rebuilding
    writer.dropping = dropping
    let target = try writer.write(to: to, renames: renames)
    statements = writer.statements
    dropped = writer.dropped
    differences = from.differences(to: target)
    let back = Self.undo(from: target, to: from, renames: renames)
    undo = back?.statements
    holdsQuotedStrings = writer.holdsQuotedStrings || back?.holdsQuotedStrings == true
  }

  private static func undo(from: DatabaseSchema, to: DatabaseSchema, renames: [SchemaRename]) -> SchemaWriter? {
    // A renamed object that is gone, because its table is dropped or the change itself drops it, is made again.
    let names = Dictionary(
      renames.filter { $0.column == nil }.map { ($0.table, $0.newName) }, uniquingKeysWith: { first, _ in first })
    let back = renames.filter { rename in
      let table = from[table: names[rename.table] ?? (rename.column == nil ? rename.newName : rename.table)]
      return rename.column == nil ? table != nil : table?[rename.newName] != nil
    }.reversed().map(\.reversed)
    guard var writer = try? SchemaWriter(from: from), (try? writer.write(to: to, renames: back)) != nil else {
      return nil
    }
    return writer
  }

  /// All statements as the text of a migration.
  package var sql: String { Self.text(statements) }

  /// Columns for which the undo has no value, so that it fails where there are rows.
  package var unfilledByUndo: [String] { undo?.flatMap(\.unfilled) ?? [] }

  package var undoSQL: String? { undo.map(Self.text) }

  private static func text(_ statements: [Statement]) -> String {
    statements.map { statement in
      let note = statement.note.map { $0.split(separator: "\n").map { "-- \($0)\n" }.joined() } ?? ""
      return note + SQLTokens.ended(statement.sql) + "\n"
    }.joined()
  }
}

/// Why the SQL of a change cannot be written.
package enum SchemaChangeError: Error, Hashable, Sendable {
  /// A rename of something that does not exist.
  case rename(SchemaRename, reason: String)
  /// A virtual table that both have, with different texts: only its author knows what should happen to its content.
  case virtualTable(SQLName)
  /// A table to rebuild that is in neither schema.
  case noTable(SQLName)
  /// The differences that would remain after all statements.
  case notReached([SchemaDifference])
  /// SQLite's error for a statement.
  case refused(SQLiteError)
}

extension SchemaChangeError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .rename(let rename, let reason): "the rename \(rename) cannot be: \(reason)"
    case .virtualTable(let name):
      "the virtual table \(name) has another text, and what becomes of its content cannot be known: write this part by hand"
    case .noTable(let name): "there is no table \(name)"
    case .notReached(let differences):
      "this change has to be written by hand. What would still differ:\n"
        + differences.map { "    \($0)" }.joined(separator: "\n")
    case .refused(let error): "\(error)" + (Self.advice(for: error).map { "\n" + $0 } ?? "")
    }
  }

  private static func advice(for error: SQLiteError) -> String? {
    if let hint = SQLMessage.hint(ofAlteration: error.message) { return hint }
    guard error.isOfApplication, SQLMessage.hint(ofNewerFunction: error.message) == nil else { return nil }
    return "The program that made these tables adds that to SQLite, and here it is not there: take it off with that "
      + "program, or write this part by hand, without it"
  }
}
