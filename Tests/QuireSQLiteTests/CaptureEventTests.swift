import CSQLite
import Foundation
import QuireRow
import Testing

@testable import QuireSQLite

/// What each kind of statement is captured as: the lines of the engine notes' table A1.
@Suite struct CaptureEventTests {
  let books = "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT UNIQUE, year INTEGER) STRICT;"

  @Test func `insert, update and delete arrive with old and new values`() throws {
    let store = try Recorded(books)
    #expect(
      try store.run("INSERT INTO book VALUES (1, 'A', 1990), (2, 'B', 1991)") == [
        "+ book 1 (1, 'A', 1990)", "+ book 2 (2, 'B', 1991)",
      ])
    #expect(try store.run("UPDATE book SET year = 2000 WHERE id = 1") == ["~ book 1 (1, 'A', 1990) → (1, 'A', 2000)"])
    #expect(try store.run("DELETE FROM book WHERE id = 2") == ["- book 2 (2, 'B', 1991)"])
  }

  @Test func `an upsert arrives as what it did`() throws {
    let store = try Recorded(books + "INSERT INTO book VALUES (1, 'A', 1);")
    let upsert = "INSERT INTO book VALUES (1, 'A', 2), (2, 'B', 3) ON CONFLICT (id) DO UPDATE SET year = excluded.year"
    #expect(try store.run(upsert) == ["~ book 1 (1, 'A', 1) → (1, 'A', 2)", "+ book 2 (2, 'B', 3)"])
  }

  @Test func `a trigger's rows arrive, and the transaction says they were indirect`() throws {
    let store = try Recorded(
      books + """
        CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT);
        CREATE TRIGGER note AFTER INSERT ON book BEGIN INSERT INTO log (what) VALUES (new.title); END;
        """)
    let lines = try store.write { transaction in
      try transaction.connection.execute("INSERT INTO book VALUES (1, 'A', 1)")
      #expect(transaction.eventCount == 2)
      #expect(transaction.hasIndirectEvents)
    }
    #expect(lines == ["+ book 1 (1, 'A', 1)", "+ log 1 (1, 'A')"])
  }

  @Test func `cascades arrive, one row each`() throws {
    let store = try Recorded(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY);
      CREATE TABLE book (id INTEGER PRIMARY KEY, author_id REFERENCES author ON DELETE CASCADE ON UPDATE CASCADE);
      CREATE TABLE note (id INTEGER PRIMARY KEY, author_id REFERENCES author ON DELETE SET NULL);
      INSERT INTO author VALUES (1), (2); INSERT INTO book VALUES (1, 1), (2, 1), (3, 2); INSERT INTO note VALUES (1, 1);
      """)
    #expect(
      try Set(store.run("DELETE FROM author WHERE id = 1")) == [
        "- author 1 (1)", "- book 1 (1, 1)", "- book 2 (2, 1)", "~ note 1 (1, 1) → (1, NULL)",
      ])
    #expect(
      try Set(store.run("UPDATE author SET id = 9")) == [
        "- author 2 (2)", "+ author 9 (9)", "~ book 3 (3, 2) → (3, 9)",
      ])
  }

  @Test func `a replaced row is one update`() throws {
    let store = try Recorded(books + "INSERT INTO book VALUES (1, 'A', 1);")
    #expect(try store.run("REPLACE INTO book VALUES (1, 'A', 2)") == ["~ book 1 (1, 'A', 1) → (1, 'A', 2)"])
  }

  @Test func `a row that a replacement evicts through a unique index is a deletion`() throws {
    let store = try Recorded(books + "INSERT INTO book VALUES (1, 'A', 1), (2, 'B', 2);")
    #expect(
      try Set(store.run("REPLACE INTO book VALUES (1, 'B', 3)")) == [
        "- book 2 (2, 'B', 2)", "~ book 1 (1, 'A', 1) → (1, 'B', 3)",
      ])
    #expect(try store.run("INSERT INTO book VALUES (5, 'E', 5)").count == 1)
    #expect(
      try Set(store.run("UPDATE OR REPLACE book SET title = 'E' WHERE id = 1")) == [
        "- book 5 (5, 'E', 5)", "~ book 1 (1, 'B', 3) → (1, 'E', 3)",
      ])
  }

  @Test func `WITHOUT ROWID tables arrive by their key`() throws {
    let store = try Recorded(
      "CREATE TABLE co (book INTEGER, author INTEGER, share REAL, PRIMARY KEY (book, author)) WITHOUT ROWID")
    #expect(try store.run("INSERT INTO co VALUES (1, 2, 3)") == ["+ co [1, 2] (1, 2, 3.0)"])
    #expect(try store.run("UPDATE co SET share = 4") == ["~ co [1, 2] (1, 2, 3.0) → (1, 2, 4.0)"])
    #expect(try store.run("UPDATE co SET author = 7") == ["- co [1, 2] (1, 2, 4.0)", "+ co [1, 7] (1, 7, 4.0)"])
    #expect(try store.run("DELETE FROM co") == ["- co [1, 7] (1, 7, 4.0)"])
  }

  @Test func `a table without a declared key is known by its row id`() throws {
    let store = try Recorded("CREATE TABLE loose (a, b)")
    #expect(try store.run("INSERT INTO loose VALUES (1, x'00ff')") == ["+ loose 1 (1, x'00ff')"])
    #expect(try store.run("DELETE FROM loose") == ["- loose 1 (1, x'00ff')"])
  }

  @Test func `an unfiltered DELETE arrives row by row`() throws {
    let store = try Recorded(books + "INSERT INTO book VALUES (1, 'A', 1), (2, 'B', 2);")
    #expect(try store.run("DELETE FROM book").count == 2)
  }

  @Test func `a whole-table copy arrives row by row`() throws {
    let store = try Recorded("CREATE TABLE a (x); CREATE TABLE b (x); INSERT INTO a VALUES (1), (2)")
    #expect(try store.run("INSERT INTO b SELECT * FROM a") == ["+ b 1 (1)", "+ b 2 (2)"])
  }

  @Test func `an update that changes nothing is dropped where all columns are seen`() throws {
    let store = try Recorded(books + "INSERT INTO book VALUES (1, 'A', 1);")
    #expect(try store.run("UPDATE book SET title = title") == [])
    #expect(try store.run("UPDATE book SET year = 2", "UPDATE book SET year = 1") == [])
  }

  @Test func `a change of the key is a deletion and an insertion`() throws {
    let store = try Recorded(books + "INSERT INTO book VALUES (1, 'A', 1), (2, 'B', 2);")
    #expect(try store.run("UPDATE book SET id = 7 WHERE id = 1") == ["- book 1 (1, 'A', 1)", "+ book 7 (7, 'A', 1)"])
    #expect(try store.run("UPDATE book SET id = 1 WHERE id = 7", "UPDATE book SET id = 7 WHERE id = 1") == [])
  }

  @Test func `keys that move up by one fold to what is different`() throws {
    let store = try Recorded("CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (3, 'c'), (4, 'd')")
    #expect(
      try Set(store.run("UPDATE t SET id = 5 WHERE id = 4", "UPDATE t SET id = 4 WHERE id = 3")) == [
        "~ t 4 (4, 'd') → (4, 'c')", "+ t 5 (5, 'd')", "- t 3 (3, 'c')",
      ])
  }

  @Test func `a blob written in place is an update`() throws {
    let store = try Recorded(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB); INSERT INTO t VALUES (4, x'00112233')")
    let lines = try store.write { transaction in
      var blob: OpaquePointer?
      let handle = transaction.connection.handle
      #expect(sqlite3_blob_open(handle, "main", "t", "data", 4, 1, &blob) == SQLITE_OK)
      #expect(sqlite3_blob_write(blob, [0xaa, 0xbb] as [UInt8], 2, 1) == SQLITE_OK)
      #expect(sqlite3_blob_close(blob) == SQLITE_OK)
    }
    #expect(lines == ["~ t 4 (4, x'00112233') → (4, x'00aabb33')"])
  }

  @Test func `temporary tables are not the store's`() throws {
    let store = try Recorded(books)
    #expect(try store.run("CREATE TEMP TABLE scratch (a)", "INSERT INTO scratch VALUES (1)") == [])
    #expect(store.database.commitNumber == 1)
  }

  @Test func `what full-text search keeps for itself is not reported`() throws {
    let store = try Recorded("CREATE TABLE f_notes (id INTEGER PRIMARY KEY, a)")
    #expect(try store.run("CREATE VIRTUAL TABLE f USING fts5 (x)", "INSERT INTO f VALUES ('hello')") == [])
    #expect(try store.run("INSERT INTO f VALUES ('world')", "DELETE FROM f WHERE rowid = 1") == [])
    #expect(try store.run("INSERT INTO f_notes VALUES (1, 2)") == ["+ f_notes 1 (1, 2)"])
    #expect(try store.run("DROP TABLE f", "INSERT INTO f_notes VALUES (2, 2)") == ["+ f_notes 2 (2, 2)"])
  }

  @Test func `SQLite's and Quire's own tables are not reported`() throws {
    let store = try Recorded("CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, x); CREATE TABLE _quire_log (x)")
    #expect(try store.run("INSERT INTO a (x) VALUES (1)", "INSERT INTO _quire_log VALUES (1)") == ["+ a 1 (1, 1)"])
    #expect(try store.run("UPDATE sqlite_sequence SET seq = 10", "INSERT INTO a (x) VALUES (2)") == ["+ a 11 (11, 2)"])
    let before = store.database.commitNumber
    #expect(try store.run("INSERT INTO _quire_log VALUES (2)") == [])
    #expect(store.database.commitNumber == before)
  }

  @Test func `a change of the schema has no rows and says so`() throws {
    let store = try Recorded(books + "INSERT INTO book VALUES (1, 'A', 1);")
    var seen: [Bool] = []
    for sql in ["ALTER TABLE book ADD COLUMN pages INTEGER", "CREATE TABLE c AS SELECT * FROM book", "DROP TABLE book"]
    {
      try store.database.write {
        try $0.connection.execute(sql)
      } committed: { _, commit in
        seen.append(commit.schemaChanged)
        #expect(commit.changes.tables.isEmpty)
      }
    }
    #expect(seen == [true, true, true])
    try store.database.write {
      try $0.connection.execute("UPDATE c SET year = 2")
    } committed: { _, commit in
      #expect(!commit.schemaChanged)
      #expect(commit.changes.lines == ["~ c 1 (1, 'A', 1, NULL) → (1, 'A', 2, NULL)"])
    }
  }

  @Test func `dropping a parent table tells what its foreign keys' actions did`() throws {
    let store = try Recorded(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY);
      CREATE TABLE book (id INTEGER PRIMARY KEY, author_id REFERENCES author ON DELETE SET NULL);
      INSERT INTO author VALUES (1); INSERT INTO book VALUES (1, 1);
      """)
    #expect(try store.run("DROP TABLE author").contains("~ book 1 (1, 1) → (1, NULL)"))
  }

  @Test func `a table altered in the middle of a transaction appears in each of its forms`() throws {
    let store = try Recorded("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let lines = try store.run(
      "INSERT INTO t VALUES (1, 2)", "ALTER TABLE t ADD COLUMN b DEFAULT 5", "INSERT INTO t VALUES (2, 3, 4)",
      "UPDATE t SET a = 9 WHERE id = 1")
    #expect(lines == ["+ t 1 (1, 2)", "+ t 2 (2, 3, 4)", "~ t 1 (1, 2, 5) → (1, 9, 5)"])
  }

  @Test func `an index made in the middle of a transaction leaves its rows together`() throws {
    let store = try Recorded("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let lines = try store.run("INSERT INTO t VALUES (1, 2)", "CREATE INDEX i ON t (a)", "UPDATE t SET a = 3")
    #expect(lines == ["+ t 1 (1, 3)"])
  }

  @Test func `inserting and deleting leaves nothing, deleting and inserting is an update`() throws {
    let store = try Recorded(books + "INSERT INTO book VALUES (1, 'A', 1);")
    #expect(try store.run("INSERT INTO book VALUES (2, 'B', 2)", "DELETE FROM book WHERE id = 2") == [])
    #expect(
      try store.run("DELETE FROM book", "INSERT INTO book VALUES (1, 'Z', 3)") == [
        "~ book 1 (1, 'A', 1) → (1, 'Z', 3)"
      ])
  }

  @Test func `only columns of interest are decoded, and keys always`() throws {
    let store = try Recorded(books, interest: nil)
    #expect(try store.run("INSERT INTO book VALUES (1, 'A', 1)") == ["+ book 1 ()"])
    let token = store.database.addCapture(CapturedColumns(table: "Book", columns: ["YEAR"]))
    #expect(try store.run("UPDATE book SET year = 2, title = 'B'") == ["~ book 1 (·, ·, 1) → (·, ·, 2)"])
    token.cancel()
    #expect(try store.run("UPDATE book SET year = 3") == ["~ book 1 () → ()"])
  }

  @Test func `rows whose declared key is NULL stay apart`() throws {
    let store = try Recorded(
      "CREATE TABLE t (a TEXT PRIMARY KEY, b); INSERT INTO t VALUES (NULL, 1), (NULL, 2), ('x', 3)")
    #expect(
      try store.run("UPDATE t SET b = b + 10") == [
        "~ t [NULL] (NULL, 1) → (NULL, 11)", "~ t [NULL] (NULL, 2) → (NULL, 12)", "~ t ['x'] ('x', 3) → ('x', 13)",
      ])
  }
}
