import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// Text in double quotes: the file's own may be strings, what is given to a connection never is.
@Suite struct QuotedNamesTests {
  private let scratch: Scratch
  private let connection: Connection

  init() throws {
    scratch = try Scratch()
    let other = try Connection(migrating: scratch.file(), access: .create, busyTimeout: .zero)
    other.takesQuotedStrings = true
    _ = try other.run(
      script: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, state TEXT DEFAULT 'new' CHECK (state IN ("new", "old")), "my n" INT);
        CREATE TABLE log (m);
        CREATE TABLE j (body TEXT, kind AS (upper(body || "!")));
        CREATE INDEX j_kind ON j (upper(body || "!")) WHERE body <> "";
        CREATE VIEW v AS SELECT "x" || id AS y, state FROM t WHERE state <> "none";
        CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES ("inserted " || new.id); END;
        CREATE TRIGGER i INSTEAD OF INSERT ON v BEGIN INSERT INTO t (state) VALUES (coalesce(new.state, "old")); END;
        """, inTransaction: false)
    connection = try Connection(path: scratch.file(), access: .readWrite)
    try connection.execute("INSERT INTO t (\"my n\") VALUES (7)")
  }

  @Test func `a column whose name has quotes of its own keeps them`() throws {
    try connection.execute("CREATE TABLE q (\"`q`\" INT, \"[q]\" INT, \"\"\"q\"\"\" INT)")
    let names = ["`q`", "[q]", "\"q\""]
    #expect(try connection.query("SELECT * FROM \"q\"").columns == names)
    #expect(try connection.query("SELECT \"q\".* FROM \"q\"").columns == names)
    #expect(try connection.query("SELECT \"[q]\" + 1 FROM \"q\"").columns == ["\"[q]\" + 1"])
  }

  @Test func `a file's own views, triggers, checks and indexes may hold strings in double quotes`() throws {
    #expect(try connection.query("SELECT y FROM v").rows == [["x1"]])
    #expect(try connection.query("SELECT m FROM log").rows == [["inserted 1"]])
    try connection.execute("INSERT INTO v (state) VALUES (NULL)")
    #expect(try connection.query("SELECT state FROM v").rows == [["new"], ["old"]])
    #expect(throws: SQLiteError.self) { try connection.execute("UPDATE t SET state = 'other'") }
    try connection.execute("INSERT INTO j (body) VALUES ('book')")
    #expect(try connection.query("SELECT kind FROM j").rows == [["BOOK!"]])
    try connection.execute("ALTER TABLE t RENAME COLUMN \"my n\" TO \"n\"")
    try connection.execute("ALTER TABLE t DROP COLUMN \"n\"")
    #expect(try connection.query("SELECT y FROM v").rows == [["x1"], ["x2"]])
  }

  @Test(
    arguments: [
      "SELECT \"nosuch\"", "SELECT \"nosuch\" FROM t", "SELECT \"nosuch\" FROM v",
      "SELECT id FROM t WHERE state = \"new\"",
      "SELECT y FROM v WHERE y = \"x1\"", "UPDATE t SET state = \"old\"", "INSERT INTO log VALUES (\"text\")",
      "INSERT INTO t (state) VALUES (\"old\")", "DELETE FROM t WHERE state = \"x\"", "SELECT (SELECT \"x\") FROM v",
      "CREATE TABLE u (a CHECK (a IN (\"b\")))", "CREATE INDEX ti ON t (\"nosuch\")",
      "CREATE TABLE u AS SELECT \"x\" AS a",
      "CREATE TABLE u (a, b AS (a || \"x\"))", "WITH c AS (SELECT \"x\") SELECT * FROM c", "EXPLAIN SELECT \"nosuch\"",
      "SELECT 1 -- \"\n, \"nosuch\"", "SELECT '\"', /* \" */ \"nosuch\"", "SELECT \"no\"\"such\"", "SELECT \"no`such\"",
    ])
  func `a name with a typing error stays an error, whatever the file's own text says`(sql: String) throws {
    let error = #expect(throws: SQLiteError.self) { try connection.query(sql) }
    #expect(error?.message.contains("no such column") == true && error?.sql == sql)
    if let offset = error?.offset { #expect(Array(sql.utf8)[offset] == UInt8(ascii: "\"")) }
  }

  @Test func `names with quotes and backticks in them are found`() throws {
    try connection.execute(#"CREATE TABLE "a""b" ("c`d" TEXT, "e""f" INT, [g"h] INT, "" INT)"#)
    try connection.execute(#"INSERT INTO "a""b" VALUES ('text', 2, 3, 4)"#)
    let found = try connection.query(#"SELECT "c`d", "e""f", [g"h], "", "e""f" + 1 FROM "a""b" WHERE "c`d" = 'text'"#)
    #expect(found.rows == [["text", 2, 3, 4, 3]])
    #expect(found.columns == ["c`d", "e\"f", "g\"h", "", "\"e\"\"f\" + 1"])
  }

  @Test func `definitions are kept, and statements and columns called, as they were written`() throws {
    try connection.execute("CREATE TABLE \"u\" (\"a\" TEXT CHECK (\"a\" <> ''))")
    #expect(
      try connection.query("SELECT sql FROM sqlite_schema WHERE name = 'u'").first
        == "CREATE TABLE \"u\" (\"a\" TEXT CHECK (\"a\" <> ''))")
    try connection.execute("CREATE TABLE w AS SELECT \"a\" || 'x' FROM u")
    #expect(try connection.query("SELECT name FROM pragma_table_info('w')").first == "\"a\" || 'x'")
    let statement = try connection.prepare("SELECT \"a\" || '`', \"a\", \"a\" AS \"b\" FROM \"u\" ")
    #expect(statement.sql == "SELECT \"a\" || '`', \"a\", \"a\" AS \"b\" FROM \"u\" ")
    #expect(statement.columnNames == ["\"a\" || '`'", "a", "b"])
  }

  @Test func `a statement that is kept stays strict when a column goes`() throws {
    let kept = try connection.prepare("SELECT \"my n\" FROM t")
    try connection.execute("ALTER TABLE t DROP COLUMN \"my n\"")
    #expect(throws: SQLiteError.self) { try kept.step() }
  }
}
