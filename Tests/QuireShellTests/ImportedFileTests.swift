import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// What `.import` makes of files, and what it refuses in them.
@Suite(.fewAtOnce) struct ImportedFileTests {
  private let library: Library
  private let session: ShellSession

  init() throws {
    library = try Library(
      """
      CREATE TABLE t (a TEXT, b TEXT);
      CREATE TABLE n (num NUMERIC, i INTEGER, x, d DATE, r REAL, b BLOB, t TEXT);
      CREATE TABLE emp (id INTEGER PRIMARY KEY, boss_id INTEGER REFERENCES emp(id));
      CREATE TABLE g (a INT, twice INT AS (a * 2));
      """)
    session = try library.writing()
  }

  private func file(_ text: String, _ name: String) throws -> String {
    let file = library.folder.appending(path: name)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  @Test(arguments: [
    ("csv", "a,b\nSmith,\"O\"Brien,Dublin\n", "line 2: in field 2 more follows the closing quote. Nothing was added"),
    ("csv", "a,b\n1,\"x\ny\" \n", "line 3: in field 2 more follows the closing quote. Nothing was added"),
    ("tsv", "a\tb\n\"1\"\t2\n\"3\",4\n", "line 3: in field 1 more follows the closing quote. Nothing was added"),
    ("csv", "nope,a\n1,2\n", "line 1: T has no nope. Nothing was added"),
    ("csv", "nope,a\n", "line 1: T has no nope. Nothing was added"),
    ("csv", "a,A\n", "line 1: A is there twice. Nothing was added"),
    (
      "csv", "\"\",a\n\"1\",x\n",
      "line 1: name 1 of 2 is empty. Nothing was added\nR writes numbers of rows without a name"
    ),
    ("csv", "a,b,\n1,2,\n", "line 1: name 3 of 3 is empty. Nothing was added\na separator at the end"),
    ("csv", "a, b\n1,2\n", "line 1: T has no  b. Nothing was added\na space beside a separator is a part of the name"),
    (
      "csv", "a\tb\n1\t2\n",
      "line 1: T has no a␉b. Nothing was added\ncommas separate fields; a file with tabs is a .tsv"
    ),
    ("csv", "a,b\n1,2,3\n", "line 2: 3 fields, and 2 names on the first line. Nothing was added\na field with the"),
    (
      "json", "{\"a\":1}\n{\"a\":2}\n",
      "line 1: no JSON array begins here. Nothing was added\na file with an object on each"
    ),
    ("jsonl", "[{\"a\":1}]\n", "line 1: no JSON object. Nothing was added\nan array of objects is a .json file"),
    ("jsonl", "{\"a\":1,\"b\":007}\n", "line 1: the value of b is not JSON: 007. Nothing was added"),
    ("jsonl", "{\"a\":\"\\ud800\"}\n", "line 1: the value of a is not JSON: \"\\ud800\". Nothing was added"),
  ])
  func `a file that is not as it should be is refused with the line that is wrong`(
    ending: String, text: String, message: String
  ) async throws {
    let path = try file(text, "t.\(ending)")
    #expect(await session.failure(".import \(path) t").hasPrefix(message.inFile(path)))
    #expect(try library.rows("SELECT * FROM t").isEmpty)
  }

  @Test func `a column whose name is empty takes its values, and goes out and comes back`() async throws {
    let library = try Library(#"CREATE TABLE t (a, ""); INSERT INTO t VALUES (1, 'x'), (2, NULL);"#)
    let session = try library.writing()
    for name in ["t.csv", "t.tsv", "t.json", "t.jsonl"] {
      let path = library.folder.appending(path: name).path
      _ = try await session.replies(".save \(path) T")
      _ = try await session.replies("delete T", yes: true)
      _ = try await session.replies(".import \(path) T")
      #expect(try library.rows("SELECT * FROM t ORDER BY a") == [[1, "x"], [2, .null]], "\(name)")
    }
    #expect(try await session.rows("T where `` = 'x' select ``") == [["x"]])
    let statements = library.folder.appending(path: "t.sql").path
    _ = try await session.replies(".save \(statements) T where a = 1")
    let text = try String(contentsOfFile: statements, encoding: .utf8)
    #expect(text == "INSERT INTO \"t\" (\"a\", \"\") VALUES (1, 'x');\n")
  }

  @Test func `only a field that is wholly written as bytes is bytes`() async throws {
    let path = try file("a,b\n1,x''(t)+x=0\n2,x'ab' and more\n3,x'ab'\n4,x'a'\n", "t.csv")
    _ = try await session.replies(".import \(path) t")
    let expected: [[Value]] = [["x''(t)+x=0"], ["x'ab' and more"], [.blob(Data([0xAB]))], ["x'a'"]]
    #expect(try library.rows("SELECT b FROM t ORDER BY a") == expected)
  }

  @Test(arguments: ["e.csv", "e.tsv", "e.json"])
  func `a file that should have names or brackets and has nothing is an error`(name: String) async throws {
    let failure = await #expect(throws: ShellFailure.self) {
      try await session.replies(".import \(try file("", name)) t")
    }
    #expect(failure?.message.hasPrefix("line 1 of ") == true && failure?.message.hasSuffix("Nothing was added") == true)
  }

  @Test(arguments: [("h.csv", "a,b\n"), ("e.json", "[]"), ("e.jsonl", "")])
  func `a file without records offers no undo, and undo takes back the write before it`(
    name: String, text: String
  ) async throws {
    _ = try await session.replies("insert t { a: 'kept' }")
    let said = try await session.said(".import \(try file(text, name)) t")
    #expect(said.hasPrefix("0 rows added to T") && !said.contains("undo"))
    _ = try await session.replies("insert t { a: 'later' }")
    _ = try await session.replies("undo")
    #expect(try library.rows("SELECT a FROM t") == [["kept"]])
  }

  @Test(arguments: [AnswerFormat.csv, .tsv, .json, .jsonl])
  func `infinity and the texts that spell it come back as they were in columns of every kind`(
    format: AnswerFormat
  ) async throws {
    let texts = ["Inf", "-Inf", "Infinity", "-Infinity", "inf", "nan"]
    try Connection(path: library.file.path, access: .readWrite).execute(
      "INSERT INTO n VALUES (9e999, -9e999, 9e999, 9e999, -9e999, 9e999, 'Infinity');"
        + texts.map { "INSERT INTO n VALUES (" + Array(repeating: "'\($0)'", count: 7).joined(separator: ",") + ");" }
        .joined())
    let before = try library.rows("SELECT * FROM n")
    let path = library.folder.appending(path: "n.\(format.rawValue)").path
    _ = try await session.replies(".save \(path) select * from n")
    _ = try await session.replies("delete n", yes: true)
    _ = try await session.replies(".import \(path) n")
    #expect(try library.rows("SELECT * FROM n") == before)
  }

  @Test func `a number of JSON that is beyond all numbers is refused`() async throws {
    let path = try file("{\"r\": 1e400}\n", "n.jsonl")
    #expect(await session.failure(".import \(path) n").hasPrefix("line 1: the number of r has more".inFile(path)))
  }

  @Test func `computed columns are left out of insert statements, and passed over by an import`() async throws {
    _ = try await session.replies("insert g { a: 3 }")
    let statements = library.folder.appending(path: "g.sql").path
    _ = try await session.replies("G")
    _ = try await session.replies(".save \(statements) G")
    let text = try String(contentsOfFile: statements, encoding: .utf8)
    #expect(text == "INSERT INTO \"g\" (\"a\") VALUES (3);\n")
    let rows = library.folder.appending(path: "g.csv").path
    _ = try await session.replies(".save \(rows) G")
    #expect(try await session.said(".import \(rows) G").hasPrefix("1 row added"))
    #expect(try library.rows("SELECT * FROM g") == [[3, 6], [3, 6]])
  }

  @Test func `names that differ only in how an accent is written are of two columns and of two tables`() async throws {
    let (whole, parts) = ("caf\u{E9}", "cafe\u{301}")
    let library = try Library(
      """
      CREATE TABLE "\(parts)" (id INTEGER PRIMARY KEY, x);
      CREATE TABLE "\(whole)" (id INTEGER PRIMARY KEY, "\(parts)" TEXT, "\(whole)" TEXT);
      INSERT INTO "\(whole)" VALUES (1, 'in parts', 'whole');
      """)
    let session = try library.writing()
    for ending in ["csv", "tsv", "json", "jsonl"] {
      let path = library.folder.appending(path: "rows.\(ending)").path
      _ = try await session.replies(".save \(path) `\(whole)`")
      _ = try await session.replies("delete `\(whole)`", yes: true)
      #expect(try await session.said(".import \(path) `\(whole)`").hasPrefix("1 row added"))
      #expect(try library.rows("SELECT * FROM \"\(whole)\"") == [[1, .text("in parts"), .text("whole")]])
    }
    #expect(try library.rows("SELECT * FROM \"\(parts)\"").isEmpty)
  }

  @Test func `a dump with a virtual table, which only the sqlite3 program can run, is refused with that`() async throws
  {
    let failure = await session.failure("INSERT INTO sqlite_schema (type, name) VALUES ('table', 'f');")
    #expect(failure.hasPrefix("table sqlite_master may not be modified\nthe sqlite3 program's .dump writes there"))
  }

  @Test func `a record may refer to a later one`() async throws {
    _ = try await session.replies(".import \(try file("id,boss_id\n1,2\n2,3\n3,\n", "emp.csv")) emp")
    #expect(try library.rows("SELECT * FROM emp") == [[1, 2], [2, 3], [3, .null]])
  }

  @Test func `a record that refers to no row is named, also behind one that refers to a later one`() async throws {
    let path = try file("id,boss_id\n4,5\n5,77\n6,\n", "emp.csv")
    let message = "line 3: it refers to a row that does not exist. Nothing was added"
    #expect(await session.failure(".import \(path) emp") == message.inFile(path))
    #expect(try library.rows("SELECT * FROM emp").isEmpty)
  }

  @Test func `an import that is refused in a transaction leaves what the transaction had written`() async throws {
    _ = try await session.replies("begin")
    _ = try await session.replies("insert emp { id: 1 }")
    let path = try file("id,boss_id\n2,1\n3,77\n", "emp.csv")
    #expect(await session.failure(".import \(path) emp").hasPrefix("line 3: it refers to a row".inFile(path)))
    // Keys are judged at once, as before.
    #expect(await !session.failure("insert emp { id: 9, boss_id: 99 }").hasPrefix("no failure"))
    _ = try await session.replies("commit")
    #expect(try library.rows("SELECT * FROM emp") == [[1, .null]])
  }

  // MARK: .save

  @Test func `a saved answer follows a link, keeps a file's permissions and writes into a pipe`() async throws {
    let target = library.folder.appending(path: "target").path
    let link = library.folder.appending(path: "link.csv").path
    #expect(FileManager.default.createFile(atPath: target, contents: Data("long before".utf8)))
    #expect(chmod(target, 0o600) == 0)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    _ = try await session.replies(".save \(link) select 5 as five")
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "five\n5\n")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
    #expect(try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int == 0o600)

    let pipe = library.folder.appending(path: "pipe.csv").path
    #expect(mkfifo(pipe, 0o600) == 0)
    // Open for both, so that opening it waits for nobody.
    let reader = open(pipe, O_RDWR)
    defer { close(reader) }
    _ = try await session.replies(".save \(pipe) select 6 as six")
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = read(reader, &bytes, bytes.count)
    #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "six\n6\n")
  }

  @Test func `a file that cannot be written is named with the reason, and several answers go into one file`()
    async throws
  {
    let nowhere = library.folder.appending(path: "no/such.csv").path
    #expect(
      await session.failure(".save \(nowhere) select 1").hasSuffix("cannot be written: No such file or directory"))
    let both = library.folder.appending(path: "both.csv").path
    #expect(try await session.said(".save \(both) select 1 as a; select 2 as b;").hasPrefix("2 rows in"))
    #expect(try String(contentsOfFile: both, encoding: .utf8) == "a\n1\nb\n2\n")
  }

  @Test(arguments: ["T where nope = 1", "select nope from t"])
  func `an error in a query to be saved is shown at its place in the input`(query: String) async throws {
    let path = library.folder.appending(path: "none.csv").path
    let input = ".save \(path) \(query)"
    let lines = await session.failure(input).split(separator: "\n")
    let place = try #require(input.range(of: "nope"))
    let indent = input.distance(from: input.startIndex, to: place.lowerBound)
    #expect(lines.last?.hasPrefix("     │ " + String(repeating: " ", count: indent) + "^^^^") == true, "\(lines)")
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
