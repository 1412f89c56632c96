import Foundation
import QuireMigration
import QuireSQLite
import Testing

/// What is tried on a copy, and what is said of it.
@Suite struct RehearsalTests {
  /// With the table of books of the other suite.
  let fixture: Fixture

  init() throws { fixture = try LossTests().fixture }

  @Test func `a rehearsal tells of losses, rows and forgotten triggers, and changes nothing`() throws {
    try fixture.sqlite { connection in
      _ = try connection.run(
        script: "CREATE INDEX i ON Book(title); CREATE TRIGGER t AFTER INSERT ON Book BEGIN SELECT 1; END",
        inTransaction: false)
    }
    try fixture.write(
      """
      CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT NOT NULL); INSERT INTO n SELECT id, title FROM Book;
      DROP TABLE Book; ALTER TABLE n RENAME TO Book; CREATE INDEX i ON Book(title);
      """, as: "20260101000000_rebuild.sql")
    try fixture.write("ALTER TABLE Book ADD COLUMN isbn TEXT;", as: "20260102000000_isbn.sql")
    let before = try fixture.bytes()
    let rehearsal = try fixture.migrator().rehearse()
    #expect(try fixture.bytes() == before)
    #expect(rehearsal.losses == [LossTests.note])
    let entry = try #require(rehearsal.entries.first)
    #expect(entry.rows == [Rehearsal.Rows(table: "Book", before: 3, after: 3)])
    #expect(entry.forgotten.map { "\($0)" } == ["− trigger t ON Book"])
    #expect(entry.kept.indexes == 1 && entry.kept.triggers == 0)
    #expect(entry.differences.map { "\($0)" }.contains("Book.title TEXT → TEXT NOT NULL"))
    #expect(rehearsal.entries.last?.differences.map { "\($0)" } == ["Book + isbn TEXT"])
    #expect(rehearsal.entries.last?.rows.isEmpty == true)
    let bare = try fixture.migrator().rehearse(isSchemaOnly: true)
    #expect(bare.losses.isEmpty && bare.entries.count == 2)
  }

  @Test func `a program's migrations do not leave behind what belongs to a table, or uses it`() throws {
    let fixture = try Fixture()
    try fixture.write("CREATE TABLE a (b); CREATE TABLE log (x);", as: "20260101000000_a.sql")
    try fixture.write("CREATE VIEW v AS SELECT x FROM log; CREATE INDEX i ON a(b);", as: "20260102000000_b.sql")
    try fixture.write("CREATE TABLE n (b); DROP TABLE a; ALTER TABLE n RENAME TO a;", as: "20260103000000_c.sql")
    // In a database that was empty nobody depends on it.
    #expect(try fixture.migrator(creating: true).apply().count == 3)
    try fixture.write("DROP TABLE log;", as: "20260104000000_d.sql")
    try fixture.write("CREATE INDEX j ON a(b);", as: "20260105000000_e.sql")
    let file = fixture.migrations + "/20260104000000_d.sql"
    let stillUsed = MigrationError.stillUsed(
      ["drops what is still used: ± view v → reads log, which is gone"], file: file)
    #expect(throws: stillUsed) { try fixture.migrator().apply() }
    #expect(try fixture.migrator().plan().pending.count == 2)
    // A later file that mends it runs at once.
    try fixture.write("DROP VIEW v;", as: "20260105000000_e.sql")
    #expect(try fixture.migrator().apply().count == 2)
    try fixture.write("CREATE INDEX k ON a(b);", as: "20260106000000_f.sql")
    _ = try fixture.migrator().apply()
    let rebuild = "CREATE TABLE n (b); DROP TABLE a; ALTER TABLE n RENAME TO a;"
    try fixture.write(rebuild, as: "20260107000000_g.sql")
    #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    #expect(try fixture.sqlite { try $0.rows("SELECT name FROM sqlite_schema WHERE name = 'k'") } == [["k"]])
    try fixture.write("-- migrate: allow M004 nothing reads by it\n" + rebuild, as: "20260107000000_g.sql")
    #expect(try fixture.migrator().apply().count == 1)
    try fixture.write("CREATE INDEX k ON a(b);", as: "20260108000000_h.sql")
    try fixture.write(rebuild, as: "20260109000000_i.sql")
    #expect(try fixture.migrator(losing: true).apply().count == 2)
  }

  @Test func `what files forget that make a database is no finding between two of them, or after a crash`() throws {
    let fixture = try Fixture()
    let rebuild = "CREATE TABLE n (b); DROP TABLE a; ALTER TABLE n RENAME TO a;"
    try fixture.write("CREATE TABLE a (b); CREATE INDEX i ON a(b);", as: "20260101000000_a.sql")
    try fixture.write("CREATE TABLE t (x);", as: "20260102000000_b.sql")
    try fixture.write(rebuild, as: "20260103000000_c.sql")
    struct Crash: Error {}
    func crash(after count: Int) throws {
      var count = count
      #expect(throws: Crash.self) {
        try fixture.migrator(creating: true).apply { event in
          if case .applied = event { count -= 1 }
          if count == 0 { throw Crash() }
        }
      }
    }
    try crash(after: 1)
    // Another process, which begins here.
    #expect(try fixture.migrator().rehearse().lastOfCreation == MigrationVersion(number: 20_260_103_000_000))
    #expect(
      try fixture.migrator().rehearse(isSchemaOnly: true).lastOfCreation == MigrationVersion(number: 20_260_103_000_000)
    )
    try crash(after: 1)
    #expect(try fixture.migrator(creating: true).apply().count == 1)
    let own = "SELECT name FROM sqlite_schema WHERE name LIKE '~_quire~_%' ESCAPE '~'"
    #expect(try fixture.sqlite { try $0.rows(own) } == [["_quire_migrations"]])

    // A file that came later is judged, also where the making of the database was given up.
    try FileManager.default.removeItem(atPath: fixture.database)
    try crash(after: 2)
    try fixture.write("CREATE INDEX j ON a(b);", as: "20260104000000_d.sql")
    try fixture.write(rebuild, as: "20260105000000_e.sql")
    #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    #expect(try fixture.migrator().plan().pending.map(\.version.number) == [20_260_105_000_000])
    #expect(try fixture.sqlite { try $0.rows(own) } == [["_quire_migrations"]])
    // And in a database that was not empty.
    try FileManager.default.removeItem(atPath: fixture.database)
    try fixture.makeDatabase()
    #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    #expect(try fixture.migrator().plan().pending.count == 3)
  }

  @Test func `what a rebuild leaves to a table that it drops is forgotten by it`() throws {
    try fixture.makeDatabase(
      """
      CREATE TABLE page (id INTEGER PRIMARY KEY, book INTEGER REFERENCES Book (id));
      CREATE VIEW titles AS SELECT title FROM Book; CREATE VIEW other AS SELECT id FROM page;
      CREATE TRIGGER read AFTER INSERT ON page BEGIN UPDATE Book SET note = 'read' WHERE id = new.book; END;
      """)
    let new = "CREATE TABLE Book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, note TEXT);"
    try fixture.write(
      "ALTER TABLE Book RENAME TO old; \(new) INSERT INTO Book SELECT * FROM old; DROP TABLE old;",
      as: "20260101000000_rebuild.sql")
    let entry = try #require(try fixture.migrator().rehearse().entries.first)
    #expect(
      entry.forgotten.map { "\($0)" } == [
        "page FOREIGN KEY (book) REFERENCES Book (id) → REFERENCES old, which is gone",
        "± view titles → reads old, which is gone", "± trigger read → reads old, which is gone",
      ])
    #expect(entry.losses.isEmpty)
    try fixture.write(
      "\(new.replacing("Book", with: "n")) INSERT INTO n SELECT * FROM Book; DROP VIEW titles; DROP TRIGGER read;"
        + "DROP TABLE Book; ALTER TABLE n RENAME TO Book;", as: "20260101000000_rebuild.sql")
    #expect(try fixture.migrator().rehearse().entries.first?.forgotten.isEmpty == true)
  }

  @Test func `what still uses a table or view that a file drops is found, unless a later file mends it`() throws {
    try fixture.makeDatabase(
      """
      CREATE TABLE page (id INTEGER PRIMARY KEY, book INTEGER REFERENCES Book (id), empty);
      CREATE VIEW titles AS SELECT title FROM Book; CREATE VIEW short AS SELECT title FROM titles;
      CREATE VIEW other AS SELECT 1 AS Book, empty FROM page;
      CREATE TRIGGER count AFTER UPDATE OF empty ON page BEGIN INSERT INTO empty VALUES (new.id); END;
      CREATE TRIGGER fine AFTER DELETE ON page BEGIN SELECT empty FROM page; END;
      """)
    try fixture.write("DROP TABLE empty; DROP TABLE Book;", as: "20260101000000_drop.sql")
    let entry = try #require(try fixture.migrator().rehearse().entries.first)
    #expect(entry.forgotten.isEmpty)
    let key = "page FOREIGN KEY (book) REFERENCES Book (id) → REFERENCES Book, which is gone"
    let dangling = entry.dangling.map { "\($0)" }
    #expect(
      dangling == [
        key, "± view titles → reads Book, which is gone", "± trigger count → reads empty, which is gone",
      ])
    try fixture.write(
      "DROP VIEW short; DROP VIEW titles; DROP TRIGGER count; CREATE TABLE Book (id INTEGER PRIMARY KEY);",
      as: "20260102000000_mend.sql")
    let entries = try fixture.migrator().rehearse().entries
    #expect(entries.allSatisfy { $0.dangling.isEmpty && $0.forgotten.isEmpty })
    try fixture.write("DROP VIEW titles;", as: "20260101000000_drop.sql")
    try fixture.write("SELECT 1;", as: "20260102000000_mend.sql")
    #expect(
      try fixture.migrator().rehearse().entries.flatMap(\.dangling).map { "\($0)" }
        == ["± view short → reads titles, which is gone"])
  }

  @Test(arguments: ["fts5", "fts4"])
  func `a full-text index is named that a rebuild leaves with other row ids, unless the file mends it`(module: String)
    throws
  {
    try fixture.makeDatabase(
      """
      CREATE TABLE page (body TEXT); INSERT INTO page VALUES ('alpha'), ('beta'), ('gamma');
      CREATE TABLE keyed (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO keyed VALUES (3, 'gamma');
      CREATE VIRTUAL TABLE words USING \(module) (body, content='page');
      CREATE VIRTUAL TABLE other USING \(module) (body, content='keyed'); INSERT INTO other(other) VALUES ('rebuild');
      DELETE FROM page WHERE body = 'alpha'; INSERT INTO words(words) VALUES ('rebuild');
      INSERT INTO page VALUES ('not in the index yet');
      """)
    let rebuild = """
      CREATE TABLE n (body TEXT NOT NULL); INSERT INTO n SELECT * FROM page; DROP TABLE page;
      ALTER TABLE n RENAME TO page;
      CREATE TABLE n (id INTEGER PRIMARY KEY, body TEXT NOT NULL); INSERT INTO n SELECT * FROM keyed; DROP TABLE keyed;
      ALTER TABLE n RENAME TO keyed;
      """
    try fixture.write(rebuild, as: "20260101000000_a.sql")
    #expect(
      try fixture.migrator().rehearse().entries[0].forgotten.map { "\($0)" } == [
        "words finds its rows → finds others, or none: INSERT INTO words(words) VALUES('rebuild')"
      ])
    try fixture.write(rebuild + "INSERT INTO words(words) VALUES('rebuild');", as: "20260101000000_a.sql")
    #expect(try fixture.migrator().rehearse().entries[0].forgotten.isEmpty)
  }

  @Test func `an index that needs what only the application has is left out of a copy without rows`() throws {
    try fixture.makeDatabase("CREATE TABLE page (body TEXT); CREATE INDEX i ON page (lower(body))")
    try fixture.shell(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'lower', 'slug') WHERE name = 'i'")
    try fixture.write("ALTER TABLE page ADD COLUMN a", as: "20260101000000_a.sql")
    #expect(try fixture.migrator().rehearse(isSchemaOnly: true).entries[0].differences.map { "\($0)" } == ["page + a"])
  }

  @Test func `a rebuild that lets AUTOINCREMENT give keys again says so`() throws {
    try fixture.makeDatabase(
      """
      CREATE TABLE page (id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO page VALUES (7, 'x'), (90, 'y');
      DELETE FROM page WHERE id = 90;
      """)
    let rebuild = """
      CREATE TABLE n (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT); INSERT INTO n SELECT * FROM page;
      DROP TABLE page; ALTER TABLE n RENAME TO page;
      """
    try fixture.write(rebuild, as: "20260101000000_a.sql")
    func told() throws -> [String] {
      try fixture.migrator().rehearse().entries.flatMap(\.differences).filter { $0.kind == .option }.map { "\($0)" }
    }
    #expect(try told() == ["page AUTOINCREMENT after 90 → after 7: keys are given again"])
    try fixture.write(
      rebuild + "UPDATE sqlite_sequence SET seq = 90 WHERE name = 'page';", as: "20260101000000_a.sql")
    #expect(try told().isEmpty)
  }

  @Test func `the schema that the files make is read from an empty database`() throws {
    try fixture.write("CREATE TABLE a (b);", as: "20260101000000_a.sql")
    try fixture.write("ALTER TABLE a ADD COLUMN c;", as: "20260102000000_c.sql")
    let migrator = try fixture.migrator()
    #expect(try migrator.replay(to: MigrationVersion(number: 2026_01_01_00_00_00)).tables.map(\.columns.count) == [1])
    #expect(try migrator.replay().tables.map(\.columns.count) == [2])
    #expect(try migrator.schema().tables.count == 2)
  }
}
