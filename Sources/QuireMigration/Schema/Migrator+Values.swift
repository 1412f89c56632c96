import QuireRow
import QuireSQLite

extension Migrator {
  /// How many rows a table of the database has, and how many of them a value in `column`; nil where there is no such table
  /// or column.
  ///
  /// - Complexity: one pass over the table.
  public func values(in table: SQLName, column: SQLName? = nil) throws(MigrationError) -> (rows: Int, values: Int)? {
    try translating { () throws -> (rows: Int, values: Int)? in
      let connection = try open(.readOnly)
      let found = try connection.query(
        "SELECT count(*) FROM pragma_table_list(?) t, pragma_table_xinfo(t.name) c WHERE t.schema = 'main' AND (?2 IS NULL OR lower(c.name) = lower(?2))",
        [.text(table.text), column.map { .text($0.text) } ?? .null])
      guard found != [[0]] else { return nil }
      let counted = try column.map { try quoted(identifier: $0.text) } ?? "*"
      let counts = try connection.query(
        "SELECT count(*), count(\(counted)) FROM \(try quoted(identifier: table.text))")
      return (Int(counts[0][0].plainInteger ?? 0), Int(counts[0][1].plainInteger ?? 0))
    }
  }
}
