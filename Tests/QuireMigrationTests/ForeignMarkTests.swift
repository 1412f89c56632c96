import Foundation
import QuireMigration
import QuireSQLite
import Testing

/// Files with another tool's marks for the part that takes them back: who does not know the marks runs both parts.
@Suite struct ForeignMarkTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private func read(_ text: String, as name: String = "20240101000000_a.sql") throws -> [MigrationFile] {
    try fixture.write(text, as: name)
    return try MigrationFolder.read(fixture.migrations)
  }

  @Test(
    arguments: [
      ("-- +migrate Up", "-- +migrate Down"), ("-- +migrate Up notransaction", "-- +migrate Down"),
      ("-- +micrate Up", "-- +micrate Down"), ("-- Up", "-- Down"), ("-- up:", "-- down:"), ("--UP", "--DOWN"),
      ("-- ==== UP ====", "-- ==== DOWN ===="), ("-- Up Migration", "-- Down Migration"), ("-- !Ups", "-- !Downs"),
      ("-- rambler up", "-- rambler down"), ("-- 1 up", "-- 1 down"), ("/* up */", "/* down */"),
      ("-- a title", "---- create above / drop below ----"), ("-- a title", "-- rollback"),
      ("--changeset lem:1", "--rollback DROP TABLE s;"), ("-- a title", "-- Rollback:"), ("-- a title", "-- undo"),
      ("-- // a title", "-- //@UNDO"), ("-- upgrade", "-- downgrade"), ("\u{FEFF}-- @up", "  -- @down"),
    ], ["20240101000000_a.sql", "1_a.sql"])
  func `a mark that Quire does not read is refused by its name, and nothing is run`(
    marks: (up: String, down: String), name: String
  ) throws {
    let text = "\(marks.up)\nCREATE TABLE s (id INTEGER PRIMARY KEY);\n\(marks.down)\nDELETE FROM account;\n"
    let error = #expect(throws: MigrationError.self) { try read(text, as: name) }
    guard case .malformed(_, let line, let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    let mark = line == 1 ? marks.up : marks.down
    #expect(reason.hasPrefix("‘\(mark.filter { $0 != "\u{FEFF}" }.drop { $0 == " " })’ is "))
    #expect(line == 1 || line == 3)
    #expect(throws: MigrationError.self) { try MigrationFolder.read([EmbeddedMigration(name: name, text: text)]) }
  }

  @Test(arguments: ["-- +micrate Up", "-- +migrate Up", "-- Up Migration", "-- !Ups", "-- up"])
  func `a file that follows the advice is not called as the mark that is left in it`(mark: String) throws {
    let text = "\(mark)\nCREATE TABLE s (a);\n-- migrate: undo\nDROP TABLE s;\n"
    #expect(try read(text, as: "20240101000000_create_s.sql").map(\.title) == ["create s"])
    let titled = text.replacing("CREATE", with: "-- a title\nCREATE")
    #expect(try read(titled, as: "20240101000000_create_s.sql").map(\.title) == ["a title"])
  }

  @Test(arguments: [
    "-- atlas:checkpoint", "-- atlas:checkpoint v1", "--changeset lem:2 dbms:mysql,oracle",
    "--changeset lem:2 context:test",
    "-- changeset lem:2 runOnChange:true labels:x", "--preconditions onFail:MARK_RAN",
    "-- precondition-sql-check expectedResult:0 SELECT 1",
  ])
  func `what another tool would leave out is refused`(mark: String) throws {
    let error = #expect(throws: MigrationError.self) { try read("\(mark)\nCREATE TABLE s (a);\n", as: "1_a.sql") }
    #expect(String(describing: error).contains("‘\(mark)’ is \(mark.contains("atlas") ? "Atlas" : "Liquibase")'s mark"))
    #expect(throws: MigrationError.self) { try read("\(mark)\nCREATE TABLE s (a);\n", as: "1_a.up.sql") }
  }

  @Test(arguments: [
    "-- only: postgres", "-- only: sqlite (line commented)", "  -- only: postgres for next 2 lines",
    "-- only: sqlite until \"end only\"",
  ])
  func `lines for one kind of database are refused`(mark: String) throws {
    let text = "-- v2: a title\nCREATE TABLE s (a);\n\(mark)\nDELETE FROM s;\n"
    let error = #expect(throws: MigrationError.self) { try read(text, as: "02-title.sql") }
    #expect(String(describing: error).contains("‘\(mark.drop { $0 == " " })’ is mautrix's mark"))
    #expect(try read("CREATE TABLE s (a);\n-- only: sqlite knows this\n", as: "02-title.sql").count == 1)
  }

  @Test(arguments: [
    "--changeset lem:2 dbms:sqlite", "--changeset lem:dbms", "-- the atlas: checkpoint", "-- atlas:txmode none",
    "-- preconditions: none", "-- a precondition of all that follows",
  ])
  func `what another tool would run is run`(mark: String) throws {
    let file = try #require(try read("\(mark)\nCREATE TABLE s (a);\n", as: "1_a.sql").first)
    #expect(!file.title.hasPrefix("atlas:"))
  }

  @Test(arguments: ["20240101000000_a.sql", "1_a.sql"])
  func `a line that says that the file is Quire's lets a mark be a comment`(name: String) throws {
    let file = try #require(
      try read("-- Up\nCREATE TABLE s (a);\n-- migrate: undo\n-- Down\nDROP TABLE s;\n", as: name).first)
    #expect(file.up == "-- Up\nCREATE TABLE s (a);\n" && file.undo == "\n-- Down\nDROP TABLE s;\n")
  }

  @Test(
    arguments: [
      "-- clean up", "-- set up the tables", "-- Down below is the index of books that are lent out",
      "-- roll back office",
      "-- rollback is not possible here", "-- migrate users", "--> statement-breakpoint", "-- back up first",
      "SELECT 1; -- down", "SELECT '\n-- down\n';", "/*\n-- down\n*/",
    ])
  func `prose, text in strings and what stands behind a statement are no marks`(text: String) throws {
    #expect(try read("CREATE TABLE s (a);\n\(text)\n").count == 1)
  }

  @Test func `in a folder whose tool keeps the parts apart only a mark of the other part is refused`() throws {
    try fixture.write("DROP TABLE s;", as: "1_a.down.sql")
    #expect(try read("-- Up\nCREATE TABLE s (a);", as: "1_a.up.sql").count == 1)
    #expect(throws: MigrationError.self) { try read("CREATE TABLE s (a);\n-- Down\nDROP TABLE s;", as: "1_a.up.sql") }
  }

  // MARK: Parts that take back nothing

  @Test(arguments: ["", "\n\n", "-- nothing yet\n", ";\n", "/* none */\n"])
  func `an undo of Quire's own without a statement is none`(undo: String) throws {
    try fixture.write("CREATE TABLE t (a);\n-- migrate: undo\n\(undo)", as: "20240101000000_a.sql")
    let migrator = try fixture.migrator(creating: true)
    #expect(migrator.files.map(\.undo) == [nil])
    #expect(migrator.files[0].lint().map(\.code) == [.noUndo])
    let applied = try migrator.apply()
    #expect(throws: MigrationError.noUndo(applied[0])) { try UndoPlan(last: 1, of: migrator.history()) }
    // As it was recorded once.
    try fixture.sqlite { _ = try $0.rows("UPDATE _quire_migrations SET undo = char(10)") }
    #expect(throws: MigrationError.self) { try UndoPlan(last: 1, of: migrator.history()) }
  }

  @Test(arguments: [
    [
      "1_a.up.sql": "CREATE TABLE a (x);", "1_a.down.sql": "DROP TABLE a;", "2_b.up.sql": "UPDATE a SET x = 1;",
      "2_b.down.sql": "-- nothing to undo",
    ],
    [
      "1_a.up.sql": "CREATE TABLE a (x);", "1_a.down.sql": "DROP TABLE a;", "2_b.up.sql": "UPDATE a SET x = 1;",
      "2_b.down.sql": "",
    ],
    [
      "1_a.sql": "-- migrate:up\nCREATE TABLE a (x);\n-- migrate:down\nDROP TABLE a;",
      "2_b.sql": "-- migrate:up\nUPDATE a SET x = 1;\n-- migrate:down\n-- nothing",
    ],
    [
      "1_a.sql": "-- +goose Up\nCREATE TABLE a (x);\n-- +goose Down\nDROP TABLE a;",
      "2_b.sql": "-- +goose Up\nUPDATE a SET x = 1;\n-- +goose Down\n-- nothing\nBEGIN; COMMIT;",
    ],
  ])
  func `another tool's part of comments only takes back nothing, and is stepped over`(files: [String: String]) throws {
    for (name, text) in files { try fixture.write(text, as: name) }
    let migrator = try fixture.migrator(creating: true)
    try migrator.apply()
    let format = MigrationFormat(of: migrator.files)
    try migrator.undo(UndoPlan(last: 2, of: migrator.history(), format: format))
    #expect(try migrator.history().isEmpty && migrator.schema().tables.isEmpty)
  }

  // MARK: Files with Quire's numbers and no line that says so

  @Test func `a file that no line calls Quire's runs as it would in SQLite's shell`() throws {
    try fixture.write(
      """
      PRAGMA foreign_keys=OFF;
      COMMIT TRANSACTION;
      BEGIN;
      CREATE TABLE u (a CHECK (a <> "none"));
      INSERT INTO u VALUES ("text");
      END; -- of it
      PRAGMA foreign_keys=ON;
      BEGIN TRANSACTION
      """, as: "20240101000000_a.sql")
    let migrator = try fixture.migrator(creating: true)
    #expect(try migrator.rehearseFromEmpty() == 1)
    try migrator.apply()
    #expect(try fixture.sqlite { try $0.rows("SELECT a FROM u") } == [["text"]])
    #expect(try fixture.migrator().history().first?.up.contains("COMMIT TRANSACTION;") == true)
    try fixture.write("INSERT INTO u VALUES (\"text\");\n-- migrate: undo\nSELECT 1;", as: "20240102000000_b.sql")
    #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
  }

  @Test(
    arguments: [
      ("BEGIN", "BEGIN"), ("END", "COMMIT"), ("SAVEPOINT a", "SAVEPOINT"), ("ATTACH 'x.db' AS x", "ATTACH"),
      ("DETACH x", "DETACH"), ("VACUUM INTO 'y.db'", "VACUUM"), ("PRAGMA \"foreign_keys\" = 0", "PRAGMA foreign_keys"),
      ("PRAGMA main.journal_mode(wal)", "PRAGMA journal_mode"), ("PRAGMA synchronous=OFF", "PRAGMA synchronous"),
      ("PRAGMA writable_schema=1", "PRAGMA writable_schema"),
    ])
  func `what cannot run is found before the first file is committed, and said in its own words`(
    sql: String, name: String
  ) throws {
    try fixture.write("CREATE TABLE a (b);", as: "20240101000000_a.sql")
    try fixture.write("CREATE TABLE c (d);\n\(sql);\n-- migrate: undo\nDROP TABLE c;", as: "20240102000000_b.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    guard case .refused(name, let place)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(place.line == 2 && place.column == 1)
    #expect(!FileManager.default.fileExists(atPath: fixture.database))
    #expect(error?.description.split(separator: "\n").count == 2)
    #expect(throws: MigrationError.self) { try fixture.migrator().replay() }
    #expect(try fixture.migrator().files[1].lint().contains { $0.code == .transaction && $0.line == 2 })
  }
}

extension Migrator {
  /// How many tables the files make of nothing.
  fileprivate func rehearseFromEmpty() throws -> Int { try replay().tables.count }
}
