package import QuireRow

/// The statements that replace an old table by a new one and keep its rows: SQLite's own procedure for changes that
/// ALTER TABLE cannot make.
///
///     CREATE TABLE new_book (…);
///     INSERT INTO new_book (id, title) SELECT id, coalesce(title, '') FROM book;
///     DROP TABLE book;
///     ALTER TABLE new_book RENAME TO book;
///
/// Run them with foreign keys off. Indexes and triggers of the old table are dropped with it.
package struct TableRebuild {
  /// The table that is replaced.
  package let table: SQLName
  /// The new table's temporary name, and the statement that makes it by that name.
  package let scratch: SQLName
  package let creation: String
  /// The table's final name.
  package let newName: SQLName
  /// The columns to fill, each with an expression over the old table's columns.
  package var columns: [(name: SQLName, source: String)] = []
  /// Values for `?` in the sources.
  package var arguments: [Value] = []
  /// Whether deleted keys are never reused: both tables have AUTOINCREMENT.
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
