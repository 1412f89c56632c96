import Foundation
import QuireSQLite
import TestSupport
import Testing

@testable import QuireMigration

/// Hostile texts and names for everything that reads migration files: no trap, every byte looked at once by the
/// tokenizer, no result larger than its file. Mutations of what people write, each from a printed seed.
@Suite struct FileFuzzTests {
  @Test(arguments: 0..<4 as Range<UInt64>) func `no file makes the reader trap or lose its place`(block: UInt64) throws
  {
    for seed in block * 400..<block * 400 + 400 {
      var mutation = FileMutation(seed: seed)
      if let problem = try Self.problem(mutation.files()) { Issue.record("seed \(seed): \(problem)") }
    }
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment["QUIRE_FUZZ"] != nil))
  func `no file makes the reader trap or lose its place, for long`() throws {
    let environment = ProcessInfo.processInfo.environment
    let only = environment["QUIRE_FUZZ_SEED"].flatMap(UInt64.init)
    let seconds = only == nil ? environment["QUIRE_FUZZ"].flatMap(Double.init) ?? 0 : 0
    let begun = ContinuousClock.now
    let first = only ?? UInt64(Date.now.timeIntervalSince1970) << 20
    print("fuzz from seed \(first)")
    var seeds: UInt64 = 0
    repeat {
      // Said before it runs: after a trap there is nobody to say it.
      if seeds % 1000 == 0 {
        print("fuzz: \(seeds) files, next is seed \(first + seeds)")
        fflush(nil)
      }
      var mutation = FileMutation(seed: first + seeds, growth: 4)
      if let problem = try Self.problem(mutation.files()) {
        Issue.record("seed \(first + seeds): \(problem)")
        return
      }
      seeds += 1
    } while ContinuousClock.now - begun < .seconds(seconds)
    print("fuzz: \(seeds) files, nothing found")
  }

  @Test func `what is broken on purpose is found`() throws {
    #expect(try Self.problem([("1_a.sql", "SELECT 1")], tokens: { SQLTokens($0).dropLast() }) != nil)
    #expect(try Self.problem([("1_a.sql", "SELECT 1")]) == nil)
  }

  @Test func `an endless comment, deep nesting and an endless line are read once through`() throws {
    let long = 100_000
    let texts = [
      "/*" + String(repeating: "/*", count: long / 2), "--" + String(repeating: "-", count: long),
      String(repeating: "--\n", count: long / 3), "'" + String(repeating: "''", count: long / 2),
      String(repeating: "(", count: long), String(repeating: "\"'`[", count: long / 4),
      String(repeating: "-- migrate: allow M001 x\n", count: 5_000) + "SELECT 1",
      "CREATE TRIGGER t BEGIN " + String(repeating: "SELECT 1;", count: long / 20),
      String(repeating: ";", count: long) + "SELECT 1", String(repeating: "CREATE TRIGGER ", count: long / 15),
    ]
    for text in texts { #expect(try Self.problem([("20260101000000_a.sql", text)]) == nil) }
    #expect(try Self.problem(texts.enumerated().map { ("\($0)_a.sql", "-- +goose Up\n" + $1) }) == nil)
  }

  /// Nil where all is well.
  static func problem(
    _ files: [(path: String, text: String)], tokens: (String) -> [SQLTokens.Token] = { Array(SQLTokens($0)) }
  ) throws -> String? {
    for (_, text) in files {
      var end = 0
      for token in tokens(text) {
        if token.range.lowerBound != end || token.range.isEmpty { return "a gap at byte \(end)" }
        end = token.range.upperBound
      }
      if end != text.utf8.count { return "\(text.utf8.count - end) bytes are lost" }
      for statement in SQLStatements(text) where statement.range.upperBound > end {
        return "a statement beyond the end"
      }
      _ = TableText(text)
    }
    switch Result(catching: { () throws(MigrationError) in try MigrationFolder.files(files) }) {
    case .success(let migrations): return problem(of: migrations, files)
    case .failure(let error):
      _ = error.description
      return problem(of: error, files)
    }
  }

  private static func problem(of migrations: [MigrationFile], _ files: [(path: String, text: String)]) -> String? {
    let size = files.reduce(0) { $0 + $1.text.utf8.count }
    let read = migrations.reduce(0) { $0 + $1.up.utf8.count + ($1.undo?.utf8.count ?? 0) }
    // Blank lines may stand for those before a part.
    if read > size * 2 { return "\(read) bytes are made of \(size)" }
    for migration in migrations where migration.up.utf8.contains(0) { return "a NUL is let through" }
    for migration in migrations { _ = (migration.touchesData, migration.summary, migration.lint()) }
    _ = MigrationPlan(files: migrations, history: []).problems.map(\.description)
    return nil
  }

  /// The line an error names is one of the file's.
  private static func problem(of error: MigrationError, _ files: [(path: String, text: String)]) -> String? {
    guard case .malformed(let path, let line, _) = error else { return nil }
    let lines = files.filter { $0.path == path }.map { $0.text.utf8.count { $0 == 10 } + 1 }.max() ?? 1
    return (1...lines).contains(line) ? nil : "line \(line) of \(lines)"
  }
}

/// A folder of one to three files, made of what people write by changing it.
struct FileMutation {
  private var random: Random
  private let growth: Int

  init(seed: UInt64, growth: Int = 1) {
    random = Random(seed: seed)
    self.growth = growth
  }

  private static let names = [
    "20260101000000_a.sql", "20260102000000_add_isbn.sql", "00001_a.sql", "1_a.up.sql", "1_a.down.sql", "V1__a.sql",
    "V1.2__b.sql", "U1__a.sql", "R__a.sql", "001-a.sql", "a.sql", ".sql", "_", "99999999999999999999_a.sql",
    "2026010100000é_a.sql", "../../etc/passwd.sql", "1_\n\u{1B}[2J.sql", "1_\u{202E}a.sql", "V__.sql", "V1_____.sql",
    "1.sql",
  ]

  private static let texts = [
    "-- create authors\nCREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'it''s');\n-- migrate: undo\nDROP TABLE author;\n",
    "-- migrate:up transaction:false\nCREATE TABLE a (b);\n\n-- migrate:down\nDROP TABLE a;\n",
    "-- +goose Up\n-- +goose StatementBegin\nCREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END;\n-- +goose StatementEnd\n-- +goose Down\nDROP TRIGGER t;\n",
    "BEGIN;\nCREATE TABLE \"a b\" (c CHECK (c <> ')'), d REFERENCES e(f) ON DELETE SET NULL, CONSTRAINT x UNIQUE (c, d)) STRICT;\nCOMMIT;",
    "-- migrate: no-transaction\nVACUUM;", "-- migrate: allow M001 reason\nDROP TABLE a;\n-- migrate: step Fill\n",
    "CREATE TABLE [a] (`b` TEXT COLLATE NOCASE AS (c || x'00') STORED, c DEFAULT (1), PRIMARY KEY (b DESC))",
  ]

  private static let pieces: [[UInt8]] =
    [
      "--", "-- migrate: ", "-- migrate:up", "-- +goose ", "/*", "*/", "'", "\"", "`", "[", "]", "(", ")", ";", "\n",
      "\r\n",
      "\r", "\u{FEFF}", "\u{0}", "\u{2028}", "undo", "END", "CREATE TRIGGER t BEGIN ", "é", "🪶", "x'", "\\",
    ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF0, 0x9F]]

  mutating func files() -> [(path: String, text: String)] {
    (0...random.below(3)).map { _ in
      var name = Array(random.pick(Self.names).utf8)
      if random.chance(3) { mutate(&name, times: 1 + random.below(3)) }
      var text = Array(random.pick(Self.texts).utf8)
      mutate(&text, times: random.below(12 * growth))
      return ("folder/" + String(decoding: name, as: UTF8.self), String(decoding: text, as: UTF8.self))
    }
  }

  private mutating func mutate(_ bytes: inout [UInt8], times: Int) {
    for _ in 0..<times {
      let at = random.below(bytes.count + 1)
      let end = min(bytes.count, at + random.below(20))
      switch random.below(7) {
      case 0: bytes.removeSubrange(at..<end)
      case 1: bytes.insert(contentsOf: bytes[at..<end], at: random.below(bytes.count + 1))
      case 2: if at < bytes.count { bytes[at] = UInt8(truncatingIfNeeded: random.next()) }
      case 3: bytes.insert(contentsOf: Array(random.pick(Self.texts).utf8), at: at)
      case 4:
        let piece = random.pick(Self.pieces)
        for _ in 0..<(1 + random.below(40 * growth)) { bytes.insert(contentsOf: piece, at: min(at, bytes.count)) }
      default: bytes.insert(contentsOf: random.pick(Self.pieces), at: at)
      }
      if bytes.count > 200_000 { bytes.removeSubrange(100_000...) }
    }
  }
}
