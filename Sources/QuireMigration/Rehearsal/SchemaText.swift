import QuireSQLite

extension Migrator {
  /// The database's schema as the SQL that makes it, for `schema.sql`: each object's own text, tables first, in the order
  /// of their names, so that two databases with one schema give one text whatever way they came to it.
  public func schemaText() throws(MigrationError) -> String {
    try translating { try Self.schemaText(of: try open(.readOnly)) }
  }

  static func schemaText(of connection: MigrationConnection) throws(SQLiteError) -> String {
    let rows = try connection.query(
      """
      SELECT s.sql FROM sqlite_schema s LEFT JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.name
      WHERE s.sql IS NOT NULL AND s.name NOT LIKE 'sqlite~_%' ESCAPE '~' AND s.name NOT LIKE '~_quire~_%' ESCAPE '~'
        AND s.tbl_name NOT LIKE '~_quire~_%' ESCAPE '~' AND coalesce(t.type, '') <> 'shadow'
      ORDER BY CASE s.type WHEN 'table' THEN 0 WHEN 'index' THEN 1 WHEN 'view' THEN 2 ELSE 3 END, s.name
      """)
    let header = "-- The schema the migrations make. Written by `migrate schema` and `migrate apply`; never run.\n"
    return header + rows.map { "\n" + $0[0].plainText + ";\n" }.joined()
  }
}
