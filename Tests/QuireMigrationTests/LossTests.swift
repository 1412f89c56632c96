import Foundation
import QuireMigration
import QuireSQLite
import Testing

@Suite struct LossTests {
  let fixture: Fixture

  init() throws {
    fixture = try Fixture()
    try fixture.makeDatabase(
      """
      CREATE TABLE Book (id INTEGER PRIMARY KEY, title TEXT, note TEXT);
      INSERT INTO Book VALUES (1, 'Solaris', 'x'), (2, 'Eden', NULL), (3, 'Fiasko', 'y');
      CREATE TABLE empty (a);
      """)
  }

  private func losses(_ sql: String) throws -> [MigrationLoss]? {
    try fixture.write(sql, as: "20260101000000_loss.sql")
    let before = try fixture.bytes()
    do {
      try fixture.migrator().apply()
      return nil
    } catch {
      guard case .destructive(let losses, _)? = error as? MigrationError else { throw error }
      #expect(try fixture.bytes() == before)
      return losses
    }
  }

  @Test(arguments: [
    (
      """
      CREATE TEMP TABLE keep AS SELECT id, title FROM Book; DROP TABLE Book;
      CREATE TABLE Book (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO Book SELECT * FROM keep; DROP TABLE keep;
      """, MigrationLoss(table: "Book", column: "note", count: 2, rows: 3)
    ),
    (
      """
      CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT, note TEXT); INSERT INTO n SELECT * FROM Book WHERE id < 3;
      INSERT INTO n VALUES (9, 'seed', 'z'); DROP TABLE Book; ALTER TABLE n RENAME TO Book;
      """, MigrationLoss(table: "Book", column: nil, count: 1, rows: 3)
    ),
    (
      "DROP TABLE Book; ALTER TABLE other RENAME TO Book;", MigrationLoss(table: "Book", column: nil, count: 3, rows: 3)
    ),
    (
      "DROP TABLE Book; ALTER TABLE half RENAME TO Book;",
      MigrationLoss(table: "Book", column: "note", count: 2, rows: 3)
    ),
    (
      """
      -- a title
      -- migrate: foreign-keys on
      CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT, note TEXT); INSERT INTO n SELECT * FROM Book;
      DROP TABLE Book; ALTER TABLE n RENAME TO Book;
      """,
      MigrationLoss(
        table: "page", column: nil, count: 2, rows: 2, change: "they refer to Book, which is dropped")
    ),
  ])
  func `what a rebuild by another way loses is found`(sql: String, loss: MigrationLoss) throws {
    try fixture.makeDatabase(
      """
      CREATE TABLE other (id INTEGER PRIMARY KEY, title TEXT, note TEXT);
      INSERT INTO other VALUES (1, 'r', 'r'), (2, 's', 's'), (3, 't', 't');
      CREATE TABLE half (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO half SELECT id, title FROM Book;
      CREATE TABLE page (id INTEGER PRIMARY KEY, book INTEGER REFERENCES Book (id) ON DELETE CASCADE);
      INSERT INTO page VALUES (1, 1), (2, 2);
      """)
    #expect(try losses(sql) == [loss])
  }

  private static let rebuild = """
    CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT, note TEXT); INSERT INTO n SELECT * FROM Book;
    DROP TABLE Book; ALTER TABLE n RENAME TO Book;
    """

  @Test(arguments: [
    ("SET NULL", rebuild, ["clears page.book: 2 of 3 values: they refer to Book, which is dropped"]),
    ("SET DEFAULT", rebuild, ["clears page.book: 2 of 3 values: they refer to Book, which is dropped"]),
    (
      "CASCADE", "REPLACE INTO Book VALUES (1, 'Solaris 2', 'x'); INSERT OR REPLACE INTO Book VALUES (2, 'E', 'x');",
      ["deletes 2 of the 3 rows of page: they refer to Book, whose rows are replaced"]
    ),
    (
      "SET NULL", "WITH b AS (SELECT * FROM Book) REPLACE INTO Book SELECT * FROM b;",
      ["clears page.book: 2 of 3 values: they refer to Book, whose rows are replaced"]
    ),
    ("SET NULL", "DELETE FROM Book WHERE id = 1;", nil),
    ("CASCADE", "DELETE FROM Book; SELECT replace('a', 'b', 'c');", nil),
    ("NO ACTION", "UPDATE OR REPLACE Book SET title = upper(title);", nil),
  ])
  func `what the action of a key takes is found where rows are not deleted expressly`(
    action: String, sql: String, said: [String]?
  ) throws {
    try fixture.makeDatabase(
      """
      INSERT INTO Book VALUES (0, 'none', NULL);
      CREATE TABLE page (id INTEGER PRIMARY KEY, book INTEGER DEFAULT 0 REFERENCES Book (id) ON DELETE \(action)
        DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO page VALUES (1, 1), (2, 2), (3, NULL);
      """)
    #expect(try losses("-- a title\n-- migrate: foreign-keys on\n" + sql)?.map { "\($0)" } == said)
  }

  @Test(arguments: [
    """
    CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT, note TEXT); INSERT INTO n (title, note) SELECT title, note FROM Book
    WHERE id > 0 ORDER BY id DESC; DROP TABLE Book; ALTER TABLE n RENAME TO Book;
    """,
    """
    CREATE TEMP TABLE keep AS SELECT * FROM Book; CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT, note TEXT);
    DROP TABLE Book; ALTER TABLE n RENAME TO Book; INSERT INTO Book SELECT * FROM keep;
    """,
    "ALTER TABLE Book RENAME TO b; CREATE TABLE Book AS SELECT id, upper(title) AS title, note FROM b; DROP TABLE b;",
  ])
  func `a rebuild that numbers rows anew, fills the table later or changes values loses none`(sql: String) throws {
    #expect(try losses(sql) == nil)
  }

  @Test(arguments: [
    ("id INTEGER PRIMARY KEY, note TEXT, title TEXT", "*", true),
    ("note TEXT, title TEXT, id INTEGER PRIMARY KEY", "note, title, id", false),
    ("id INTEGER PRIMARY KEY, note BLOB, title TEXT COLLATE NOCASE", "id, title, note", true),
    ("id INTEGER PRIMARY KEY, note TEXT, title TEXT", "id, note, title", false),
    ("id INTEGER PRIMARY KEY, title TEXT, note TEXT", "id, title, title", false),
    ("id INTEGER PRIMARY KEY, title TEXT, note TEXT", "id, upper(note), lower(title)", false),
    ("id INTEGER PRIMARY KEY, note TEXT, title TEXT) WITHOUT ROWID; --", "*", true),
  ])
  func `columns that a rebuild has exchanged are found`(columns: String, selected: String, isFound: Bool) throws {
    let losses = try losses(
      """
      CREATE TABLE n (\(columns)
      ); INSERT INTO n SELECT \(selected) FROM Book; DROP TABLE Book; ALTER TABLE n RENAME TO Book;
      """.replacing("--\n)", with: ""))
    let found = losses?.map { "\($0)" }.filter { $0.contains("those of") } ?? []
    #expect(
      found
        == (isFound
          ? [
            "exchanges Book.note: 3 of 3 values: they are those of title, as the columns stand in another order",
            "exchanges Book.title: 3 of 3 values: they are those of note, as the columns stand in another order",
          ] : []))
  }

  @Test func `columns that go round in a circle are found, of tables without a key or with several columns in it, too`()
    throws
  {
    for (key, option) in [("", ""), (", PRIMARY KEY (k, l)", " WITHOUT ROWID")] {
      try fixture.makeDatabase(
        """
        DROP TABLE IF EXISTS t; CREATE TABLE t (k INTEGER, l TEXT, a INTEGER, b TEXT, c REAL\(key))\(option);
        INSERT INTO t VALUES (1, 'x', 10, 'ten', 0.5), (1, 'y', 20, 'twenty', 1.5), (2, 'x', NULL, NULL, NULL);
        """)
      let losses = try losses(
        """
        CREATE TABLE n (k INTEGER, l TEXT, c REAL, a INTEGER, b TEXT\(key));
        INSERT INTO n SELECT * FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t;
        """)
      #expect(losses?.map(\.column) == ["a", "b", "c"] && losses?.allSatisfy { $0.count == 2 && $0.rows == 3 } == true)
    }
  }

  @Test(arguments: [
    ("a, b", "b, a, PRIMARY KEY (a)) WITHOUT ROWID; --"), ("rowid, a, b", "rowid, b, a); --"),
  ])
  func `tables whose rows cannot be told apart by a number are rebuilt all the same`(old: String, new: String) throws {
    try fixture.makeDatabase("CREATE TABLE t (\(old)); INSERT INTO t (a, b) VALUES ('x', 'y'), ('z', 'w');")
    #expect(
      try losses(
        """
        CREATE TABLE n (\(new)
        INSERT INTO n (a, b) SELECT a, b FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t;
        """) == nil)
  }

  static let note = MigrationLoss(table: "Book", column: "note", count: 2, rows: 3)

  @Test(arguments: [
    "ALTER TABLE book DROP COLUMN NOTE;",
    "ALTER TABLE main.\"Book\" DROP note;",
    """
    CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO n SELECT id, title FROM Book;
    DROP TABLE Book; ALTER TABLE n RENAME TO Book;
    """,
    """
    ALTER TABLE Book RENAME TO old; CREATE TABLE Book (id INTEGER PRIMARY KEY, title TEXT);
    INSERT INTO Book SELECT id, title FROM old; DROP TABLE IF EXISTS old;
    """,
  ])
  func `a column that goes with its values is refused with how many there are`(sql: String) throws {
    #expect(try losses(sql) == [Self.note])
  }

  @Test func `a table that goes with its rows is refused, and so are rows that a rebuild leaves out`() throws {
    #expect(try losses("DROP TABLE Book;") == [MigrationLoss(table: "Book", column: nil, count: 3, rows: 3)])
    let rebuilt = """
      CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT, note TEXT); INSERT INTO n SELECT * FROM Book WHERE id < 3;
      DROP TABLE Book; ALTER TABLE n RENAME TO Book;
      """
    #expect(try losses(rebuilt) == [MigrationLoss(table: "Book", column: nil, count: 1, rows: 3)])
  }

  @Test(arguments: [
    "DROP TABLE empty;",
    "ALTER TABLE Book RENAME COLUMN note TO remark;",
    "ALTER TABLE Book ADD COLUMN remark TEXT; UPDATE Book SET remark = note; ALTER TABLE Book DROP COLUMN note;",
    """
    CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT NOT NULL, remark TEXT);
    INSERT INTO n SELECT * FROM Book; DROP TABLE Book; ALTER TABLE n RENAME TO Book;
    """,
    "CREATE TABLE own (a); INSERT INTO own VALUES (1); DROP TABLE own;",
    "ALTER TABLE Book ADD COLUMN empty; ALTER TABLE Book DROP COLUMN empty;",
    "-- migrate: allow M001 nobody reads it\nALTER TABLE Book DROP COLUMN note;",
    "DELETE FROM Book; DROP INDEX IF EXISTS nosuch;",
  ])
  func `what loses no value, or says that it is meant, runs`(sql: String) throws {
    #expect(try losses(sql) == nil)
  }

  @Test(arguments: [
    "INSERT INTO n (id, title) SELECT id, title FROM Book;",
    "INSERT INTO n SELECT id, title, NULL FROM Book;", "INSERT INTO n SELECT id, title, '' FROM Book;",
    "INSERT OR REPLACE INTO main.\"n\" AS m (\"id\", [title]) SELECT id, title FROM Book;",
    "WITH b AS (SELECT * FROM Book) INSERT INTO n (id, title) SELECT id, title FROM b;",
    "INSERT INTO n (title, id) VALUES ('Solaris', 1), ('Eden', 2), ('Fiasko', 3);",
  ])
  func `a column whose values a rebuild leaves out is refused with how many there were`(copy: String) throws {
    for column in ["note TEXT", "note TEXT DEFAULT 'none'"] where column == "note TEXT" || copy.contains("(") {
      let sql = """
        CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT NOT NULL, \(column)); \(copy)
        DROP TABLE Book; ALTER TABLE n RENAME TO Book;
        """
      #expect(try losses(sql) == [Self.note])
    }
  }

  @Test func `values that a rebuild loses in part are counted`() throws {
    let sql = """
      CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT, note TEXT);
      INSERT INTO n SELECT id, title, nullif(note, 'y') FROM Book; DROP TABLE Book; ALTER TABLE n RENAME TO Book;
      """
    #expect(try losses(sql) == [MigrationLoss(table: "Book", column: "note", count: 1, rows: 3)])
  }

  @Test(arguments: [
    ("TEXT", "INTEGER", "'007', '7', 'abc', ''", 1, "007 becomes 7"),
    ("TEXT", "NUMERIC", "'1.50', '2.5', NULL, 'v1'", 1, "1.50 becomes 1.5"),
    ("", "INT", "'+5', 5, x'00', '5'", 1, "+5 becomes 5"),
    ("REAL", "TEXT", "0.30000000000000004, 1.5, 2, NULL", 1, "0.3 becomes 0.3"),
    ("INTEGER", "REAL", "9007199254740993, 1, 2, NULL", 1, "9007199254740993 becomes 9007199254740992"),
    ("TEXT", "REAL", "'01.5', '7', 'x', NULL", 1, "01.5 becomes 1.5"),
    ("VARCHAR(10)", "DECIMAL(10)", "'007', '0080', '9', '10'", 2, "007 becomes 7"),
  ])
  func `values that a new type makes others of are refused with one of them`(
    old: String, new: String, values: String, count: Int, change: String
  ) throws {
    let list = values.split(separator: ", ").map { "(\($0))" }.joined(separator: ", ")
    try fixture.makeDatabase("CREATE TABLE c (code \(old)); INSERT INTO c VALUES \(list);")
    let sql = "CREATE TABLE n (code \(new)); INSERT INTO n SELECT code FROM c; DROP TABLE c; ALTER TABLE n RENAME TO c;"
    #expect(try losses(sql) == [MigrationLoss(table: "c", column: "code", count: count, rows: 4, change: change)])
  }

  @Test(arguments: [
    ("TEXT", "INTEGER", "'7', '12', 'abc', NULL"), ("INTEGER", "TEXT", "7, 12, NULL, -1"),
    ("INTEGER", "REAL", "7, 12, NULL, -1"), ("REAL", "TEXT", "0.5, 1e300, NULL, -1"),
    ("TEXT", "BLOB", "'007', 'a', '', NULL"),
    ("TEXT", "VARCHAR(3)", "'007', 'a', '', NULL"), ("TEXT", "REAL", "'7', '1.5', 'x', NULL"),
  ])
  func `a new type that keeps every value, or gives it back, is none`(old: String, new: String, values: String) throws {
    let list = values.split(separator: ", ").map { "(\($0))" }.joined(separator: ", ")
    try fixture.makeDatabase("CREATE TABLE c (code \(old)); INSERT INTO c VALUES \(list);")
    let sql = "CREATE TABLE n (code \(new)); INSERT INTO n SELECT code FROM c; DROP TABLE c; ALTER TABLE n RENAME TO c;"
    #expect(try losses(sql) == nil)
  }

  @Test(arguments: [
    "INSERT INTO n (id, title, note) SELECT id, upper(title), coalesce(note, '') FROM Book;",
    "INSERT INTO n (id, title) SELECT id, title FROM Book; UPDATE n SET note = (SELECT note FROM Book b WHERE b.id = n.id);",
    "INSERT INTO n SELECT id, title, CASE note WHEN 'x' THEN 'y' ELSE note END FROM Book;",
  ])
  func `a rebuild that fills its columns otherwise is none`(copy: String) throws {
    #expect(
      try losses(
        """
        CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT NOT NULL, note TEXT); \(copy)
        DROP TABLE Book; ALTER TABLE n RENAME TO Book;
        """) == nil)
  }

  @Test func `a full-text index over a table that has changed can be dropped, and is no loss`() throws {
    try fixture.makeDatabase(
      "CREATE VIRTUAL TABLE f USING fts5(note, content='Book', content_rowid='id'); INSERT INTO f(f) VALUES ('rebuild');"
    )
    #expect(
      try losses(
        """
        ALTER TABLE Book RENAME COLUMN note TO remark; DROP TABLE f;
        CREATE VIRTUAL TABLE f USING fts5(remark, content='Book', content_rowid='id');
        """) == nil)
    try fixture.sqlite { _ = try $0.rows("CREATE VIRTUAL TABLE own USING fts5(note)") }
    try fixture.sqlite { _ = try $0.rows("INSERT INTO own VALUES ('a')") }
    try fixture.write("DROP TABLE own;", as: "20260102000000_own.sql")
    #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
  }

  @Test(arguments: ["DROP TABLE Book;", "ALTER TABLE Book DROP COLUMN note;"])
  func `without a transaction a loss is refused, too`(sql: String) throws {
    #expect(try losses("-- migrate: no-transaction\n" + sql)?.count == 1)
  }

  @Test func `a loss reads as a sentence`() {
    let changed = MigrationLoss(table: "Book", column: "code", count: 2, rows: 9, change: "007 becomes 7")
    #expect("\(changed)" == "changes Book.code: 2 of 9 values by its new type, 007 becomes 7")
    #expect("\(Self.note)" == "drops Book.note: 2 of 3 rows have a value there")
    #expect("\(MigrationLoss(table: "Book", column: nil, count: 2001, rows: 2001))" == "drops Book with its 2 001 rows")
    #expect(
      "\(MigrationLoss(table: "Book", column: nil, count: 1, rows: 1_002_001))"
        == "rebuilds Book without 1 of its 1 002 001 rows")
  }
}
