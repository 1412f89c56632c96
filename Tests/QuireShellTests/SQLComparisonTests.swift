import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// What SQL answers here and in the sqlite3 program, in each format that both have.
///
/// Equal byte for byte: bare values, and JSON. Equal by value: CSV, where the program also quotes what need not be, and the line format, which is aligned otherwise. What differs on purpose has a test of its own.
@Suite(.enabled(if: SQLiteShell.isThere), .fewAtOnce) struct SQLComparisonTests {
  let library: Library

  init() throws { library = try Library(Library.schema + Self.more) }

  private static let more = """
    CREATE TABLE v (id INTEGER PRIMARY KEY, x);
    INSERT INTO v (x) VALUES (NULL), (0), (-1), (9223372036854775807), (-9223372036854775808), (0.0), (0.1), (-2.5e-300),
      (1e300), (5e-324), (1.7976931348623157e308), (123456789.0), (1e15), (1e16), (1e20), (''), (' '), ('a,b'), ('"q"'),
      ('Stanisław'), ('三島'), ('👩‍👩‍👧'), ('back\\slash'), (''''), (x''), (x'00ff'), (x'41'), ('x''41''');
    CREATE TABLE text (id INTEGER PRIMARY KEY, t);
    INSERT INTO text (t) VALUES ('two' || char(10) || 'lines'), ('cr' || char(13) || 'lf'), ('tab' || char(9)),
      (char(8) || char(12)), (char(1)), (replace(hex(zeroblob(5000)), '00', 'long '));
    CREATE VIRTUAL TABLE page USING fts5(title, body);
    INSERT INTO page VALUES ('Eden', 'a ship lands on a planet'), ('Solaris', 'a planet with an ocean'), ('Żółw', 'żółw');
    CREATE VIEW found AS SELECT title FROM page WHERE page MATCH 'planet' ORDER BY rank;
    CREATE TABLE kv (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
    INSERT INTO kv VALUES ('b', 2), ('a', 1.5), ('c', NULL);
    CREATE TABLE gen (a INT, b INT AS (a * 2), c INT AS (a + b) STORED);
    INSERT INTO gen (a) VALUES (1), (2);
    """

  static let queries = [
    // Rows and values
    "SELECT 1", "SELECT 1 AS a, 'x' AS b, NULL AS c, 2.5 AS d", "SELECT NULL", "SELECT ''", "SELECT ' a '",
    "VALUES (1, 'a'), (2, 'b'), (3, NULL)", "SELECT * FROM book",
    "SELECT title FROM book ORDER BY title COLLATE NOCASE DESC",
    "SELECT * FROM book WHERE 0", "SELECT rowid, * FROM note",
    "SELECT id, x, typeof(x) FROM v WHERE typeof(x) <> 'blob'",
    "SELECT id, hex(x), quote(x), length(x) FROM v", "SELECT x FROM v WHERE typeof(x) = 'integer' ORDER BY x",
    "SELECT -9223372036854775808, 9223372036854775807, 9223372036854775808, 0x7fffffffffffffff, 1e999 > 1",
    "SELECT 0.1 + 0.2, 1/3.0, 1e15, 1e16, 123456789012345678.0, -0.0, 2.0, 1e-5, 5e-324, 1.7976931348623157e308",
    "SELECT id, t FROM text", "SELECT length(t), t FROM text WHERE length(t) > 1000",
    "SELECT * FROM kv", "SELECT * FROM gen", "SELECT title, author_id IS NULL AS none FROM book WHERE price IS NULL",
    "SELECT 'Stanisław', '三島', '👩‍👩‍👧', 'e' || char(769), upper('ß'), unicode('Ł'), char(0x1F600)",
    "SELECT \"title\", [year], `price` FROM main.\"book\"",
    "SELECT 1 AS \"a b\", 2 AS \"\", 3 AS \"x,y\", 4 AS \"q\"\"q\", 5 AS \"名\", 6 AS 'single'",
    "SELECT 1, 2+3, count(*), max(id) FROM book",
    // Joins
    "SELECT b.title, a.name FROM book b JOIN author a ON a.id = b.author_id ORDER BY b.id",
    "SELECT b.title, a.name FROM book b LEFT JOIN author a ON a.id = b.author_id ORDER BY b.id",
    "SELECT a.name, b.title FROM book b RIGHT JOIN author a ON a.id = b.author_id ORDER BY a.id, b.id",
    "SELECT a.id AS a, b.id AS b FROM author a FULL JOIN book b ON a.id = b.id ORDER BY 1, 2",
    "SELECT count(*) FROM book, author, tag", "SELECT title FROM book NATURAL JOIN (SELECT 1 AS id)",
    "SELECT b.title, group_concat(t.name, '|') FROM book b JOIN book_tag USING (book_id) JOIN tag t ON t.id = tag_id GROUP BY b.id"
      .replacingOccurrences(of: "USING (book_id)", with: "x ON x.book_id = b.id"),
    "SELECT title FROM book WHERE EXISTS (SELECT 1 FROM book_tag WHERE book_id = book.id) ORDER BY 1",
    // Sets, groups, subqueries
    "SELECT id FROM book UNION SELECT id FROM author ORDER BY 1", "SELECT id FROM book EXCEPT SELECT id FROM author",
    "SELECT id FROM book INTERSECT SELECT id FROM author ORDER BY id DESC",
    "SELECT 1 UNION ALL SELECT 'a' UNION ALL SELECT NULL",
    "SELECT author_id, count(*), avg(price), total(price), sum(price) FROM book GROUP BY author_id HAVING count(*) > 0 ORDER BY 1",
    "SELECT DISTINCT typeof(x) FROM v ORDER BY 1", "SELECT title FROM book WHERE (year, id) > (1958, 1) ORDER BY id",
    "SELECT (SELECT name FROM author WHERE id = author_id) AS who, title FROM book ORDER BY id LIMIT 3 OFFSET 1",
    "SELECT title FROM book WHERE id IN (1, 3) OR title LIKE '%E%' ORDER BY id",
    "SELECT title FROM book WHERE title GLOB 'E*'",
    "SELECT CASE WHEN price > 10 THEN 'dear' WHEN price THEN 'cheap' END AS class FROM book ORDER BY id",
    "SELECT title FROM book ORDER BY price NULLS LAST, title", "SELECT sum(price) FILTER (WHERE year > 1960) FROM book",
    "SELECT avg(price) / 7, sum(price) / 3.0, 1 / 3.0, 200 / 3.0, 0.1 + 0.2, -1e-7 / 3, 1e17 / 7, 1e300 / 7 FROM book",
    // WITH
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i, i * i FROM n",
    "WITH RECURSIVE tree(id, path) AS (SELECT id, name FROM category WHERE parent_id IS NULL UNION ALL SELECT c.id, path || ' > ' || name FROM category c JOIN tree ON c.parent_id = tree.id) SELECT * FROM tree",
    "WITH a AS MATERIALIZED (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT * FROM a, b",
    // Windows
    "SELECT title, row_number() OVER (ORDER BY year), rank() OVER (PARTITION BY author_id ORDER BY year) FROM book ORDER BY id",
    "SELECT id, sum(price) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s, lag(title) OVER w FROM book WINDOW w AS (ORDER BY id)",
    "SELECT ntile(2) OVER (ORDER BY id), first_value(title) OVER (ORDER BY id DESC), percent_rank() OVER (ORDER BY id) FROM book",
    // JSON, dates, functions
    "SELECT json('{\"a\": [1, 2.5, null, \"ł\"]}'), json_extract('{\"a\":{\"b\":[10,20]}}', '$.a.b[1]')",
    "SELECT key, value, type, fullkey FROM json_tree('{\"a\":[1,{\"b\":null}],\"c\":\"x\"}')",
    "SELECT json_group_array(title), json_object('n', count(*)) FROM book",
    "SELECT '{\"a\":1}' ->> '$.a', '[1,2]' -> 1",
    "SELECT date('2024-02-29', '+1 year'), strftime('%Y-%W-%j %s', '2026-11-22 10:11:12'), julianday('2000-01-01')",
    "SELECT datetime(0, 'unixepoch'), time('12:00', '-90 minutes'), date('now') IS NOT NULL, unixepoch('1970-01-02')",
    "SELECT printf('%05d|%.2f|%s|%x', 42, 3.14159, 'ü', 255), substr('żółw', 2, 2), instr('żółw', 'ł'), trim(char(32) || 'x '), replace('aaa', 'a', 'b')",
    "SELECT round(2.5), round(-1.555, 2), abs(-3), 7 / 2, 7 % 3, -7 / 2, 5 | 2, ~5, 1 << 40, sqrt(2), pi()",
    "SELECT CAST('12abc' AS INTEGER), CAST(3.9 AS INTEGER), CAST(5 AS TEXT) || 'x', typeof(CAST(x'3132' AS TEXT)), 'abc' < x'00'",
    "SELECT coalesce(NULL, 2), nullif(1, 1), iif(1, 'y', 'n'), min(3, 1, 2), max('a', 'b'), likely(1), NULL = NULL AS same, NULL IS NULL",
    "SELECT hex(zeroblob(4)), quote(x'c3'), length(randomblob(16)), x'41' || 'b', upper(x'61')",
    // Full text
    "SELECT * FROM found", "SELECT title FROM page WHERE page MATCH 'planet' ORDER BY rank",
    "SELECT highlight(page, 1, '[', ']') FROM page('oc*')",
    "SELECT title, snippet(page, 1, '<', '>', '…', 3) FROM page WHERE page MATCH 'żółw'",
    // Several statements, comments, blanks
    "SELECT 1 AS a; SELECT 2 AS b, 3 AS c;", "SELECT 1;;; SELECT 2",
    "-- first\nSELECT 1 -- behind\n; /* between */ SELECT 2 /* last */",
    "  \n\tSELECT\n1\n,\n2  ;  ", "SELECT ';' AS semicolon; SELECT '--' AS dashes, '/*' AS star",
    // What describes
    "PRAGMA table_info(book)", "PRAGMA table_xinfo('gen')", "PRAGMA index_list(tag)", "PRAGMA foreign_key_list(copy)",
    "PRAGMA integrity_check", "PRAGMA quick_check", "PRAGMA page_size", "PRAGMA encoding", "PRAGMA user_version",
    "PRAGMA table_list(book)", "PRAGMA database_list", "PRAGMA foreign_key_check",
    "PRAGMA application_id",
    "SELECT name, \"notnull\" FROM pragma_table_info('book')", "EXPLAIN QUERY PLAN SELECT * FROM book WHERE id = 1",
    "EXPLAIN SELECT 1", "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name", "SELECT sqlite_version()",
    // Wide and long
    "SELECT " + (1...300).map { "\($0) AS c\($0)" }.joined(separator: ", "),
    "SELECT id, '" + String(repeating: "wide ", count: 4000) + "' AS w FROM tag",
    "SELECT " + (0..<200).map { "(\($0))" }.joined(separator: " + "),
  ]

  private func written(_ format: AnswerFormat, _ query: String, header: Bool = true) async throws -> Data {
    let bytes = Locked(Data())
    var output = RowOutput(format) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
    output.hasHeader = header
    // As `quire query` opens it: models are read when they are asked for.
    try await library.session { $0.readsModels = false }.run(query, to: output) { _ in }
    return bytes.withLock { $0 }
  }

  private func theirs(_ words: [String], _ query: String) throws -> Data {
    try SQLiteProgram.answer(query, of: library.file, words)
  }

  @Test(arguments: queries) func `values and JSON are those of the sqlite3 program, byte for byte`(query: String)
    async throws
  {
    let values = try theirs(["-list", "-noheader", "-separator", "\n"], query)
    let own = try await written(.value, query)
    #expect(SQLiteProgram.isSame(own, values), "\(Text(own))\n\(Text(values))")
    // The program prints nothing at all where there are no rows, and the same name twice in an object.
    let json = try theirs(["-json"], query)
    let ownJSON = try await written(.json, query)
    if json.isEmpty {
      #expect(Text(ownJSON).text == "[]\n")
    } else {
      #expect(SQLiteProgram.isSame(ownJSON, json), "\(Text(ownJSON))\n\(Text(json))")
    }
  }

  @Test(arguments: queries) func `CSV and lines have the values of the sqlite3 program`(query: String) async throws {
    let theirs = try SQLiteProgram.records(self.theirs(["-csv", "-header"], query))
    let own = try SQLiteProgram.records(await written(.csv, query))
    // Without rows the program leaves the names out.
    let count = theirs.isEmpty ? 0 : own.count
    #expect(theirs.count == count && zip(own, theirs).allSatisfy(Self.isSame), "\(own)\n\(theirs)")
    guard !theirs.contains(where: { $0.contains { $0.unicodeScalars.contains(where: isControl) } }) else { return }
    let lines = try SQLiteProgram.lines(self.theirs(["-line"], query), " = ")
    let ownLines = SQLiteProgram.lines(try await written(.line, query), "  ")
    #expect(lines.count == ownLines.count && zip(ownLines, lines).allSatisfy(Self.isSame), "\(ownLines)\n\(lines)")
  }

  private static func isSame(_ own: [String], _ other: [String]) -> Bool {
    own.count == other.count
      && zip(own, other).allSatisfy {
        SQLiteProgram.isSameReal($0, $1) || $0 == "NULL" && $1.isEmpty || $0.drop { $0 == " " } == $1.drop { $0 == " " }
      }
  }

  private struct Text: CustomStringConvertible {
    let text: String
    init(_ data: Data) { text = String(decoding: data, as: UTF8.self) }
    var description: String { String(text.prefix(2000)) }
  }

  @Test(arguments: [
    "SELEC 1", "SELECT", "SELECT 1 FROM nothing", "SELECT nothing FROM book", "SELECT 1 +", "SELECT 'open",
    "SELECT max(count(*)) FROM book", "SELECT 1; SELECT nothing", "SELECT * FROM book WHERE title MATCH 'x'",
    "SELECT json('{')", "SELECT abs(-9223372036854775808)", "INSERT INTO tag VALUES (9, 'x')", "DROP TABLE tag",
    "SELECT 1 UNION SELECT 1, 2", "SELECT zeroblob(3000000000)",
  ])
  func `what the sqlite3 program refuses is refused`(query: String) async throws {
    #expect(throws: SQLiteProgram.Failure.self) { try theirs(["-csv"], query) }
    await #expect(throws: ShellFailure.self) { try await written(.csv, query) }
  }

  @Test func `what differs, and how`() async throws {
    func both(_ format: AnswerFormat, _ words: [String], _ query: String) async throws -> [String] {
      try await [Text(written(format, query)).text, Text(theirs(words, query)).text]
    }
    // Bytes: the program writes them as they are, which cannot be told from text, and may be none.
    #expect(try await both(.csv, ["-csv"], "SELECT x'4142' AS x") == ["x\nx'4142'\n", "AB\n"])
    #expect(
      try await both(.json, ["-json"], "SELECT x'4142' AS x") == [
        "[{\"x\":{\"base64\":\"QUI=\"}}]\n", "[{\"x\":\"AB\"}]\n",
      ])
    // Infinity: JSON has none, and what the program writes is another number, or none.
    #expect(
      try await Text(written(.json, "SELECT 1e999 AS x, -1e999 AS y")).text
        == "[{\"x\":\"Infinity\",\"y\":\"-Infinity\"}]\n")
    // Two columns of one name: an object has each name once.
    #expect(
      try await both(.json, ["-json"], "SELECT 1 AS x, 2 AS x") == ["[{\"x\":1,\"x:2\":2}]\n", "[{\"x\":1,\"x\":2}]\n"])
    // Text in double quotes is a name that is not there.
    #expect(try !theirs(["-csv"], "SELECT \"no column\"").isEmpty)
    await #expect(throws: ShellFailure.self) { try await written(.csv, "SELECT \"no column\"") }
    // Reals in JSON: as many digits as make it the same number again.
    #expect(
      try await both(.json, ["-json"], "SELECT 0.1 + 0.2 AS x")
        == ["[{\"x\":0.30000000000000004}]\n", "[{\"x\":0.3000000000000000444}]\n"])
    // Keys are checked.
    #expect(try await both(.value, ["-list", "-noheader"], "PRAGMA foreign_keys") == ["1\n", "0\n"])
  }
}
