import QuireMigration
import QuireRow
import QuireSQLite
import TestSupport
import Testing

/// Foreign keys that pointed nowhere before a migration, and those that do because of it.
@Suite struct BrokenKeyTests {
  private let fixture: Fixture

  init() throws {
    fixture = try Fixture()
    try fixture.makeDatabase(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE c (p REFERENCES p(id), n TEXT);
      CREATE TABLE w (k TEXT PRIMARY KEY, p REFERENCES p(id)) WITHOUT ROWID;
      INSERT INTO p VALUES (1, 'Lem'); INSERT INTO c VALUES (9, 'x'), (9, 'y'), (8, 'z'), (1, 'a');
      INSERT INTO w VALUES ('a', 7);
      """)
  }

  @Test(
    arguments: [
      "CREATE TABLE n (x);", "UPDATE c SET n = 'b';", "DELETE FROM c WHERE p = 8;", "ALTER TABLE c RENAME TO child;",
      "ALTER TABLE p RENAME TO parent;", "INSERT INTO c VALUES (1, 'new');",
      "ALTER TABLE c RENAME COLUMN p TO parent_id;", "ALTER TABLE p RENAME COLUMN id TO number;",
      "ALTER TABLE w RENAME COLUMN p TO q; ALTER TABLE w RENAME TO v; ALTER TABLE c RENAME COLUMN p TO q;",
      """
      CREATE TABLE c2 (n TEXT, p REFERENCES p(id)); INSERT INTO c2 SELECT n, p FROM c ORDER BY n DESC;
      DROP TABLE c; ALTER TABLE c2 RENAME TO c;
      """,
    ])
  func `those from before do not stop a migration, and are counted`(sql: String) throws {
    try fixture.write(sql, as: "20260101000000_a.sql")
    try fixture.write("CREATE TABLE later (x);", as: "20260102000000_b.sql")
    let rehearsal = try fixture.migrator().rehearse()
    #expect(rehearsal.entries.map(\.brokenKeys) == (sql.hasPrefix("DELETE") ? [3, 3] : [4, 4]))
    #expect(try fixture.migrator().apply().count == 2)
  }

  @Test(
    arguments: [
      "INSERT INTO c VALUES (5, 'new');", "INSERT INTO c VALUES (9, 'one more');", "DELETE FROM p;",
      "INSERT INTO w VALUES ('b', 7);", "ALTER TABLE c RENAME COLUMN p TO q; INSERT INTO c VALUES (9, 'one more');",
      "UPDATE c SET p = 4 WHERE p = 9 AND n = 'x';",
    ])
  func `new ones do, and only they are named`(sql: String) throws {
    try fixture.write(sql, as: "20260101000000_a.sql")
    let before = try fixture.bytes()
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    guard case .foreignKeys(let shown, let total, _, let mismatches)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(total == 1 && shown.count == 1 && mismatches.isEmpty)
    #expect(try fixture.bytes() == before)
  }

  @Test(.enabled(if: SQLiteShell.isThere))
  func `keys that need what only the application has are not checked, and stop nothing`() throws {
    try fixture.shell(
      """
      CREATE TABLE own (id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE UNIQUE, note TEXT COLLATE NOCASE);
      CREATE TABLE other (k REFERENCES own(k)); INSERT INTO own VALUES (1, 'a', 'x'); INSERT INTO other VALUES ('a');
      DELETE FROM c; DELETE FROM w;
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'OWN') WHERE name = 'own';
      """)
    try fixture.write("ALTER TABLE p ADD COLUMN x;", as: "20260101000000_a.sql")
    try fixture.write("ALTER TABLE own DROP COLUMN note;", as: "20260102000000_b.sql")
    let rehearsal = try fixture.migrator().rehearse()
    #expect(
      rehearsal.entries.map(\.uncheckedKeys) == Array(repeating: ["other": "no such collation sequence: OWN"], count: 2)
    )
    #expect(rehearsal.losses == [MigrationLoss(table: "own", column: "note", count: 1, rows: 1)])
    #expect(rehearsal.entries.map(\.brokenKeys) == [0, 0])
    try fixture.write("INSERT INTO c VALUES (5, 'new');", as: "20260101000000_a.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    guard case .foreignKeys(_, 1, _, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a key that does not fit its parent stops only the migration that makes it`() throws {
    try fixture.write("CREATE TABLE q (a TEXT); CREATE TABLE d (q REFERENCES q(a));", as: "20260101000000_a.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    #expect(
      error?.description.contains(
        "foreign key mismatch - \"d\" referencing \"q\": the columns it names are neither its primary key nor unique")
        == true)
    try fixture.makeDatabase("CREATE TABLE q (a TEXT); CREATE TABLE d (q REFERENCES q(a)); INSERT INTO d VALUES (1)")
    try fixture.write("CREATE TABLE n (x);", as: "20260101000000_a.sql")
    #expect(try fixture.migrator().apply().count == 1)
  }

  @Test func `undo and redo are held to the same`() throws {
    try fixture.write("CREATE TABLE n (x);\n-- migrate: undo\nDROP TABLE n;", as: "20260101000000_a.sql")
    let migrator = try fixture.migrator()
    try migrator.apply()
    #expect(try migrator.redo().version.number == 2026_01_01_00_00_00)
    try migrator.undo(UndoPlan(last: 1, of: migrator.history()))
    #expect(try migrator.history().isEmpty)
  }
}
