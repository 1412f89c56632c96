import QuireSQLite

extension TableRebuild {
  /// The rebuild of a table as another one, with a note for each statement if needed.
  ///
  /// Values are copied unchanged; NULL becomes the default if the column is now required. A required column that is new
  /// and has no default gets NULL, which SQLite refuses if there is a row: a note says so.
  ///
  /// - Parameter schema: The existing objects, to find a free name.
  static func statements(
    from old: DatabaseSchema.Table, to new: DatabaseSchema.Table, in schema: DatabaseSchema
  ) -> [SchemaChange.Statement] {
    let name = freeName(for: new.name, in: schema)
    var rebuild = TableRebuild(of: old.name, by: name, creation: new.creation(as: name), newName: new.name)
    var missing: [SQLName] = []
    for column in new.columns where column.generated == nil {
      let isRowID = new.primaryKey?.isRowID == true && new.primaryKey?.columns.first?.name == column.name
      guard let before = old[column.name] else {
        if column.isRequired, column.defaultValue == nil, !isRowID {
          missing.append(column.name)
          rebuild.columns.append((column.name, "NULL"))
        }
        continue
      }
      if column.isRequired, !before.isRequired, let value = column.defaultOperand, !isRowID {
        rebuild.columns.append((column.name, "coalesce(\(column.name), \(value))"))
      } else {
        rebuild.columns.append((column.name, "\(column.name)"))
      }
    }
    // An external content table identifies rows by their row ids if the content table has no key of its own.
    if let rowID = rowID(of: old, new), schema.virtualTables.contains(where: { $0.reads(new.name) }) {
      rebuild.columns.insert((SQLName(rowID), rowID), at: 0)
    }
    rebuild.keepsSequence = old.primaryKey?.isAutoincrement == true && new.primaryKey?.isAutoincrement == true

    let lost = old.columns.filter { $0.generated == nil && new[$0.name] == nil }.map { "\(new.name).\($0.name)" }
    var notes = lost.isEmpty ? [] : ["without \(lost.joined(separator: ", "))"]
    notes += missing.map {
      "\($0) needs a value in every row, and there is no default: write it instead of NULL if there are rows"
    }
    return rebuild.statements.map { statement in
      let note: String? =
        switch statement.part {
        case .creation: (["\(new.name) is rebuilt"] + old.changes(to: new)).joined(separator: "\n    ")
        case .copy: notes.isEmpty ? nil : notes.joined(separator: "\n")
        case .sequence: statement.sql.hasPrefix("INSERT") ? "keys that were used once stay used" : nil
        case .drop, .rename: nil
        }
      let unfilled = statement.part == .copy ? missing.map { "\(new.name).\($0)" } : []
      return SchemaChange.Statement(sql: statement.sql, note: note, unfilled: unfilled)
    }
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

  /// A name of the row id that no column of either table has; nil if there is none.
  private static func rowID(of old: DatabaseSchema.Table, _ new: DatabaseSchema.Table) -> String? {
    guard !old.isWithoutRowID, !new.isWithoutRowID, old.primaryKey?.isRowID != true, new.primaryKey?.isRowID != true
    else { return nil }
    return ["rowid", "_rowid_", "oid"].first { old[SQLName($0)] == nil && new[SQLName($0)] == nil }
  }
}

extension DatabaseSchema.Table {
  /// The statement that makes it with another name; if it qualifies its own columns, with that name too.
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

  /// As text for a note: one line each, without the table's name.
  fileprivate func changes(to new: Self) -> [String] {
    var (before, after) = (DatabaseSchema(), DatabaseSchema())
    (before.tables, after.tables) = ([self], [new])
    return before.differences(to: after).map { $0.description.replacing("\n", with: " ") }
  }
}

extension DatabaseSchema.Object {
  /// Whether it mentions the name anywhere, even in a string: `content='book'`.
  fileprivate func reads(_ table: SQLName) -> Bool {
    sql.mentions(table) || SQLName.folded(sql.text).contains("'\(SQLName.folded(table.text))'")
  }
}
