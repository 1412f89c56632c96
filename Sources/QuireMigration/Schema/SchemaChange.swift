package import QuireSQLite

/// The SQL that turns one schema into another and keeps the rows.
///
/// What SQLite can alter is altered. Everything else is a rebuild: a new table, the rows copied, the old one dropped, the
/// new one renamed, and the indexes, triggers and views that stood in the way made again. It is meant to run as a
/// migration, where foreign keys are off and checked at the end.
///
/// The SQL is tried while it is written: on an empty copy of the first schema, in memory. What is given makes the second
/// schema, or there is an error.
///
///     let change = try SchemaChange(from: database, to: models, renames: [SchemaRename("book.title:book.heading")!])
///     print(change.sql)
package struct SchemaChange: Sendable {
  /// In order; empty if the schemas are equal.
  package let statements: [Statement]
  /// What is changed, before anything was renamed.
  package let differences: [SchemaDifference]
  /// What takes it back; nil if that cannot be written. What was dropped comes back empty.
  package let undo: [Statement]?

  package struct Statement: Hashable, Sendable {
    package let sql: String
    /// What is to be known before it is run, for a comment above it.
    package let note: String?
  }

  /// - Parameters:
  ///   - keepingOthers: Whether what only the first schema has may stay: tables, virtual tables, views, triggers, and
  ///     indexes unless they read a column that goes. Columns of tables that both have may not.
  ///   - rebuilding: Tables to be rebuilt even if nothing in them changes.
  ///   - dropping: Tables that may not stay although others are kept.
  package init(
    from: DatabaseSchema, to: DatabaseSchema, renames: [SchemaRename] = [], keepingOthers: Bool = false,
    rebuilding: Set<SQLName> = [], dropping: Set<SQLName> = []
  ) throws(SchemaChangeError) {
    var writer = try SchemaWriter(from: from)
    writer.isKeepingOthers = keepingOthers
    writer.rebuilding = rebuilding
    writer.dropping = dropping
    let target = try writer.write(to: to, renames: renames)
    statements = writer.statements
    differences = from.differences(to: target)
    undo = Self.undo(from: target, to: from, renames: renames)
  }

  private static func undo(from: DatabaseSchema, to: DatabaseSchema, renames: [SchemaRename]) -> [Statement]? {
    // What was renamed and is gone, because the whole table is or because the change itself drops it, comes back new.
    let names = Dictionary(
      renames.filter { $0.column == nil }.map { ($0.table, $0.newName) }, uniquingKeysWith: { first, _ in first })
    let back = renames.filter { rename in
      let table = from[table: names[rename.table] ?? (rename.column == nil ? rename.newName : rename.table)]
      return rename.column == nil ? table != nil : table?[rename.newName] != nil
    }.reversed().map(\.reversed)
    guard var writer = try? SchemaWriter(from: from), (try? writer.write(to: to, renames: back)) != nil else {
      return nil
    }
    return writer.statements
  }

  /// All statements as the text of a migration.
  package var sql: String { Self.text(statements) }

  package var undoSQL: String? { undo.map(Self.text) }

  private static func text(_ statements: [Statement]) -> String {
    statements.map { statement in
      let note = statement.note.map { $0.split(separator: "\n").map { "-- \($0)\n" }.joined() } ?? ""
      return note + statement.sql + ";\n"
    }.joined()
  }
}

/// Why the SQL of a change cannot be written.
package enum SchemaChangeError: Error, Hashable, Sendable {
  /// A rename of what is not there.
  case rename(SchemaRename, reason: String)
  /// A virtual table both have, with another text: only its author knows what is to become of its content.
  case virtualTable(SQLName)
  /// A table to be rebuilt that is in neither schema.
  case noTable(SQLName)
  /// What would still differ after all that can be written.
  case notReached([SchemaDifference])
  /// What SQLite says of a statement.
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
    case .refused(let error): "\(error)"
    }
  }
}
