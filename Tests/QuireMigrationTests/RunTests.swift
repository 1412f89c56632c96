import Foundation
import QuireMigration
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@Suite struct RunTests {
  let fixture: Fixture
  init() throws { fixture = try Fixture() }

  @Test func `pending migrations run in order and are recorded with their text`() throws {
    try fixture.makeDatabase()
    try fixture.write("-- make a\nCREATE TABLE a (b);\n-- migrate: undo\nDROP TABLE a;", as: "20260101000000_a.sql")
    try fixture.write("INSERT INTO a VALUES (1);", as: "20260102000000_b.sql")
    let migrator = try fixture.migrator()
    let ran = try migrator.apply()
    #expect(ran.map(\.title) == ["make a", "b"])
    #expect(ran.map(\.sequence) == [1, 2])
    let plan = try migrator.plan()
    #expect(plan.pending.isEmpty && plan.problems.isEmpty)
    let applied = try #require(plan.entries.first?.applied)
    #expect(applied == ran[0])
    #expect(applied.up == "-- make a\nCREATE TABLE a (b);\n")
    #expect(applied.undo == "\nDROP TABLE a;")
    #expect(applied.appliedAt.count == 20 && applied.appliedAt.hasSuffix("Z"))
    #expect(try migrator.apply().isEmpty)
  }

  @Test(arguments: [
    "ALTER TABLE book RENAME TO volume;",
    "ALTER TABLE book RENAME TO n; CREATE TABLE other (a); ALTER TABLE n RENAME TO volume; DROP TABLE author;",
  ])
  func `the highest key of a table goes along when it gets another name, and comes back`(renaming: String) throws {
    try fixture.makeDatabase(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY); CREATE TABLE book (id INTEGER PRIMARY KEY);
      CREATE TABLE _quire_keys (table_name TEXT PRIMARY KEY, highest INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      INSERT INTO _quire_keys VALUES ('book', 9), ('author', 7), ('gone', 5);
      """)
    try fixture.write(
      "\(renaming)\n-- migrate: undo\nALTER TABLE volume RENAME TO book;", as: "20260101000000_a.sql")
    #expect(try fixture.migrator(losing: true).apply().count == 1)
    let keys = "SELECT highest FROM _quire_keys WHERE table_name = "
    #expect(try fixture.sqlite { try $0.rows(keys + "'volume'") } == [[9]])
    #expect(try fixture.sqlite { try $0.rows(keys + "'author'") } == [[7]])
    _ = try fixture.sqlite { try $0.execute("UPDATE _quire_keys SET highest = 12 WHERE table_name = 'volume'") }
    let migrator = try fixture.migrator(losing: true)
    try migrator.undo(UndoPlan(last: 1, of: migrator.history()))
    #expect(try fixture.sqlite { try $0.rows(keys + "'book'") } == [[12]])
  }

  @Test func `an empty file is pending, and is neither run nor recorded`() throws {
    try fixture.write("CREATE TABLE a (b);\n-- migrate: undo\nDROP TABLE a;", as: "20260101000000_a.sql")
    try fixture.write("-- later\n\n-- migrate: undo\n", as: "20260102000000_b.sql")
    let empty = MigrationError.empty(file: fixture.migrations + "/20260102000000_b.sql")
    let version = try #require(MigrationVersion("20260102000000"))
    let first = try #require(MigrationVersion("20260101000000"))
    #expect(throws: empty) { try fixture.migrator(creating: true).apply() }
    #expect(!FileManager.default.fileExists(atPath: fixture.database))
    #expect(try fixture.migrator(creating: true).apply(to: first).count == 1)
    let migrator = try fixture.migrator()
    #expect(try migrator.plan().pending.map(\.isEmpty) == [true])
    #expect(try migrator.plan().problems.isEmpty)
    #expect(throws: empty) { try migrator.apply() }
    #expect(throws: empty) { try migrator.rehearse() }
    #expect(throws: empty) { try migrator.checkFiles(schemaFile: "", linted: []) }
    #expect(throws: empty) { try migrator.baseline(version) }
    #expect(try migrator.rehearse(to: first).entries.isEmpty)
    #expect(try migrator.history().count == 1)
    // One that was emptied after it had run is not taken for what has run.
    try fixture.write("", as: "20260101000000_a.sql")
    let emptied = try fixture.migrator()
    guard case .edited? = try emptied.plan().problems.first else {
      Issue.record("\(try emptied.plan().problems)")
      return
    }
    let gone = MigrationError.empty(file: fixture.migrations + "/20260101000000_a.sql")
    #expect(throws: gone) { try emptied.accept(first) }
    #expect(throws: gone) { try emptied.redo() }
  }

  @Test func `a trigger needs no mark to be one statement`() throws {
    try fixture.write(
      "CREATE TABLE a (b); CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; SELECT 1; END; CREATE TABLE c (d)",
      as: "20260101000000_a.sql")
    try fixture.migrator(creating: true).apply()
    #expect(try fixture.sqlite { try $0.rows("SELECT count(*) FROM sqlite_schema WHERE name IN ('t', 'c')") } == [[2]])
  }

  @Test func `a failing migration leaves the file exactly as it was`() throws {
    try fixture.makeDatabase("CREATE TABLE book (id INTEGER PRIMARY KEY, author_id); INSERT INTO book VALUES (1, 2)")
    let before = try fixture.bytes()
    try fixture.write(
      "UPDATE book SET author_id = 3;\nCREATE TABLE extra (a);\n\nCREATE INDEX book_author ON book(autor_id);",
      as: "20260101000000_index.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    #expect(try fixture.bytes() == before)
    guard case .failed(let failure) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.place.line == 4)
    #expect(failure.suggestion == "author_id")
    #expect(failure.message.hasPrefix("no such column: autor_id") || failure.message.contains("autor_id"))
  }

  @Test func `what ran before the failing one stays`() throws {
    try fixture.write("CREATE TABLE a (b);", as: "20260101000000_a.sql")
    try fixture.write("CREATE TABLE a (b);", as: "20260102000000_b.sql")
    #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    let plan = try fixture.migrator().plan()
    #expect(plan.current?.number == 2026_01_01_00_00_00)
    #expect(plan.pending.count == 1)
  }

  @Test func `a new file whose first migration fails is removed again`() throws {
    try fixture.write("CREATE TABLE a (b); NONSENSE;", as: "20260101000000_a.sql")
    #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    #expect(!FileManager.default.fileExists(atPath: fixture.database))
  }

  @Test(arguments: [
    ("SELECT 1;\n  SELEC 2;", 2, 3, 5),
    ("CREATE TABLE a (b);\nINSERT INTO\n  nosuch VALUES (1);", 3, 3, 6),
    ("CREATE TABLE a (b);\nUPDATE a\nSET é = 1, c = 2;", 3, 5, 1),
    ("CREATE TABLE é (b); SELECT é.nosuch FROM é", 1, 28, 1),
    ("SELECT nosuch();", 1, 8, 6),
  ])
  func `an error has its line and column`(sql: String, line: Int, column: Int, length: Int) throws {
    try fixture.write(sql, as: "20260101000000_a.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    guard case .failed(let failure) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.place.line == line, "\(failure)")
    #expect(failure.place.column == column, "\(failure)")
    #expect(failure.length == length, "\(failure)")
  }

  @Test func `input that ends too early is reported at the statement's first line`() throws {
    try fixture.write("SELECT 1;\n\nCREATE TABLE a (\n  b\n", as: "20260101000000_a.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    guard case .failed(let failure) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.message == "incomplete input")
    #expect(failure.place.line == 3 && failure.place.column == nil)
  }

  @Test(arguments: [
    ("BEGIN", "BEGIN"), ("COMMIT", "COMMIT"), ("END", "COMMIT"), ("ROLLBACK", "ROLLBACK"),
    ("SAVEPOINT a", "SAVEPOINT"), ("ATTACH 'x.db' AS x", "ATTACH"), ("VACUUM", "VACUUM"),
    ("PRAGMA foreign_keys = ON", "PRAGMA foreign_keys"), ("PRAGMA journal_mode = DELETE", "PRAGMA journal_mode"),
    ("DELETE FROM _quire_migrations", "writing to _quire_migrations"),
    ("DROP TABLE _quire_migrations", "writing to _quire_migrations"),
    ("ALTER TABLE _quire_migrations RENAME TO mine", "writing to _quire_migrations"),
  ])
  func `statements that have no place in a migration are refused by name`(sql: String, name: String) throws {
    try fixture.write("CREATE TABLE a (b);", as: "20260101000000_a.sql")
    try fixture.migrator(creating: true).apply()
    let before = try fixture.bytes()
    try fixture.write("CREATE TABLE c (d);\n" + sql + ";\n-- migrate: undo\nDROP TABLE c;", as: "20260102000000_b.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    guard case .refused(name, let place) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(place.line == 2 && place.column == 1)
    #expect(try fixture.bytes() == before)
  }

  @Test func `pragmas that only ask, and those of the file's own numbers, run`() throws {
    try fixture.write(
      "PRAGMA user_version = 7; PRAGMA table_info(a); PRAGMA foreign_keys; PRAGMA page_size; SELECT * FROM pragma_table_list",
      as: "20260101000000_a.sql")
    try fixture.migrator(creating: true).apply()
    #expect(try fixture.sqlite { try $0.rows("PRAGMA user_version") } == [[7]])
  }

  @Test func `a rebuild keeps the rows that point to the table`() throws {
    try fixture.makeDatabase(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE book (id INTEGER PRIMARY KEY, author_id REFERENCES author(id) ON DELETE CASCADE);
      INSERT INTO author VALUES (1, 'Lem'); INSERT INTO book VALUES (1, 1);
      """)
    try fixture.write(
      """
      CREATE TABLE author_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      INSERT INTO author_new SELECT * FROM author;
      DROP TABLE author;
      ALTER TABLE author_new RENAME TO author;
      """, as: "20260101000000_rebuild.sql")
    try fixture.migrator().apply()
    #expect(
      try fixture.sqlite { try $0.rows("SELECT count(*) FROM book JOIN author ON author.id = author_id") } == [[1]])
  }

  @Test func `keys that point nowhere at the end undo the migration`() throws {
    try fixture.makeDatabase(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY);
      CREATE TABLE book (id INTEGER PRIMARY KEY, author_id REFERENCES author(id));
      INSERT INTO author VALUES (4); INSERT INTO book VALUES (17, 4);
      """)
    let before = try fixture.bytes()
    try fixture.write("DELETE FROM author;", as: "20260101000000_orphans.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    #expect(
      error
        == .foreignKeys(
          [ForeignKeyViolation(table: "book", row: 17, parent: "author", columns: ["author_id"], values: [4])],
          total: 1,
          file: fixture.migrations + "/20260101000000_orphans.sql", mismatches: []))
    #expect(try fixture.bytes() == before)
  }

  @Test func `with foreign keys on a cascade takes the rows along`() throws {
    try fixture.makeDatabase(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY);
      CREATE TABLE book (id INTEGER PRIMARY KEY, author_id REFERENCES author(id) ON DELETE CASCADE);
      INSERT INTO author VALUES (4); INSERT INTO book VALUES (17, 4);
      """)
    try fixture.write("-- migrate: foreign-keys on\nDELETE FROM author;", as: "20260101000000_delete.sql")
    try fixture.migrator().apply()
    #expect(try fixture.sqlite { try $0.rows("SELECT count(*) FROM book") } == [[0]])
  }

  @Test func `a statement that cannot run in a transaction runs alone without one`() throws {
    try fixture.makeDatabase()
    try fixture.write("-- migrate: no-transaction\nPRAGMA journal_mode = WAL;", as: "20260101000000_wal.sql")
    try fixture.write("-- migrate: no-transaction\nVACUUM", as: "20260102000000_vacuum.sql")
    try fixture.migrator().apply()
    #expect(try fixture.sqlite { try $0.rows("PRAGMA journal_mode") } == [["wal"]])
    try fixture.write("-- migrate: no-transaction\nVACUUM; VACUUM", as: "20260103000000_two.sql")
    #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    #expect(try fixture.migrator().plan().pending.count == 1)
  }

  @Test func `a step written in Swift is refused by name`() throws {
    try fixture.write("-- migrate: step Fill\n", as: "20260101000000_a.sql")
    #expect(throws: MigrationError.unknownStep("Fill", file: fixture.migrations + "/20260101000000_a.sql")) {
      try fixture.migrator(creating: true).apply()
    }
  }

  @Test func `two that migrate at once run each migration once`() async throws {
    try fixture.makeDatabase("PRAGMA journal_mode = WAL; CREATE TABLE old (a)")
    for day in 1...9 { try fixture.write("CREATE TABLE t\(day) (a);", as: "2026010\(day)000000_t.sql") }
    var migrator = try fixture.migrator()
    migrator.wait = .seconds(20)
    let ran = try await withThrowingTaskGroup(of: Int.self) { [migrator] group in
      for _ in 0..<4 { group.addTask { try migrator.apply().count } }
      return try await group.reduce(0, +)
    }
    #expect(ran == 9)
  }

  @Test func `temporary tables, views and triggers end with their migration, and hide no record`() throws {
    try fixture.makeDatabase()
    try fixture.write(
      """
      CREATE TEMP TABLE keep AS SELECT 1 AS v; CREATE TEMP TABLE _quire_migrations (a, b, c, d, e, f, g, h);
      CREATE TEMP VIEW w AS SELECT * FROM keep; CREATE TABLE p (v); INSERT INTO p VALUES ('a');
      CREATE TEMP TRIGGER t AFTER INSERT ON p BEGIN SELECT 1; END;
      """, as: "20260101000000_a.sql")
    try fixture.write(
      "CREATE TEMP TABLE IF NOT EXISTS keep AS SELECT 2 AS v; UPDATE p SET v = (SELECT v FROM keep) WHERE 1;",
      as: "20260102000000_b.sql")
    try fixture.migrator().apply()
    let rows = try fixture.sqlite { try $0.rows("SELECT v FROM p") }
    #expect(rows == [[2]])
    #expect(try fixture.migrator().history().count == 2)
  }

  @Test(.enabled(if: SQLiteShell.isThere))
  func `a virtual table whose module is missing keeps no other table from being altered`() throws {
    try fixture.shell(
      """
      CREATE TABLE old (a, y); PRAGMA writable_schema = ON;
      INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING vec0(e)');
      """)
    try fixture.write("ALTER TABLE old DROP COLUMN y;", as: "20260101000000_a.sql")
    #expect(try fixture.migrator().apply().count == 1)
  }

  @Test func `the shipped migrations run and can be undone`() throws {
    let files = try MigrationFolder.read(Fixture.shipped)
    #expect(files.count >= 3)
    var migrator = Migrator(database: fixture.database, files: files)
    migrator.createsDatabase = true
    try migrator.apply()
    try fixture.sqlite { connection in
      for file in files.reversed() {
        let undo = try #require(file.undo)
        _ = try connection.run(script: undo, inTransaction: true)
      }
      let left = try connection.rows("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'")
      #expect(left == [["_quire_migrations"]])
    }
  }
}
