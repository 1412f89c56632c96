import QuireRow
import QuireSQLite

/// The full-text indexes over other tables' text that must agree with it after a migration, as SQLite's own check tells.
///
/// Such an index finds rows by their row ids. A table without an INTEGER PRIMARY KEY gets new ones by a rebuild, and by
/// VACUUM: then the index finds other rows, or is damaged for SQLite. One that did not agree before is not reported
/// where the rows keep their ids.
struct FullTextIndexes {
  private let watched: [DatabaseSchema.Object]

  /// - Parameters:
  ///   - tables: Those whose indexes are checked; nil for all.
  ///   - connection: To a copy, as the check is a write for SQLite.
  init(of tables: Set<SQLName>?, in schema: DatabaseSchema, on connection: Connection) {
    watched = schema.virtualTables.filter { index in
      let text = VirtualTableText(index.sql.text)
      guard text.isIndex, let content = text.content, tables?.contains(SQLName(content)) ?? true else { return false }
      let keepsIDs = schema[table: SQLName(content)]?.primaryKey?.isRowID == true
      return !keepsIDs || Self.agrees(index, on: connection) == true
    }
  }

  /// Those that do not agree, and are still there.
  func stale(in schema: DatabaseSchema, on connection: Connection) -> [SchemaDifference] {
    watched.filter { index in
      schema.virtualTables.contains { $0.name == index.name } && Self.agrees(index, on: connection) == false
    }.map { index in
      SchemaDifference(
        table: index.name, kind: .virtualTable, old: "finds its rows",
        new: "finds others, or none: INSERT INTO \(index.name)(\(index.name)) VALUES('rebuild')")
    }
  }

  /// Nil if that cannot be told, as of an index whose tokenizer only the application has.
  private static func agrees(_ index: DatabaseSchema.Object, on connection: Connection) -> Bool? {
    guard let name = try? quoted(identifier: index.name.text) else { return nil }
    let isFTS5 = VirtualTableText(index.sql.text).module == "fts5"
    do throws(SQLiteError) {
      // The text is compared only at rank 1.
      try connection.execute(
        isFTS5
          ? "INSERT INTO \(name)(\(name), rank) VALUES('integrity-check', 1)"
          : "INSERT INTO \(name)(\(name)) VALUES('integrity-check')")
      return true
    } catch {
      return error.code & 0xFF == 11 ? false : nil
    }
  }
}
