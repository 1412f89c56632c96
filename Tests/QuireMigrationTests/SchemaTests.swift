import QuireMigration
import QuireRow
import QuireSQLite
import Testing

@Suite struct SchemaTests {
  private func schema(_ statements: String...) throws -> DatabaseSchema { try DatabaseSchema(madeBy: statements) }

  private func differences(_ old: String, _ new: String) throws -> [String] {
    try schema(old).differences(to: schema(new)).map(\.description)
  }

  @Test func `names and texts that differ only in how an accent is written are others`() throws {
    #expect(
      try differences("CREATE TABLE \"e\u{301}\" (a)", "CREATE TABLE \"\u{E9}\" (a)")
        == ["− table \"e\u{301}\"", "+ table \"\u{E9}\" (a)"])
    #expect(try differences("CREATE TABLE t (a DEFAULT 'e\u{301}')", "CREATE TABLE t (a DEFAULT '\u{E9}')").count == 1)
    let both = try schema("CREATE TABLE t (\"e\u{301}\", \"\u{E9}\")")
    #expect(both.tables.first?["\u{E9}"]?.name.text.utf8.count == 2)
  }

  @Test func `a trigger made by a program that had attached the file is one that any connection can make`() throws {
    let fixture = try Fixture()
    try fixture.makeDatabase("CREATE TABLE book (id INTEGER PRIMARY KEY, title)")
    let trigger = "BEGIN UPDATE book SET title = 'x' WHERE id = new.id; END"
    try Connection.inMemory().execute(
      "ATTACH '\(fixture.database)' AS a; CREATE TRIGGER a.named AFTER INSERT ON a.book \(trigger)")
    let made = try DatabaseSchema(of: fixture.database)
    let wanted = try schema(
      "CREATE TABLE book (id INTEGER PRIMARY KEY, title)", "CREATE TRIGGER named AFTER INSERT ON book \(trigger)")
    #expect(made.differences(to: wanted).isEmpty)
  }

  @Test func `a table is read with everything its text says`() throws {
    let schema = try schema(
      "CREATE TABLE author (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'x')",
      """
      CREATE TABLE book (
        "the key" INTEGER PRIMARY KEY, -- a comment, with a comma
        title TEXT NOT NULL DEFAULT 'it''s' COLLATE NOCASE CHECK (length(title) > 0 AND title <> ')'),
        price NUMERIC(10, 2) DEFAULT -1.5, made TEXT DEFAULT CURRENT_TIMESTAMP, cover BLOB DEFAULT x'ab',
        code INT DEFAULT (1 + 2) UNIQUE ON CONFLICT IGNORE,
        doubled INT GENERATED ALWAYS AS (code * 2) STORED, tripled AS (code * 3),
        author INT CONSTRAINT who REFERENCES author ON DELETE CASCADE ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED,
        second INT REFERENCES author(id) ON DELETE NO ACTION NOT DEFERRABLE,
        CONSTRAINT named UNIQUE (title COLLATE RTRIM, price), CHECK ([code] < 9) FOREIGN KEY (code) REFERENCES author
      )
      """)
    let book = try #require(schema[table: "BOOK"])
    #expect(
      book.columns.map(\.description) == [
        "\"the key\" INTEGER", "title TEXT NOT NULL DEFAULT 'it''s' COLLATE NOCASE",
        "price NUMERIC(10, 2) DEFAULT -1.5",
        "made TEXT DEFAULT CURRENT_TIMESTAMP", "cover BLOB DEFAULT x'ab'", "code INT DEFAULT (1 + 2)",
        "doubled INT AS (code * 2) STORED", "tripled AS (code * 3) VIRTUAL", "author INT", "second INT",
      ])
    #expect(book.primaryKey?.description == #"INTEGER PRIMARY KEY ("the key")"#)
    #expect(
      book.uniques.map(\.description).sorted() == [
        "UNIQUE (code) ON CONFLICT IGNORE", "UNIQUE (title COLLATE RTRIM, price)",
      ])
    #expect(
      book.foreignKeys.map(\.description).sorted() == [
        "FOREIGN KEY (author) REFERENCES author (id) ON DELETE CASCADE ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED",
        "FOREIGN KEY (code) REFERENCES author (id)", "FOREIGN KEY (second) REFERENCES author (id)",
      ])
    #expect(book.checks == ["length(title) > 0 AND title <> ')'", "code < 9"])
    let author = try #require(schema[table: "author"])
    #expect(author.primaryKey?.isAutoincrement == true)
    #expect(author.columns[1].description == "name TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'x'")
  }

  @Test func `what is written differently and means the same is equal`() throws {
    let plain = try schema(
      "CREATE TABLE author (id INTEGER PRIMARY KEY)",
      """
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT UNIQUE CHECK (title <> ''), code,
        author INT REFERENCES author ON DELETE CASCADE)
      """, "CREATE INDEX book_author ON book (author) WHERE author IS NOT NULL",
      "CREATE VIEW titles AS SELECT title FROM book")
    let other = try schema(
      "create table [AUTHOR](\"id\" integer, primary key(id))",
      """
      CREATE TABLE `Book` (code DEFAULT NULL, /* elsewhere */ author int, title text,
        id integer PRIMARY KEY NOT NULL, UNIQUE("title") ,
        CONSTRAINT c CHECK ("title"<>''), FOREIGN KEY (author) REFERENCES author(id) ON DELETE cascade)
      """.replacing(" NOT NULL", with: ""),
      "CREATE INDEX \"book_author\" ON Book( author )\n  WHERE author is not null",
      "CREATE VIEW titles AS -- all of them\n SELECT [title] FROM \"book\"")
    #expect(plain.differences(to: other).map(\.description) == [])
    #expect(plain == other)
  }

  @Test func `strings differ by case, and by what is inside`() throws {
    #expect(SQLFragment("a = 'X'") != SQLFragment("a = 'x'"))
    #expect(SQLFragment("A = 'X'") == SQLFragment("\"a\" /* ? */ ='X'"))
    #expect(
      try differences("CREATE TABLE a (b CHECK (b <> 'X'))", "CREATE TABLE a (b CHECK (b <> 'x'))")
        == ["a − CHECK (b <> 'X')", "a + CHECK (b <> 'x')"])
  }

  @Test(arguments: [
    ("a (b)", "a (b, c TEXT)", ["a + c TEXT"]),
    ("a (b, c)", "a (b)", ["a − c"]),
    ("a (b TEXT)", "a (b TEXT NOT NULL)", ["a.b TEXT → TEXT NOT NULL"]),
    ("a (b)", "a (b INT)", ["a.b without a type → INT"]),
    ("a (b DEFAULT 1)", "a (b DEFAULT 2)", ["a.b DEFAULT 1 → DEFAULT 2"]),
    ("a (b COLLATE NOCASE)", "a (b COLLATE BINARY)", ["a.b COLLATE NOCASE → without a type"]),
    ("a (b INT, c AS (b + 1))", "a (b INT, c AS (b + 2))", ["a.c AS (b + 1) VIRTUAL → AS (b + 2) VIRTUAL"]),
    ("a (b INT, c AS (b) VIRTUAL)", "a (b INT, c AS (b) STORED)", ["a.c AS (b) VIRTUAL → AS (b) STORED"]),
    ("a (b UNIQUE)", "a (b)", ["a − UNIQUE (b)"]),
    ("a (b, c, UNIQUE (b, c))", "a (b, c, UNIQUE (c, b))", ["a − UNIQUE (b, c)", "a + UNIQUE (c, b)"]),
    (
      "a (b UNIQUE ON CONFLICT IGNORE)", "a (b UNIQUE)", ["a − UNIQUE (b) ON CONFLICT IGNORE", "a + UNIQUE (b)"]
    ),
    (
      "a (b INTEGER PRIMARY KEY)", "a (b INT PRIMARY KEY)",
      ["a.b INTEGER → INT", "a INTEGER PRIMARY KEY (b) → PRIMARY KEY (b)"]
    ),
    (
      "a (b INTEGER PRIMARY KEY)", "a (b INTEGER PRIMARY KEY AUTOINCREMENT)",
      ["a INTEGER PRIMARY KEY (b) → INTEGER PRIMARY KEY (b) AUTOINCREMENT"]
    ),
    (
      "a (b, c, PRIMARY KEY (b, c))", "a (b, c, PRIMARY KEY (b, c DESC))",
      ["a PRIMARY KEY (b, c) → PRIMARY KEY (b, c DESC)"]
    ),
    ("a (b TEXT)", "a (b TEXT) STRICT", ["a + STRICT"]),
    ("a (b INT REFERENCES a(b))", "a (b INT)", ["a − FOREIGN KEY (b) REFERENCES a (b)"]),
    (
      "a (b INT REFERENCES a(b))", "a (b INT REFERENCES a(b) ON DELETE RESTRICT)",
      ["a − FOREIGN KEY (b) REFERENCES a (b)", "a + FOREIGN KEY (b) REFERENCES a (b) ON DELETE RESTRICT"]
    ),
    ("a (b)", "\"c d\" (b, c)", ["− table a", "+ table \"c d\" (b, c)"]),
  ])
  func `a difference in a table reads plainly`(old: String, new: String, expected: [String]) throws {
    #expect(try differences("CREATE TABLE \(old)", "CREATE TABLE \(new)") == expected)
    #expect(try schema("CREATE TABLE \(old)") != schema("CREATE TABLE \(new)"))
  }

  @Test func `indexes, triggers and views read plainly`() throws {
    let table = "CREATE TABLE a (b, c)"
    let old = try schema(
      table, "CREATE INDEX i ON a (b)", "CREATE UNIQUE INDEX j ON a (lower(c), b DESC) WHERE b > 1",
      "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; SELECT 2; END", "CREATE VIEW v AS SELECT b FROM a")
    let new = try schema(
      table, "CREATE INDEX i ON a (c)", "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END",
      "CREATE VIEW v AS SELECT c FROM a", "CREATE VIRTUAL TABLE f USING fts5(c)")
    #expect(
      old.differences(to: new).map(\.description) == [
        "− index UNIQUE j ON a (lower(c), b DESC) WHERE b > 1", "± index i ON a (b) → ON a (c)",
        "± trigger t ON a → another text", "± view v → another text", "+ virtual table f",
      ])
    #expect(new.tables.map(\.name) == ["a"])
  }

  @Test func `Quire's tables and triggers and SQLite's tables are no part of a schema`() throws {
    let schema = try schema(
      "CREATE TABLE _quire_migrations (version INTEGER PRIMARY KEY)", "CREATE INDEX x ON _quire_migrations (version)",
      "CREATE TABLE a (b INTEGER PRIMARY KEY AUTOINCREMENT)", "CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY)",
      "CREATE TRIGGER _quire_log_a AFTER INSERT ON a BEGIN SELECT 1; END", "ANALYZE")
    #expect(schema.tables.map(\.name) == ["a"] && schema.indexes.isEmpty && schema.triggers.isEmpty)
    #expect(try !schema.isEmpty && self.schema().isEmpty)
  }

  @Test func `columns that come by ALTER are read like those of the beginning`() throws {
    let altered = try schema(
      "CREATE TABLE a (id INTEGER PRIMARY KEY, CHECK (id > 0))", "ALTER TABLE a ADD COLUMN b TEXT COLLATE NOCASE",
      "ALTER TABLE a ADD c INT REFERENCES a", "ALTER TABLE a RENAME COLUMN b TO \"d e\"", "ALTER TABLE a RENAME TO f")
    #expect(
      try altered
        == schema(
          "CREATE TABLE f (id INTEGER PRIMARY KEY CHECK (id > 0), \"d e\" TEXT COLLATE NOCASE, c INT REFERENCES f (id))"
        )
    )
  }

  @Test func `a view that leads nowhere and a module that is missing are no hindrance`() throws {
    let fixture = try Fixture()
    try fixture.makeDatabase(
      "CREATE TABLE a (b); CREATE VIEW v AS SELECT * FROM gone; CREATE VIEW w AS SELECT nope(b) FROM a")
    let schema = try DatabaseSchema(of: fixture.database)
    #expect(schema.views.map(\.name) == ["v", "w"] && schema.tables.count == 1)
    #expect(throws: DatabaseError.missing(path: fixture.path + "/no.db")) {
      try DatabaseSchema(of: fixture.path + "/no.db")
    }
  }
}
