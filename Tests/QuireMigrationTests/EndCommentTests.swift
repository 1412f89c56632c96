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

  @Test(arguments: ["7", "7 -- seven\n", "7 /* seven */", "abs(7) -- seven\n"])
  func `a default that is written with a comment is one`(text: String) throws {
    let fixture = try Fixture()
    _ = try fixture.sqlite { connection in
      try connection.rows("CREATE TABLE t (id INTEGER PRIMARY KEY, a DEFAULT (\(text)), b DEFAULT (\(text)))")
      return try connection.rows("INSERT INTO t (id, a) VALUES (1, NULL)")
    }
    let old = try fixture.sqlite { try SchemaReader($0).schema() }
    let new = try DatabaseSchema(madeBy: ["CREATE TABLE t (id INTEGER PRIMARY KEY, a NOT NULL DEFAULT (\(text)))"])
    let change = try SchemaChange(from: old, to: new, renames: [], keeping: .none)
    try fixture.write(change.sql, as: "20260101000000_change.sql")
    let undo = try #require(change.undoSQL)
    try fixture.write(undo, as: "20260102000000_back.sql")
    try fixture.write("ALTER TABLE t DROP COLUMN b;", as: "20260103000000_drop.sql")
    try fixture.migrator(losing: true).apply()
    #expect(try fixture.sqlite { try $0.rows("SELECT * FROM t") } == [[1, 7]])
  }
}
