import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

/// The functions for decimals against ``DecimalOrder``, the same rules in Swift.
@Suite(.fewAtOnce) struct DecimalsTests {
  private let connection: Connection
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    connection = try Connection(path: scratch.file(), access: .create)
  }

  private static func value(_ random: inout Random) -> Value {
    switch random.below(12) {
    case 0: return random.pick([.null, 3, .real(2.5), .blob(Data("1".utf8))])
    case 1: return .text(random.pick(["", "-", ".", "1e3", "1.2.3", "x", " 1", "1\0", "\0"]))
    case 2: return .text(random.pick(["0", "-0", "00.00", "+1", "001.100", "1.", ".5", "-.5"]))
    default:
      let digits = (0..<1 + random.below(random.pick([3, 12, 60]))).map { _ in
        String(random.below(random.pick([2, 10])))
      }
      let place = random.below(digits.count + 1)
      let sign = random.pick(["", "-"])
      return .text(sign + digits[..<place].joined() + random.pick(["", "."]) + digits[place...].joined())
    }
  }

  @Test(arguments: Array(1...20 as ClosedRange<UInt64>) + [extraSeed])
  func `keys and extremes are those of DecimalOrder`(seed: UInt64) throws {
    var random = Random(seed: seed)
    for _ in 0..<40 {
      let values = (0..<random.below(9)).map { _ in Self.value(&random) }
      let rows = values.map { _ in "(?)" }.joined(separator: ", ")
      let source = values.isEmpty ? "(SELECT 1 AS column1 WHERE 0)" : "(VALUES \(rows))"
      let keys = try connection.query("SELECT quire_decimal_order(column1) FROM \(source)", values).rows.map { $0[0] }
      #expect(keys == values.map(DecimalOrder.key), "seed \(seed): \(values)")
      let ends = try connection.query(
        "SELECT quire_decimal_min(column1), quire_decimal_max(column1) FROM \(source)", values
      ).rows[0]
      let found = keys.filter { $0 != .null }.sorted { $0.precedes($1) }
      #expect(ends.map(DecimalOrder.key) == [found.first ?? .null, found.last ?? .null], "seed \(seed): \(values)")
    }
  }

  @Test(arguments: Array(1...20 as ClosedRange<UInt64>) + [extraSeed])
  func `sums and averages are those of DecimalSum`(seed: UInt64) throws {
    var random = Random(seed: seed)
    for _ in 0..<40 {
      let values = (0..<random.below(9)).map { _ in Self.value(&random) }.filter { $0 != .null }
      let rows = values.map { _ in "(?)" }.joined(separator: ", ")
      let source = values.isEmpty ? "(SELECT 1 AS column1 WHERE 0)" : "(VALUES \(rows), (NULL))"
      let found = try connection.query(
        "SELECT quire_decimal_sum(column1), quire_decimal_average(column1) FROM \(source)", values
      ).rows[0]
      var sum = DecimalSum()
      if values.allSatisfy({ sum.add($0) }) {
        let average = values.isEmpty ? Value.null : .real(sum.divided(by: values.count))
        #expect(found == [.text(sum.text), average], "seed \(seed): \(values)")
      } else {
        #expect(found == ["a sum of what is no decimal", "a sum of what is no decimal"], "seed \(seed): \(values)")
      }
    }
  }

  @Test func `sums reach as far as decimals do`() throws {
    let nines = String(repeating: "9", count: 38)
    let low = "0." + String(repeating: "0", count: 127) + "1"
    let high = "1" + String(repeating: "0", count: 165)
    for texts in [[nines, "1"], [low, "-1"], [high, low], ["-" + high, nines, "0.5"], ["1" + high + high]] {
      var sum = DecimalSum()
      let isIn = texts.allSatisfy { sum.add(.text($0)) }
      let found = try connection.query(
        "SELECT quire_decimal_sum(column1) FROM (VALUES \(texts.map { _ in "(?)" }.joined(separator: ", ")))",
        texts.map { .text($0) }
      ).rows[0][0]
      #expect(found == (isIn ? .text(sum.text) : "a sum of what is no decimal"))
    }
  }

  @Test func `groups have extremes of their own`() throws {
    let rows = try connection.query(
      """
      SELECT column1, quire_decimal_min(column2), quire_decimal_max(column2)
      FROM (VALUES (1, '9'), (2, '-3'), (1, '10'), (2, '-20'), (3, NULL), (1, '9.5')) GROUP BY column1
      """
    ).rows
    #expect(rows == [[1, "9", "10"], [2, "-20", "-3"], [3, .null, .null]])
  }

  @Test func `a view cannot call them`() throws {
    try connection.execute("CREATE VIEW v AS SELECT quire_decimal_order('1')")
    #expect(throws: SQLiteError.self) { try connection.query("SELECT * FROM v") }
  }
}
