import Foundation
import QuireRow
import QuireSQLite
import Testing

@testable import QuireMigration

/// Other tools' folders, read as they are.
@Suite struct FormatTests {
  private static let up = "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
  private static let trigger = """
    CREATE TABLE log (what TEXT);
    CREATE TRIGGER log_author AFTER INSERT ON author BEGIN
      INSERT INTO log VALUES (CASE WHEN new.name = 'x;' THEN 'a' ELSE 'b' END); SELECT 1;
    END;
    CREATE VIRTUAL TABLE found USING fts5 (name);
    CREATE VIEW names AS SELECT name FROM author;
    """
  private static let back = "DROP VIEW names;\nDROP TABLE found;\nDROP TABLE log;"

  /// The same two migrations as seven tools would have them.
  static let folders: [(format: MigrationFormat, files: [String: String])] = [
    (
      .dbmate,
      [
        "20230101000000_create_authors.sql": "-- migrate:up\n\(up)\n\n-- migrate:down\nDROP TABLE author;\n",
        "20230201000000_log.sql":
          "\u{FEFF}-- migrate:up transaction:true\r\n\(trigger)\r\n-- migrate:down\r\n\(back)\r\n",
      ]
    ),
    (
      .goose,
      [
        "00001_create_authors.sql":
          "-- +goose Up\n-- +goose StatementBegin\n\(up)\n-- +goose StatementEnd\n\n-- +goose Down\nDROP TABLE author;",
        "00002_log.sql":
          "-- a comment\n-- +goose up\n-- +goose statementbegin\n\(trigger)\n-- +goose statementend\n-- +goose down\n\(back)\n",
      ]
    ),
    (
      .golangMigrate,
      [
        "000001_create_authors.up.sql": "BEGIN;\n\(up)\nCOMMIT;\n",
        "000001_create_authors.down.sql": "DROP TABLE author;",
        "000002_log.up.sql": "PRAGMA foreign_keys = off;\nBEGIN TRANSACTION;\n\(trigger)\nEND TRANSACTION;",
        "000002_log.down.sql": back,
      ]
    ),
    (
      .flyway,
      [
        "V1__create_authors.sql": up, "U1__create_authors.sql": "DROP TABLE author;", "V1_1__log.sql": trigger,
        "U1_1__log.sql": back,
      ]
    ),
    (.plain, ["1-create authors.sql": up, "010_log.sql": trigger, "notes.sql": "not a migration"]),
    (.quire, ["20230101000000_create_authors.sql": up, "20230201000000_log.sql": trigger]),
  ]

  private func write(_ files: [String: String], to fixture: Fixture) throws {
    for (name, text) in files { try fixture.write(text, as: name) }
  }

  @Test(arguments: [
    ("2022_03_29_040000_a.sql", "20220329040000"), ("2022.03.29T04.00.00.a.sql", "20220329040000"),
    ("2022-03-29T04-00-00_a.sql", "20220329040000"), ("2022-03-29-a.sql", "20220329000000"),
    ("2022-03-29.sql", "20220329000000"), ("2022_13_29_a.sql", "2022"), ("2022_03_a.sql", "2022"),
    ("2022-03-291-a.sql", "2022"), ("20220329-040000_a.sql", "20220329040000"),
  ])
  func `a day in parts is one number`(name: String, version: String) throws {
    let fixture = try Fixture()
    try fixture.write("CREATE TABLE a (b);", as: name)
    #expect(try MigrationFolder.read(fixture.migrations).map { "\($0.version)" } == [version])
  }

  @Test(arguments: [
    ("20240101120000123_a.sql", "20261127100000000_b.sql"), ("1700000000000000000_a.sql", "1700000000000000001_b.sql"),
    ("1700000000000_a.sql", "1700000000001_b.sql"), ("9223372036854775806_a.sql", "9223372036854775807_b.sql"),
    ("2022_03_29_040000_a.sql", "20261127100000_b.sql"), ("2022-03-29-a.sql", "20261127100000_b.sql"),
    ("20220329-040000_a.sql", "20261127100000_b.sql"),
  ])
  func `a new file has a number of the kind that the last one has, and comes behind it`(last: String, new: String)
    throws
  {
    let fixture = try Fixture()
    try fixture.write("CREATE TABLE a (b);", as: last)
    let now = Date(timeIntervalSince1970: 1_795_773_600)
    let path = try MigrationFolder.write("b", up: "SELECT 1;", undo: nil, to: fixture.migrations, now: now)
    #expect(path == fixture.migrations + "/" + new)
    #expect(try MigrationFolder.read(fixture.migrations).map(\.name) == [last, new])
  }

  @Test func `behind the greatest number there is none`() throws {
    let fixture = try Fixture()
    try fixture.write("SELECT 1;", as: "9223372036854775807_a.sql")
    try fixture.write("SELECT 1;", as: "7_b.sql")
    #expect(throws: MigrationError.self) {
      try MigrationFolder.write("b", up: "SELECT 1;", undo: nil, to: fixture.migrations)
    }
    let files = try MigrationFolder.read(fixture.migrations)
    #expect(throws: MigrationError.self) { try MigrationFolder.renumber(files[0], after: files[1].version) }
    for name in ["20200317160354000000_a.sql", "V99999999999999999999__a.sql"] {
      let folder = try Fixture()
      try folder.write("SELECT 1;", as: name)
      let error = #expect(throws: MigrationError.self) { try MigrationFolder.read(folder.migrations) }
      #expect(
        "\(error, default: "")".hasSuffix(
          """
          \(name) has a number that is too large: 9223372036854775807 is the last
          Rename it, and all others so that their order stays: 1_title.sql, or YYYYMMDDhhmmss_title.sql.
          """))
    }
  }

  @Test func `a file whose name has no title takes the first comment that says what it does`() throws {
    let fixture = try Fixture()
    try fixture.write("-- Create \"users\" table\nCREATE TABLE users (a);", as: "20230920174315.sql")
    try fixture.write(
      "-- Disable the enforcement of foreign-keys constraints\n-- Add column\nALTER TABLE users ADD COLUMN b;",
      as: "20230920174316.sql")
    #expect(try MigrationFolder.read(fixture.migrations).map(\.title) == ["Create \"users\" table", "Add column"])
  }

  @Test(arguments: folders) func `a folder is recognized, and what is in it runs`(
    format: MigrationFormat, files: [String: String]
  ) throws {
    let fixture = try Fixture()
    try write(files, to: fixture)
    let read = try MigrationFolder.read(fixture.migrations)
    #expect(MigrationFormat(of: read) == format)
    #expect(read.map(\.title) == ["create authors", "log"])
    try fixture.migrator(creating: true).apply()
    let reached = try DatabaseSchema(of: fixture.database)
    #expect(reached.tables.map(\.name) == ["author", "log"])
    #expect(reached.triggers.count == 1 && reached.views.count == 1 && reached.virtualTables.count == 1)
    if format == .quire || format == .plain { return }
    #expect(read.allSatisfy { $0.undo != nil })
    try fixture.sqlite { connection in
      for file in read.reversed() { _ = try connection.run(script: try #require(file.undo), inTransaction: false) }
    }
    #expect(try DatabaseSchema(of: fixture.database).isEmpty)
  }

  @Test(arguments: [
    (["002_a.sql", "002_b.sql", "003_c.sql"], "002_b.sql", ["002_a.sql", "003_c.sql", "004_b.sql"]),
    (
      ["1_a.up.sql", "1_a.down.sql", "9_b.up.sql", "9_b.down.sql"], "1_a.up.sql",
      ["10_a.down.sql", "10_a.up.sql", "9_b.down.sql", "9_b.up.sql"]
    ),
  ])
  func `a file that gets a new number keeps the folder's kind of numbers, and its other half`(
    names: [String], file: String, expected: [String]
  ) throws {
    let fixture = try Fixture()
    for name in names { try fixture.write("SELECT 1;", as: name) }
    let files = try MigrationFolder.read(fixture.migrations)
    let last = try #require(files.map(\.version).max())
    let path = try MigrationFolder.renumber(try #require(files.first { $0.path.hasSuffix(file) }), after: last)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.migrations).sorted() == expected)
    #expect(try MigrationFolder.read(fixture.migrations).last?.path == path)
  }

  @Test func `an error in an undo has the place in the file that undoes`() throws {
    let fixture = try Fixture()
    try fixture.write("-- a\n\nCREATE TABLE a (b);", as: "1_a.up.sql")
    try fixture.write("-- b\nDROP TABLE nosuch;", as: "1_a.down.sql")
    try fixture.migrator(creating: true).apply()
    let migrator = try fixture.migrator()
    let error = #expect(throws: MigrationError.self) { try migrator.undo(UndoPlan(last: 1, of: migrator.history())) }
    guard case .failed(let failure) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.place.description == fixture.migrations + "/1_a.down.sql:2:12")
  }

  @Test(arguments: [
    (["1_fix.sql": "CREATE TABLE a (b);", "20240101000000_c.sql": "CREATE TABLE c (d);"], MigrationFormat.plain),
    (
      [
        "1_fix.sql": "CREATE TABLE a (b);",
        "20240101000000_c.sql": "CREATE TABLE c (d);\n-- migrate: undo\nDROP TABLE c;",
      ], nil
    ),
    (["2024010100000_c.sql": "CREATE TABLE c (d);", "20240101000000_e.sql": "CREATE TABLE e (f);"], nil),
  ])
  func `small numbers beside times are another tool's, unless a line says that a file is Quire's`(
    files: [String: String], format: MigrationFormat?
  ) throws {
    let fixture = try Fixture()
    try write(files, to: fixture)
    let read = try? MigrationFolder.read(fixture.migrations)
    #expect(read.map { MigrationFormat(of: $0) } == format)
    if format != nil {
      #expect(try fixture.migrator(creating: true).apply().map(\.version.number) == [1, 2024_01_01_00_00_00])
    }
  }

  @Test func `an error has the line of the file, marks and all`() throws {
    let fixture = try Fixture()
    try fixture.write("-- what it is\n\n-- +goose Up\nCREATE TABLE a (b);\nSELECT nosuch;\n", as: "1_a.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    guard case .failed(let failure) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.place.line == 5 && failure.place.column == 8)
  }

  @Test(arguments: [
    ("1_a.sql", "-- +goose Down\nSELECT 1;\n-- +goose Up\nSELECT 1;", 1, "stands before"),
    ("1_a.sql", "-- +goose Up\nSELECT 1;\n-- +goose Up\nSELECT 1;", 3, "second part that runs it"),
    ("1_a.sql", "-- +goose Up\nSELECT 1;\n-- +goose Down\n-- +goose Down", 4, "second part that takes it back"),
    ("1_a.sql", "-- +goose ENVSUB ON\n-- +goose Up\nSELECT '$X';", 1, "variables"),
    ("2_b.sql", "SELECT 1;", 1, "no line says -- +goose Up"),
    ("0003_c.go", "package migrations", 1, "only goose can run"),
  ])
  func `what only goose can make of a file is said`(name: String, text: String, line: Int, reason: String) throws {
    let fixture = try Fixture()
    try fixture.write("-- +goose Up\nSELECT 1;", as: "9_last.sql")
    try fixture.write(text, as: name)
    let error = #expect(throws: MigrationError.self) { try MigrationFolder.read(fixture.migrations) }
    guard case .malformed(let file, line, let said) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(file.hasSuffix(name) && said.contains(reason))
  }

  @Test func `pairs that lack a half, and files that repeat, are told apart`() throws {
    let fixture = try Fixture()
    try fixture.write("SELECT 1;", as: "1_a.up.sql")
    #expect(try MigrationFolder.read(fixture.migrations).map(\.undo) == [nil])
    try fixture.write("SELECT 1;", as: "2_b.down.sql")
    #expect(
      throws: MigrationError.malformed(
        file: fixture.migrations + "/2_b.down.sql", line: 1, reason: "there is no file that it undoes")
    ) {
      try MigrationFolder.read(fixture.migrations)
    }
    let flyway = try Fixture()
    try flyway.write("SELECT 1;", as: "V1__a.sql")
    try flyway.write("SELECT 1;", as: "R__views.sql")
    #expect(throws: MigrationError.self) { try MigrationFolder.read(flyway.migrations) }
  }

  @Test func `a placeholder of Flyway's is named with its line`() throws {
    let fixture = try Fixture()
    try fixture.write("CREATE TABLE a (\n  b DEFAULT ${value});", as: "V1__a.sql")
    let error = #expect(throws: MigrationError.self) { try MigrationFolder.read(fixture.migrations) }
    #expect(error?.description.contains("V1__a.sql:2: only Flyway fills in") == true)
  }

  @Test func `refinery's U files are migrations, Flyway's are undone by`() throws {
    let fixture = try Fixture()
    for name in ["V1__a.sql", "U2__b.sql", "V3__c.sql"] { try fixture.write("SELECT 1;", as: name) }
    #expect(try MigrationFolder.read(fixture.migrations).map { "\($0.version)" } == ["1", "2", "3"])
  }

  @Test func `two files with one number are both there for the plan to name`() throws {
    let fixture = try Fixture()
    for name in ["001_a.sql", "1_b.sql", "002_c.sql"] { try fixture.write("SELECT 1;", as: name) }
    let plan = MigrationPlan(files: try MigrationFolder.read(fixture.migrations), history: [])
    #expect(plan.problems.map(\.kind) == ["duplicate"])
  }

  @Test func `versions with dots are in their order, and read as they are written`() {
    let texts = [
      "0", "0.0.1", "1", "1.0.0.1", "1.1", "1.2", "1.10", "2", "999999.9999.9999.9999", "1000000", "20230101000000",
    ]
    let versions = texts.compactMap { MigrationVersion(dotted: $0) }
    #expect(versions.map(\.description) == texts)
    #expect(versions == versions.sorted() && Set(versions).count == texts.count)
    #expect(MigrationVersion(dotted: "1_02") == MigrationVersion(dotted: "1.2"))
    #expect(MigrationVersion(dotted: "1") == MigrationVersion(dotted: "1.0"))
    for text in ["", ".", "1.", "1..2", "a", "1.10000", "1.2.3.4.5", "2000000.1", "99999999999999999999", "-1"] {
      #expect(MigrationVersion(dotted: text) == nil, "\(text)")
    }
  }

  @Test func `statements are told apart whatever stands in them`() {
    let sql = """
      ; -- nothing;
      SELECT ';', "a;b" /* ; */; BEGIN EXCLUSIVE;
      create temp trigger t after insert on a begin select case 1 when 1 then 2 end; end;
      END;VACUUM
      """
    let statements = Array(SQLStatements(sql))
    #expect(statements.map(\.words.first) == ["SELECT", "BEGIN", "CREATE", "END", "VACUUM"])
    #expect(statements.map(\.isTransaction) == [false, true, false, true, false])
    #expect(statements.map(\.needsNoTransaction) == [false, false, false, false, true])
    let cleaned = SQLStatements(sql).withoutTransactions()
    #expect(cleaned.utf8.count == sql.utf8.count && cleaned.contains("end; end;\n    VACUUM"))
    #expect(Array(SQLStatements("CREATE TRIGGER t BEGIN SELECT 1; SELECT 2")).count == 1)
    #expect(Array(SQLStatements(" -- x")).isEmpty)
  }

  @Test func `only what cannot run in a transaction runs without one`() throws {
    let fixture = try Fixture()
    try fixture.write("-- +goose NO TRANSACTION\n-- +goose Up\nVACUUM;", as: "1_a.sql")
    try fixture.write("-- +goose NO TRANSACTION\n-- +goose Up\nCREATE TABLE a (b);\nCREATE TABLE c (d);", as: "2_b.sql")
    let files = try MigrationFolder.read(fixture.migrations)
    #expect(files.map(\.directives) == [[.tool(.goose), .noTransaction], [.tool(.goose)]])
    #expect(try fixture.migrator(creating: true).apply().count == 2)
  }

  @Test(arguments: [
    "-- migrate:up transaction:false\nPRAGMA journal_mode = WAL;\n-- migrate:down transaction:false\n",
    "-- migrate:up\nCREATE TABLE a (b);\n\n-- migrate:down  transaction:false\n",
    "-- +goose NO TRANSACTION\n-- +goose Up\nPRAGMA journal_mode = WAL;\n\n-- +goose Down\n",
    "-- +goose Up\nCREATE TABLE a (b);\n-- +goose Down\n-- +goose NO TRANSACTION\n",
  ])
  func `an undo that its tool runs without a transaction runs without one`(text: String) throws {
    let fixture = try Fixture()
    try fixture.write(text + "PRAGMA journal_mode = DELETE;\n", as: "1_a.sql")
    let migrator = try fixture.migrator(creating: true)
    try migrator.apply()
    _ = try fixture.sqlite { try $0.rows("PRAGMA journal_mode = WAL") }
    try migrator.undo(UndoPlan(last: 1, of: migrator.history()))
    #expect(try fixture.sqlite { try $0.rows("PRAGMA journal_mode") } == [["delete"]])

    let lines = text.utf8.count { $0 == 10 }
    let other = try Fixture()
    try other.write(text + "PRAGMA journal_mode = DELETE FROM;\n", as: "1_a.sql")
    let broken = try other.migrator(creating: true)
    try broken.apply()
    let error = #expect(throws: MigrationError.self) { try broken.undo(UndoPlan(last: 1, of: broken.history())) }
    guard case .failed(let failure)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.place.line == lines + 1)
  }

  @Test func `what other tools leave to SQLite's defaults runs as with them`() throws {
    let fixture = try Fixture()
    try fixture.write(
      """
      -- migrate:up
      CREATE TABLE book (data TEXT, kind TEXT DEFAULT "none");
      CREATE INDEX by_isbn ON book (json_extract(data, '$.isbn'));
      INSERT INTO book SELECT '{}', "paper";
      CREATE VIRTUAL TABLE found USING fts5 (kind, content = 'book');
      CREATE TRIGGER book_found AFTER INSERT ON book BEGIN
        INSERT INTO found (rowid, kind) VALUES (new.rowid, new.kind);
      END;
      INSERT INTO book (data) VALUES ('{}');
      -- migrate:down
      """, as: "20260101000000_a.sql")
    try fixture.migrator(creating: true).apply()
    #expect(try fixture.sqlite { try $0.rows("SELECT kind FROM book") } == [["paper"], ["none"]])
    #expect(try fixture.sqlite { try $0.rows("SELECT rowid FROM found WHERE found MATCH 'none'") } == [[2]])
  }

  @Test func `a thousand files are read, in their order`() throws {
    let fixture = try Fixture()
    for number in 1...1000 {
      try fixture.write(
        "-- migrate:up\r\nCREATE TABLE t\(number) (a);\r\n-- migrate:down\r\nDROP TABLE t\(number);\r\n",
        as: "\(number)_t.sql")
    }
    let files = try MigrationFolder.read(fixture.migrations)
    #expect(files.map(\.version.number) == Array(1...1000))
    #expect(files.allSatisfy { $0.undo != nil && !$0.up.contains("\r") })
  }
}
