import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireShell

/// Files with odd names, and with views and triggers that this SQLite cannot run.
@Suite(.fewAtOnce) struct OddFileTests {
  @Test func `odd names, tables without keys and broken views are there, and harm nothing`() async throws {
    let library = try Library(
      """
      CREATE TABLE "odd name" ("a b" TEXT, "where" INTEGER, "ünï" TEXT);
      CREATE TABLE "select" (id INTEGER PRIMARY KEY);
      CREATE TABLE "a\u{1B}[31m" (id INTEGER PRIMARY KEY);
      CREATE TABLE rowids (rowid TEXT, _rowid_ TEXT, oid TEXT);
      CREATE TABLE books (id INTEGER PRIMARY KEY);
      CREATE TABLE book (id INTEGER PRIMARY KEY);
      CREATE TABLE orphan (id INTEGER PRIMARY KEY, gone_id INTEGER REFERENCES gone(id));
      CREATE VIRTUAL TABLE text USING fts5(body);
      INSERT INTO "odd name" VALUES ('x', 1, 'ü');
      CREATE TABLE base (id INTEGER PRIMARY KEY);
      CREATE VIEW broken AS SELECT id FROM base;
      """)
    let session = try library.session()
    #expect(
      session.models.all.map(\.name).sorted() == [
        "A31m", "Base", "Broken", "OddName", "Orphan", "Rowid", "Select", "Text", "book", "books",
      ])
    #expect(try await session.rows("[odd name] where `a b` = 'x' and [where] = 1 and ünï = 'ü'").count == 1)
    #expect(try await session.rows("OddName").count == 1)
    #expect(await session.failure("Rowid 1").hasPrefix("Rowid has no key"))
    for line in session.banner { #expect(!line.unicodeScalars.contains("\u{1B}")) }
    let broken = try Library(
      """
      CREATE TABLE base (id INTEGER PRIMARY KEY, x); CREATE VIEW broken AS SELECT x FROM base;
      PRAGMA writable_schema = ON;
      """)
    #expect(try broken.session().models.all.map(\.name) == ["Base", "Broken"])
  }

  @Test func `a view that cannot be read is named with SQLite's reason, and others keep their suggestions`()
    async throws
  {
    let library = try Library(
      """
      CREATE TABLE base (id INTEGER PRIMARY KEY, name TEXT);
      CREATE VIEW joined AS SELECT sortconcat(name) AS names FROM base;
      CREATE VIEW gone AS SELECT * FROM nowhere;
      """)
    let session = try library.session()
    #expect(session.models.all.map(\.name) == ["Base"])
    for query in ["joined", "count Joined", ".schema joined --diagram"] {
      let failure = await session.failure(query)
      #expect(failure.contains("oined cannot be read: no such function: sortconcat"), "\(failure)")
      #expect(failure.contains("the program that made the file adds it to SQLite"))
    }
    #expect(await session.failure("gone").hasPrefix("gone cannot be read: no such table: main.nowhere"))
    #expect(await session.failure("nowhere").hasPrefix("there is no model nowhere"))
    #expect(await session.failure("select nam from base;").contains("did you mean name?"))
  }

  @Test func `the schema is the file's text to the letter, for the sqlite3 program to read`() async throws {
    let library = try Library("CREATE TABLE t (\r\n\tid INTEGER PRIMARY KEY,\tx TEXT DEFAULT 'a\tb'\n)")
    let text = try await library.session().said(".schema")
    #expect(text == "CREATE TABLE t (\r\n\tid INTEGER PRIMARY KEY,\tx TEXT DEFAULT 'a\tb'\n);")
    #expect(printable(sql: text + "\u{1B}").hasSuffix("(\n    id INTEGER PRIMARY KEY,    x TEXT DEFAULT 'a    b'\n);␛"))
  }

  @Test func `what a file's own definitions lack is told from what the statement names`() async throws {
    let library = try Library(
      """
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT);
      CREATE TRIGGER sorted AFTER INSERT ON book BEGIN UPDATE book SET title = title_sort(new.title); END;
      """)
    let session = try library.writing()
    for write in ["insert into book (title) values ('x');", "insert Book { title: 'x' }"] {
      #expect(
        await session.failure(write)
          == "no such function: title_sort\na trigger, view, index or check of the file uses it: the program that made "
          + "the file adds it to SQLite, and here it is not there")
    }
    #expect(await !session.failure("select title_sort(title) from book;").contains("trigger"))
  }

  @Test func `what the program of a file adds to SQLite is named, with who needs it and what does without`()
    async throws
  {
    let library = try Library(
      """
      CREATE TABLE deck (id INTEGER PRIMARY KEY, name TEXT COLLATE nocase); INSERT INTO deck VALUES (1, 'b'), (2, 'A');
      CREATE VIRTUAL TABLE found USING fts5 (body, tokenize = 'porter');
      """)
    try library.rewriteSchema(
      """
      UPDATE sqlite_schema SET sql = replace(replace(sql, 'porter', 'stemming'), 'nocase', 'unicase');
      INSERT INTO sqlite_schema VALUES ('table', 'near', 'near', 0, 'CREATE VIRTUAL TABLE near USING vec0 (x)');
      """)
    let session = try library.session()
    let end = "the program that made the file adds it to SQLite, and here it is not there"
    #expect(
      await session.failure("select * from deck order by name;")
        == "no such collation sequence: unicase\na column or an index of the file compares its texts so: \(end); "
        + "in SQL, COLLATE BINARY behind the column does without it")
    #expect(try await session.column("select name from deck order by name collate binary;") == ["A", "b"])
    for (query, missing) in [("found", "no such tokenizer: stemming"), ("near", "no such module: vec0")] {
      #expect(
        await session.failure("select * from \(query);") == "\(missing)\na virtual table of the file uses it: \(end)")
    }
  }

  @Test(arguments: [
    ("a-b", "no such column: b"), ("other: a", "no such column: other"), ("don't", "fts5: syntax error near \"'\""),
    ("\"a", "unterminated string"), ("", "fts5: syntax error near \"\""), ("*", "unknown special query: "),
  ])
  func `what a search does not understand is told with how to search for it`(search: String, message: String)
    async throws
  {
    let library = try Library(
      "CREATE VIRTUAL TABLE found USING fts5 (body); INSERT INTO found VALUES ('a-b'), ('a'), ('don''t');")
    let session = try library.session { $0.parameters = ["search": .text(search)] }
    for query in ["select * from found where found match :search;", "found where body match :search"] {
      let failure = await session.failure(query)
      #expect(failure.hasPrefix("\(message)\nsigns have a meaning in the text of a search: words in double quotes"))
    }
    #expect(try await session.column("found where body match '\"a-b\"' select body") == ["a-b"])
    #expect(
      await session.failure("select other from found where body match 'a';").hasPrefix("no such column: other\n   1"))
  }

  @Test func `the banner's query works on the file, and opening leaves nothing beside it`() async throws {
    for schema in [
      Library.schema, "CREATE TABLE x (a)", "PRAGMA journal_mode = WAL; CREATE TABLE x (a)",
      "CREATE TABLE \"1 2\" (\"3\")",
      "CREATE VIEW v AS SELECT 1 AS one",
    ] {
      let library = try Library(schema)
      let before = try Data(contentsOf: library.file)
      var session = Optional(try library.session())
      if let session, let line = session.banner.first(where: { $0.hasPrefix("try:  ") }) {
        let query = line.dropFirst(6).components(separatedBy: "     or")[0]
        _ = try await session.replies(query)
      } else {
        #expect(schema.contains("1 2"))
      }
      session = nil
      #expect(try library.files == ["library.db"], "\(schema)")
      #expect(try Data(contentsOf: library.file) == before)
    }
  }
}
