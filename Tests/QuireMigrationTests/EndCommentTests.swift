import QuireMigration
import QuireRow
import QuireSQLite
import Testing

/// Statements with a comment behind them, which SQLite keeps as a part of the schema's text.
@Suite struct EndCommentTests {
  private static let table = "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)"
  static let ends = ["", " -- of the shop", " -- of the shop\n", " /* of the shop */", " /* of the shop", " --"]

  private static func statements(_ end: String) -> [String] {
    [
      table, "CREATE INDEX by_title ON book (title)\(end)", "CREATE VIEW titles AS SELECT title FROM book\(end)",
      "CREATE TRIGGER added AFTER INSERT ON book BEGIN UPDATE book SET title = trim(title); END\(end)",
    ]
  }

  @Test(arguments: ends)
  func `a migration that makes them again runs, and so does the text of the schema`(end: String) throws {
    let statements = Self.statements(end)
    let schema = try DatabaseSchema(madeBy: statements)
    let change = try SchemaChange(from: schema, to: schema, renames: [], keeping: .none, rebuilding: ["book"])
    for text in [schema.text, statements.map { SQLTokens.ended($0) }.joined(separator: "\n")] {
      let fixture = try Fixture()
      _ = try fixture.sqlite { try $0.rows("VACUUM") }  // makes the file
      try fixture.write(text, as: "20260101000000_start.sql")
      try fixture.write(change.sql, as: "20260102000000_rebuild.sql")
      try fixture.migrator(losing: true).apply()
      let found = try fixture.sqlite { try $0.rows("SELECT name FROM sqlite_schema WHERE name NOT LIKE '%quire%'") }
      #expect(Set(found) == [["book"], ["by_title"], ["titles"], ["added"]])
    }
  }
}
