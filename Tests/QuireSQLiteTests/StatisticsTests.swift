import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

/// `median`, `percentile`, `variance` and `stddev`.
@Suite(.fewAtOnce) struct StatisticsTests {
  private let connection: Connection
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    connection = try Connection(path: scratch.file(), access: .create)
    try connection.execute("CREATE TABLE t (x)")
  }

  private func answer(_ expression: String) throws -> Value? {
    try connection.query("SELECT \(expression) FROM t").first
  }

  /// By sorting, and by two passes.
  @Test(arguments: Array(1...20 as ClosedRange<UInt64>) + [extraSeed])
  func `they are those of the numbers among the values`(seed: UInt64) throws {
    var random = Random(seed: seed)
    for _ in 0..<20 {
      try connection.execute("DELETE FROM t")
      var numbers: [Double] = []
      for _ in 0..<random.below(random.pick([4, 200])) {
        let number = Double(random.below(2_000) - 1_000) / Double(random.pick([1, 4, 64]))
        let (value, isNumber): (Value, Bool) = random.pick([
          (.real(number), true), (.integer(Int64(number)), true), (.text("\(number)"), true), (.null, false),
        ])
        if isNumber { numbers.append(value == .integer(Int64(number)) ? Double(Int64(number)) : number) }
        try connection.execute("INSERT INTO t VALUES (?)", [value])
      }
      let sorted = numbers.sorted()
      for percent in [0, 25, 50, 90.5, 100] as [Double] {
        let found = try answer("percentile(x, \(percent))")
        guard let last = sorted.indices.last else {
          #expect(found == .null, "seed \(seed)")
          continue
        }
        let place = percent / 100 * Double(last)
        let below = Int(place)
        let low = sorted[below]
        let high = sorted[min(below + 1, last)]
        guard case .real(let number) = found else {
          Issue.record("seed \(seed): \(String(describing: found))")
          continue
        }
        #expect(number >= low && number <= high, "seed \(seed): percentile \(percent) of \(sorted)")
        #expect(abs(number - (low + (high - low) * (place - Double(below)))) < 1e-9, "seed \(seed)")
      }
      #expect(try answer("median(x)") == answer("percentile(x, 50)"), "seed \(seed)")
      let mean = numbers.reduce(0, +) / Double(numbers.count)
      let variance = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count - 1)
      let (foundVariance, deviation) = (try answer("variance(x)"), try answer("stddev(x)"))
      if numbers.count < 2 {
        #expect(foundVariance == .null && deviation == .null, "seed \(seed)")
      } else if case .real(let found)? = foundVariance, case .real(let root)? = deviation {
        #expect(abs(found - variance) <= variance * 1e-9, "seed \(seed): \(found) \(variance)")
        #expect(root == found.squareRoot(), "seed \(seed)")
      } else {
        Issue.record("seed \(seed): \(String(describing: foundVariance))")
      }
    }
  }

  @Test func `large values near each other keep their distance, and whole numbers their middle`() throws {
    try connection.execute(
      "INSERT INTO t VALUES (1000000000000004), (1000000000000007), (1000000000000013), (1000000000000016)")
    #expect(try answer("variance(x)") == 30.0)
    #expect(try answer("median(x)") == 1_000_000_000_000_010.0)
    #expect(try answer("median(DISTINCT x % 3)") == 2.0)
    #expect(try connection.query("SELECT x % 2, median(x) FROM t GROUP BY 1 ORDER BY 1").rows.count == 2)
  }

  /// The mean of such values is between two numbers, and a distance from either of these is wrong.
  @Test(arguments: [
    ("SELECT (1 << 53) + i FROM n WHERE i < 20", 35.0), ("SELECT 9223372036854775807 - i FROM n WHERE i < 20", 35),
    ("SELECT 1e15 + i FROM n WHERE i < 7", 14.0 / 3), ("SELECT 1e15 + i % 7 FROM n", 3.99898998998999),
    ("VALUES (0.0), (1e15), (1e15)", 1e30 / 3), ("VALUES (9223372036854775807), (-9223372036854775808)", 0x1p127),
    ("VALUES (1e300), (-1e300)", Double.infinity),
  ])
  func `values that are large, and perhaps near each other, have the variance of their distances`(
    values: String, variance: Double
  ) throws {
    try connection.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) INSERT INTO t \(values)
      """)
    guard case .real(let found)? = try answer("variance(x)") else {
      Issue.record("\(values) have none")
      return
    }
    #expect(found == variance || abs(found - variance) <= variance * 1e-14, "\(found)")
    #expect(try answer("stddev(x)") == .real(found.squareRoot()))
  }

  @Test func `an infinite value is at no distance from a mean`() throws {
    try connection.execute("INSERT INTO t VALUES (1), (9e999), (2)")
    #expect(try answer("variance(x)") == .null)
    #expect(try answer("stddev(x)") == .null)
    #expect(try answer("median(x)") == 2.0)
  }

  @Test(arguments: [
    ("median(x)", "median() of what is no number"), ("stddev(x)", "stddev() of what is no number"),
    ("percentile(1, 101)", "percentile() takes a number from 0 to 100"), ("percentile(1, 'x')", "percentile() takes"),
    ("percentile(1, rowid)", "percentile() has another second argument for another row"),
  ])
  func `what they cannot take is an error`(call: String, message: String) throws {
    try connection.execute("INSERT INTO t VALUES (1), ('a word')")
    do {
      _ = try answer(call)
      Issue.record("\(call) was taken")
    } catch let error as SQLiteError {
      #expect(error.message.hasPrefix(message))
    }
    #expect(try answer("median(1)") == 1.0)
  }
}
