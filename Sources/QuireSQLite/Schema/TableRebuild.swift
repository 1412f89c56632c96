package import QuireRow

/// The statements that put a new table in an old one's place, with its rows: SQLite's own recipe for what ALTER TABLE
/// cannot do.
///
///     CREATE TABLE new_book (…);
///     INSERT INTO new_book (id, title) SELECT id, coalesce(title, '') FROM book;
///     DROP TABLE book;
///     ALTER TABLE new_book RENAME TO book;
///
/// To be run with foreign keys off. Indexes and triggers of the old table go with it.
package struct TableRebuild {
  /// The table that is replaced.
  package let table: SQLName
  /// What the new one is called until it takes the old one's place, and the statement that makes it by that name.
  package let scratch: SQLName
  package let creation: String
  /// What the table is called in the end.
  package let newName: SQLName
  /// The columns that are filled, each with the expression of the old table's columns that fills it.
  package var columns: [(name: SQLName, source: String)] = []
  /// Values of `?` in the sources.
  package var arguments: [Value] = []
  /// Whether keys that were used once stay used: both tables say AUTOINCREMENT.
  package var keepsSequence = false

  package init(of table: SQLName, by scratch: SQLName, creation: String, newName: SQLName? = nil) {
    self.table = table
    self.scratch = scratch
    self.creation = creation
    self.newName = newName ?? table
  }

  package struct Statement {
    package let part: Part
    package let sql: String
    package var arguments: [Value] = []

    package enum Part { case creation, copy, sequence, drop, rename }
  }

  package var statements: [Statement] {
    var result = [Statement(part: .creation, sql: creation)]
    if !columns.isEmpty {
      let names = columns.map { "\($0.name)" }.joined(separator: ", ")
      let sources = columns.map(\.source).joined(separator: ", ")
      result.append(
        Statement(
          part: .copy, sql: "INSERT INTO \(scratch) (\(names))\n  SELECT \(sources) FROM \(table)",
          arguments: arguments))
    }
    if keepsSequence {
      func literal(_ name: SQLName) -> String { "'\(name.text.replacing("'", with: "''"))'" }
      let (old, new) = (literal(table), literal(scratch))
      result.append(Statement(part: .sequence, sql: "DELETE FROM sqlite_sequence WHERE name = \(new)"))
      result.append(
        Statement(
          part: .sequence,
          sql: "INSERT INTO sqlite_sequence (name, seq)\n  SELECT \(new), seq FROM sqlite_sequence WHERE name = \(old)")
      )
    }
    result.append(Statement(part: .drop, sql: "DROP TABLE \(table)"))
    result.append(Statement(part: .rename, sql: "ALTER TABLE \(scratch) RENAME TO \(newName)"))
    return result
  }
}
