import Foundation
import QuireRow
import Testing

@testable import QuireSQLite

/// What a query reads, as SQLite says, and what is no query.
@Suite struct QuerySourcesTests {
  private let database: Database

  init() throws {
    database = try Database(DatabaseConfiguration(.temporary))
    try database.write {
      try $0.connection.execute(
        """
        CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, rank INTEGER);
        CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, year INTEGER, author_id INTEGER);
        CREATE TABLE tag (word TEXT);
        CREATE VIEW old AS SELECT title FROM book WHERE year < 1900;
        CREATE VIRTUAL TABLE search USING fts5(title, note);
        CREATE VIRTUAL TABLE indexed USING fts5(title, content='book', content_rowid="id");
        CREATE VIRTUAL TABLE bare USING fts5(title, content='');
        CREATE VIRTUAL TABLE words USING fts5vocab(search, row);
        """)
    }
  }

  private func sources(_ sql: String) throws -> [String: Set<String>?] {
    try database.read { try $0.sources(ofQuery: sql).tables }
  }

  @Test(
    arguments: [
      ("SELECT title FROM book WHERE year > 1", ["book": ["title", "year"]]),
      ("SELECT count(*) FROM book", ["book": []]),
      ("SELECT * FROM author", ["author": ["id", "name", "rank"]]),
      ("SELECT title FROM old", ["book": ["title", "year"]]),
      ("SELECT rowid FROM tag", ["tag": ["ROWID"]]),
      ("SELECT 1 FROM book LEFT JOIN tag ON 0", ["book": [], "tag": []]),
      (
        "WITH b AS (SELECT year FROM book) SELECT (SELECT max(rank) FROM author) FROM b",
        ["book": ["year"], "author": ["rank"]]
      ),
      (
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i, word IN (SELECT title FROM book) FROM n, tag",
        ["book": ["title"], "tag": ["word"]]
      ),
      ("SELECT row_number() OVER (PARTITION BY year ORDER BY title) FROM book", ["book": ["title", "year"]]),
      ("SELECT 1 UNION SELECT year FROM book", ["book": ["year"]]),
      ("SELECT value FROM json_each('[1]')", [:]),
      ("SELECT s.name FROM sqlite_schema s, pragma_table_info('book')", [:]),
      ("VALUES (1), (2)", [:]),
    ] as [(String, [String: Set<String>])])
  func `the tables and columns a query reads are known`(sql: String, expected: [String: Set<String>]) throws {
    #expect(try sources(sql) == expected.mapValues { .some($0) })
  }

  @Test func `an index is followed by the tables it keeps its rows in, and the one it indexes`() throws {
    let own = try sources("SELECT title FROM search WHERE search MATCH 'x' ORDER BY rank")
    #expect(Set(own.keys) == ["search_config", "search_content", "search_data", "search_docsize", "search_idx"])
    #expect(own.values.allSatisfy { $0 == nil })
    let content = try sources("SELECT title FROM indexed('x')")
    #expect(content["book"] == .some(nil) && content["indexed_idx"] == .some(nil) && content["search_idx"] == nil)
    #expect(try sources("SELECT rowid FROM bare('x')")["book"] == nil)
  }

  @Test func `a virtual table of which nobody knows what it reads is followed by every table`() throws {
    let all = try sources("SELECT term FROM words")
    #expect(Set(["author", "book", "tag", "search_idx"]).isSubset(of: all.keys) && all.values.allSatisfy { $0 == nil })
  }

  @Test(arguments: [
    ("", StatementError.missing), ("-- only this", .missing), ("SELECT 1; SELECT 2", .several),
    ("SELECT 1; /* more */ nonsense", .several), ("DELETE FROM book", .writes), ("CREATE TABLE t (a)", .writes),
    ("INSERT INTO tag VALUES ('a') RETURNING word", .writes), ("EXPLAIN SELECT 1", .notAQuery(reason: nil)),
    ("EXPLAIN QUERY PLAN SELECT 1", .notAQuery(reason: nil)), ("PRAGMA table_info(book)", .notAQuery(reason: nil)),
  ])
  func `what is no query is refused by its kind`(sql: String, expected: StatementError) throws {
    #expect(throws: expected) { try sources(sql) }
  }

  @Test(arguments: ["BEGIN", "COMMIT", "SAVEPOINT a", "ATTACH 'x.db' AS x", "PRAGMA journal_mode = DELETE", "VACUUM"])
  func `what would leave the store's own ways is refused`(sql: String) throws {
    #expect(throws: StatementError.self) { try sources(sql) }
  }

  @Test(arguments: ["SELECT 1;", "SELECT 1; -- and no more", "SELECT 1 ;; /* ; */\n", "SELECT 1 -- 'x"])
  func `comments and blanks behind a query are none`(sql: String) throws { #expect(try sources(sql).isEmpty) }

  @Test func `preparing a query leaves no trace for the next statement`() throws {
    try database.read { connection in
      _ = try connection.sources(ofQuery: "SELECT title FROM book")
      #expect(connection.reads == nil)
      #expect(try connection.sources(ofQuery: "SELECT word FROM tag").tables.keys.sorted() == ["tag"])
    }
  }

  @Test func `an error says where in the text it is`() throws {
    func offset(_ sql: String) -> Int? {
      do {
        try database.read { _ = try $0.execute(sql) }
        return nil
      } catch {
        return (error as? SQLiteError)?.offset
      }
    }
    #expect(offset("SELECT é, nosuch FROM book") == 7)
    #expect(offset("SELECT 1;  SELECT nosuch FROM book") == 18)
    #expect(offset("SELECT FROM") == 7)
  }

  @Test func `tables behind an index are told of while somebody asks for them by name`() throws {
    func told() throws -> [String] {
      var names: [String] = []
      try database.write {
        try $0.connection.execute("INSERT INTO search VALUES ('a', 'b'); INSERT INTO tag VALUES ('a')")
      } committed: { _, commit in
        names = commit.changes.tables.map { $0.table.name + ($0.table.isInternal ? "*" : "") }
      }
      return names
    }
    #expect(try told() == ["tag"])
    var token: CaptureToken? = database.addCapture(CapturedColumns(table: "search_content", columns: []))
    #expect(try told() == ["search_content*", "tag"])
    token = nil
    #expect(token == nil)
    #expect(try told() == ["tag"])
  }
}
