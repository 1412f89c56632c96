import Foundation
import QuireRow
import QuireSQLite
import Testing

@testable import QuireMigration

/// Other tools' version tables.
@Suite struct ToolHistoryTests {
  private func history(_ script: String) throws -> ToolHistory? {
    let connection = try Connection.inMemory()
    _ = try connection.run(script: script, inTransaction: false)
    return try ToolHistory.read(from: connection)
  }

  private func numbers(_ history: ToolHistory?) -> [String]? { history?.versions.sorted().map(\.description) }

  @Test func `each tool's table says what has run`() throws {
    let dbmate = try history(
      "CREATE TABLE \"schema_migrations\" (version varchar(128) primary key); INSERT INTO schema_migrations VALUES ('20230101000000'), ('003')"
    )
    #expect(dbmate?.tool == .dbmate && numbers(dbmate) == ["3", "20230101000000"])
    let golang = try history(
      """
      CREATE TABLE schema_migrations (version uint64, dirty bool);
      CREATE UNIQUE INDEX version_unique ON schema_migrations (version);
      INSERT INTO schema_migrations VALUES (7, 0)
      """)
    #expect(golang?.tool == .golangMigrate && golang?.unfinished == nil)
    #expect(
      golang?.contains(MigrationVersion(number: 7)) == true && golang?.contains(MigrationVersion(number: 8)) == false)
    let goose = try history(
      """
      CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
        is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
      INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1), (2, 1), (3, 1), (3, 0), (2, 0), (2, 1)
      """)
    #expect(goose?.tool == .goose && numbers(goose) == ["1", "2"])
    let sqlx = try history(
      """
      CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL,
        installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL, checksum BLOB NOT NULL,
        execution_time BIGINT NOT NULL);
      INSERT INTO _sqlx_migrations VALUES (1, 'a', '', 1, x'', 1), (2, 'b', '', 0, x'', 1)
      """)
    #expect(sqlx?.tool == .sqlx && numbers(sqlx) == ["1"] && sqlx?.unfinished == MigrationVersion(number: 2))
    let refinery = try history(
      """
      CREATE TABLE refinery_schema_history (version INT4 PRIMARY KEY, name VARCHAR(255), applied_on VARCHAR(255),
        checksum VARCHAR(255));
      INSERT INTO refinery_schema_history VALUES (1, 'a', '', ''), (12, 'b', '', '')
      """)
    #expect(refinery?.tool == .refinery && numbers(refinery) == ["1", "12"])
    let flyway = try history(
      """
      CREATE TABLE flyway_schema_history (installed_rank INT NOT NULL PRIMARY KEY, version VARCHAR(50),
        description VARCHAR(200) NOT NULL, type VARCHAR(20) NOT NULL, script VARCHAR(1000) NOT NULL, checksum INT,
        installed_by VARCHAR(100) NOT NULL, installed_on TEXT NOT NULL, execution_time INT NOT NULL,
        success BOOLEAN NOT NULL);
      INSERT INTO flyway_schema_history (installed_rank, version, description, type, script, installed_by, installed_on,
        execution_time, success) VALUES (1, '1', '', 'BASELINE', '', '', '', 0, 1), (2, '1.2', '', 'SQL', '', '', '', 0, 1),
        (3, '2', '', 'SQL', '', '', '', 0, 1), (4, '2', '', 'UNDO_SQL', '', '', '', 0, 1), (5, NULL, '', 'SQL', '', '', '', 0, 1)
      """)
    #expect(flyway?.tool == .flyway && numbers(flyway) == ["1.2"] && flyway?.last?.description == "1")
  }

  @Test func `a table of another shape is nobody's, and an empty one says nothing`() throws {
    #expect(try history("SELECT 1") == nil)
    #expect(try history("CREATE TABLE schema_migrations (id INTEGER PRIMARY KEY, name TEXT)") == nil)
    #expect(try history("CREATE TABLE goose_db_version (x)") == nil)
    #expect(try history("CREATE TABLE schema_migrations (version varchar(128) primary key)")?.isEmpty == true)
    let two = try history(
      """
      CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL);
      CREATE TABLE schema_migrations (version varchar(128) primary key); INSERT INTO schema_migrations VALUES ('1')
      """)
    #expect(two?.tool == .dbmate)
  }

  @Test func `a version that was left half done is known`() throws {
    let dirty = try history(
      "CREATE TABLE schema_migrations (version uint64, dirty bool); INSERT INTO schema_migrations VALUES (7, 1)")
    #expect(dirty?.unfinished == MigrationVersion(number: 7))
  }

  private static let goose = """
    CREATE TABLE a (b);
    CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
      is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
    INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1);
    """

  @Test func `what a tool left half done is not run, whether its history is taken over or not`() throws {
    let fixture = try Fixture()
    try fixture.write("CREATE TABLE a (b);", as: "1_a.sql")
    try fixture.write("CREATE TABLE c (d);", as: "2_c.sql")
    try fixture.makeDatabase(
      """
      CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL,
        installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL, checksum BLOB NOT NULL,
        execution_time BIGINT NOT NULL);
      CREATE TABLE a (b);
      INSERT INTO _sqlx_migrations VALUES (1, 'a', '', 1, x'', 1);
      """)
    let migrator = try fixture.migrator()
    #expect(try migrator.adopt().recorded.count == 1)
    try fixture.sqlite { _ = try $0.execute("INSERT INTO _sqlx_migrations VALUES (2, 'c', '', 0, x'', 1)") }
    for isAdopted in [true, false] {
      if !isAdopted { try fixture.sqlite { _ = try $0.execute("DROP TABLE _quire_migrations") } }
      guard case .unfinished(_, let version)? = try migrator.toolProblem() else {
        Issue.record("not known as half done")
        return
      }
      #expect(version == MigrationVersion(number: 2))
      #expect(throws: MigrationError.self) { try migrator.apply() }
    }
    try fixture.sqlite { _ = try $0.execute("UPDATE _sqlx_migrations SET success = 1") }
    #expect(try migrator.adopt().recorded.count == 2)
  }

  @Test func `sqlx's line for a file without a transaction is no title`() throws {
    let fixture = try Fixture()
    for name in ["1_wal_mode.sql", "20260101000000_wal_mode.sql"] {
      try fixture.write("-- no-transaction\nPRAGMA journal_mode = WAL;", as: name)
      #expect(try MigrationFolder.read(fixture.migrations).map(\.title) == ["wal mode"])
      try FileManager.default.removeItem(atPath: fixture.migrations + "/" + name)
    }
  }

  @Test func `a history is taken over, goes on, and is given back`() throws {
    let fixture = try Fixture()
    try fixture.makeDatabase(Self.goose)
    try fixture.write("-- +goose Up\nCREATE TABLE a (b);", as: "00001_a.sql")
    try fixture.write("-- +goose Up\nCREATE TABLE c (d);", as: "00002_c.sql")
    // Everything would run again: refused, with nothing changed.
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    #expect(error?.description.contains("goose has migrated this database") == true)
    #expect(try fixture.migrator().adopt().recorded.map(\.title) == ["a"])
    #expect(try fixture.migrator().adopt().recorded.isEmpty)
    #expect(try fixture.migrator().apply().map(\.title) == ["c"])
    #expect(try fixture.migrator().giveBack().recorded.map(\.number) == [2])
    #expect(try fixture.migrator().giveBack().recorded.isEmpty)
    let last = try fixture.sqlite { try $0.rows("SELECT max(version_id), count(*) FROM goose_db_version") }
    #expect(last == [[2, 3]])
  }

  @Test func `a history that does not fit the files is not taken over`() throws {
    let fixture = try Fixture()
    try fixture.makeDatabase(Self.goose + "INSERT INTO goose_db_version (version_id, is_applied) VALUES (7, 1);")
    try fixture.write("-- +goose Up\nCREATE TABLE a (b);", as: "00001_a.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().adopt() }
    #expect(error?.description.contains("lack: 7") == true)
    #expect(try fixture.migrator().plan().current == nil)
    let plain = try Fixture()
    try plain.makeDatabase()
    try plain.write("SELECT 1;", as: "1_a.sql")
    #expect(throws: MigrationError.tool(.none)) { try plain.migrator().adopt() }
  }

  @Test(arguments: ["-- +goose Up", "-- migrate:up"]) func `SQL above the mark is refused with its line`(mark: String)
    throws
  {
    let fixture = try Fixture()
    try fixture.write("-- a title\nCREATE TABLE pre (x);\n\(mark)\nCREATE TABLE a (x);\n", as: "1_a.sql")
    let error = #expect(throws: MigrationError.self) { try MigrationFolder.read(fixture.migrations) }
    guard case .malformed(_, line: 2, let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.hasPrefix("‘CREATE TABLE pre (x);’ stands above the line ‘\(mark)’"))
  }

  @Test func `a file with U is run if no other has an undo, and refused beside such`() throws {
    let fixture = try Fixture()
    try fixture.write("CREATE TABLE a (x);", as: "V1__a.sql")
    try fixture.write("CREATE TABLE b (x);", as: "U2__b.sql")
    #expect(try MigrationFolder.read(fixture.migrations).map(\.title) == ["a", "b"])
    let written = try MigrationFolder.write("c", up: "SELECT 1;", undo: "SELECT 2;", to: fixture.migrations)
    #expect(written.hasSuffix("/V3__c.sql"))
    #expect(!FileManager.default.fileExists(atPath: fixture.migrations + "/U3__c.sql"))
    try fixture.write("DROP TABLE a;", as: "U1__a.sql")
    #expect(throws: MigrationError.self) { try MigrationFolder.read(fixture.migrations) }
  }

  @Test func `a day and a time in a name are one number`() throws {
    let fixture = try Fixture()
    for time in ["040000", "050000_b"] { try fixture.write("SELECT 1;", as: "20220329-\(time).sql") }
    let files = try MigrationFolder.read(fixture.migrations)
    #expect(files.map(\.version.number) == [20_220_329_040_000, 20_220_329_050_000])
    #expect(files.map(\.title) == ["", "b"])
  }

  @Test(arguments: ["1_wal.up.sql", "1_wal.sql", "20260101000000_wal.sql"])
  func `sqlx's line for no transaction is obeyed`(name: String) throws {
    let fixture = try Fixture()
    try fixture.write("-- no-transaction\n\nPRAGMA journal_mode = WAL;\n", as: name)
    try fixture.migrator(creating: true).apply()
    let mode = try fixture.sqlite { try $0.rows("PRAGMA journal_mode") }
    #expect(mode == [["wal"]])
  }
}
