import QuireMigration
import QuireSQLite
import Testing

/// What the version table and the files' numbers have to fit.
@Suite struct MigrationHistoryTests {
  let fixture: Fixture

  init() throws {
    fixture = try Fixture()
    try fixture.makeDatabase("CREATE TABLE old (a); INSERT INTO old VALUES (1)")
    try fixture.write("UPDATE old SET a = 2;", as: "20260101000000_a.sql")
  }

  @Test func `a column that another version has added to the history does not stop a migration`() throws {
    try fixture.migrator().apply()
    _ = try fixture.sqlite { try $0.execute("ALTER TABLE _quire_migrations ADD COLUMN note TEXT") }
    try fixture.write("UPDATE old SET a = 3;", as: "20260102000000_b.sql")
    #expect(try fixture.migrator().apply().count == 1)
    #expect(try fixture.sqlite { try $0.rows("SELECT a FROM old") } == [[3]])
  }

  @Test func `files with one number are refused by name where they are replayed`() throws {
    try fixture.write("CREATE TABLE b (c);", as: "20260101000000_b.sql")
    let error = #expect(throws: MigrationError.self) {
      try fixture.migrator().replay(to: MigrationVersion(number: 2026_01_01_00_00_00))
    }
    guard case .history(.duplicate)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
