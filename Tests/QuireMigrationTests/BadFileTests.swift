import Foundation
import QuireSQLite
import Testing

@testable import QuireMigration

@Suite struct BadFileTests {
  let fixture: Fixture
  init() throws {
    fixture = try Fixture()
    try fixture.write("CREATE TABLE a (b);", as: "20260101000000_a.sql")
  }

  @Test func `a function of a later SQLite is answered with its version`() {
    func hint(_ name: String, _ version: Int) -> String? {
      SQLMessage.hint(ofNewerFunction: "no such function: \(name)", version: version)
    }
    #expect(hint("UNHEX", 3_040_001) == "SQLite has it from 3.41 on, and here it is 3.40.1")
    #expect(hint("unhex", 3_041_000) == nil && hint("slug", 3_040_001) == nil)
  }

  @Test func `no database is made by a typo, and the near name is suggested`() throws {
    try fixture.makeDatabase()
    var migrator = Migrator(database: fixture.path + "/libary.db", files: try MigrationFolder.read(fixture.migrations))
    let expected = MigrationError.noDatabase(path: fixture.path + "/libary.db", similar: fixture.database)
    #expect(throws: expected) { try migrator.apply() }
    #expect(throws: expected) { try migrator.plan() }
    #expect(!FileManager.default.fileExists(atPath: fixture.path + "/libary.db"))
    migrator = Migrator(database: fixture.path + "/no/such.db", files: migrator.files)
    #expect(throws: MigrationError.noDatabase(path: fixture.path + "/no/such.db", similar: nil)) {
      try migrator.plan()
    }
    migrator.createsDatabase = true
    let error = #expect(throws: MigrationError.self) { try migrator.apply() }
    guard case .unusable(.cannotCreate) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a file made for nothing is removed, also where a link leads`() throws {
    let link = fixture.path + "/link.db"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fixture.database)
    try fixture.write("SELECT nothing;", as: "20260101000000_a.sql")
    var migrator = Migrator(database: link, files: try MigrationFolder.read(fixture.migrations))
    migrator.createsDatabase = true
    #expect(throws: MigrationError.self) { try migrator.apply() }
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.path).sorted() == ["Migrations", "link.db"])
    try fixture.write("CREATE TABLE a (b);", as: "20260101000000_a.sql")
    migrator = Migrator(database: link, files: try MigrationFolder.read(fixture.migrations))
    migrator.createsDatabase = true
    #expect(try migrator.apply().count == 1)
    #expect(FileManager.default.fileExists(atPath: fixture.database))
  }

  @Test func `what another program keeps locked is waited for once, also beside its journal`() throws {
    try fixture.makeDatabase()
    let other = try Connection(migrating: fixture.database, access: .readWrite, busyTimeout: .zero)
    _ = try other.rows("PRAGMA locking_mode = EXCLUSIVE")
    _ = try other.rows("INSERT INTO old VALUES (1)")
    #expect(FileManager.default.fileExists(atPath: fixture.database + "-journal"))
    let beats = Locked(0)
    var migrator = try fixture.migrator()
    migrator.wait = .milliseconds(500)
    migrator.beat = { beats.withLock { $0 += 1 } }
    #expect(throws: MigrationError.busy(path: fixture.database, seconds: 0.5)) { try migrator.plan() }
    // All but the first three are ten milliseconds apart, or more.
    #expect(beats.withLock { $0 } < 60)
  }

  @Test func `the URL of a file is no path, and the path in it is suggested`() throws {
    try fixture.makeDatabase()
    for url in ["sqlite:\(fixture.database)", "file://\(fixture.database)?mode=ro", "SQLITE3://\(fixture.database)"] {
      #expect(Migrator.fileLike(url) == fixture.database)
    }
    #expect(Migrator.fileLike("postgres://\(fixture.database)") == nil)
  }

  private static let unreadable: [(text: [UInt8], line: Int, reason: String)] = [
    ([0xFF, 0xFE] + utf16("SELECT 1;"), 1, "it is in UTF-16. iconv"),
    (utf16("SELECT 1;"), 1, "it is in UTF-16. iconv"),
    ([0] + utf16("SELECT 1;"), 1, "it is in UTF-16. iconv"),
    (bytes("SELECT 1;\n-- caf") + [0xE9, 10], 2, "it is not UTF-8. iconv -f WINDOWS-1252"),
    (bytes("SELECT 1;\nSELECT '\0';"), 2, "it contains a NUL byte"),
    (bytes("SELECT 1;\n-- note\rSELECT 2;\n"), 2, "a comment's line ends in CR alone"),
    (bytes("-- title\rSELECT 1;\r-- migrate: undo\rSELECT 2;\r"), 1, "a comment's line ends in CR alone"),
  ]

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// In little-endian order, without a mark.
  private static func utf16(_ text: String) -> [UInt8] { text.utf8.flatMap { [$0, 0] } }

  @Test(arguments: unreadable.indices)
  func `a file in another encoding, or with other line ends, is refused`(index: Int) throws {
    let (bytes, line, reason) = Self.unreadable[index]
    let path = fixture.migrations + "/20260102000000_x.sql"
    try Data(bytes).write(to: URL(filePath: path))
    let error = #expect(throws: MigrationError.self) { try fixture.migrator() }
    #expect(error?.description.hasPrefix("\(path):\(line): \(reason)") == true)
  }

  @Test func `a CR that hides nothing is a blank`() throws {
    try fixture.write(
      "-- title\r\r\nSELECT 1;\rSELECT 2;\n-- end \r\n/* a\rb */ SELECT 'a\rb';", as: "20260102000000_x.sql")
    #expect(try fixture.migrator(creating: true).apply().last?.title == "title")
  }

  @Test(arguments: [
    (
      "CREATE TABLE c (d);\nINSERT INTO c VALUES ('d);\n-- more",
      "unrecognized token: \"'d);…    ", "\n     │ the quote is not closed"
    ),
    (
      "CREATE TABLE\u{A0}c (d);", "near \"TABLE\u{A0}c\": syntax",
      "\n     │ a blank that is not the space bar's, U+00A0, is"
    ),
    (
      "INSERT INTO a VALUES (“d”);", "no such column: “d”",
      "\n     │ “ (U+201C) is a letter to SQLite: texts are in '…'"
    ),
    ("<<<<<<< HEAD\nSELECT 1;\n", "near \"<<\": syntax error    ", "\n     │ git could not merge the file here"),
    ("SELECT 1;\n=======\nSELECT 2;", "near \"==\": syntax error    ", "\n     │ git could not merge the file here"),
  ]) func `what SQLite's message does not say is said below`(sql: String, first: String, below: String) throws {
    try fixture.write(sql, as: "20260102000000_x.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    #expect(error?.description.hasPrefix(first) == true && error?.description.contains(below) == true)
  }

  @Test(arguments: [
    ("INSERT INTO a VALUES (1);\nINSERT INTO a VALUES (:name);", ":name", 2, 23),
    ("-- migrate:up\nUPDATE a SET b = ?1; SELECT '?', \"$x\", [:y];\n-- migrate:down\n", "?1", 2, 18),
    ("CREATE TABLE c (d);\n-- :no\nDELETE FROM a WHERE b = $id", "$id", 3, 25),
  ]) func `a parameter is refused before anything runs, as it would be NULL`(
    sql: String, name: String, line: Int, column: Int
  ) throws {
    if sql.hasPrefix("-- migrate:up") { try fixture.write("-- migrate:up\nSELECT 1;", as: "20260101000000_a.sql") }
    try fixture.write(sql, as: "20260102000000_x.sql")
    try fixture.makeDatabase("CREATE TABLE a (b);")
    let before = try fixture.bytes()
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    guard case .failed(let failure) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.message == "\(name) is a parameter, and a migration has no value for it: write the value itself")
    #expect(failure.place.line == line && failure.place.column == column && failure.length == name.count)
    #expect(try fixture.bytes() == before)
  }

  @Test func `a name that ends in SQL in capitals is refused, as the file would not be read`() throws {
    try fixture.write("SELECT 1;", as: "20260102000000_X.SQL")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator() }
    #expect(
      error?.description.hasSuffix("X.SQL:1: its name ends in .SQL, which is not read: rename it to .sql") == true)
    try fixture.write("", as: "SCHEMA.Sql~")
    try FileManager.default.removeItem(atPath: fixture.migrations + "/20260102000000_X.SQL")
    #expect(try fixture.migrator().files.count == 1)
  }

  @Test func `what needs only the database learns of all bad files in one reading`() throws {
    let folders: [(good: (String, String), bad: [(String, String)])] = [
      (("20260101000000_a.sql", "SELECT 1;"), (1...9).map { ("bad\($0).sql", "SELECT 1;") }),
      (("1_a.up.sql", "SELECT 1;"), (2...9).map { ("\($0)_b.down.sql", "SELECT 1;") }),
      (("V1__a.sql", "SELECT 1;"), (2...9).map { ("V\($0)__b.sql", "SELECT ${x};") }),
    ]
    for (good, bad) in folders {
      let texts = ([good] + bad).map { (path: $0, text: $1) }
      var errors: [MigrationError] = []
      let read = try MigrationFolder.files(texts) { errors.append($0) }
      #expect(read.map(\.path).contains(good.0))
      #expect(errors.map(\.file) == bad.map(\.0))
      let folder = try FolderOfOthers(path: fixture.path + "/bad").make(
        Dictionary(uniqueKeysWithValues: [good] + bad))
      let (files, passedOver) = try MigrationFolder.readWhatCanBe(folder)
      #expect(files.map(\.title) == ["a"] && passedOver.count == bad.count)
    }
  }

  @Test func `a name with a line end or an escape in it is refused, and shown without`() throws {
    try fixture.write("SELECT 1;", as: "20260102000000_x\nerror: all is well\u{1B}[2J.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator() }
    #expect(
      error?.description.hasSuffix(
        "x\u{FFFD}error: all is well\u{FFFD}[2J.sql:1: its name has a control character in it, such as a line end: rename it"
      )
        == true)
  }

  @Test func `files that need another program are refused with what they need`() throws {
    let folders = FolderOfOthers(path: fixture.path + "/others")
    func refusal(_ file: String, _ text: String = "SELECT 1;") throws -> String {
      let folder = try folders.make([file: text])
      do {
        var migrator = Migrator(database: folder + "/x.db", files: try MigrationFolder.read(folder))
        migrator.createsDatabase = true
        try migrator.apply()
        return "none"
      } catch { return "\(error)".replacing(folder + "/", with: "") }
    }
    #expect(
      try refusal("20260101_a/migration.sql").contains("20260101_a/migration.sql  as  20260101_a.sql"))
    #expect(
      try refusal("2026-01-01-000000_a/up.sql").hasSuffix("2026-01-01-000000_a/up.sql  as  20260101000000_a.up.sql"))
    #expect(
      try refusal("001_a.mysql.up.sql").contains("Copy those for SQLite into a folder of their own"))
    #expect(try refusal("001_a.sqlite3.up.sql") == "none")
    #expect(try refusal("20150100000001000000_a.sqlite3.up.sql").contains("names a kind of database"))
    #expect(try refusal("LATEST.sql").contains("if it is none, move it out of the folder"))
    #expect(
      try refusal("20150100000001000000_a.sql").contains("a number that is too large: 9223372036854775807 is the last"))
    #expect(try refusal("001_a.sql", "CREATE TABLE {{.prefix}}a (b);").contains("another program fills in"))
    #expect(!(try refusal("001_a.sql", "INSERT INTO mail VALUES ('{{name}}');")).contains("another program"))
    #expect(try refusal("001_a.sql", "{{if .mysql}}SET @a = 1;{{end}}").contains("another program fills in"))
    #expect(try refusal("001_a.sql", "SELECT uuid_v7();").contains("one that a program adds is not there"))
  }

  @Test func `of a long line is shown what is around the error`() throws {
    let long = String(repeating: "é", count: 40_000)
    try fixture.write("SELECT '\(long)', nosuch, '\(long)';", as: "20260102000000_long.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    let lines = (error?.description ?? "").split(separator: "\n").map(Array.init)
    #expect(lines.count == 3 && lines.allSatisfy { $0.count < 300 })
    #expect(lines.last?.firstIndex(of: "^") == lines[1].firstIndex(of: "n"))
    try fixture.write("SELECT '" + String(repeating: "x", count: 100_000), as: "20260102000000_long.sql")
    let unclosed = #expect(throws: MigrationError.self) { try fixture.migrator(creating: true).apply() }
    #expect((unclosed?.description.count ?? 0) > 100 && (unclosed?.description.count ?? .max) < 1000)
  }

  @Test func `a folder is not a database`() throws {
    let migrator = Migrator(database: fixture.path, files: [])
    #expect(throws: MigrationError.unusable(.isDirectory(path: fixture.path))) { try migrator.plan() }
  }

  @Test func `another kind of file is not a database and stays as it is`() throws {
    let content = Data(String(repeating: "not a database\n", count: 500).utf8)
    try content.write(to: URL(filePath: fixture.database))
    #expect(throws: MigrationError.unusable(.notADatabase(path: fixture.database))) { try fixture.migrator().plan() }
    #expect(throws: MigrationError.unusable(.notADatabase(path: fixture.database))) {
      try fixture.migrator(creating: true).apply()
    }
    #expect(try fixture.bytes() == content)
  }

  @Test func `a file with two names is refused`() throws {
    try fixture.makeDatabase()
    try FileManager.default.linkItem(atPath: fixture.database, toPath: fixture.path + "/other.db")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().plan() }
    #expect(error?.description.contains("2 names (hard links)") == true)
  }

  @Test func `an empty file becomes a database only when asked`() throws {
    try Data().write(to: URL(filePath: fixture.database))
    #expect(throws: MigrationError.unusable(.empty(path: fixture.database))) { try fixture.migrator().apply() }
    #expect(try fixture.bytes().isEmpty)
    #expect(try fixture.migrator(creating: true).apply().count == 1)
  }

  @Test func `a damaged page is said of the database, and nothing is changed`() throws {
    try fixture.makeDatabase(
      "CREATE TABLE old (a); INSERT INTO old SELECT zeroblob(900) FROM pragma_function_list; CREATE INDEX i ON old(a)")
    var content = try fixture.bytes()
    for page in 3..<10 {
      content.replaceSubrange(page * 4096..<page * 4096 + 64, with: Data(repeating: 0xAA, count: 64))
    }
    try content.write(to: URL(filePath: fixture.database))
    try fixture.write("CREATE TABLE c (d); UPDATE old SET a = 1;", as: "20260102000000_b.sql")
    try FileManager.default.removeItem(atPath: fixture.migrations + "/20260101000000_a.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    guard case .database(.corrupt) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try fixture.bytes() == content)
  }

  @Test func `another writer is waited for, then named as the reason`() throws {
    try fixture.makeDatabase()
    try fixture.sqlite { other in
      try other.rows("BEGIN IMMEDIATE")
      #expect(throws: MigrationError.busy(path: fixture.database, seconds: 0.2)) { try fixture.migrator().apply() }
    }
    #expect(try fixture.migrator().apply().count == 1)
  }

  @Test func `a problem of the history keeps everything from running`() throws {
    try fixture.migrator(creating: true).apply()
    let before = try fixture.bytes()
    try fixture.write("CREATE TABLE a (b, c);", as: "20260101000000_a.sql")
    try fixture.write("CREATE TABLE c (d);", as: "20260102000000_c.sql")
    let error = #expect(throws: MigrationError.self) { try fixture.migrator().apply() }
    guard case .history(.edited) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try fixture.bytes() == before)
  }

  @Test func `a folder that is missing, empty or a file is an error`() throws {
    #expect(throws: MigrationError.folder("/no/such", reason: "does not exist")) {
      try MigrationFolder.read("/no/such")
    }
    let file = fixture.migrations + "/20260101000000_a.sql"
    #expect(throws: MigrationError.folder(file, reason: "is a file")) { try MigrationFolder.read(file) }
    let empty = fixture.path + "/empty"
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    try Data().write(to: URL(filePath: empty + "/README.md"))
    try Data().write(to: URL(filePath: empty + "/schema.sql"))
    let error = #expect(throws: MigrationError.self) { try MigrationFolder.read(empty) }
    #expect(error?.description.contains("has no migrations") == true)
    try Data().write(to: URL(filePath: empty + "/20240101000000_create_books.rb"))
    let code = #expect(throws: MigrationError.self) { try MigrationFolder.read(empty) }
    #expect(code?.description.contains(". 20240101000000_create_books.rb is not SQL: only the tool") == true)
    #expect(code?.description.hasSuffix("\n    migrate new \"as it was\" --from db -d FILE -m FOLDER") == true)
  }

  @Test func `a file that is not UTF-8, unreadable or a folder is named`() throws {
    let path = fixture.migrations + "/20260102000000_b.sql"
    try Data("SELECT 1;\n-- caf".utf8 + [0xE9, 10]).write(to: URL(filePath: path))
    let error = #expect(throws: MigrationError.self) { try MigrationFolder.read(fixture.migrations) }
    #expect(error?.description.hasPrefix("\(path):2: it is not UTF-8. ") == true)
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(throws: MigrationError.unreadable(file: path, reason: "Is a directory")) {
      try MigrationFolder.read(fixture.migrations)
    }
  }
}

/// Folders with other tools' files, each beside the one before.
private struct FolderOfOthers {
  let path: String

  func make(_ files: [String: String]) throws -> String {
    try? FileManager.default.removeItem(atPath: path)
    for (name, text) in files {
      let file = URL(filePath: path + "/" + name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return path
  }
}
