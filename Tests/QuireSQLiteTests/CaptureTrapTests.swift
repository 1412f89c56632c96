import CSQLite
import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// The traps in SQLite 3.40's preupdate values (A2), and what is never reported because it was undone (A3).
@Suite struct CaptureTrapTests {
  @Test func `a row older than an added column has its default as old value`() throws {
    let store = try Recorded(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
    _ = try store.run("ALTER TABLE t ADD COLUMN d DEFAULT 42", "ALTER TABLE t ADD COLUMN e REAL NOT NULL DEFAULT 4")
    #expect(try store.run("UPDATE t SET a = 9 WHERE id = 1") == ["~ t 1 (1, 1, 42, 4.0) → (1, 9, 42, 4.0)"])
    #expect(try store.run("UPDATE t SET id = 20 WHERE id = 2") == ["- t 2 (2, 2, 42, 4.0)", "+ t 20 (20, 2, 42, 4.0)"])
    #expect(try store.run("DELETE FROM t WHERE id = 3") == ["- t 3 (3, 3, 42, 4.0)"])
    #expect(try store.run("REPLACE INTO t VALUES (4, 5, NULL, 6)") == ["~ t 4 (4, 4, 42, 4.0) → (4, 5, NULL, 6.0)"])
    #expect(try store.run("UPDATE t SET a = 6 WHERE id = 4") == ["~ t 4 (4, 5, NULL, 6.0) → (4, 6, NULL, 6.0)"])
  }

  @Test func `a column added by another connection is read right too`() throws {
    let scratch = try Scratch()
    let database = try Database(DatabaseConfiguration(.file(scratch.file())))
    let token = database.addCapture(.everything)
    defer { token.cancel() }
    try database.write { try $0.connection.execute("CREATE TABLE t (id TEXT PRIMARY KEY, a) WITHOUT ROWID") }
    try database.write { try $0.connection.execute("INSERT INTO t VALUES ('k', 1)") }
    let other = try Connection(path: scratch.file(), access: .readWrite)
    try other.execute("ALTER TABLE t ADD COLUMN d DEFAULT 'x'")
    try database.write {
      try $0.connection.execute("UPDATE t SET a = 2")
    } committed: { _, commit in
      #expect(commit.changes.lines == ["~ t ['k'] ('k', 1, 'x') → ('k', 2, 'x')"])
    }
  }

  @Test func `virtual generated columns are left out and shift nothing`() throws {
    let store = try Recorded(
      "CREATE TABLE g (id INTEGER PRIMARY KEY, a, v REAL AS (a + 1) VIRTUAL, s AS (a + 2) STORED, z)")
    #expect(try store.run("INSERT INTO g (id, a, z) VALUES (7, 1, 5)") == ["+ g 7 (7, 1, 3, 5)"])
    #expect(try store.run("UPDATE g SET z = 6") == ["~ g 7 (7, 1, 3, 5) → (7, 1, 3, 6)"])
    #expect(try store.run("UPDATE g SET a = 2") == ["~ g 7 (7, 1, 3, 6) → (7, 2, 4, 6)"])
    #expect(try store.run("DELETE FROM g") == ["- g 7 (7, 2, 4, 6)"])
  }

  @Test func `virtual columns in a WITHOUT ROWID table shift nothing either`() throws {
    let store = try Recorded(
      """
      CREATE TABLE w (p, v REAL AS (b + 1) VIRTUAL, b INTEGER, s AS (b + 2) STORED, q, r REAL, PRIMARY KEY (q, p))
      WITHOUT ROWID
      """)
    #expect(
      try store.run("INSERT INTO w (p, b, q, r) VALUES ('p', '10', 'q', 3)") == [
        "+ w ['q', 'p'] ('p', 10, 12, 'q', 3.0)"
      ])
    #expect(
      try store.run("UPDATE w SET b = '11'") == ["~ w ['q', 'p'] ('p', 10, 12, 'q', 3.0) → ('p', 11, 13, 'q', 3.0)"])
    #expect(
      try store.run("UPDATE w SET p = 'x'") == [
        "- w ['q', 'p'] ('p', 11, 13, 'q', 3.0)", "+ w ['q', 'x'] ('x', 11, 13, 'q', 3.0)",
      ])
    #expect(try store.run("DELETE FROM w") == ["- w ['q', 'x'] ('x', 11, 13, 'q', 3.0)"])
  }

  @Test func `an integer key behind a real column is no real`() throws {
    let store = try Recorded("CREATE TABLE w (a REAL, k INTEGER PRIMARY KEY, b INTEGER) WITHOUT ROWID")
    #expect(try store.run("INSERT INTO w VALUES (1, 5, 6)") == ["+ w [5] (1.0, 5, 6)"])
    #expect(try store.run("UPDATE w SET b = 7") == ["~ w [5] (1.0, 5, 6) → (1.0, 5, 7)"])
    #expect(try store.run("DELETE FROM w") == ["- w [5] (1.0, 5, 7)"])
    #expect(try store.run("INSERT INTO w VALUES (1, 9007199254740993, 6)").count == 1)
    #expect(throws: DatabaseError.captureFailed(table: "w", code: SQLITE_MISMATCH)) { try store.run("DELETE FROM w") }
    #expect(try store.query("SELECT count(*) FROM w") == [[1]])
  }

  @Test func `an integral REAL is a real in every kind of event`() throws {
    let store = try Recorded("CREATE TABLE t (id INTEGER PRIMARY KEY, r REAL, n NUMERIC)")
    #expect(try store.run("INSERT INTO t VALUES (1, 3, 3.0)") == ["+ t 1 (1, 3.0, 3)"])
    #expect(try store.run("UPDATE t SET r = 4") == ["~ t 1 (1, 3.0, 3) → (1, 4.0, 3)"])
    #expect(try store.run("UPDATE t SET r = '5'") == ["~ t 1 (1, 4.0, 3) → (1, 5.0, 3)"])
    #expect(try store.run("DELETE FROM t") == ["- t 1 (1, 5.0, 3)"])
  }

  @Test func `text that is not UTF-8, text with NULs and blobs arrive byte for byte`() throws {
    let store = try Recorded("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    var values: [Value?] = []
    let bytes: [Value] = [
      .malformedText(Data([0x61, 0xff, 0])), .text("a\0b"), .blob(Data([0, 1])), .text(""), .blob(Data()),
    ]
    for (index, value) in bytes.enumerated() {
      try store.database.write { transaction in
        try transaction.connection.execute("INSERT INTO t VALUES (?, ?)", [.integer(Int64(index)), value])
      } committed: { _, commit in
        values.append(commit.changes[table: "t"]?.rows.first?.new?[1])
      }
      #expect(try store.query("SELECT a FROM t WHERE id = \(index)") == [[value]])
    }
    #expect(values == bytes)
  }

  @Test func `rows undone by a savepoint were never there`() throws {
    let store = try Recorded("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (1, 1), (5, 5)")
    struct Stop: Error {}
    let lines = try store.write { transaction in
      let c = transaction.connection
      try c.execute("INSERT INTO t VALUES (10, 10)")
      #expect(throws: Stop.self) {
        try transaction.savepoint {
          try c.execute("INSERT INTO t VALUES (11, 11)")
          try transaction.savepoint { try c.execute("UPDATE t SET a = 100 WHERE id = 1") }
          throw Stop()
        }
      }
      #expect(throws: SQLiteError.self) { try c.execute("INSERT INTO t VALUES (12, 12), (13, 10)") }
      try transaction.savepoint { try c.execute("UPDATE t SET a = 78 WHERE id = 5") }
    }
    #expect(lines == ["+ t 10 (10, 10)", "~ t 5 (5, 5) → (5, 78)"])
  }

  @Test func `a statement that fails half way leaves no rows, OR FAIL leaves those before`() throws {
    let store = try Recorded("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (1, 3)")
    let lines = try store.write { transaction in
      #expect(throws: SQLiteError.self) { try transaction.connection.execute("INSERT INTO t VALUES (2, 2), (3, 3)") }
      #expect(transaction.eventCount == 0)
      #expect(throws: SQLiteError.self) {
        try transaction.connection.execute("INSERT OR FAIL INTO t VALUES (4, 4), (5, 3)")
      }
      #expect(transaction.eventCount == 1)
    }
    #expect(lines == ["+ t 4 (4, 4)"])
    #expect(try store.run("INSERT OR IGNORE INTO t VALUES (6, 3), (7, 7)") == ["+ t 7 (7, 7)"])
  }

  @Test func `a trigger's RAISE undoes exactly what it says`() throws {
    let store = try Recorded(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE u (id INTEGER PRIMARY KEY);
      CREATE TRIGGER stop AFTER INSERT ON t WHEN new.a = 'abort' BEGIN
        INSERT INTO u VALUES (NULL); SELECT RAISE(ABORT, 'no'); END;
      CREATE TRIGGER skip BEFORE INSERT ON t WHEN new.a = 'ignore' BEGIN
        INSERT INTO u VALUES (NULL); SELECT RAISE(IGNORE); END;
      """)
    let lines = try store.write { transaction in
      try transaction.connection.execute("INSERT INTO t VALUES (1, 'x')")
      #expect(throws: SQLiteError.self) {
        try transaction.connection.execute("INSERT INTO t VALUES (2, 'y'), (3, 'abort')")
      }
      try transaction.connection.execute("INSERT INTO t VALUES (4, 'ignore'), (5, 'z')")
    }
    #expect(lines == ["+ t 1 (1, 'x')", "+ t 5 (5, 'z')", "+ u 1 (1)"])
  }

  @Test func `a foreign key that fails at its statement leaves no rows`() throws {
    let store = try Recorded(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY);
      CREATE TABLE book (id INTEGER PRIMARY KEY, author_id REFERENCES author);
      INSERT INTO author VALUES (1); INSERT INTO book VALUES (1, 1);
      """)
    let lines = try store.write { transaction in
      for sql in [
        "INSERT INTO book VALUES (2, 9)", "UPDATE book SET author_id = 9", "DELETE FROM author",
        "INSERT INTO book SELECT 5, 1 UNION ALL SELECT 6, 9", "UPDATE author SET id = 3",
      ] {
        #expect(throws: SQLiteError.self) { try transaction.connection.execute(sql) }
        #expect(transaction.eventCount == 0, "\(sql)")
      }
    }
    #expect(lines == [])
  }

  @Test func `an altered table that is rolled back to is told in its old form`() throws {
    let store = try Recorded("CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1)")
    struct Stop: Error {}
    let lines = try store.write { transaction in
      #expect(throws: Stop.self) {
        try transaction.savepoint {
          try transaction.connection.execute("ALTER TABLE t ADD COLUMN b DEFAULT 3; UPDATE t SET b = 4")
          throw Stop()
        }
      }
      try transaction.connection.execute("UPDATE t SET a = 2")
    }
    #expect(lines == ["~ t 1 (1, 1) → (1, 2)"])
    #expect(throws: Stop.self) {
      try store.database.write { transaction in
        try transaction.connection.execute("ALTER TABLE t RENAME COLUMN a TO z")
        try transaction.connection.execute("UPDATE t SET z = 7")
        throw Stop()
      }
    }
    #expect(try store.run("UPDATE t SET a = 3") == ["~ t 1 (1, 2) → (1, 3)"])
  }

  @Test func `raw SQL of several statements is one commit`() throws {
    let store = try Recorded("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    #expect(
      try store.run("INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 2); UPDATE t SET a = 0 WHERE id = 1;") == [
        "+ t 1 (1, 0)", "+ t 2 (2, 2)",
      ])
    #expect(store.database.commitNumber == 2)
  }
}
