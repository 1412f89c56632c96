import QuireMigration
import QuireSQLite
import Testing

/// Files whose schema holds strings in double quotes, as SQLite's shell takes them.
@Suite struct QuotedStringTests {
  private let fixture: Fixture

  init() throws {
    fixture = try Fixture()
    try fixture.sqlite {
      $0.takesQuotedStrings = true
      _ = try $0.run(
        script: """
          CREATE TABLE t (id INTEGER PRIMARY KEY, state TEXT DEFAULT "new" CHECK (state IN ("new", "old")), n INT);
          CREATE TABLE log (m);
          CREATE TRIGGER tr AFTER UPDATE ON t BEGIN INSERT INTO log VALUES ("changed"); END;
          CREATE VIEW v AS SELECT id, "is " || state AS said FROM t;
          INSERT INTO t (n) VALUES (1);
          """, inTransaction: false)
    }
  }

  private func apply(_ sql: String) throws {
    try fixture.write(sql + "\n-- migrate: undo\nSELECT 1;\n", as: "20260101000000_a.sql")
    let migrator = try fixture.migrator(losing: true)
    _ = try migrator.rehearse()
    _ = try migrator.rehearse(isSchemaOnly: true)
    try migrator.apply()
  }

  @Test(
    arguments: [
      "UPDATE t SET n = 2 WHERE id = 1;", "ALTER TABLE t RENAME COLUMN n TO k;", "ALTER TABLE t DROP COLUMN n;",
      "ALTER TABLE t RENAME TO u;", "ALTER TABLE t ADD COLUMN \"k\" INT;", "INSERT INTO log SELECT said FROM v;",
      "CREATE TABLE w AS SELECT * FROM v;", "DROP TRIGGER tr; UPDATE t SET \"n\" = 3;",
    ])
  func `a migration runs over them`(sql: String) throws {
    try apply(sql)
    #expect(try fixture.sqlite { try $0.rows("PRAGMA integrity_check") } == [["ok"]])
    #expect(try fixture.migrator().plan().pending.isEmpty)
  }

  @Test func `their triggers write what they say`() throws {
    try apply("UPDATE t SET n = 2 WHERE id = 1;")
    #expect(try fixture.sqlite { try $0.rows("SELECT m FROM log") } == [["changed"]])
  }

  @Test func `a string in double quotes in a file of Quire's own is a name that is not there`() throws {
    for sql in ["UPDATE t SET state = \"old\";", "INSERT INTO log VALUES (\"changed\");", "SELECT \"typo\" FROM v;"] {
      let error = #expect(throws: MigrationError.self) { try apply(sql) }
      guard case .failed(let failure)? = error else {
        Issue.record("\(sql): \(String(describing: error))")
        continue
      }
      #expect(failure.message.hasPrefix("no such column") && failure.place.line == 1)
    }
  }

  @Test func `a schema that holds them is read, compared and written`() throws {
    let migrator = Migrator(database: fixture.database, files: [])
    let schema = try migrator.schema()
    #expect(try SchemaChange(from: schema, to: schema, rebuilding: [SQLName("t")]).statements.count > 3)
  }
}
