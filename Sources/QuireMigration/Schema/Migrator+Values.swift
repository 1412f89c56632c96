import QuireRow
package import QuireSQLite

extension Migrator {
  /// The number of rows of a table, and how many of them have a value in `column`; nil if there is no such table or
  /// column.
  ///
  /// - Complexity: One pass over the table.
  package func values(in table: SQLName, column: SQLName? = nil) throws(MigrationError) -> (rows: Int, values: Int)? {
    try translating { () throws -> (rows: Int, values: Int)? in
      let connection = try open(.readOnly)
      let columns = try SchemaReader(connection).columns(of: table.text)
      guard !columns.isEmpty, column.map({ name in columns.contains { SQLName($0.name) == name } }) ?? true else {
        return nil
      }
      let counted = try column.map { try quoted(identifier: $0.text) } ?? "*"
      let counts = try connection.rows(
        "SELECT count(*), count(\(counted)) FROM \(try quoted(identifier: table.text))")
      return (Int(counts[0][0].plainInteger ?? 0), Int(counts[0][1].plainInteger ?? 0))
    }
  }
}
