import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireShell

/// Files that `.import` is given and that are not in UTF-8, and names of files.
@Suite(.fewAtOnce) struct ImportEncodingTests {
  private let library: Library
  private let session: ShellSession

  init() throws {
    library = try Library("CREATE TABLE t (a TEXT, b TEXT)")
    session = try library.writing()
  }

  private func file(_ bytes: some Sequence<UInt8>, _ name: String = "t.csv") throws -> String {
    let file = library.folder.appending(path: name)
    try Data(bytes).write(to: file)
    return file.path
  }

  private func utf16(_ text: String, isBigEndian: Bool, mark: Bool = true) -> [UInt8] {
    ((mark ? [0xFEFF] : []) + text.utf16).flatMap { unit in
      let bytes = [UInt8(unit & 0xFF), UInt8(unit >> 8)]
      return isBigEndian ? bytes.reversed() : bytes
    }
  }

  private func rows() throws -> [[Value]] { try library.rows("SELECT a, b FROM t") }

  /// `café` and so on, as Windows writes it.
  private static let windows = Array("a,b\nplain,1\n".utf8) + [0x63, 0x61, 0x66, 0xE9, 0x2C, 0x22, 0x80, 0x22, 0x0A]

  @Test func `bytes that are not UTF-8 are refused with line, column and byte, and read if their encoding is given`()
    async throws
  {
    let path = try file(Self.windows)
    let said = await session.failure(".import \(path) t")
    #expect(
      said.hasPrefix("line 3: a is not UTF-8 from the byte E9 after “caf”. Nothing was added\n".inFile(path)), "\(said)"
    )
    #expect(said.contains("--encoding windows-1252") && said.contains("--encoding raw"))
    #expect(try rows().isEmpty)
    for name in ["windows-1252", "Latin1", "ISO-8859-1"] {
      _ = try await session.replies(".import \(path) t --encoding \(name)")
      #expect(try rows() == [["plain", "1"], ["café", "€"]])
      _ = try await session.replies("undo")
    }
    _ = try await session.replies(".import \(path) t --encoding=raw")
    #expect(try rows()[1] == [.malformedText(Data([0x63, 0x61, 0x66, 0xE9])), .malformedText(Data([0x80]))])
  }

  @Test(arguments: [
    (";", "';'"), (";", "\";\""), ("|", "|"), ("\t", "tab"), (":", "':' --encoding utf-8"), ("=", "="),
  ])
  func `another separator is given behind the model`(sign: String, option: String) async throws {
    let path = try file("a\(sign)b\n1,5\(sign)\"x\(sign)\"\n".utf8)
    _ = try await session.replies(".import \(path) t --separator \(option)")
    #expect(try rows() == [["1,5", .text("x\(sign)")]])
  }

  @Test func `a separator that is none, or of JSON, is refused`() async throws {
    let path = try file("a;b\n1;2\n".utf8)
    for option in ["", ";;", "é", "\"\"\"", "a b"] {
      let said = await session.failure(".import \(path) t --separator \(option)")
      #expect(said.hasPrefix("--separator takes one character"), "\(option): \(said)")
    }
    #expect(await session.failure(".import \(path) t").contains("--separator ';' behind the model reads this file"))
    let object = try file("{\"a\":1}\n".utf8, "t.jsonl")
    #expect(await session.failure(".import \(object) t --separator ';'").contains("have no separator"))
  }

  @Test(
    arguments: [
      ([0x1F, 0x8B, 8, 0, 1, 2], "is compressed with gzip", "gunzip -c"),
      ([0x50, 0x4B, 3, 4, 20, 0], "is a ZIP archive, as .xlsx and .ods are, too", "save the sheet as CSV"),
      ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0], "is compressed with xz", "xz -dc"),
      ([0x28, 0xB5, 0x2F, 0xFD, 4], "is compressed with zstd", "zstd -dc"),
      (Array("BZh9".utf8) + [0x31, 0x41, 0x59, 0x26, 0x53, 0x59], "is compressed with bzip2", "bunzip2 -c"),
      ([0xD0, 0xCF, 0x11, 0xE0, 0xA1], "is a workbook of Excel", "save the sheet"),
      (Array("SQLite format 3\0".utf8), "is an SQLite database", "quire query FILE 'TABLE' -o NEW.csv"),
    ] as [([UInt8], String, String)])
  func `a compressed file, a workbook or a database is refused as what it is`(
    bytes: [UInt8], what: String, hint: String
  ) async throws {
    for (name, option) in [("t.csv", ""), ("t.json", ""), ("t.csv", " --encoding windows-1252")] {
      let path = try file(bytes, name)
      let said = await session.failure(".import \(path) t\(option)")
      #expect(said.hasPrefix("\(path) \(what). Nothing was added\n") && said.contains(hint), "\(said)")
    }
  }

  @Test func `a file of another name is read in the format that is given, and its ending says what it is`() async throws
  {
    let path = try file("a;b\n1;x\n".utf8, "t.txt")
    #expect(await session.failure(".import \(path) t").contains("--format csv behind the model"))
    #expect(await session.failure(".import \(path) t --format xml").hasPrefix("which format? csv, tsv, json, jsonl"))
    #expect(await session.failure(".import \(path) t --format").hasPrefix("which format?"))
    _ = try await session.replies(".import \(path) t --separator ';' --format CSV")
    #expect(try rows() == [["1", "x"]])
    let object = try file("{\"a\":2}\n".utf8, "export")
    _ = try await session.replies(".import \(object) t --format=jsonl")
    #expect(try rows() == [["1", "x"], ["2", .null]])
    let compressed = try file([0x1F, 0x8B], "t.csv.gz")
    #expect(await session.failure(".import \(compressed) t").contains("gunzip -c FILE"))
    let text = try file("BZh,b\n".utf8)
    #expect(await session.failure(".import \(text) t").hasPrefix("line 1: T has no BZh".inFile(text)))
  }

  @Test func `the line of a file that tells Excel its separator is named`() async throws {
    let path = try file("sep=;\na;b\n1;2\n".utf8)
    for option in ["", " --separator ';'"] {
      #expect(await session.failure(".import \(path) t\(option)").contains("that line tells Excel"))
    }
  }

  @Test func `a file for which there is no table is answered with the statement that makes one`() async throws {
    let path = try file(
      "id,name,price,zip,at,\"a \"\"b\"\"\",empty\n1,Ann,1.50,0123,2024-01-02,1e3,\n-20,,3,1,,2,\n".utf8)
    let said = await session.failure(".import \(path) Sale")
    let statement =
      "CREATE TABLE \"Sale\" (\"id\" INTEGER, \"name\" TEXT, \"price\" REAL, \"zip\" TEXT, \"at\" TEXT, "
      + "\"a \"\"b\"\"\" TEXT, \"empty\" TEXT);"
    #expect(said == "there is no model or table Sale\n--create behind it makes this table: \(statement)")
    _ = try await session.replies(statement)
    _ = try await session.replies(".import \(path) Sale")
    #expect(
      try library.rows("SELECT * FROM sale") == [
        [1, "Ann", 1.5, "0123", "2024-01-02", "1e3", .null], [-20, .null, 3.0, "1", .null, "2", .null],
      ])
    let objects = try file("[{\"a\":1},{\"b\":[2],\"a\":1.5},{\"c\":true}]".utf8, "o.json")
    #expect(
      await session.failure(".import \(objects) \"o p\"").hasSuffix(
        "CREATE TABLE \"o p\" (\"a\" REAL, \"b\" TEXT, \"c\" INTEGER);"))
    let numbers = try file("a,b,c,d,e\n0.0799942126122769,9.78e+12,1.5e,1.123456789012345678,-0.5\n".utf8)
    #expect(
      await session.failure(".import \(numbers) N").hasSuffix(
        "CREATE TABLE \"N\" (\"a\" REAL, \"b\" REAL, \"c\" TEXT, \"d\" TEXT, \"e\" REAL);"))
    for (sign, option) in [(";", "';'"), ("|", "'|'"), ("\t", "tab")] {
      let path = try file("a\(sign)b\n1\(sign)2\n".utf8)
      let said = await session.failure(".import \(path) N")
      #expect(said.hasSuffix("--separator \(option) behind the model reads this file"))
      #expect(
        await session.failure(".import \(path) N --separator \(option)").contains("(\"a\" INTEGER, \"b\" INTEGER)"))
    }
    for text in ["a,A\n1,2\n", ",a\n1,2\n", ""] {
      let path = try file(text.utf8)
      #expect(await session.failure(".import \(path) Other").hasSuffix(".models lists them"), "\(text)")
    }
    #expect(await session.failure(".import /nowhere/x.csv Other").hasSuffix(".models lists them"))
  }

  @Test func `a name that is not UTF-8 is refused, and so is an object of JSON`() async throws {
    let name = try file([0xE9, 0x2C, 0x62, 0x0A])
    #expect(
      await session.failure(".import \(name) t --encoding raw").hasPrefix(
        "line 1: name 1 of 2 is not UTF-8 from the byte E9. Nothing was added".inFile(name)))
    let object = try file(Array("{\"a\": 1}\n{\"a\": \"caf".utf8) + [0xE9] + Array("\"}\n".utf8), "t.jsonl")
    let said = await session.failure(".import \(object) t")
    #expect(
      said.hasPrefix(
        "line 2: this is not UTF-8 from the byte E9 after “{\"a\": \"caf”. Nothing was added".inFile(object)), "\(said)"
    )
    #expect(!said.contains("raw"))
    _ = try await session.replies(".import \(object) t --encoding windows-1252")
    #expect(try rows() == [["1", .null], ["café", .null]])
  }

  @Test(arguments: [true, false]) func `a file of UTF-16 is read by its mark, or as it is said to be`(isBigEndian: Bool)
    async throws
  {
    // Across the pieces that a file is read in.
    let long = String(repeating: "👩‍👩‍👧ł", count: 30_000)
    let text = "a,b\r\ncafé,\"\(long)\"\r\n"
    let marked = try file(utf16(text, isBigEndian: isBigEndian))
    _ = try await session.replies(".import \(marked) t")
    let plain = try file(utf16(text, isBigEndian: isBigEndian, mark: false))
    let name = isBigEndian ? "utf-16be" : "utf-16le"
    let said = await session.failure(".import \(plain) t")
    #expect(said.contains("begins with a NUL byte") && said.contains("--encoding \(name)"), "\(said)")
    _ = try await session.replies(".import \(plain) t --encoding \(name)")
    #expect(try rows() == [["café", .text(long)], ["café", .text(long)]])
  }

  @Test func `half a character of UTF-16 is refused`() async throws {
    for broken in [[0x3D, 0xD8], [0x61, 0, 0x62]] as [[UInt8]] {
      let path = try file(utf16("a,b\nx,", isBigEndian: false) + broken)
      #expect(
        await session.failure(".import \(path) t") == "line 2: b is not valid UTF-16. Nothing was added".inFile(path))
    }
    let path = try file([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0])
    #expect(await session.failure(".import \(path) t").contains("is in UTF-32, which is not read here"))
  }

  @Test func `NUL bytes, a mark and line ends of other systems are read`() async throws {
    _ = try await session.replies(".import \(try file(Array("\u{FEFF}\"a\",b\rx\u{0}y,\"1\r2\"\rz,\r".utf8))) t")
    #expect(try rows() == [["x\u{0}y", "1\r2"], ["z", .null]])
  }

  @Test func `an encoding that is not read is refused with those that are`() async throws {
    let path = try file(Self.windows)
    let said = await session.failure(".import \(path) t --encoding shift-jis")
    #expect(said.contains("windows-1252") && said.contains("iconv -f shift-jis"), "\(said)")
    #expect(await session.failure(".import \(path) t --encoding").hasPrefix("which encoding?"))
    #expect(await session.failure(".import \(path) t --latin1").hasPrefix("unknown option --latin1"))
  }

  @Test func `an import from a pipe can be undone too, and one that adds more than is kept cannot`() async throws {
    let pipe = library.folder.appending(path: "pipe.csv").path
    try #require(mkfifo(pipe, 0o600) == 0)
    Thread.detachNewThread {
      let writer = open(pipe, O_WRONLY)  // waits for its reader
      _ = write(writer, "a,b\n3,4\n", 8)
      close(writer)
    }
    let said = try await session.said(".import \(pipe) t")
    #expect(said.hasPrefix("1 row added") && said.hasSuffix("undo to take it back"), "\(said)")
    _ = try await session.said("undo")
    #expect(try rows().isEmpty)
    let small = try library.session {
      $0.allowsWriting = true
      $0.undoableSizeInBytes = 1000
    }
    let many = try file(Array(("a,b\n" + String(repeating: "5,6\n", count: 100)).utf8), "many.csv")
    let told = try await small.said(".import \(many) t")
    #expect(
      told.hasPrefix("100 rows added") && told.contains("cannot be undone: it added more than is kept"), "\(told)")
    #expect(await small.failure("undo").contains("cannot undo: it added more than is kept in memory"))
    #expect(try rows().count == 100)
  }

  @Test func `a session keeps the last writes to undo them, and says which are too far back`() async throws {
    let session = try library.session {
      $0.allowsWriting = true
      $0.undoableRows = 5
    }
    for number in 1...4 { _ = try await session.said("insert into t values ('\(number)', 'x'), ('\(number)', 'y')") }
    _ = try await session.said("undo")
    _ = try await session.said("redo")
    for _ in 1...2 { #expect(try await session.said("undo").hasPrefix("undone: 2 rows")) }
    #expect(await session.failure("undo") == "cannot undo: it is too far back: a session keeps 5 changed rows")
    #expect(try rows().count == 4)
    // One write is kept, however many rows it has.
    _ = try await session.said("insert into t select a, b from t")
    _ = try await session.said("insert into t select a, b from t")
    #expect(try await session.said("undo").hasPrefix("undone: 8 rows"))
    #expect(await session.failure("undo").contains("too far back"))
  }

  @Test func `a file's name with spaces needs quotes, and the message says so`() async throws {
    let path = try file(Array("a,b\n1,2\n".utf8), "my books.csv")
    let said = await session.failure(".import \(path) t")
    #expect(said.contains("a file's name with spaces is in quotes: .import \"\(path)\" t"), "\(said)")
    _ = try await session.replies(".import \"\(path)\" t")
    #expect(try rows() == [["1", "2"]])
    #expect(await session.failure(".save my books.csv T").contains(".save \"my books.csv\""))
    #expect(await session.failure(".import missing.csv t").contains("missing.csv cannot be read: No such file"))
  }
}
