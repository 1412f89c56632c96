import QuireSQLite

/// The statements that put a new table in an old one's place, with its rows: SQLite's own recipe for what ALTER TABLE
/// cannot do.
///
///     CREATE TABLE new_book (…);
///     INSERT INTO new_book (id, title) SELECT id, coalesce(title, '') FROM book;
///     DROP TABLE book;
///     ALTER TABLE new_book RENAME TO book;
///
/// Values are copied as they are; NULL becomes the default where the column is required now. A required column that is
/// new and has no default gets NULL, which SQLite refuses where there is a row: a note says so.
struct TableRebuild {
  let statements: [SchemaChange.Statement]

  /// - Parameter schema: What is there, for a free name.
  init(old: DatabaseSchema.Table, new: DatabaseSchema.Table, in schema: DatabaseSchema) {
    let name = Self.freeName(for: new.name, in: schema)
    var columns: [String] = []
    var values: [String] = []
    var missing: [SQLName] = []
    for column in new.columns where column.generated == nil {
      let isRowID = new.primaryKey?.isRowID == true && new.primaryKey?.columns.first?.name == column.name
      guard let before = old[column.name] else {
        if column.isRequired, column.defaultValue == nil, !isRowID {
          missing.append(column.name)
          columns.append("\(column.name)")
          values.append("NULL")
        }
        continue
      }
      columns.append("\(column.name)")
      if column.isRequired, !before.isRequired, let value = column.defaultOperand, !isRowID {
        values.append("coalesce(\(column.name), \(value))")
      } else {
        values.append("\(column.name)")
      }
    }
    // The row ids of a table without a key of its own are what an external content table knows its rows by.
    if let rowID = Self.rowID(of: old, new), schema.virtualTables.contains(where: { $0.reads(new.name) }) {
      columns.insert(rowID, at: 0)
      values.insert(rowID, at: 0)
    }

    let changes = old.changes(to: new)
    var statements = [
      SchemaChange.Statement(
        sql: new.creation(as: name), note: (["\(new.name) is rebuilt"] + changes).joined(separator: "\n    "))
    ]
    let lost = old.columns.filter { $0.generated == nil && new[$0.name] == nil }.map { "\(new.name).\($0.name)" }
    var notes = lost.isEmpty ? [] : ["without \(lost.joined(separator: ", "))"]
    notes += missing.map {
      "\($0) needs a value in every row, and there is no default: write it instead of NULL where there are rows"
    }
    if !columns.isEmpty {
      statements.append(
        .init(
          sql: "INSERT INTO \(name) (\(columns.joined(separator: ", ")))\n"
            + "  SELECT \(values.joined(separator: ", ")) FROM \(old.name)",
          note: notes.isEmpty ? nil : notes.joined(separator: "\n")))
    }
    if old.primaryKey?.isAutoincrement == true, new.primaryKey?.isAutoincrement == true {
      statements.append(.init(sql: "DELETE FROM sqlite_sequence WHERE name = \(Self.literal(name))", note: nil))
      statements.append(
        .init(
          sql: "INSERT INTO sqlite_sequence (name, seq)\n"
            + "  SELECT \(Self.literal(name)), seq FROM sqlite_sequence WHERE name = \(Self.literal(old.name))",
          note: "keys that were used once stay used"))
    }
    statements.append(.init(sql: "DROP TABLE \(old.name)", note: nil))
    statements.append(.init(sql: "ALTER TABLE \(name) RENAME TO \(new.name)", note: nil))
    self.statements = statements
  }

  private static func freeName(for name: SQLName, in schema: DatabaseSchema) -> SQLName {
    let taken = Set(
      schema.tables.map(\.name) + schema.indexes.map(\.name) + schema.views.map(\.name)
        + schema.virtualTables.map(\.name))
    var candidate = SQLName("new_\(name.text)")
    var number = 2
    while taken.contains(candidate) {
      candidate = SQLName("new_\(name.text)_\(number)")
      number += 1
    }
    return candidate
  }

  private static func literal(_ name: SQLName) -> String { "'\(name.text.replacing("'", with: "''"))'" }

  /// A name of the row id where neither table has a column that is it; nil where there is none.
  private static func rowID(of old: DatabaseSchema.Table, _ new: DatabaseSchema.Table) -> String? {
    guard !old.isWithoutRowID, !new.isWithoutRowID, old.primaryKey?.isRowID != true, new.primaryKey?.isRowID != true
    else { return nil }
    return ["rowid", "_rowid_", "oid"].first { old[SQLName($0)] == nil && new[SQLName($0)] == nil }
  }
}

extension DatabaseSchema.Table {
  /// The statement that makes it, with another name; where it calls its own columns by its name, by that one too.
  fileprivate func creation(as name: SQLName) -> String {
    let own = TableText(sql).name
    let tokens = SQLTokens(sql)
    let all = Array(tokens)
    var result = ""
    for (place, token) in all.enumerated() {
      let text = tokens.text(of: token)
      let isQualifier =
        place + 1 < all.count && tokens.isMark(all[place + 1], ".") && token.kind != .string
        && SQLName(tokens.name(of: token)) == self.name
      result += token.range == own || isQualifier ? "\(name)" : text
    }
    return result
  }

  /// In words, for a note: one line each, without the table's name.
  fileprivate func changes(to new: Self) -> [String] {
    var (before, after) = (DatabaseSchema(), DatabaseSchema())
    (before.tables, after.tables) = ([self], [new])
    return before.differences(to: after).map { $0.description.replacing("\n", with: " ") }
  }
}

extension DatabaseSchema.Object {
  /// Whether it says the name anywhere, in a string too: `content='book'`.
  fileprivate func reads(_ table: SQLName) -> Bool {
    sql.mentions(table) || SQLName.folded(sql.text).contains("'\(SQLName.folded(table.text))'")
  }
}
