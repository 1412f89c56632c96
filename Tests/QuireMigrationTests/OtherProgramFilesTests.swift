import Foundation
import QuireSQLite
import Testing

@testable import QuireMigration

/// Files as other programs write them: in their encodings, with their commands, and with what only they can run.
@Suite struct OtherProgramFilesTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private func write(_ bytes: [UInt8], as name: String) throws {
    try Data(bytes).write(to: URL(filePath: fixture.migrations + "/" + name))
  }

  /// What is said of the folder; empty if it can be read.
  private func refusal() -> String {
    do {
      _ = try MigrationFolder.read(fixture.migrations)
      return ""
    } catch { return error.description.replacing(fixture.migrations + "/", with: "") }
  }

  // MARK: Encodings

  private static let sql = "CREATE TABLE é (naïve TEXT DEFAULT 'ø');\n-- 日本\n"

  @Test(
    arguments: [
      (String.Encoding.utf16LittleEndian, "UTF-16LE"), (.utf16BigEndian, "UTF-16BE"), (.utf32LittleEndian, "UTF-32LE"),
      (.utf32BigEndian, "UTF-32BE"),
    ], ["", "\u{FEFF}"])
  func `a file in UTF-16 or UTF-32 is named as that, with the word that converts it`(
    encoding: (encoding: String.Encoding, name: String), mark: String
  ) throws {
    let bytes = Array(try #require((mark + Self.sql).data(using: encoding.encoding)))
    try write(bytes, as: "1_a.sql")
    let name = mark.isEmpty ? encoding.name : String(encoding.name.prefix(6))
    #expect(refusal() == "1_a.sql:1: it is in \(name.prefix(6)). iconv -f \(name) -t UTF-8 FILE >NEW converts it")
  }

  @Test func `a NUL in a file of UTF-8 is a NUL, and how it is taken out is said`() throws {
    try write(Array("SELECT 1;\nSELECT 'a\0b';\0\0".utf8), as: "1_a.sql")
    #expect(refusal().hasPrefix("1_a.sql:2: it contains a NUL byte") && refusal().contains("tr -d '\\0'"))
  }

  @Test func `a name that is not UTF-8 is named as that`() throws {
    let path = fixture.migrations.utf8CString.dropLast() + [0x2F, 0x31, 0x5F, CChar(bitPattern: 0xFF)]
    let name = path + ".sql".utf8CString
    let file = try #require(name.withUnsafeBufferPointer { fopen($0.baseAddress!, "w") })
    fclose(file)
    #expect(refusal() == "1_\u{FFFD}.sql:1: its name is not UTF-8, at the sign \u{FFFD}: rename it")
  }

  // MARK: What only the tool can run

  @Test(arguments: ["1_a.sql", "20260101000000_a.sql", "1_a.up.sql", "V1__a.sql"])
  func `what Django runs in Python, and its SQL does not have, is refused`(name: String) throws {
    let text = "BEGIN;\n--\n-- Raw Python operation\n--\n-- THIS OPERATION CANNOT BE WRITTEN AS SQL\nCOMMIT;\n"
    try write(Array(text.utf8), as: name)
    #expect(refusal().hasPrefix("\(name):5: ‘-- THIS OPERATION CANNOT BE WRITTEN AS SQL’ is Django's mark"))
    #expect(refusal().contains("Write in SQL what it does"))
    try write(Array(text.replacing("-- THIS OPERATION CANNOT BE WRITTEN AS SQL\n", with: "SELECT 1;").utf8), as: name)
    #expect(refusal() == "")
  }

  @Test(arguments: [
    "B3__base.sql", "B2.1__base.sql", "beforeMigrate.sql", "afterEachMigrate__x.sql", "beforeEachMigrate.sql",
  ])
  func `what Flyway would run, though it has no number, is not left out`(name: String) throws {
    try fixture.write("CREATE TABLE a (b);", as: "V1__a.sql")
    try fixture.write("CREATE TABLE c (d);", as: name)
    #expect(refusal().hasPrefix("\(name):1: Flyway runs it "))
    #expect(refusal().contains("Nothing was run"))
  }

  @Test(arguments: ["afterClean.sql", "afterInfo.sql", "readme.sql", "V1_one_line.sql"])
  func `what Flyway would not run for a migration is left out`(name: String) throws {
    try fixture.write("CREATE TABLE a (b);", as: "V1__a.sql")
    try fixture.write("CREATE TABLE c (d);", as: name)
    #expect(try MigrationFolder.read(fixture.migrations).map(\.name) == ["V1__a.sql"])
  }

  @Test(arguments: [
    ("1_a.up.sql", "-- migrate: no-transaction\nVACUUM;"), ("V1__a.sql", "-- migrate: no-transaction\nVACUUM;"),
    ("1_a.sql", "-- migrate: no-transaction\n-- +goose Up\nVACUUM;"),
    ("1_a.sql", "-- migrate: no-transaction\n-- migrate:up\nVACUUM;\n-- migrate:down\n"),
  ])
  func `the line that a refused VACUUM asks for helps in other tools' files, too`(name: String, text: String) throws {
    try fixture.write(text.replacing("-- migrate: no-transaction\n", with: ""), as: name)
    let error = #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    #expect(error?.description.contains("begins with  -- migrate: no-transaction") == true)
    try fixture.write(text, as: name)
    #expect(try fixture.migrator(creating: true).apply().count == 1)
  }

  // MARK: The order of other tools

  @Test func `a file of yoyo's that would run before one that it depends on is refused`() throws {
    try fixture.write("-- a title\n-- depends: 0002.init\nALTER TABLE a ADD COLUMN c;", as: "0001.more.sql")
    try fixture.write("CREATE TABLE a (b);", as: "0002.init.sql")
    #expect(refusal().hasPrefix("0001.more.sql:2: it depends on 0002.init, so yoyo runs it after that"))
    try FileManager.default.moveItem(
      atPath: fixture.migrations + "/0001.more.sql", toPath: fixture.migrations + "/0003.more.sql")
    try fixture.write("-- depends: 0002.init  0000.gone\n--\nSELECT 1;\n-- depends: 0005.next", as: "0004.next.sql")
    #expect(try fixture.migrator(creating: true).apply().count == 3)
  }

  /// The names that yoyo gives by itself.
  @Test func `yoyo's files of one day run in their order, before those of the next day and of a later time`() throws {
    for (name, needed) in [
      ("20240101_01_abcde-init", ""), ("20240101_02_Fgh1j-next", "20240101_01_abcde-init"),
      ("20240101_10_zzzzz-ten", "20240101_02_Fgh1j-next"), ("20240102_01_aaaaa-day", "20240101_10_zzzzz-ten"),
    ] {
      try fixture.write("-- \(name)\n-- depends: \(needed)\nSELECT 1;", as: name + ".sql")
    }
    try fixture.write("SELECT 1;", as: "20240102093000_quire.sql")
    let versions = try MigrationFolder.read(fixture.migrations).map(\.version.number)
    #expect(
      versions == [20_240_101_000_001, 20_240_101_000_002, 20_240_101_000_010, 20_240_102_000_001, 20_240_102_093_000])
    #expect(try fixture.migrator(creating: true).apply().map(\.title).first == "init")
    #expect(MigrationName("20240101_99_abcde-x.sql").version?.number == 20_240_101_000_139)
    #expect(MigrationName("20240101_01_abcde_x.up.sql").version?.number == 20_240_101_000_001)
    #expect(MigrationName("20241301_01_abcde-x.sql").version?.number == 20_241_301)
    #expect(MigrationName("20240101_1_abcde-x.sql").version?.number == 20_240_101)
  }

  private func diesel(_ names: [String]) -> [String] { DieselFolder.inOrder(names).map { "\($0.name) \($0.stem)" } }

  @Test func `Diesel's folders keep their numbers where those have Diesel's order, and get new ones elsewhere`() {
    #expect(
      diesel(["2024-01-02-000000_b", "00000000000000_diesel_initial_setup", "2024-01-01-000000_a"]) == [
        "00000000000000_diesel_initial_setup 00000000000000_diesel_initial_setup",
        "2024-01-01-000000_a 20240101000000_a", "2024-01-02-000000_b 20240102000000_b",
      ])
    #expect(diesel(["1_a", "2_b", "10_c"]) == ["1_a 0001_a", "10_c 0002_c", "2_b 0003_b"])
    #expect(
      diesel(["2024-1-1_a", "2024-1-10_b", "2024-1-2_c"]).map { $0.suffix(6) } == ["0001_a", "0002_b", "0003_c"])
    #expect(
      diesel(["2024-03-13_c", "2024-03-06-170000_b", "2024-03-06-160000_a"]) == [
        "2024-03-06-160000_a 20240306160000_a", "2024-03-06-170000_b 20240306170000_b", "2024-03-13_c 20240313000000_c",
      ])
    #expect(diesel(["first", "second"]) == ["first 0001_first", "second 0002_second"])
    #expect(diesel(["99999999999999999999_a"]) == ["99999999999999999999_a 0001_a"])
    #expect(diesel(["7_a"]) == ["7_a 7_a"] && diesel([]) == [])
  }

  @Test func `how to copy folders of Diesel's and Drizzle's is said`() throws {
    func make(_ folder: String, _ names: [String]) throws {
      let path = fixture.migrations + "/" + folder
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for name in names { try Data("SELECT 1;".utf8).write(to: URL(filePath: path + "/" + name)) }
    }
    for name in ["1_a", "2_b", "10_c"] { try make(name, ["up.sql", "down.sql"]) }
    #expect(
      refusal().hasSuffix(
        """
        ‘20240313’ runs behind ‘20240306170000’, and ‘10’ before ‘2’:
            1_a/up.sql  as  0001_a.up.sql
            1_a/down.sql  as  0001_a.down.sql
            10_c/up.sql  as  0002_c.up.sql
            10_c/down.sql  as  0002_c.down.sql
            …
        """))
    for name in ["1_a", "2_b", "10_c"] { try FileManager.default.removeItem(atPath: fixture.migrations + "/" + name) }
    try make("20260101000000_a", ["migration.sql", "snapshot.json"])
    #expect(refusal().contains("Drizzle's folders are not read"))
  }

  @Test func `how to copy Sqitch's files is said, of its project and of the folder with its files`() throws {
    let plan = fixture.migrations + "/sqitch.plan"
    let lines = """
      %syntax-version=1.0.0
      %project=flipr

      users 2026-01-01T00:00:00Z N <n@example.org> # Creates users
      @v1 2026-01-02T00:00:00Z N <n@example.org> # a tag
      + lists/flips [users] 2026-01-03T00:00:00Z N <n@example.org> # flips
      third 2026-01-04T00:00:00Z N <n@example.org> # more
      """
    try Data(lines.utf8).write(to: URL(filePath: plan))
    let files = """
          deploy/users.sql  as  0001_users.up.sql
          revert/users.sql  as  0001_users.down.sql
          deploy/lists/flips.sql  as  0002_lists_flips.up.sql
          revert/lists/flips.sql  as  0002_lists_flips.down.sql
          …
      Where they have run already,  migrate baseline 3  records them
      """
    #expect(refusal().hasSuffix(files))
    let deploy = fixture.migrations + "/deploy"
    try FileManager.default.createDirectory(atPath: deploy, withIntermediateDirectories: true)
    try Data("SELECT 1;".utf8).write(to: URL(filePath: deploy + "/users.sql"))
    let error = #expect(throws: MigrationError.self) { try MigrationFolder.read(deploy + "/") }
    #expect(error?.description.replacing(fixture.migrations + "/", with: "").hasSuffix(files) == true)
    try FileManager.default.removeItem(atPath: plan)
    let plain = #expect(throws: MigrationError.self) { try MigrationFolder.read(deploy) }
    #expect(plain == .name(file: deploy + "/users.sql"))
  }

  // MARK: Commands that are not SQL

  @Test(arguments: [
    ("# --- !Ups\nCREATE TABLE a (b);", "# begins no comment in SQL"),
    ("\\connect library\nCREATE TABLE a (b);", "PostgreSQL's psql"),
    (".read a.sql\nCREATE TABLE a (b);", "sqlite3 program"),
    ("DELIMITER //\nCREATE TABLE a (b)//", "MySQL's client"),
  ])
  func `a command of another program is named as that`(text: String, said: String) throws {
    try fixture.write(text, as: "1_a.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    #expect(error?.description.contains(said) == true, "\(String(describing: error))")
  }

  @Test func `a period in the middle of a line is no command`() throws {
    try fixture.write("CREATE TABLE a..b (c);", as: "1_a.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    #expect(error?.description.contains("program") == false)
  }
}
