import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// `.import FILE TABLE --create`: the table and its records, or neither.
@Suite(.fewAtOnce) struct ImportCreatingTests {
  private let library: Library
  private let session: ShellSession

  init() throws {
    library = try Library("CREATE TABLE old (a); CREATE VIEW seen AS SELECT a FROM old;")
    session = try library.session {
      $0.allowsWriting = true
      $0.answersYes = true
    }
  }

  private func file(_ text: String, _ name: String = "new.csv") throws -> String {
    let file = library.folder.appending(path: name)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  private var tables: [[Value]] {
    get throws { try library.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1") }
  }

  @Test func `all records decide on the types, and a key is the column that was named`() async throws {
    let records = (1...1_200).map { "\($0);n\($0);\($0).5" } + ["1201;\"a;b\";x"]
    let path = try file("ID;name;price\n" + records.joined(separator: "\n"))
    let said = try await session.said(".import \(path) \"price list\" --create --key id")
    #expect(said.hasPrefix("1 201 rows added to PriceList · "), "\(said)")
    #expect(said.hasSuffix("cannot be undone: it made the table"))
    #expect(
      try library.rows("SELECT sql FROM sqlite_schema WHERE name = 'price list'") == [
        [#"CREATE TABLE "price list" ("ID" INTEGER PRIMARY KEY, "name" TEXT, "price" TEXT)"#]
      ])
    #expect(
      try library.rows(#"SELECT * FROM "price list" WHERE id IN (1, 1201)"#) == [
        [1, "n1", "1.5"], [1201, "a;b", "x"],
      ])
    #expect(await session.failure("undo") == "cannot undo: it made the table")
    #expect(await session.failure(".import \(path) \"PRICE List\" --create").contains("already"))
    _ = try await session.replies("drop table \"price list\";")
    let objects = try file(#"[{"code": "b", "n": 1}, {"n": 2.5, "code": "a"}]"#, "o.json")
    _ = try await session.replies(".import \(objects) o --key code --create")
    #expect(
      try library.rows("SELECT sql FROM sqlite_schema WHERE name = 'o'") == [
        [#"CREATE TABLE "o" ("code" TEXT PRIMARY KEY NOT NULL, "n" REAL)"#]
      ])
    #expect(try await session.rows("O where n > 2") == [["a", 2.5]])
  }

  /// In a column with a number of another kind, each decides on the type.
  @Test(
    arguments: [
      (".5", 0.5), ("-.25", -0.25), (".0000", 0), ("0.10000000000000000000", 0.1), ("-0.0", 0), ("1.5e+3", 1500),
      ("0.30000000000000004", 0.1 + 0.2), ("9007199254740992.0", 0x1p53),
      ("1.7976931348623157e+308", 0x1.fffffffffffffp1023), ("Inf", .infinity), ("-Inf", -.infinity), ("inf", nil),
      ("1.", nil), (".", nil), ("-.", nil), (".5.", nil), ("00.5", nil), ("+.5", nil), (" .5", nil), ("1e3", nil),
      // The nearest number is another.
      ("9007199254740993.0", nil), ("0.99999999999999999", nil), ("1.0e400", nil), ("1.5e-400", nil),
      ("1.25e-323", nil),
    ] as [(String, Double?)])
  func `a field is a number if a column keeps all of its digits`(field: String, number: Double?) async throws {
    _ = try await session.replies(".import \(try file("x\n1.5\n\(field)\n")) t --create")
    let type = number == nil ? "text" : "real"
    #expect(
      try library.rows("SELECT typeof(x), x FROM t ORDER BY rowid") == [
        [.text(type), number == nil ? "1.5" : 1.5], [.text(type), number.map { .real($0) } ?? .text(field)],
      ])
  }

  @Test(arguments: ["csv", "tsv", "jsonl"]) func `text that looks like a number comes back as text`(format: String)
    async throws
  {
    let texts = [".5", "1.50", "12", "-0.25", "1.0e+20", "1.5e3"]
    let names = texts.indices.map { "c\($0)" }
    _ = try await session.replies("create table texts (\(names.map { "\($0) TEXT" }.joined(separator: ", ")));")
    _ = try await session.replies(
      "insert into texts values (\(texts.map { "'\($0)'" }.joined(separator: ", ")));")
    let path = library.folder.appending(path: "texts.\(format)").path
    _ = try await session.replies(".save \(path) select * from texts")
    _ = try await session.replies(".import \(path) t --create")
    #expect(try library.rows("SELECT * FROM t") == [texts.map { .text($0) }])
  }

  @Test func `fields are separated by the sign that the first line has most of`() async throws {
    let path = try file("a\tb;c\td\n1\t2;3\t4\n")
    _ = try await session.replies(".import \(path) t --create")
    #expect(try library.rows("SELECT name FROM pragma_table_info('t')") == [["a"], ["b;c"], ["d"]])
  }

  @Test(arguments: [
    (
      "a,b\n1,x\n1,y\n", "t --create --key a",
      "line 3: T.a is unique, and another row has this value. Nothing was added"
    ),
    ("a,b\n1,x\n2\n", "t --create", "line 3: 1 field, and 2 names on the first line. Nothing was added"),
    ("[{\"a\": 1, \"A\": 2}]", "t --create --format json", "cannot be a table: the name A is there twice"),
    ("", "t --create", "line 1: the file is empty"),
    ("a,b\n1,x\n,y\n", "t --create --key a", "a cannot be the key: 1 of 2 records have no value for it"),
    ("a,b\n1,x\n", "t --create --key c", "there is no column c to be the key"),
    ("a,b\n1,x\n", "t --key a", "--key goes with --create"),
    ("a,b\n1,x\n", "t --create --key", "--key takes the name of a column"),
    ("a,b\n1,x\n", "OLD --create", "there is a table or view OLD already\nwithout --create"),
    ("a,b\n1,x\n", "seen --create", "there is a table or view seen already"),
    ("a,b\n1,x\n", "_quire_t --create", "_quire_t is a name that SQLite and Quire keep for their own tables"),
    ("a,b\n1,x\n", "sqlite_t --create", "sqlite_t is a name that SQLite and Quire keep for their own tables"),
  ])
  func `what cannot be made or filled is refused, and no table is there`(
    text: String, words: String, message: String
  ) async throws {
    let path = try file(text)
    let said = await session.failure(".import \(path) \(words)")
    #expect(said.contains(message.inFile(path)), "\(said)")
    #expect(try tables == [["old"]])
    // The session goes on without it, too.
    #expect(await session.failure("T").contains("no"))
    _ = try await session.replies(".import \(try file("a,b\n1,x\n")) t --create --key b")
    #expect(try library.rows("SELECT * FROM t") == [[1, "x"]])
  }

  @Test func `in a transaction it goes with it, and a session that only reads makes nothing`() async throws {
    let path = try file("a,b\n1,x\n")
    for line in ["begin;", ".import \(path) t --create", "rollback;"] { _ = try await session.replies(line) }
    #expect(try tables == [["old"]])
    for line in ["begin;", ".import \(path) t --create"] { _ = try await session.replies(line) }
    let broken = try file("a\n1\n1\n", "broken.csv")
    #expect(await session.failure(".import \(broken) u --create --key a").contains("line 3"))
    _ = try await session.replies("commit;")
    #expect(try tables == [["old"], ["t"]])
    #expect(try library.rows("SELECT * FROM t") == [[1, "x"]])
    let reading = try library.session()
    #expect(await reading.failure(".import \(path) v --create") == ShellSession.onlyReads)
    #expect(try tables == [["old"], ["t"]])
  }

  @Test(arguments: ["", " --key a"])
  func `in a file that keeps a change log the records are logged, and so is what follows`(key: String) async throws {
    var configuration = DatabaseConfiguration(.file(library.file.path))
    configuration.changeLog = .on()
    try Database(configuration).close()
    let (path, broken) = (try file("a,b\n1,x\n2,y\n"), try file("a,b\n1,x\n2\n", "broken.csv"))
    #expect(await session.failure(".import \(broken) t --create\(key)").contains("line 3"))
    _ = try await session.replies(".import \(path) t --create\(key)")
    _ = try await session.replies("update t set b = 'z' where a = 2;")
    let logged = try library.rows("SELECT kind, count(*) FROM _quire_changes GROUP BY 1 ORDER BY 1")
    #expect(logged == [["insert", 2], ["update", 1]], "\(logged)")
    #expect(try library.rows("SELECT author FROM _quire_commits") == [["quire"], ["quire"]])
  }

  @Test func `names that are there twice get a number, and empty ones their place`() async throws {
    let path = try file(",a,A,a,a_2,,column1\n1,2,3,4,5,6,7\n")
    _ = try await session.replies(".import \(path) t --create --key a_3")
    #expect(
      try library.rows("SELECT name FROM pragma_table_info('t')").map { $0[0] } == [
        "column2", "a", "A_3", "a_4", "a_2", "column6", "column1",
      ])
    #expect(try library.rows("SELECT * FROM t") == [[1, 2, 3, 4, 5, 6, 7]])
  }

  @Test func `more columns than SQLite takes are refused with their number`() async throws {
    let names = (1...2001).map { "c\($0)" }
    let said = await session.failure(".import \(try file(names.joined(separator: ","))) t --create")
    #expect(said.hasSuffix("cannot be a table: it has 2 001 columns, and SQLite takes 2 000"))
    let path = try file(names.dropLast().joined(separator: ","))
    _ = try await session.replies(".import \(path) t --create")
    #expect(try library.rows("SELECT count(*) FROM pragma_table_info('t')") == [[2000]])
  }

  @Test func `a pipe cannot be read twice`() async throws {
    let pipe = library.folder.appending(path: "pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(await session.failure(".import \(pipe) t --create --format csv").contains("so it must be a file"))
    #expect(await session.failure(".import \(pipe).csv t --create").contains("No such file"))
    #expect(try tables == [["old"]])
  }
}
