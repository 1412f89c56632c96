import CSQLite
import TestSupport
import Testing

@testable import QuireSQLite

/// The one tokenizer of SQL: total on any bytes, and of one mind with SQLite wherever SQLite can be asked.
@Suite struct TokenTests {
  @Test(arguments: 0..<4 as Range<UInt64>) func `the tokens of any bytes, joined, are the bytes again`(block: UInt64) {
    for seed in block * 300..<block * 300 + 300 {
      var random = Random(seed: seed)
      let text = RandomSQL.bytes(&random)
      let tokens = SQLTokens(bytes: text)
      #expect(Self.isWhole(tokens.map { $0 }, text.count), "seed \(seed)")
      let part = random.below(text.count + 1)..<text.count + random.below(3)
      let inside = Array(SQLTokens(bytes: text, in: part))
      #expect(
        inside.isEmpty || inside[0].range.lowerBound == part.lowerBound && inside.last?.range.upperBound == text.count)
      for token in tokens { _ = (tokens.text(of: token), tokens.name(of: token)) }
      for statement in SQLStatements(String(decoding: text, as: UTF8.self)) { #expect(!statement.range.isEmpty) }
    }
  }

  @Test func `a tokenizer that loses a byte is noticed`() {
    #expect(!Self.isWhole(Array(SQLTokens("SELECT 1").dropLast()), 8))
    #expect(!Self.isWhole(Array(SQLTokens("SELECT 1").dropFirst()), 8))
  }

  private static func isWhole(_ tokens: [SQLTokens.Token], _ count: Int) -> Bool {
    var end = 0
    for token in tokens {
      if token.range.lowerBound != end || token.range.isEmpty { return false }
      end = token.range.upperBound
    }
    return end == count
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func `SQLite reads tokens set apart as it reads the text`(block: UInt64)
    throws
  {
    let database = try Prepared()
    for seed in block * 300..<block * 300 + 300 {
      var random = Random(seed: seed)
      let text = RandomSQL.statement(&random)
      let tokens = SQLTokens(text)
      let words = tokens.filter(\.isSignificant)
      let apart = words.map(tokens.text(of:))
        // Not by a space, which would take a vertical tab along.
        .joined(separator: "/**/")
      let (found, other) = (database.answer(to: text), database.answer(to: apart))
      #expect(found.message == other.message, "seed \(seed): \(text)")
      // An error that has a place stands at the beginning of a token.
      guard let place = found.place, found.message != "incomplete input" else { continue }
      #expect(words.contains { $0.range.lowerBound == place }, "seed \(seed): byte \(place) of \(text)")
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func `a script is complete where SQLite's shell says so`(block: UInt64) {
    for seed in block * 300..<block * 300 + 300 {
      var random = Random(seed: seed)
      let text = RandomSQL.script(&random)
      let last = Array(SQLStatements(text)).last
      let tokens = SQLTokens(text)
      let isComplete = last?.isEnded != false && !tokens.contains(where: \.isOpen)
      // It says of nothing at all that it is not complete.
      if !tokens.contains(where: { tokens.isMark($0, ";") }), last == nil { continue }
      if isComplete != (sqlite3_complete(text) != 0) { Issue.record("seed \(seed): \(text)") }
    }
  }

  @Test(arguments: [
    ("1e+5", ["1e+5"]), (".5", [".5"]), ("1.5.6", ["1.5", ".6"]), ("x'00'", ["x'00'"]), ("x 'a'", ["x", " ", "'a'"]),
    ("a||b", ["a", "||", "b"]), ("a->>'$'", ["a", "->>", "'$'"]), ("<<=<>==!=!", ["<<", "=", "<>", "==", "!=", "!"]),
    ("?1:a@b#1$c", ["?1", ":a", "@b", "#1$c"]), ("$a::b(c d", ["$a::b(c", " ", "d"]), (": x", [":", " ", "x"]),
    ("--a\nb", ["--a", "\n", "b"]), ("a--", ["a", "--"]), ("a-b", ["a", "-", "b"]), ("/**/", ["/**/"]),
    ("/*/", ["/*/"]),
    ("\u{FEFF}a", ["\u{FEFF}", "a"]), ("'it''s'", ["'it''s'"]), ("[a]]", ["[a]", "]"]), ("é$1", ["é$1"]),
  ]) func `each kind of token ends where it should`(text: String, parts: [String]) {
    let tokens = SQLTokens(text)
    #expect(tokens.map(tokens.text(of:)) == parts)
  }

  @Test(arguments: [
    ("\"a\"\"b\"", "a\"b"), ("[a b]", "a b"), ("`a``b`", "a`b"), ("'it''s'", "it's"), ("a", "a"), ("\"open", "open"),
    ("\"", ""), ("\"\"", ""), ("x'00'", "x'00'"),
  ]) func `a name is what its quotes hold`(text: String, name: String) { #expect(SQLTokens.name(text) == name) }

  @Test(arguments: [
    ("CREATE TRIGGER t BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END; SELECT 1", 2),
    ("CREATE TABLE trigger (a); SELECT 1", 2),
    ("EXPLAIN QUERY PLAN CREATE TEMP TRIGGER t BEGIN SELECT 1; END; SELECT 1", 2), (";;", 0), ("SELECT ';' -- ;", 1),
    ("CREATE TRIGGER t BEGIN SELECT 1; SELECT 2", 1),
  ]) func `statements end at a semicolon, and triggers at their own end`(text: String, count: Int) {
    #expect(Array(SQLStatements(text)).count == count)
  }
}

/// An empty database to ask what SQLite makes of a text.
private final class Prepared {
  private let handle: OpaquePointer

  init() throws {
    var opened: OpaquePointer?
    guard sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nil) == SQLITE_OK,
      let opened
    else { throw SQLiteError(code: SQLITE_NOMEM, message: "out of memory") }
    handle = opened
    sqlite3_exec(handle, "CREATE TABLE t (a, b)", nil, nil, nil)
  }

  deinit { sqlite3_close_v2(handle) }

  func answer(to sql: String) -> (message: String, place: Int?) {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    sqlite3_finalize(statement)
    if code == SQLITE_OK { return ("", nil) }
    let place = Int(sqlite3_error_offset(handle))
    return (String(cString: sqlite3_errmsg(handle)), place < 0 ? nil : place)
  }
}

private enum RandomSQL {
  private static let words = [
    "SELECT", "a", "b", "FROM", "t", "WHERE", "AND", "NOT", "NULL", "CASE", "END", "AS", "IN", "ORDER", "BY", "é",
  ]
  private static let literals = [
    "1", "1.5", ".5", "1e5", "1e+5", "2.e-3", "0x1F", "12", "'it''s'", "''", "x'00'", "X'aB'", "\"a\"", "[b]", "`t`",
    "\"a\"\"b\"", "?", "?1", ":a", "@b", "$c", "$a::b", "1e", "x'0'", "'open", "\"open", "[open",
  ]
  private static let marks = [
    "+", "-", "*", "/", "%", "||", "|", "&", "<<", ">>", "<", "<=", "<>", "==", "=", "!=", "->", "->>", "~", "(", ")",
    ",",
    ".", ";", "!", ":", "#", "\u{B}", "\\", "{",
  ]
  private static let gaps = [
    " ", "\n", "\t", " \u{B}", "\r\n", "--x\n", "/* ' */", "/**/", "\u{C}", "\u{FEFF}", "--\"\n",
  ]

  /// Some that SQLite takes, and many that it refuses here or there.
  static func statement(_ random: inout Random) -> String {
    var text = random.chance(3) ? "" : "SELECT a FROM t WHERE b "
    for _ in 0..<1 + random.below(8) {
      switch random.below(10) {
      case 0..<3: text += random.pick(words)
      case 3..<6: text += random.pick(literals)
      case 6..<9: text += random.pick(marks)
      default: break
      }
      if !random.chance(3) { text += random.pick(gaps) }
    }
    return text
  }

  /// Without what `sqlite3_complete` cuts otherwise than SQLite's own tokenizer: parameters, points, byte order marks.
  static func script(_ random: inout Random) -> String {
    let pieces =
      [
        "CREATE", "TEMP", "TRIGGER", "END", "EXPLAIN", "temporary", "begin", ";", ";", ";", "; END ;", "1", "'a;'",
        "\"", "`b`",
      ]
      + ["[c;]", "'", "/* ; */", "/*", "-- ;\n", "--", "(", "x'00'", "||"]
    return (0..<random.below(14)).map { _ in random.pick(pieces) + random.pick([" ", "\n", "", "\t"]) }.joined()
  }

  static func bytes(_ random: inout Random) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<random.below(30) {
      switch random.below(4) {
      case 0: bytes.append(UInt8(truncatingIfNeeded: random.next()))
      case 1: bytes += Array(random.pick(literals + gaps).utf8)
      case 2: bytes += Array(random.pick(marks).utf8)
      default: bytes += Array(random.pick(words).utf8)
      }
    }
    return bytes
  }
}
