import Foundation
import QuireRow
import QuireSQLite
import Testing

@testable import QuireMigration

/// What has run through Quire, recorded in another tool's version table as that tool would have.
@Suite struct ToolTableTests {
  private static let sqlx = """
    CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL,
      installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL, checksum BLOB NOT NULL,
      execution_time BIGINT NOT NULL);
    """
  private static let flyway = """
    CREATE TABLE flyway_schema_history (installed_rank INT NOT NULL PRIMARY KEY, version VARCHAR(50),
      description VARCHAR(200) NOT NULL, type VARCHAR(20) NOT NULL, script VARCHAR(1000) NOT NULL, checksum INT,
      installed_by VARCHAR(100) NOT NULL, installed_on TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
      execution_time INT NOT NULL, success BOOLEAN NOT NULL);
    """
  private static func refinery(_ type: String) -> String {
    "CREATE TABLE refinery_schema_history (version \(type) PRIMARY KEY, name VARCHAR(255), applied_on VARCHAR(255), checksum VARCHAR(255));"
  }

  /// Two files whose checksums were made by other means: the first with a byte order mark and CRLF.
  private static let texts = ["\u{FEFF}CREATE TABLE a (b);\r\n", "CREATE TABLE c (d); -- é\n"]
  private static let sums = [
    "e4bac53ac73932ac450b01a4af8b386e29d560feea04be507c64296233f586587382a530c76e6783c80d215e36131d04",
    "2fb9ab44112c64e5b6e6218131c168b810f8bd91efd191e01a25521ffac84e65a69db376f7c95b670058facbc3b4309d",
  ]

  /// A database in which a tool has run nothing yet, and Quire both files.
  private func fixture(_ table: String, _ files: KeyValuePairs<String, String>, until last: Int64? = nil) throws
    -> Fixture
  {
    let fixture = try Fixture()
    try fixture.makeDatabase(table)
    for (name, text) in files { try fixture.write(text, as: name) }
    try fixture.migrator().apply(to: last.map { MigrationVersion(number: $0) })
    return fixture
  }

  private func rows(_ fixture: Fixture, _ sql: String) throws -> [[Value]] { try fixture.sqlite { try $0.rows(sql) } }

  @Test func `SHA-384 is that of others, whatever the length`() {
    func hex(_ text: String) -> String { SHA384.hash(text.utf8).map { String(format: "%02x", $0) }.joined() }
    #expect(hex("").hasPrefix("38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fb"))
    #expect(hex("abc").hasPrefix("cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc23"))
    let long = [
      111: "3c37955051cb5c3026f94d551d5b5e2a", 112: "187d4e07cb306103c69967bf544d0dfb",
      1000: "f54480689c6b0b11d0303285d9a81b21",
    ]
    for (length, sum) in long { #expect(hex(String(repeating: "a", count: length)).hasPrefix(sum), "\(length)") }
  }

  @Test func `sqlx finds its checksums of the files as they are`() throws {
    let fixture = try fixture(
      Self.sqlx,
      ["1_create_a.up.sql": Self.texts[0], "1_create_a.down.sql": "DROP TABLE a;", "2_c-d_e.up.sql": Self.texts[1]])
    #expect(try fixture.migrator().giveBack().recorded.map(\.number) == [1, 2])
    let written = try rows(
      fixture, "SELECT version, description, success, lower(hex(checksum)), typeof(checksum) FROM _sqlx_migrations")
    #expect(
      written == [
        [1, "create a", 1, .text(Self.sums[0]), "blob"], [2, "c-d e", 1, .text(Self.sums[1]), "blob"],
      ])
    let moments = try rows(
      fixture, "SELECT installed_on IS datetime(installed_on), execution_time >= 0 FROM _sqlx_migrations")
    #expect(moments == [[1, 1], [1, 1]])
    #expect(try fixture.migrator().giveBack().recorded.isEmpty)
  }

  @Test func `Flyway finds its checksums of the lines, and the next rank`() throws {
    let fixture = try fixture(Self.flyway, ["V1__create_a.sql": Self.texts[0], "V1_1__c.sql": Self.texts[1]])
    #expect(try fixture.migrator().giveBack().recorded.map(\.description) == ["1", "1.1"])
    let written = try rows(
      fixture, "SELECT installed_rank, version, description, type, script, checksum, success FROM flyway_schema_history"
    )
    #expect(
      written == [
        [1, "1", "create a", "SQL", "V1__create_a.sql", 61_878_610, 1],
        [2, "1.1", "c", "SQL", "V1_1__c.sql", -135_934_210, 1],
      ])
    #expect(
      try rows(fixture, "SELECT count(*) FROM flyway_schema_history WHERE installed_on GLOB '20??-??-?? ??:??:??.000'")
        == [[2]])
  }

  @Test(arguments: [
    ("int4", "2959965718684201605", "8238603820526370208"), ("int8", "13938959368620441626", "5394706226941044339"),
  ])
  func `refinery finds its checksums, whichever width its versions have`(type: String, first: String, second: String)
    throws
  {
    let fixture = try fixture(
      Self.refinery(type),
      [
        "V1__initial.sql":
          "CREATE TABLE persons (\n    id int,\n    name varchar(255),\n    city varchar(255)\n);\n",
        "V2__add_cars_table.sql": "CREATE TABLE cars (\n    id int,\n    name varchar(255)\n);\n",
      ])
    #expect(try fixture.migrator().giveBack().recorded.map(\.description) == ["1", "2"])
    let written = try rows(fixture, "SELECT version, name, checksum FROM refinery_schema_history")
    #expect(written == [[1, "initial", .text(first)], [2, "add_cars_table", .text(second)]])
  }

  @Test func `where the tool's own checksums are others, nothing is written`() throws {
    let fixture = try Fixture()
    try fixture.makeDatabase(
      Self.sqlx + "CREATE TABLE a (b); INSERT INTO _sqlx_migrations VALUES (1, 'a', '', 1, x'00', 1);")
    try fixture.write("CREATE TABLE a (b);", as: "1_a.sql")
    try fixture.write("CREATE TABLE c (d);", as: "2_c.sql")
    _ = try fixture.migrator().adopt()
    try fixture.migrator().apply()
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().giveBack() }
    #expect(error?.description.contains("of 1 is not of") == true)
    #expect(try rows(fixture, "SELECT count(*) FROM _sqlx_migrations") == [[1]])
  }

  @Test func `the table of Rails is not taken for dbmate's, and its rows stay`() throws {
    let fixture = try fixture(
      """
      CREATE TABLE schema_migrations (version varchar NOT NULL PRIMARY KEY);
      CREATE TABLE ar_internal_metadata (key varchar NOT NULL PRIMARY KEY, value varchar);
      INSERT INTO schema_migrations VALUES ('20240101000000');
      """, ["20250101000000_a.sql": "CREATE TABLE a (b);\n-- migrate: undo\nDROP TABLE a;"])
    let missing = #expect(throws: MigrationError.self) { try fixture.migrator().adopt() }
    #expect(missing?.description.hasPrefix("Rails has run what these files lack: 20240101000000.\n") == true)
    #expect(missing?.description.hasSuffix("Its files are in Ruby, which Quire does not run.") == true)
    let back = #expect(throws: MigrationError.self) { try fixture.migrator().giveBack(removing: true) }
    #expect(back?.description.contains("it records files in Ruby, which Quire does not know") == true)
    let migrator = try fixture.migrator()
    try migrator.undo(UndoPlan(last: 1, of: migrator.history()))
    #expect(try rows(fixture, "SELECT version FROM schema_migrations") == [["20240101000000"]])
  }

  @Test func `of a file that is gone or says something else no checksum is made up`() throws {
    let fixture = try fixture(Self.sqlx, ["1_a.sql": "CREATE TABLE a (b);", "2_c.sql": "CREATE TABLE c (d);"])
    try fixture.write("CREATE TABLE c (d, e);", as: "2_c.sql")
    var error = #expect(throws: MigrationError.self) { try fixture.migrator().giveBack() }
    guard case .history(.edited) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try FileManager.default.removeItem(atPath: fixture.migrations + "/2_c.sql")
    error = #expect(throws: MigrationError.self) { try fixture.migrator().giveBack() }
    #expect(error?.description.contains("that of 2 is not here") == true)
    #expect(try rows(fixture, "SELECT count(*) FROM _sqlx_migrations") == [[0]])
  }

  @Test(arguments: [
    ("CREATE TABLE schema_migrations (version varchar(128) primary key)", "schema_migrations", "version"),
    ("CREATE TABLE schema_migrations (version uint64, dirty bool)", "schema_migrations", "version"),
    (
      "CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))",
      "goose_db_version", "version_id"
    ),
    (sqlx, "_sqlx_migrations", "version"),
  ])
  func `what is taken back here leaves the other tool's table with it, and can run again`(
    table: String, name: String, column: String
  ) throws {
    let fixture = try fixture(
      table,
      [
        "1_a.up.sql": "CREATE TABLE a (b);", "1_a.down.sql": "DROP TABLE a;", "2_c.up.sql": "CREATE TABLE c (d);",
        "2_c.down.sql": "DROP TABLE c;",
      ])
    func recorded() throws -> Int64 {
      guard
        case .integer(let number)? = try rows(fixture, "SELECT coalesce(max(\(column) + 0), 0) FROM \(name)")[0].first
      else { return -1 }
      return number
    }
    _ = try fixture.migrator().giveBack()
    #expect(try recorded() == 2)
    #expect(try fixture.migrator().redo().version.number == 2)
    #expect(try recorded() == 2)
    for last in [Int64(1), 0] {
      try fixture.migrator().undo(UndoPlan(last: 1, of: fixture.migrator().history()))
      #expect(try recorded() == last)
      #expect(try fixture.migrator().giveBack().removed.isEmpty)
    }
    #expect(try fixture.migrator().apply().map(\.version.number) == [1, 2])
    #expect(try recorded() == 0)
    // What an earlier version has undone is still in the other table.
    _ = try fixture.migrator().giveBack()
    _ = try fixture.sqlite {
      try $0.run(script: "DELETE FROM _quire_migrations WHERE version = 2", inTransaction: false)
    }
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().giveBack() }
    guard case .tool(.ahead(_, let versions)) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(versions.map(\.number) == [2])
    #expect(try fixture.migrator().giveBack(removing: true).removed.map(\.number) == [2])
    #expect(try recorded() == 1)
  }

  @Test func `an undo of another tool's may quote strings as SQLite lets it`() throws {
    let texts = ("CREATE TABLE a (b);", "INSERT INTO log SELECT \"taken back\"; DROP TABLE a;")
    let fixture = try Fixture()
    try fixture.makeDatabase("CREATE TABLE log (what TEXT)")
    try fixture.write("-- migrate:up\n\(texts.0)\n-- migrate:down\n\(texts.1)", as: "20260101000000_a.sql")
    try fixture.migrator().apply()
    try fixture.migrator().undo(UndoPlan(last: 1, of: fixture.migrator().history()))
    #expect(try rows(fixture, "SELECT what FROM log") == [["taken back"]])
    // Quire's own have to say what they mean.
    try fixture.write("\(texts.0)\n-- migrate: undo\n\(texts.1)", as: "20260101000000_a.sql")
    try fixture.migrator().apply()
    let error = #expect(throws: MigrationError.self) {
      try fixture.migrator().undo(UndoPlan(last: 1, of: fixture.migrator().history()))
    }
    #expect(error?.description.contains("no such column") == true)
    #expect(try fixture.migrator().history().count == 1)
  }

  @Test func `a table of a tool whose migrations are code stays, and hinders nothing`() throws {
    let fixture = try Fixture()
    try fixture.makeDatabase(
      """
      CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY); INSERT INTO grdb_migrations VALUES ('v1');
      CREATE TABLE __EFMigrationsHistory (MigrationId TEXT); INSERT INTO __EFMigrationsHistory VALUES ('a');
      """)
    try fixture.write("CREATE TABLE a (b);", as: "20260101000000_a.sql")
    #expect(try fixture.migrator().toolProblem() == nil)
    try fixture.migrator().apply()
    #expect(try fixture.migrator().checkDatabase().isEmpty)
    #expect(try rows(fixture, "SELECT identifier FROM grdb_migrations") == [["v1"]])
  }

  @Test func `what the tool runs after its history was adopted is not run again`() throws {
    let fixture = try Fixture()
    try fixture.makeDatabase(
      """
      CREATE TABLE schema_migrations (version uint64, dirty bool); INSERT INTO schema_migrations VALUES (1, 0);
      CREATE TABLE p (price); INSERT INTO p VALUES (5);
      """)
    try fixture.write("CREATE TABLE p (price);", as: "1_p.up.sql")
    try fixture.write("UPDATE p SET price = price * 100 WHERE 1;", as: "2_cents.up.sql")
    _ = try fixture.migrator().adopt()
    #expect(try fixture.migrator().toolProblem() == nil)
    try fixture.makeDatabase("UPDATE p SET price = 500; UPDATE schema_migrations SET version = 2")
    let history = try #require(try fixture.migrator().toolHistory())
    let ahead = MigrationError.tool(.ahead(history, [MigrationVersion(number: 2)]))
    #expect(throws: ahead) { try fixture.migrator().apply() }
    #expect(throws: ahead) { try fixture.migrator().rehearse() }
    #expect(try rows(fixture, "SELECT price FROM p") == [[500]])
    #expect(try fixture.migrator().adopt().recorded.map(\.version.number) == [2])
    #expect(try fixture.migrator().apply().isEmpty)
  }

  @Test(arguments: [
    ("d1_migrations", "D1"), ("atlas_schema_revisions", "Atlas"), ("__drizzle_migrations", "Drizzle"),
    ("_prisma_migrations", "Prisma"), ("__diesel_schema_migrations", "Diesel"), ("alembic_version", "Alembic"),
    ("knex_migrations", "Knex"), ("_yoyo_migration", "yoyo"), ("gorp_migrations", "sql-migrate"),
    ("DATABASECHANGELOG", "Liquibase"), ("schema_migration", "Fizz"), ("play_evolutions", "Play"),
    ("dbix_class_schema_versions", "DBIx::Class"), ("dbix_class_deploymenthandler_versions", "DBIx::Class"),
  ])
  func `a database with the history of a tool that Quire does not read waits for a baseline`(
    table: String, tool: String
  ) throws {
    let fixture = try Fixture()
    try fixture.makeDatabase("CREATE TABLE \(table) (name)")
    try fixture.write("CREATE TABLE IF NOT EXISTS a (b);", as: "0001_a.sql")
    #expect(try fixture.migrator().toolProblem() == nil)  // it has run nothing
    try fixture.makeDatabase("INSERT INTO \(table) VALUES ('0001_a.sql')")
    let unread = MigrationError.tool(.unread(tool: tool, table: table))
    #expect(throws: unread) { try fixture.migrator().apply() }
    #expect(throws: unread) { try fixture.migrator().adopt() }
    #expect(try fixture.migrator().schema().isEmpty)
    try fixture.migrator().beginHistory()
    #expect(try fixture.migrator().apply().count == 1)
  }
}
