import QuireRow
import QuireSQLite

/// The highest keys that tables have had (`_quire_keys`), which follow a table that a migration renames: otherwise its
/// next rows would get the keys of deleted ones.
struct RenamedKeys {
  /// By their first page in the file, which stays when a table is renamed.
  private let tables: [Value: String]

  /// Nil if no keys are recorded.
  init?(_ connection: Connection) throws(SQLiteError) {
    guard try SchemaReader(connection).hasTable("_quire_keys") else { return nil }
    tables = try Self.tables(on: connection)
  }

  /// Notes the keys under the names that the tables have by now.
  func follow(on connection: Connection) throws(SQLiteError) {
    let now = try Self.tables(on: connection)
    let names = Set(now.values)
    guard names.contains("_quire_keys") else { return }
    for (page, name) in tables where !names.contains(name) {
      guard let renamed = now[page] else { continue }
      let highest = try connection.rows("SELECT highest FROM main._quire_keys WHERE table_name = ?", [.text(name)])
      guard let highest = highest.first?.first else { continue }
      try connection.executeInMigration(
        """
        INSERT INTO main._quire_keys VALUES (?, ?)
        ON CONFLICT (table_name) DO UPDATE SET highest = max(highest, excluded.highest)
        """, [.text(renamed), highest])
    }
  }

  private static func tables(on connection: Connection) throws(SQLiteError) -> [Value: String] {
    let rows = try connection.rows(
      "SELECT rootpage, name FROM main.sqlite_schema WHERE type = 'table' AND rootpage > 0")
    return Dictionary(rows.map { ($0[0], $0[1].plainText) }) { first, _ in first }
  }
}
