import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// What rows look like in each format, and that they are the values the sqlite3 program gives.
@Suite(.fewAtOnce) struct FormatTests {
  private static let values = """
    CREATE TABLE v (id INTEGER PRIMARY KEY, x);
    INSERT INTO v (x) VALUES (NULL), (0), (-1), (9223372036854775807), (-9223372036854775808), (0.0), (0.1), (-2.5e-300),
      (1e300), (5e-324), (123456789.0), (1e15), (1e20), (''), (' '), ('a,b'), ('"q"'),
      ('two' || char(10) || 'lines'), ('tab' || char(9)), ('Stanisław'), ('三島'), ('👩‍👩‍👧'), (char(27) || '[31m'),
      (x''), (x'00ff'), ('back\\slash'), (char(0x9b)), (char(0x202e)), ('''');
    """

  private func written(_ format: AnswerFormat, _ query: String, _ library: Library) async throws -> Data {
    let bytes = Locked(Data())
    let output = RowOutput(format) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
    try await library.session().run(query, to: output) { _ in }
    return bytes.withLock { $0 }
  }

  /// What the sqlite3 program gives; nil where there is none.
  private func shell(_ words: [String], _ library: Library) throws -> Data? {
    let program = "/usr/bin/sqlite3"
    guard FileManager.default.isExecutableFile(atPath: program) else { return nil }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = ["-readonly"] + words.dropLast() + [library.file.path, words[words.count - 1]]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd()
    process.waitUntilExit()
    return data ?? Data()
  }

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3"), "there is no sqlite3 program here"))
  func `CSV has the values the sqlite3 program gives`() async throws {
    let library = try Library(Self.values)
    let query = "SELECT id, x, typeof(x) FROM v WHERE typeof(x) <> 'blob'"
    let ours = try await written(.csv, query, library)
    let theirs = try #require(try shell(["-csv", "-header", query], library))
    var (a, b) = (
      SeparatedReader(FileBytes(ours), UInt8(ascii: ",")), SeparatedReader(FileBytes(theirs), UInt8(ascii: ","))
    )
    var count = 0
    while let own = try a.next(), let other = try b.next() {
      count += 1
      #expect(own.count == 3 && other.count == 3)
      if other[2].text == "real" {
        // SQLite stops at 15 digits.
        let (x, y) = (Double(own[1].text) ?? .nan, Double(other[1].text) ?? .nan)
        #expect(x == y || abs(x - y) <= abs(x) * 1e-14, "\(own) \(other)")
      } else {
        #expect(own.map(\.text) == other.map(\.text))
      }
    }
    #expect(try count == 28 && a.next() == nil && b.next() == nil)
  }

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3"), "there is no sqlite3 program here"))
  func `JSON has the values the sqlite3 program gives`() async throws {
    let library = try Library(Self.values)
    let query = "SELECT id, x FROM v WHERE typeof(x) <> 'blob'"
    let ours = try await written(.json, query, library)
    let theirs = try #require(try shell(["-json", query], library))
    let a = try #require(try JSONSerialization.jsonObject(with: ours) as? [[String: Any]])
    let b = try #require(try JSONSerialization.jsonObject(with: theirs) as? [[String: Any]])
    #expect(a.count == b.count && a.count == 27)
    for (own, other) in zip(a, b) {
      #expect((own["x"] as? NSObject) == (other["x"] as? NSObject), "\(own) \(other)")
    }
  }

  @Test func `every value comes back from statements and JSON lines as it was`() async throws {
    let library = try Library(Self.values + "INSERT INTO v (x) VALUES (CAST(x'ff41' AS TEXT)), (9e999), (-9e999)")
    let expected = try library.rows("SELECT * FROM v")
    let statements = try await written(.insert, "SELECT * FROM v", library)
    let other = try Library("CREATE TABLE answer (id INTEGER PRIMARY KEY, x)")
    try Connection(path: other.file.path, access: .readWrite).execute(String(decoding: statements, as: UTF8.self))
    #expect(try other.rows("SELECT * FROM answer") == expected)
    let lines = try await written(
      .jsonl, "SELECT * FROM v WHERE x > -9e999 AND x < 9e999 OR typeof(x) <> 'real'", library)
    let file = other.folder.appending(path: "v.jsonl")
    try lines.write(to: file)
    _ = try await other.writing().replies("delete Answer", yes: true)
    _ = try await other.writing().replies(".import \(file.path) Answer")
    #expect(
      try other.rows("SELECT * FROM answer")
        == expected.filter { $0[1] != .real(.infinity) && $0[1] != .real(-.infinity) })
  }

  /// `CAST` of bytes makes text of them in the encoding of the file that it is run in.
  @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
  func `statements make the same texts in a file of any encoding`(encoding: String) async throws {
    let texts = [
      "'a' || char(0) || 'b'", "char(0)", "'Anna' || char(13, 10) || 'O''Brien'",
      "char(27) || '[31m三島' || char(155, 8238)",
      "'\u{FEFF}x'", "char(0xFEFF, 0x1F600)", "replace(hex(zeroblob(150)), '0', char(1))",
      "replace(hex(zeroblob(3000)), '00', 'x' || char(7))",
    ]
    let library = try Library("CREATE TABLE t (x TEXT); INSERT INTO t VALUES (\(texts.joined(separator: "), (")))")
    let statements = String(decoding: try await written(.insert, "T", library), as: UTF8.self)
    #expect(statements.hasPrefix("INSERT INTO \"t\" (\"x\") VALUES (('a' || char(0) || 'b'));\n"))
    let other = try Library("PRAGMA encoding = '\(encoding)'; CREATE TABLE t (x TEXT)")
    try Connection(path: other.file.path, access: .readWrite).execute(statements)
    #expect(try other.rows("SELECT x FROM t") == library.rows("SELECT x FROM t"))
    #expect(try other.rows("PRAGMA encoding") == [[.text(encoding)]])
  }

  @Test func `statements name the table whose columns they have, whatever was asked before`() async throws {
    let library = try Library()
    let session = try library.session { $0.screenRows = 20 }
    func saved(_ input: String) async throws -> String {
      let file = library.folder.appending(path: "a.sql").path
      _ = try await session.replies(".save \(file) \(input)")
      let text = try String(contentsOfFile: file, encoding: .utf8)
      return String(text.prefix { $0 != ")" }.dropFirst("INSERT INTO ".count))
    }
    _ = try await session.replies("Author")
    #expect(try await saved("") == #""author" ("id", "name", "born""#)
    #expect(try await saved("Tag") == #""tag" ("id", "name""#)
    #expect(try await saved("select id, name from author") == #""answer" ("id", "name""#)
    #expect(try await saved("Book select title, year where id = 1") == #""book" ("title", "year""#)
    #expect(try await saved("Book select title, author.name where id = 1") == #""answer" ("title", "author.name""#)
    #expect(try await saved("Book select title as t where id = 1") == #""answer" ("t""#)
    #expect(try await saved("Book select year, count(*) as n group by year") == #""answer" ("year", "n""#)
    _ = try await session.replies("select 1 as one;")
    #expect(try await saved("") == #""answer" ("one""#)
    _ = try await session.replies(".as insert 'my table'")
    #expect(try await saved("Tag") == #""my table" ("id", "name""#)
    _ = try await session.replies(".as insert")
    #expect(try await saved("Tag") == #""tag" ("id", "name""#)
    #expect(await session.failure(".as csv book") == ".as insert takes a table, csv does not")
  }

  @Test(arguments: AnswerFormat.allCases)
  func `nothing in data or names steers the terminal`(format: AnswerFormat) async throws {
    let hostile =
      "SELECT 'red' || char(27) || '[31m' || char(0x9b, 0x202e) || '\"|,' AS \"a\u{1B}]0;x\u{7}\", x'1b' AS b"
    let bytes = Locked(Data())
    var style = AnswerStyle()
    style.isTerminal = true
    let output = RowOutput(format, style: style) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
    let library = try Library()
    try await library.session().run(hostile, to: output) { _ in }
    let text = String(decoding: bytes.withLock { $0 }, as: UTF8.self)
    #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || !isControl($0) }, "\(text.debugDescription)")
    #expect(format == .insert || text.contains("red"))
  }

  @Test func `a table of HTML holds any text, and its names if they are wanted`() async throws {
    let library = try Library()
    let query = "SELECT 'a<b>&amp;' AS \"x>y\", NULL AS n, 1.5 AS r UNION ALL SELECT char(27), x'00ff', ''"
    let rows =
      "<tbody>\n<tr><td>a&lt;b&gt;&amp;amp;</td><td>NULL</td><td>1.5</td></tr>\n"
      + "<tr><td>␛</td><td>x'00ff'</td><td></td></tr>\n</tbody>\n</table>\n"
    let head = "<thead>\n<tr><th>x&gt;y</th><th>n</th><th>r</th></tr>\n</thead>\n"
    #expect(String(decoding: try await written(.html, query, library), as: UTF8.self) == "<table>\n" + head + rows)
    let bytes = Locked(Data())
    var output = RowOutput(.html) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
    output.hasHeader = false
    try await library.session().run(query + " LIMIT 0", to: output) { _ in }
    #expect(bytes.withLock { $0 } == Data("<table>\n<tbody>\n</tbody>\n</table>\n".utf8))
  }

  @Test func `reals to be looked at are the text that SQLite makes of them`() async throws {
    let numbers = [
      "1/3.0", "0.1 + 0.2", "-0.0", "1e15", "123456789012345678.0", "9e999", "-9e999", "4.35e-310", "2e-5",
    ]
    let library = try Library()
    for number in numbers {
      let text = String(
        decoding: try await written(.md, "SELECT \(number) AS a, CAST(\(number) AS TEXT) AS b", library), as: UTF8.self)
      let cells = text.split(separator: "\n")[2].split(separator: "|")
      #expect(cells.count == 2 && cells[0].trimmed == cells[1].trimmed, "\(number): \(text)")
    }
  }

  @Test func `reals that are read again have the digits that make them the same`() {
    let texts: [(Double, String)] = [
      (12, "12.0"), (1e20, "1.0e+20"), (1e-5, "1.0e-05"), (0.1 + 0.2, "0.30000000000000004"), (-0.0, "-0.0"),
      (.infinity, "Inf"), (-.infinity, "-Inf"), (1.5e300, "1.5e+300"),
      (4_503_599_627_370_495.5, "4.5035996273704955e+15"),
      (-1_234_567_890_123_456.75, "-1.2345678901234568e+15"), (1e15, "1.0e+15"),
      (9_007_199_254_740_992, "9.007199254740992e+15"),
      (.leastNonzeroMagnitude, "5.0e-324"), (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
      (999_999_999_999_999, "999999999999999.0"),
    ]
    for (number, text) in texts { #expect(number.exactText == text) }
  }

  @Test(arguments: [AnswerFormat.table, .box])
  func `on a terminal columns that have no room are left out and counted`(format: AnswerFormat) async throws {
    let bytes = Locked(Data())
    var style = AnswerStyle()
    (style.isTerminal, style.columns) = (true, 80)
    let output = RowOutput(format, style: style) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
    let library = try Library()
    let columns = (1...1000).map { "\($0) AS column_\($0)" }.joined(separator: ", ")
    try await library.session().run("SELECT \(columns)", to: output) { _ in }
    let lines = String(decoding: bytes.withLock { $0 }, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == (format == .box ? 6 : 3))
    #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
    let shown = lines[format == .box ? 1 : 0].matches(of: /column_\d+/).count
    #expect(shown > 4 && lines.last?.hasSuffix("\(1000 - shown) columns more (-f line)") == true, "\(lines)")
  }

  @Test func `of a text that is much longer than the line only the beginning is looked at`() async throws {
    let longest = Locked(0)
    let bytes = Locked(Data())
    var style = AnswerStyle()
    (style.isTerminal, style.columns) = (true, 40)
    style.width = { text in
      longest.withLock { $0 = max($0, text.utf8.count) }
      return text.count
    }
    let output = RowOutput(.table, style: style) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
    let library = try Library("CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t (x) VALUES ('short')")
    let query = """
      SELECT id, x FROM t UNION ALL SELECT 2, replace(hex(zeroblob(100000)), '00', 'é日' || char(10))
      UNION ALL SELECT 3, CAST(x'ff' || zeroblob(100000) AS TEXT)
      """
    try await library.session().run(query, to: output) { _ in }
    let lines = String(decoding: bytes.withLock { $0 }, as: UTF8.self).split(separator: "\n")
    #expect(longest.withLock { $0 } < 20_000)
    #expect(lines.count == 5 && lines[1] == " 1  short" && lines.allSatisfy { $0.count <= 40 }, "\(lines)")
    #expect(lines[2].hasPrefix(" 2  é日␊é日␊") && lines[2].hasSuffix("…") && lines[3].hasPrefix(" 3  \u{FFFD}␀␀"))
    let whole = String(repeating: "x", count: 10_000)
    #expect(ShownCell(.text(whole), limit: nil).text == whole && ShownCell(.text("abc"), limit: 2).text == "abc")
  }

  @Test func `on a narrow terminal there is a text beside the numbers`() async throws {
    let bytes = Locked(Data())
    var style = AnswerStyle()
    (style.isTerminal, style.columns) = (true, 20)
    let output = RowOutput(.table, style: style) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
    try await Library().session().run("Book 1 select id, title || title as title, title || id, year", to: output) { _ in
    }
    let lines = String(decoding: bytes.withLock { $0 }, as: UTF8.self).split(separator: "\n")
    #expect(lines.prefix(2) == ["id  title          …", " 1  SolarisSolar…  …"])
  }

  @Test func `a long table is written in the widths of its first rows`() async throws {
    let library = try Library()
    let many =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7000) SELECT i, 'x' AS t FROM n"
    let lines = String(decoding: try await written(.table, many, library), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 7002 && lines[0] == "   i  t" && lines[7000] == "7000  x" && lines[7001] == "7 000 rows")
  }
}
