import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// `.dump` of what needs more than its statements: an index's text, or what only the program that made the file adds to
/// SQLite. It is named, and the rest can be written.
@Suite(.fewAtOnce) struct DumpNeedsTests {
  @Test(arguments: [
    "fts5 (a, content = 't', content_rowid = 'idd')", "fts5 (b, content = 't')", "fts4 (a, content=\"u\")",
    "fts4 (a, c, content=\"t\")", "fts5 (a, content = 'v')",
  ])
  func `an index whose text has gone is made if it is empty, and refused if it is not`(index: String) async throws {
    let library = try Library(
      """
      CREATE TABLE t (a); CREATE TABLE u (a); CREATE VIEW v AS SELECT own(a) AS a FROM t;
      CREATE VIRTUAL TABLE x USING \(index); DROP TABLE u;
      """)
    let text = String(decoding: try await library.session().dumped(), as: UTF8.self)
    #expect(text.contains("CREATE VIRTUAL TABLE x USING \(index);\n") && !text.contains("rebuild"))
    _ = try Library(text)
    let column = index.contains("(b") ? "b" : "a"
    try Connection(path: library.file.path, access: .readWrite).execute(
      "INSERT INTO x (rowid, \(column)) VALUES (1, 'word')")
    let failure = await (try library.session()).failure(".dump")
    #expect(
      failure.hasPrefix("x cannot be written as statements: it is an index of a text that cannot be read (no such "),
      "\(failure)")
  }

  @Test(arguments: [("fts5", "docsize"), ("fts4", "segdir")])
  func `a trigger on a table of a full-text index is written, and that table is not`(module: String, table: String)
    async throws
  {
    let trigger = "CREATE TRIGGER counted AFTER INSERT ON f_\(table) BEGIN UPDATE n SET c = c + 1; END"
    let library = try Library(
      "CREATE TABLE n (c); INSERT INTO n VALUES (0); CREATE VIRTUAL TABLE f USING \(module) (a); \(trigger); "
        + "INSERT INTO f VALUES ('x');")
    let text = String(decoding: try await library.session().dumped(), as: UTF8.self)
    #expect(text.contains(trigger) && !text.contains("CREATE TABLE 'f_"), "\(text)")
    let copy = try Library(text + "INSERT INTO f VALUES ('y');")
    let connection = try Connection(path: copy.file.path, access: .readOnly)
    #expect(try connection.query("SELECT c FROM n").rows == [[.integer(2)]])
  }

  @Test(arguments: [
    ("CREATE VIRTUAL TABLE x USING vec0 (a)", "no such module: vec0"),
    ("CREATE VIRTUAL TABLE x USING fts5 (a, tokenize = 'stemming')", "no such tokenizer: stemming"),
    ("CREATE VIRTUAL TABLE x USING fts5 (a, tokenize = 'porter stemming')", "its tokenizer needs another"),
    ("CREATE VIRTUAL TABLE x USING fts3 (a, tokenize = stemming)", "unknown tokenizer: stemming"),
  ])
  func `a virtual table that needs the program that made it is named, and the other tables can be written`(
    sql: String, missing: String
  ) async throws {
    let library = try Library("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    try library.rewriteSchema(
      "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, '\(sql.replacing("'", with: "''"))')")
    let session = try library.session()
    #expect(
      await session.failure(".dump")
        == "x cannot be written as statements: \(missing), which the program that made the file adds to SQLite\n"
        + ".dump TABLE … leaves it out; quire backup FILE COPY copies the whole file")
    #expect(try await session.said(".dump t").contains("INSERT INTO \"t\" (\"rowid\", \"a\") VALUES (1, 1);"))
  }

  @Test func `a table whose rows are in the order of a collation that is missing is named, and why it cannot be read`()
    async throws
  {
    let library = try Library(
      "CREATE TABLE t (a); CREATE TABLE tag (name TEXT PRIMARY KEY COLLATE nocase) WITHOUT ROWID; INSERT INTO tag VALUES (1);"
    )
    try library.rewriteSchema("UPDATE sqlite_schema SET sql = replace(sql, 'nocase', 'unicase')")
    let session = try library.session()
    #expect(
      await session.failure(".dump")
        == "tag cannot be written as statements: its key has a collation that the program that made the file adds to SQLite\n"
        + ".dump TABLE … leaves it out; quire backup FILE COPY copies the whole file")
    #expect(
      await session.failure("select * from tag;")
        == "no query solution\na table WITHOUT ROWID cannot be read if its key has a collation that only the program that "
        + "made the file has; nor can a query use an index after INDEXED BY that does not serve it")
    #expect(try await session.said(".dump t").contains("CREATE TABLE t (a);"))
  }

  @Test(arguments: ["attached.book", "attached . \"book\"", "\"attached\"./* of all */[book]"])
  func `a trigger made by a program that had attached the file is one of the file that is made`(table: String)
    async throws
  {
    let library = try Library("CREATE TABLE book (id INTEGER PRIMARY KEY, title, length)")
    let other = try Connection.inMemory()
    try other.execute("ATTACH '\(library.file.path)' AS attached")
    try other.execute(
      """
      CREATE TRIGGER attached.measure AFTER UPDATE OF title ON \(table)
      BEGIN UPDATE book SET length = length(new.title) WHERE id = new.id AND 'on a.b' <> ''; END
      """)
    let copy = try Library(String(decoding: try await library.session().dumped(), as: UTF8.self))
    let changed =
      "insert into book values (1, 'Eden', 0); update book set title = 'Solaris' where id = 1; select length from book;"
    #expect(try await copy.writing().column(changed) == [7])
  }

  @Test func `what statements cannot make again is refused, and the other tables can be written`() async throws {
    let library = try Library(
      "CREATE TABLE a (x); CREATE VIRTUAL TABLE bare USING fts5 (t, content=''); INSERT INTO bare (rowid, t) VALUES (1, 'x');"
    )
    let failure = await (try library.session()).failure(".dump")
    #expect(
      failure == """
        bare cannot be written as statements: it is an index without the text that was put into it
        .dump TABLE … leaves it out; quire backup FILE COPY copies the whole file
        """)
    #expect(try await library.session().dumped(".dump a").split(separator: 10).count == 5)
  }
}
