import QuireMigration
import QuireSQLite
import Testing

private func file(_ text: String, named name: String = "20261120143005_add_isbn.sql") throws -> MigrationFile {
  try MigrationFile(path: "Migrations/" + name, text: text)
}

@Suite struct FileTests {
  @Test func `the first comment is the title and the undo mark divides the file`() throws {
    let read = try file("-- add isbn to book\nALTER TABLE book ADD isbn TEXT;\n-- migrate: undo\nSELECT 1;\n")
    #expect(read.title == "add isbn to book")
    #expect(read.version == MigrationVersion("20261120143005"))
    #expect(read.up == "-- add isbn to book\nALTER TABLE book ADD isbn TEXT;\n")
    #expect(read.undo == "\nSELECT 1;\n")
  }

  @Test func `without a comment the title is the file's name`() throws {
    let read = try file("SELECT 1; -- not a title")
    #expect(read.title == "add isbn")
    #expect(read.undo == nil)
    #expect(try file("/* in a block\n comment */ SELECT 1").title == "in a block")
  }

  @Test func `what a tool writes above each file is no title`() throws {
    #expect(try file("-- RedefineTables\nSELECT 1;").title == "add isbn")
    #expect(try file("-- Add migration script here\nSELECT 1;").title == "add isbn")
    #expect(try file("-- Add migration script here\n-- number the books\nSELECT 1;").title == "number the books")
    #expect(try file("-- CreateTable of books\nSELECT 1;").title == "CreateTable of books")
  }

  @Test func `a sentence over several lines is no title, a title with a remark below it is`() throws {
    #expect(try file("-- Whether a person ran it, or\n-- a program did.\nSELECT 1;").title == "add isbn")
    #expect(try file("-- add isbn\n-- Lists are ordered by it.\nSELECT 1;").title == "add isbn")
    #expect(try file("-- add a column\n\n-- and more\nSELECT 1;").title == "add a column")
  }

  @Test func `line endings and a byte order mark leave no trace`() throws {
    #expect(try file("\u{FEFF}-- a title\r\nSELECT 1;\r\n").up == "-- a title\nSELECT 1;\n")
  }

  @Test func `an undo mark inside a literal or a block comment is text`() throws {
    let read = try file("SELECT '\n-- migrate: undo\n'; /* \n-- migrate: undo\n */ SELECT 2;")
    #expect(read.undo == nil)
  }

  @Test func `directives are read with their operands`() throws {
    let read = try file(
      "-- migrate: no-transaction\n--migrate:foreign-keys on\n-- migrate: allow M001 moved to Note\n-- migrate: step Fill\nSELECT 1"
    )
    #expect(
      read.directives == [.noTransaction, .foreignKeysOn, .allow(code: "M001", reason: "moved to Note"), .step("Fill")])
    #expect(read.title == "add isbn")
  }

  @Test(arguments: [
    ("-- migrate: no-transation\nSELECT 1", 1, "did you mean no-transaction?"),
    ("SELECT 1;\n\n-- migrate: und\n", 3, "did you mean undo?"),
    ("SELECT 1;\n-- migrate undo\n", 2, "write -- migrate: undo"),
    ("-- migrate: allow M001\nSELECT 1", 1, "write allow M001 and the reason"),
    ("-- migrate: foreign-keys off\nSELECT 1", 1, "write foreign-keys on"),
    ("SELECT 1;\n-- migrate: undo\n-- migrate: undo\n", 3, "it stands in the file already"),
    ("SELECT 1;\n-- migrate:\n", 2, "one of undo, no-transaction, foreign-keys, allow, step must follow"),
    ("-- migrate: xyzzyx\n", 1, "the words are undo, no-transaction, foreign-keys, allow, step"),
  ])
  func `an unknown directive is an error with its line and a hint`(text: String, line: Int, hint: String) {
    let error = #expect(throws: MigrationError.self) { try file(text) }
    guard case .directive(_, _, let foundLine, let foundHint) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(foundLine == line)
    #expect(foundHint == hint)
    let verdict = hint.hasPrefix("it stands") ? "cannot stand here" : "is not a directive"
    #expect(error?.description.contains(verdict) == true)
  }

  @Test(arguments: ["", "-- a title only\n", ";;\n", "-- t\n-- migrate: undo\nDROP TABLE x;"])
  func `a file without a statement is an empty one`(text: String) throws {
    let read = try file(text)
    #expect(read.isEmpty && !read.touchesData && read.summary == nil)
    #expect(try !file("SELECT 1").isEmpty && !file("-- migrate: step Fill").isEmpty)
  }

  @Test(arguments: [
    "add_isbn.sql", "2026_x.sql", "20261340143005_x.sql", "20261120143005.sql", "20261120143005_x.txt",
    "2026112014300é_x.sql", "202611201430050_x.sql",
  ])
  func `another kind of name is an error`(name: String) {
    #expect(throws: MigrationError.name(file: "Migrations/" + name)) { try file("SELECT 1", named: name) }
  }

  @Test func `a NUL byte is an error with its line`() {
    let error = #expect(throws: MigrationError.self) { try file("SELECT 1;\nSELECT '\0';") }
    #expect(error?.description.hasPrefix("Migrations/20261120143005_add_isbn.sql:2: it contains a NUL byte") == true)
  }

  @Test func `comments, blanks and line endings make no other SQL, and literals do`() {
    #expect(SQLTokens.equal("\u{FEFF}CREATE TABLE a(b);\r\n-- c\r\n", "CREATE TABLE  a ( b ) ;/* d */"))
    #expect(!SQLTokens.equal("SELECT 'a  b'", "SELECT 'a b'"))
    #expect(!SQLTokens.equal("SELECT '-- a'", "SELECT '-- b'"))
    #expect(!SQLTokens.equal("SELECT '\u{E9}'", "SELECT 'e\u{301}'"))
  }

  @Test func `a near word is suggested, a far one is not`() {
    #expect(nearest(to: "aply", among: ["status", "apply"]) == "apply")
    #expect(nearest(to: "stauts", among: ["status", "apply"]) == "status")
    #expect(nearest(to: "frobnicate", among: ["status", "apply"]) == nil)
    #expect(nearest(to: "e", among: ["a", ""]) == nil)
  }
}
