/// A database's schema: tables, indexes, triggers and views, without rows.
///
/// A pure value, read through one connection. Two are equal if SQLite would treat them alike: white space, comments,
/// quotes and the case of names are ignored, as are the order of a table's columns and whether a constraint follows its
/// column or comes at the end. Quire's own tables (`_quire_…`), SQLite's (`sqlite_…`) and other tools' version tables
/// are not included.
///
///     let before = try DatabaseSchema(of: "library.db")
///     for difference in before.differences(to: after) { print(difference) }      // book + isbn TEXT
package struct DatabaseSchema: Sendable {
  /// In the order they were made.
  package var tables: [Table] = []
  package var indexes: [Object] = []
  package var triggers: [Object] = []
  package var views: [Object] = []
  /// FTS and other virtual tables; their shadow tables are not part of the schema.
  package var virtualTables: [Object] = []

  package init() {}

  /// An index, trigger, view or virtual table: its name and its SQL.
  package struct Object: Hashable, Sendable {
    package let name: SQLName
    /// The table or view it belongs to; for a view or virtual table its own name.
    package let table: SQLName
    package let sql: SQLFragment
  }

  package struct Table: Sendable {
    package let name: SQLName
    /// In the order of the table.
    package let columns: [Column]
    package let primaryKey: PrimaryKey?
    package let uniques: Set<Unique>
    package let foreignKeys: Set<ForeignKey>
    package let checks: Set<SQLFragment>
    package let isStrict: Bool
    package let isWithoutRowID: Bool
    /// The statement that makes it.
    package let sql: String

    package subscript(column: SQLName) -> Column? { columns.first { $0.name == column } }
  }

  package struct Column: Hashable, Sendable {
    package let name: SQLName
    /// As declared; empty if nothing is.
    package let type: SQLFragment
    package let isRequired: Bool
    /// The expression; nil for NULL.
    package let defaultValue: SQLFragment?
    /// Nil for BINARY.
    package let collation: SQLName?
    package let generated: Generated?
    /// What happens instead of an error if NULL is written to a required column, such as REPLACE.
    package let whenNull: SQLName?
  }

  /// How a column's values are computed.
  package struct Generated: Hashable, Sendable {
    package let expression: SQLFragment
    package let isStored: Bool
  }

  package struct PrimaryKey: Hashable, Sendable {
    package let columns: [KeyColumn]
    /// Whether it is the row id itself: an INTEGER PRIMARY KEY.
    package let isRowID: Bool
    package let isAutoincrement: Bool
    package let conflict: SQLName?
  }

  package struct Unique: Hashable, Sendable {
    package let columns: [KeyColumn]
    /// What happens instead of an error, such as REPLACE.
    package let conflict: SQLName?
  }

  /// A column of a primary key or of a unique constraint.
  package struct KeyColumn: Hashable, Sendable {
    package let name: SQLName
    /// Nil for BINARY.
    package let collation: SQLName?
    package let isDescending: Bool
  }

  package struct ForeignKey: Hashable, Sendable {
    package let columns: [SQLName]
    package let parent: SQLName
    /// The parent's primary key if the declaration names none; empty if that is unknown.
    package let parentColumns: [SQLName]
    package let onDelete: SQLName
    package let onUpdate: SQLName
    package let isDeferred: Bool
  }
}

extension DatabaseSchema {
  package subscript(table name: SQLName) -> Table? { tables.first { $0.name == name } }

  package var isEmpty: Bool {
    tables.isEmpty && indexes.isEmpty && triggers.isEmpty && views.isEmpty && virtualTables.isEmpty
  }
}

extension DatabaseSchema {
  /// The SQL that makes it, for `schema.sql`: tables first, each kind ordered by name, so that equal schemas give the
  /// same text however they were made.
  package var text: String {
    let tables = (tables.map { ($0.name, $0.sql) } + virtualTables.map { ($0.name, $0.sql.text) }).sorted {
      $0.0 < $1.0
    }
    let objects = [indexes, views, triggers].flatMap { $0.sorted { $0.name < $1.name } }
    return "-- The schema the migrations make. Written by `migrate schema` and `migrate apply`; never run.\n"
      + (tables.map(\.1) + objects.map(\.sql.text)).map { "\n\(SQLTokens.ended($0))\n" }.joined()
  }
}

extension DatabaseSchema: Equatable {
  package static func == (a: DatabaseSchema, b: DatabaseSchema) -> Bool { a.differences(to: b).isEmpty }
}

extension DatabaseSchema.Table: Equatable {
  /// Ignores the order of the columns.
  package static func == (a: Self, b: Self) -> Bool {
    a.name == b.name && Set(a.columns) == Set(b.columns) && a.columns.count == b.columns.count
      && a.primaryKey == b.primaryKey && a.uniques == b.uniques && a.foreignKeys == b.foreignKeys
      && a.checks == b.checks && a.isStrict == b.isStrict && a.isWithoutRowID == b.isWithoutRowID
  }
}

// MARK: As SQL says it

extension DatabaseSchema.Column: CustomStringConvertible {
  /// `title TEXT NOT NULL`
  package var description: String { "\(name)" + (declaration.isEmpty ? "" : " \(declaration)") }

  /// What follows the name.
  package var declaration: String {
    var parts = type.text.isEmpty ? [] : ["\(type)"]
    if isRequired { parts.append("NOT NULL" + (whenNull.map { " ON CONFLICT \($0)" } ?? "")) }
    if let defaultOperand { parts.append("DEFAULT \(defaultOperand)") }
    if let collation { parts.append("COLLATE \(collation)") }
    if let generated { parts.append("AS (\(generated.expression)) \(generated.isStored ? "STORED" : "VIRTUAL")") }
    return parts.joined(separator: " ")
  }

  /// The default as an SQL operand: a literal alone, anything else in parentheses.
  package var defaultOperand: String? {
    guard let text = defaultValue?.text else { return nil }
    return isLiteral(text) ? text : "(\(text))"
  }

  /// A word, a number with an optional sign, a string or a blob; not an expression.
  private func isLiteral(_ text: String) -> Bool {
    let tokens = Array(SQLTokens(text))
    if tokens.count == 1 { return true }
    let isSigned = ["-", "+"].contains(text.prefix(1)) && tokens[1].kind == .number
    return tokens.count == 2 && isSigned
  }

  /// Whether ALTER TABLE ADD COLUMN accepts it for a table with rows: a required column needs a default, which must be
  /// a literal, because existing rows are not rewritten; nor can a generated column be stored in them.
  package var canBeAdded: Bool {
    if generated?.isStored == true { return false }
    guard let text = defaultValue?.text else { return !isRequired || generated != nil }
    return isLiteral(text) && !SQLName.folded(text).hasPrefix("current_")
  }
}

extension DatabaseSchema.KeyColumn: CustomStringConvertible {
  package var description: String {
    "\(name)" + (collation.map { " COLLATE \($0)" } ?? "") + (isDescending ? " DESC" : "")
  }
}

extension DatabaseSchema.PrimaryKey: CustomStringConvertible {
  package var description: String {
    "\(isRowID ? "INTEGER " : "")PRIMARY KEY (\(list(columns)))\(isAutoincrement ? " AUTOINCREMENT" : "")"
      + conflictClause(conflict)
  }
}

extension DatabaseSchema.Unique: CustomStringConvertible {
  package var description: String { "UNIQUE (\(list(columns)))" + conflictClause(conflict) }
}

extension DatabaseSchema.ForeignKey: CustomStringConvertible {
  package var description: String {
    var text = "FOREIGN KEY (\(list(columns))) REFERENCES \(parent)"
    if !parentColumns.isEmpty { text += " (\(list(parentColumns)))" }
    for (event, action) in [("DELETE", onDelete), ("UPDATE", onUpdate)] where action != "NO ACTION" {
      text += " ON \(event) \(action.text)"
    }
    return text + (isDeferred ? " DEFERRABLE INITIALLY DEFERRED" : "")
  }
}

private func list(_ parts: [some CustomStringConvertible]) -> String {
  parts.map(\.description).joined(separator: ", ")
}

private func conflictClause(_ conflict: SQLName?) -> String { conflict.map { " ON CONFLICT \($0)" } ?? "" }
