import Foundation
import QuireRow
import TestSupport
import Testing

@Suite struct StoredFormTests {
  private func text(_ value: some StoredValue) throws -> String? {
    if case .text(let text) = try Value(storing: value) { text } else { nil }
  }

  private func read<T: StoredValue>(_ type: T.Type, _ value: Value) throws -> T {
    try T._read(from: ImageSource([value]), at: 0)
  }

  @Test func `a date is written in UTC with six decimals, and more where those do not read back the same`() throws {
    #expect(try text(Date(timeIntervalSince1970: 0)) == "1970-01-01 00:00:00.000000")
    #expect(try text(Date(timeIntervalSinceReferenceDate: 816_862_530.123456)) == "2026-11-20 10:15:30.123456")
    #expect(try text(Date(timeIntervalSinceReferenceDate: 816_862_530.1234567)) == "2026-11-20 10:15:30.1234567")
    #expect(try text(Date(timeIntervalSinceReferenceDate: 1e-20)) == "2001-01-01 00:00:00.00000000000000000001")
    #expect(try text(Date(timeIntervalSinceReferenceDate: -1e-20)) == "2000-12-31 23:59:59.99999999999999999999")
    #expect(try text(Date(timeIntervalSince1970: -0.25)) == "1969-12-31 23:59:59.750000")
    #expect(try text(Date(timeIntervalSince1970: -0.000_000_1)) == "1969-12-31 23:59:59.9999999")
    #expect(try text(Date(timeIntervalSince1970: 951_782_400)) == "2000-02-29 00:00:00.000000")
    #expect(try text(Date(timeIntervalSince1970: -62_167_219_200)) == "0000-01-01 00:00:00.000000")
    #expect(try text(Date(timeIntervalSince1970: 253_402_300_799)) == "9999-12-31 23:59:59.000000")
  }

  @Test(arguments: [-62_167_219_200.5, 253_402_300_800, 1e300, -1e300, .infinity, .nan])
  func `a year of more than four digits is refused`(seconds: Double) {
    #expect(throws: ValueError.self) { try Value(storing: Date(timeIntervalSince1970: seconds)) }
  }

  @Test(arguments: [1, 2, extraSeed]) func `every date reads back bit for bit, and text order is time order`(
    seed: UInt64
  )
    throws
  {
    var random = SeededGenerator(seed)
    var dates: [(Date, String)] = []
    for round in 0..<8_000 {
      let seconds =
        switch round % 5 {
        case 0: Double.random(in: 600e6...900e6, using: &random)
        case 1: Double.random(in: -63_113_904_000..<252_423_993_599, using: &random)
        case 2: Double.random(in: -2...2, using: &random)
        case 3: Double(Int64.random(in: -63_113_904_000_000_000..<252_423_993_599_000_000, using: &random)) / 1e6
        default: Double(bitPattern: random.next())
        }
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      guard seconds >= -63_113_904_000, seconds < 252_423_993_600 else { continue }
      let written = try #require(try text(date))
      #expect(try read(Date.self, .text(written)) == date, "\(seconds.bitPattern) \(written)")
      #expect(written.utf8.count >= 26 && (written.utf8.count == 26 || !written.hasSuffix("0")))
      dates.append((date, written))
    }
    dates.sort { $0.0 < $1.0 }
    #expect(
      zip(dates, dates.dropFirst()).allSatisfy { a, b in
        a.0 == b.0 ? a.1 == b.1 : a.1.utf8.lexicographicallyPrecedes(b.1.utf8)
      })
    for day in stride(from: -719_528, through: 2_932_896, by: 17) {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400)
      let written = try #require(try text(date))
      #expect(try read(Date.self, .text(written)) == date)
    }
  }

  @Test func `six decimals of an earlier version are written again as they are`() throws {
    var random = SeededGenerator(3)
    for round in 0..<8_000 {
      // What six decimals say of a date, as it was written then: the nearest microsecond, rounded away from the second.
      let seconds =
        round % 2 == 0
        ? Double.random(in: 600e6...900e6, using: &random)
        : Double.random(in: -63_113_904_000..<252_423_993_599, using: &random)
      let whole = seconds.rounded(.down)
      let micros = Int(((seconds - whole) * 1e6).rounded())
      if micros == 1_000_000 { continue }
      let digits = String(1_000_000 + micros).dropFirst()
      let start = try #require(try text(Date(timeIntervalSinceReferenceDate: whole)))
      let old = start.prefix(20) + digits
      #expect(try text(read(Date.self, .text(String(old)))) == String(old), "\(seconds)")
    }
  }

  @Test func `dates agree with SQLite's own`() throws {
    let database = try TestDatabase()
    for seconds in stride(from: -62_167_219_200, to: 253_402_300_799, by: 86_399 * 997) {
      let theirs = try database.rows("SELECT datetime(?, 'unixepoch')", [.integer(Int64(seconds))])[0][0]
      let ours = try #require(try text(Date(timeIntervalSince1970: Double(seconds))))
      #expect(theirs == .text(String(ours.prefix(19))))
      #expect(try read(Date.self, theirs) == Date(timeIntervalSince1970: Double(seconds)))
    }
  }

  @Test(arguments: [
    ("2026-11-20", 1_795_132_800.0), ("2026-11-20 10:15", 1_795_169_700), ("2026-11-20 10:15:30", 1_795_169_730),
    ("2026-11-20T10:15:30Z", 1_795_169_730), ("2026-11-20T10:15:30.5Z", 1_795_169_730.5),
    ("2026-11-20T10:15:30+01:30", 1_795_164_330), ("2026-11-20 10:15:30.1234567891234567", 1_795_169_730.123456789),
  ])
  func `dates of other tools are read`(text: String, seconds: Double) throws {
    #expect(abs(try read(Date.self, .text(text)).timeIntervalSince1970 - seconds) < 1e-6)
  }

  @Test(arguments: [
    "", "2026", "2026-13-01", "2026-02-29", "2026-00-10", "2026-01-00", "2026-01-01 24:00", "2026-01-01 10:60",
    "2026-01-01 10:00:60", "2026-01-01 10:00:00.", "2026-01-01 ", "2026-01-01 10:00x", "2026-1-1", "-001-01-01",
    "2026-01-01 10:00:00 ", "２０２６-01-01",
  ])
  func `what is no date is refused`(text: String) {
    #expect(throws: ValueError.notA(type: "Date", column: 0, found: text)) { try read(Date.self, .text(text)) }
  }

  @Test func `decimals are plain digits, and equal ones equal text`() throws {
    for (number, written) in [
      ("12.50", "12.5"), ("-0.00", "0"), ("1e30", "1000000000000000000000000000000"), ("-0.00001", "-0.00001"),
      ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
    ] {
      let decimal = try #require(Decimal(string: number))
      #expect(try text(decimal) == written)
      #expect(try read(Decimal.self, .text(written)) == decimal)
    }
    #expect(try read(Decimal.self, "012.500") == Decimal(string: "12.5"))
    for refused in ["", ".", "12abc", "1e3", "--1", "999999999999999999999999999999999999999.1"] {
      #expect(throws: ValueError.self) { try read(Decimal.self, .text(refused)) }
    }
    #expect(throws: ValueError.self) { try Value(storing: Decimal.nan) }
  }

  @Test func `identifiers and addresses round-trip, and wrong ones are refused`() throws {
    let id = UUID()
    #expect(try text(id) == id.uuidString)
    #expect(try read(UUID.self, .text(id.uuidString.lowercased())) == id)
    #expect(throws: ValueError.self) { try read(UUID.self, "x") }
    let address = try #require(URL(string: "https://example.org/a%20b?q=é#f"))
    #expect(try read(URL.self, try Value(storing: address)) == address)
    #expect(throws: ValueError.self) { try read(URL.self, "a b") }
    #expect(throws: ValueError.self) { try read(URL.self, "") }
  }

  @Test func `any stored value becomes a Value and comes back`() throws {
    #expect(try Value(storing: 7) == 7)
    #expect(try Value(storing: Optional<String>.none) == .null)
    #expect(try Value(storing: true) == 1)
    #expect(try read(Double.self, 3) == 3)
    #expect(try read(String?.self, .null) == nil)
    #expect(throws: ValueError.wrongStorageClass(column: 0, expected: "INTEGER", found: "text")) {
      try read(Int.self, "7")
    }
    #expect(throws: ValueError.malformedText(column: 0)) { try read(String.self, .malformedText(Data([255]))) }
    #expect(throws: ValueError.self) { try Value(storing: Double.nan) }
  }
}
