import QuireMigration
import QuireRow
import QuireSQLite
import Testing

/// Full-text indexes and other virtual tables in a change of a schema.
@Suite struct SchemaFullTextTests: SchemaChanging {
  @Test func `rows keep their number where a full text index knows them by it`() throws {
    let fts = ["CREATE VIRTUAL TABLE found USING fts5 (title, content='book')"]
    let old = ["CREATE TABLE book (title TEXT)"] + fts
    let change = try change(old, ["CREATE TABLE book (title TEXT CHECK (title <> ''))"] + fts)
    #expect(change.sql.contains("INSERT INTO new_book (rowid, title)\n  SELECT rowid, title FROM book"))
    let rows = "(rowid, title) VALUES (5, 'Eden'), (9, 'Solaris')"
    let fill = ["INSERT INTO book \(rows)", "INSERT INTO found \(rows)"]
    #expect(
      try self.rows("SELECT rowid, title FROM found WHERE found MATCH 'solaris'", after: change, on: old + fill)
        == [[9, "Solaris"]])
  }

  @Test func `a full text index over a table is made with its words, and made anew where it is another`() throws {
    let table = ["CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, note TEXT)"]
    func index(_ columns: String) -> [String] {
      ["CREATE VIRTUAL TABLE found USING fts5 (\(columns), content = 'book', content_rowid = 'id')"]
    }
    let rows = ["INSERT INTO book VALUES (5, 'Eden', 'sand'), (9, 'Solaris', 'ocean')"]
    let made = try change(table, table + index("title"))
    let question = "SELECT rowid FROM found WHERE found MATCH 'solaris OR ocean'"
    #expect(try self.rows(question, after: made, on: table + rows) == [[9]])
    let wider = try change(table + index("title"), table + index("title, note"))
    let filled = table + rows + index("title") + ["INSERT INTO found (found) VALUES ('rebuild')"]
    #expect(try self.rows("SELECT rowid FROM found WHERE note MATCH 'sand'", after: wider, on: filled) == [[5]])
    #expect(wider.undo?.isEmpty == false)
  }

  @Test func `a full text index over a view is filled when the view is there, and again when it is another`() throws {
    func schema(_ text: String, _ index: String = "text") -> [String] {
      [
        "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)",
        "CREATE VIRTUAL TABLE found USING fts5 (\(index), content = 'searched', content_rowid = 'id')",
        "CREATE VIEW searched AS SELECT id, \(text) AS text FROM book", "CREATE VIEW uses AS SELECT text FROM found",
      ]
    }
    let (table, rows) = ([schema("")[0]], ["INSERT INTO book VALUES (5, 'Eden'), (9, 'Solaris')"])
    let question = "SELECT rowid FROM found WHERE found MATCH 'solaris OR lem'"
    let made = try change(table, schema("title"))
    #expect(try self.rows(question, after: made, on: table + rows) == [[9]])
    #expect(try change([], schema("title")).sql.contains("'rebuild'"))
    let filled = schema("title") + rows + ["INSERT INTO found (found) VALUES ('rebuild')"]
    for next in [schema("title || ' Lem'"), schema("title || ' Lem'", "text, prefix = 2")] {
      let other = try change(schema("title"), next)
      #expect(try self.rows(question, after: other, on: filled) == [[5], [9]])
      #expect(
        other.sql.matches(of: /'rebuild'/).count == 1 && other.undo?.contains { $0.sql.contains("'rebuild'") } == true)
    }
    let back = try change(schema("title"), table)
    #expect(try self.rows("SELECT title FROM book", after: back, on: filled).count == 2)
    let beside = try change(
      schema("title"), ["CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, a)"] + schema("title")[1...])
    #expect(!beside.sql.contains("'rebuild'"))
  }

  @Test(arguments: [
    "content = 'book', content_rowid = 'idd'", "content = 'nowhere'", "content = 'book', content_rowid = 'id', title_",
  ])
  func `a full text index whose text has gone is made, and not filled`(options: String) throws {
    let schema = [
      "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)",
      "CREATE VIRTUAL TABLE found USING fts5 (title, \(options))",
    ]
    let made = try change([], schema)
    #expect(!made.sql.contains("rebuild"))
    let other = ["CREATE TABLE other (a)"]
    #expect(try rows("SELECT name FROM sqlite_schema WHERE name = 'found'", after: made, on: other) == [["found"]])
  }

  @Test func `a virtual table that both have with another text is refused`() throws {
    let old = ["CREATE VIRTUAL TABLE f USING fts5 (a)"]
    #expect(throws: SchemaChangeError.virtualTable("f")) {
      try change(old, ["CREATE VIRTUAL TABLE f USING fts5 (a, b)"])
    }
    #expect(try change(old, []).sql == "-- with everything in f\nDROP TABLE f;\n")
    #expect(try change([], old).sql == old[0] + ";\n")
  }

  @Test func `it is filled again when a view that its view reads is another`() throws {
    func schema(_ text: String) -> [String] {
      [
        "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)",
        "CREATE VIEW named AS SELECT id, \(text) AS name FROM book",
        "CREATE VIEW searched AS SELECT id, name FROM named",
        "CREATE VIRTUAL TABLE found USING fts5 (name, content = 'searched', content_rowid = 'id')",
      ]
    }
    let rows = ["INSERT INTO book VALUES (5, 'Eden')", "INSERT INTO found (found) VALUES ('rebuild')"]
    let other = try change(schema("title"), schema("title || ' Lem'"))
    let question = "SELECT rowid FROM found WHERE found MATCH 'lem'"
    #expect(try self.rows(question, after: other, on: schema("title") + rows) == [[5]])
  }
}
