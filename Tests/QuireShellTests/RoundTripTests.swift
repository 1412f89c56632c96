import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// Values that leave a file and come back: through each format that is made to be read again they are what they were, to the
/// bit. `QUIRE_SEEDS` runs so many more seeds, of 1 000 rows each: with 1000 it is a million random bit patterns.
@Suite(.fewAtOnce) struct RoundTripTests {
  static let seeds = (1...3).map { UInt64($0) } + [extraSeed] + more
  private static let more =
    ProcessInfo.processInfo.environment["QUIRE_SEEDS"].flatMap(UInt64.init).map { count in
      (0..<count).map { 1_000_000 + $0 }
    } ?? []
  private static let rowCount = 1000

  static let schema = """
    CREATE TABLE v (id INTEGER PRIMARY KEY, x, r REAL, t TEXT, i INTEGER, n NUMERIC);
    CREATE TABLE strict_v (id INTEGER PRIMARY KEY, x ANY, r REAL, t TEXT, i INTEGER, n ANY) STRICT;
    """

  /// Numbers at which something changes: kinds, digits, exponents.
  static let edges: [Double] = [
    0, -0.0, .leastNonzeroMagnitude, Double.leastNormalMagnitude.nextDown, 2.2250738585072014e-308, 1e-5, 1e-4, 0.1,
    0.000805085370063019, 1 / 3.0,
    999_999_999_999_999.5, 1e15, 1_000_000_000_000_000.5, 4_503_599_627_370_495.5, 9_007_199_254_740_991,
    9_007_199_254_740_992,
    1e16, 1e17, 9_223_372_036_854_775_808, -9_223_372_036_854_775_808, 1e21, 1e22, 1e23, 8.9884656743115795e307, 1e308,
    1.7976931348623157e308, -2.2606631148481385e-299,
  ]

  static func double(_ random: inout Random) -> Double {
    let number =
      switch random.below(6) {
      case 0: random.pick(edges)
      case 1: Double(bitPattern: random.next() >> 12)  // without an exponent
      // Halves and quarters up to 2^53, where digits before and behind the point are many.
      case 2: Double(Int64(bitPattern: random.next()) >> 9) / Double(1 << random.below(4))
      case 3: Double(Int(random.next() % 2_000_000) - 1_000_000) / 100
      default: Double(bitPattern: random.next())
      }
    return number.isFinite ? number : 1.5
  }

  static func integer(_ random: inout Random) -> Int64 {
    switch random.below(4) {
    case 0: random.pick([0, -1, .min, .max, .min + 1, 1 << 53, 1 << 53 + 1])
    case 1: Int64(random.below(2000)) - 1000
    default: Int64(bitPattern: random.next())
    }
  }

  static func text(_ random: inout Random) -> Value {
    let texts = [
      "", " ", "12", "-0", "007", "1.50", "1.5", "1e5", "1.0e+20", "9223372036854775807", "9223372036854775808", "0x10",
      "Inf", "-Inf", "NULL", "null", "x'00'", "X'zz'", "a,b", "a\tb", "\"q\"", "'", "two\nlines", "\r\n", "\r", "Łem",
      "三島",
      "👩‍👩‍👧", "\u{0}", "a\u{0}b", "\u{1B}[31m", "\u{9B}", "\u{202E}", "\u{FEFF}bom", "\\", "\\u0041", "{\"base64\":\"\"}",
      "-- no comment", "2020-01-01", "\u{2028}", "\u{7F}", "1_000", "+5", ".5", "5.",
    ]
    switch random.below(4) {
    case 0: return .malformedText(Data([0xFF, 0x41, UInt8(random.below(256)), 0xC3]))
    case 1:
      let scalars = (0..<random.below(8)).compactMap { _ in Unicode.Scalar(UInt32(random.below(0x3000))) }
      return .text(String(String.UnicodeScalarView(scalars)))
    default: return .text(random.pick(texts))
    }
  }

  static func any(_ random: inout Random) -> Value {
    switch random.below(8) {
    case 0: .null
    case 1: .blob(Data((0..<random.below(5)).map { _ in UInt8(random.below(256)) }))
    case 2, 3: .integer(integer(&random))
    case 4, 5: text(&random)
    default: .real(double(&random))
    }
  }

  static func row(_ key: Int, _ random: inout Random) -> [Value] {
    [
      .integer(Int64(key)), any(&random), .real(double(&random)), text(&random), .integer(integer(&random)),
      any(&random),
    ]
  }

  /// All values with their bits, in order: `-0.0` is not `0.0` here.
  private func state(_ library: Library, _ table: String) throws -> [String] {
    try library.rows("SELECT id, x, r, t, i, n FROM \(table) ORDER BY id").map { row in
      row.map { value in
        switch value {
        case .real(let number): "real \(number.bitPattern)"
        case .text(let text): "text \(Array(text.utf8))"
        default: "\(value.storageClass) \(value)"
        }
      }.joined(separator: " | ")
    }
  }

  private func fill(_ library: Library, _ table: String, _ seed: UInt64) throws {
    var random = Random(seed: seed)
    var options = ConnectionOptions()
    options.keepsJournalMode = true
    options.synchronous = .off
    let connection = try Connection(path: library.file.path, access: .readWrite, options: options)
    try connection.execute("BEGIN")
    for key in 0..<Self.rowCount {
      try connection.execute("INSERT INTO \(table) VALUES (?, ?, ?, ?, ?, ?)", Self.row(key, &random))
    }
    try connection.execute("COMMIT")
  }

  private func written(_ format: AnswerFormat, _ table: String, _ library: Library) async throws -> Data {
    let bytes = Locked(Data())
    var output = RowOutput(format) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
    output.table = table
    try await library.session().run("SELECT * FROM \(table) ORDER BY id", to: output) { _ in }
    return bytes.withLock { $0 }
  }

  @Test(arguments: seeds, ["v", "strict_v"])
  func `every value that is written comes back as it was`(seed: UInt64, table: String) async throws {
    let library = try Library(Self.schema)
    try fill(library, table, seed)
    let expected = try state(library, table)
    for format in [AnswerFormat.csv, .tsv, .json, .jsonl] {
      let other = try Library(Self.schema)
      let file = other.folder.appending(path: "v.\(format.rawValue)")
      try await written(format, table, library).write(to: file)
      // Only there is text that is not UTF-8 written as its bytes.
      let option = [.csv, .tsv].contains(format) ? " --encoding raw" : ""
      _ = try await other.writing().replies(".import \(file.path) \(table)\(option)")
      let found = try state(other, table)
      #expect(found.count == expected.count)
      for (a, b) in zip(expected, found) where a != b {
        Issue.record("seed \(seed), \(format.rawValue): \(a) came back as \(b)")
      }
    }
    let other = try Library(Self.schema)
    let statements = String(decoding: try await written(.insert, table, library), as: UTF8.self)
    try Connection(path: other.file.path, access: .readWrite).execute("BEGIN;" + statements + "COMMIT;")
    for (a, b) in zip(expected, try state(other, table)) where a != b {
      Issue.record("seed \(seed), insert: \(a) came back as \(b)")
    }
    // A document of JSON has the lines' objects, with a sign between them.
    let lines = try await written(.jsonl, table, library).split(separator: 10)
    let document = try await written(.json, table, library).split(separator: 10)
    #expect(document.count == lines.count)
    for (place, (line, part)) in zip(lines, document).enumerated() {
      #expect(part.dropFirst(place == 0 ? 1 : 0).starts(with: line) && part.count - line.count <= 2)
    }
  }

  @Test func `a table is named in a command as in SQL`() async throws {
    let library = try Library("CREATE TABLE \"we ird\"\"t\" (x)")
    let file = library.folder.appending(path: "x.csv")
    try Data("x\n1\n".utf8).write(to: file)
    for name in ["\"we ird\"\"t\"", "`we ird\"t`", "[we ird\"t]", "'we ird\"t'", "we ird\"t"] {
      _ = try await library.writing().replies(".import \(file.path) \(name)")
    }
    #expect(try library.rows("SELECT count(*) FROM \"we ird\"\"t\"") == [[5]])
  }

  @Test func `an array of objects is read however it is laid out, and what is not one is told with its line`()
    async throws
  {
    let library = try Library("CREATE TABLE v (x, t)")
    let file = library.folder.appending(path: "v.json")
    let laidOut = [
      "[]", " [\n]\n", "[{\"x\": 1}]", "[\n  {\n    \"x\": 1,\n    \"t\": \"}],{[\\\"\\\\\"\n  }\n, {\"t\":\"\"} ]\r\n",
    ]
    for text in laidOut {
      try Data(text.utf8).write(to: file)
      _ = try await library.writing().replies(".import \(file.path) v")
    }
    #expect(try library.rows("SELECT x, t FROM v") == [[1, .null], [1, "}],{[\"\\"], [.null, ""]])
    let wrong = [
      ("", "line 1: no JSON array begins here"), ("{\"x\": 1}", "line 1: no JSON array begins here"),
      ("[\n{\"x\": 1}\n{\"x\": 2}]", "line 3: no comma, and no ] that ends the array"),
      ("[{\"x\": 1},\n]", "line 2: no JSON object"), ("[1]", "line 1: no JSON object"),
      ("[{\"x\": 1}] 2", "line 1: more behind the array's end"),
      ("[\n{\"x\": \"}]\n", "line 2: the object that begins here is not closed"),
      ("[{\"x\": {]}]", "line 1: the object that begins here is not closed"),
    ]
    for (text, message) in wrong {
      try Data(text.utf8).write(to: file)
      let said = await (try library.writing()).failure(".import \(file.path) v")
      #expect(said.hasPrefix(message.inFile(file.path) + ". Nothing was added"))
    }
    #expect(try library.rows("SELECT count(*) FROM v") == [[3]])
  }

  @Test func `a column of NULLs keeps its rows`() async throws {
    let library = try Library("CREATE TABLE one (x); INSERT INTO one VALUES (1), (NULL), (NULL), ('');")
    let expected = try library.rows("SELECT x FROM one")
    for format in [AnswerFormat.csv, .tsv, .json, .jsonl] {
      let file = library.folder.appending(path: "one.\(format.rawValue)")
      let bytes = Locked(Data())
      let output = RowOutput(format) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
      try await library.session().run("SELECT x FROM one", to: output) { _ in }
      try bytes.withLock { $0 }.write(to: file)
      let session = try library.writing()
      _ = try await session.replies("delete One", yes: true)
      _ = try await session.replies(".import \(file.path) One")
      #expect(try library.rows("SELECT x FROM one") == expected, "\(format)")
    }
  }

  @Test func `what SQLite reads beside the number is written so that it reads the number`() throws {
    let literals = RealLiteral()
    let reader = try #require(RealReader())
    var random = Random(seed: 7)
    for _ in 0..<20_000 {
      let number = Double(bitPattern: random.next())
      let text = literals.text(number)
      if !number.isFinite || text.hasPrefix("(") { continue }
      #expect(reader.read(text).bitPattern == number.bitPattern, "\(text)")
    }
    let library = try Library()
    for number in Self.edges + [-2.2606631148481385e-299, 1.829402849984213e-298] {
      let found = try library.rows("SELECT \(literals.text(number))")
      #expect(found == [[.real(number)]], "\(literals.text(number))")
    }
  }

  @Test(arguments: [
    (
      "{\"x\": 9007199254740993, \"t\": 0.1234567890123456789, \"i\": -9223372036854775808}",
      "9007199254740993 0.1234567890123456789 -9223372036854775808 NULL"
    ),
    ("{\"x\": 1.0, \"i\": 1e2, \"t\": 12.50, \"r\": 3}", "1.0 12.50 100 3.0"),
    ("{\"x\": 10000000000000000000, \"t\": 12345678901234567890}", "1.0e+19 12345678901234567890 NULL NULL"),
    ("{\"x\": \"\\u00e9\\ud83d\\ude00\\/\", \"t\": \"7\", \"i\": true}", "é😀/ 7 1 NULL"),
    (" {\"x\":{\"base64\":\"AP8=\"} , \"r\":\"-Infinity\"} ", "x'00ff' NULL NULL -Inf"),
  ])
  func `numbers of JSON are those that are written there`(line: String, values: String) async throws {
    let library = try Library(Self.schema)
    let file = library.folder.appending(path: "v.jsonl")
    try Data((line + "\n").utf8).write(to: file)
    _ = try await library.writing().replies(".import \(file.path) v")
    let row = try #require(try library.rows("SELECT x, t, i, r FROM v").first)
    #expect(row.map { ShownCell($0).text }.joined(separator: " ") == values)
  }

  @Test(arguments: [
    (
      "{\"x\": 12345678901234567890}",
      "line 1: the number of x has more digits than a column keeps, or is beyond all numbers. Nothing was added\nin quotes it is text, which keeps them"
    ),
    ("{\"x\": [[[[1]]]}", "line 1: the value of x is not JSON: [[[[1]]]. Nothing was added"),
    ("{\"x\": [1,]}", "line 1: the value of x is not JSON: [1,. Nothing was added"),
    ("{\"x\": {\"a\":}}", "line 1: the value of x is not JSON: {\"a\":. Nothing was added"),
    ("{\"x\": {\"base64\": \"?\"}}", "line 1: x is no base64. Nothing was added"),
    (
      "{\"x\": \(String(repeating: "[", count: 100_000))",
      "line 1: x is nested too deeply. Nothing was added"
    ),
    ("{\"x\": 1, \"X\": 2}", "line 1: X is there twice. Nothing was added"),
    ("{\"x\": \"\\ud800\"}", "line 1: the value of x is not JSON: \"\\ud800\". Nothing was added"),
    ("{\"x\": 01}", "line 1: the value of x is not JSON: 01. Nothing was added"),
    ("{\"x\": 1} 2", "line 1: no JSON object. Nothing was added"),
    ("{\"x\": NaN}", "line 1: the value of x is not JSON: NaN. Nothing was added"),
    ("{\"x\": \"open", "line 1: the value of x is not JSON: \"open. Nothing was added"),
    ("{\"x\":", "line 1: no JSON object. Nothing was added"),
    ("{", "line 1: no JSON object. Nothing was added"),
    ("[]", "line 1: no JSON object. Nothing was added\nan array of objects is a .json file"),
  ])
  func `what a line of JSON cannot bring is refused with its line`(line: String, message: String) async throws {
    let library = try Library(Self.schema)
    let file = library.folder.appending(path: "v.jsonl")
    try Data((line + "\n").utf8).write(to: file)
    #expect(await (try library.writing()).failure(".import \(file.path) v") == message.inFile(file.path))
    #expect(try library.rows("SELECT * FROM v").isEmpty)
  }

  @Test(arguments: [
    "[]", "{}", "[1, 2.50,\"a\\u00e9\\\"\", null ,true,false]", "{\"a\" : {\"b\": [ {} ,[[]] ]}, \"c\":\"}\"}",
    "{\"base64\": \"AP8=\", \"name\": 1}", "{\"base64\": [1e400]}", "[{\"base64\": \"?\"}, \"Infinity\"]",
    String(repeating: "[", count: 900) + String(repeating: "]", count: 900),
  ])
  func `arrays and objects in a record become their text, as it is written`(json: String) async throws {
    for (ending, start, end) in [("jsonl", "", "\n"), ("json", "[", "]")] {
      let library = try Library(Self.schema)
      let file = library.folder.appending(path: "v.\(ending)")
      try Data("\(start){\"x\": \(json), \"t\":\(json)}\(end)".utf8).write(to: file)
      _ = try await library.writing().replies(".import \(file.path) v")
      #expect(try library.rows("SELECT x, t, json_valid(x) FROM v") == [[.text(json), .text(json), 1]])
    }
  }

  @Test func `the smallest integer is one in the language of models`() async throws {
    let library = try Library(Self.schema)
    let session = try library.writing()
    _ = try await session.replies("insert V { id: 1, x: -9223372036854775808, i: -9223372036854775808 }")
    #expect(try library.rows("SELECT x, i FROM v") == [[.integer(.min), .integer(.min)]])
    #expect(try await session.column("V where x = -9223372036854775808") == [1])
  }

  @Test(arguments: [
    ("0439023483", "text"), ("0x10", "text"), ("1.50", "text"), ("1e3", "text"), ("+5", "text"), ("-0", "text"),
    ("1_000", "text"),
    ("9223372036854775808", "text"), ("Inf", "text"), ("nan", "text"), ("12", "integer"),
    ("-9223372036854775808", "integer"),
    ("0", "integer"), ("1.5", "real"), ("-0.25", "real"), ("1.0e+20", "real"), ("'12'", "text"), ("", "text"),
    (" 1", "text"),
  ])
  func `a parameter is a number where it is exactly the text of one`(word: String, kind: String) throws {
    let value = Value(parameter: word)
    #expect(value.storageClass == kind)
    if kind == "text" { #expect(value == .text(word == "'12'" ? "12" : word)) }
  }
}
