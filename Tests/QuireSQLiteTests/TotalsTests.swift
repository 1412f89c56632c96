import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

/// `quire_sum` and `quire_average` against ``ExactSum``, the same rules in Swift.
@Suite struct TotalsTests {
  private static let limits: [Double] = [
    0, -0.0, 1, -1, 0.1, 0.2, 0.3, 1e16, -1e16, 1e308, -1e308, 0x1p1023, .greatestFiniteMagnitude,
    -.greatestFiniteMagnitude, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude, 0x1p53,
    0x1p-1060,
    1.0.nextUp, 3.98,
  ]
  private static let wholes: [Int64] = [
    0, 1, -1, 3, .max, .min, .max - 1, .min + 1, 1 << 53, (1 << 53) + 1, 1 << 62, -(1 << 62), 1 << 32, -(1 << 32),
  ]

  private let connection: Connection
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    connection = try Connection(path: scratch.file(), access: .create)
  }

  private func totals(_ values: [Value]) throws -> [Value] {
    let text = values.map { _ in "(?)" }.joined(separator: ", ")
    let source = values.isEmpty ? "(SELECT 1 AS column1 WHERE 0)" : "(VALUES \(text))"
    return try connection.query("SELECT quire_sum(column1), quire_average(column1) FROM \(source)", values).rows[0]
  }

  @Test(arguments: Array(1...40 as ClosedRange<UInt64>) + [extraSeed])
  func `sums and averages of reals are those of ExactSum`(seed: UInt64) throws {
    var random = Random(seed: seed)
    for _ in 0..<50 {
      var sum = ExactSum()
      let values = (0..<Int.random(in: 1...12, using: &random)).map { _ -> Double in
        if Bool.random(using: &random) { return Self.limits.randomElement(using: &random) ?? 0 }
        let any = Double(bitPattern: random.next())
        return any.isFinite ? any : 2.5
      }
      for value in values { sum.add(value) }
      let found = try totals(values.map { .real($0) })
      #expect(found[0] == .real(sum.real), "seed \(seed): sum of \(values)")
      #expect(found[1] == .real(sum.divided(by: values.count)), "seed \(seed): average of \(values)")
    }
  }

  @Test(arguments: Array(1...20 as ClosedRange<UInt64>) + [extraSeed])
  func `sums and averages of whole numbers are those of ExactSum, and beyond Int64 it is said`(seed: UInt64) throws {
    var random = Random(seed: seed)
    var beyond = 0
    for _ in 0..<50 {
      var sum = ExactSum()
      let values = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        Bool.random(using: &random) ? Self.wholes.randomElement(using: &random) ?? 0 : Int64(bitPattern: random.next())
      }
      for value in values { sum.add(value) }
      let found = try totals(values.map { .integer($0) } + [.null])
      if let whole = sum.integer {
        #expect(found[0] == .integer(whole), "seed \(seed): sum of \(values)")
      } else {
        beyond += 1
        #expect(found[0] == .text("a sum beyond Int64"), "seed \(seed): sum of \(values)")
      }
      #expect(found[1] == .real(sum.divided(by: values.count)), "seed \(seed): average of \(values)")
    }
    #expect(beyond > 0)
  }

  @Test func `of nothing, of infinities and of what is no number`() throws {
    #expect(try totals([]) == [0, .null])
    #expect(try totals([.null, .null]) == [0, .null])
    #expect(try totals([.real(.infinity), 1]) == [.real(.infinity), .real(.infinity)])
    #expect(try totals([.real(-.infinity), 1.5]) == [.real(-.infinity), .real(-.infinity)])
    let both = Value.text("a sum of infinities of both signs")
    #expect(try totals([.real(.infinity), .real(-.infinity)]) == [both, both])
    let stranger = Value.text("a sum of what is no number")
    #expect(try totals([1, "1"]) == [stranger, stranger])
    #expect(try totals([.blob(Data([1]))]) == [stranger, stranger])
  }

  @Test func `what SQLite rounds at every row is rounded once`() throws {
    let values: [Value] = [1e16, 1, -1e16]
    #expect(try totals(values)[0] == 1.0)
    let own = try connection.query("SELECT sum(column1) FROM (VALUES (?), (?), (?))", values).first
    #expect(own != 1.0, "SQLite's own sum is exact here: the test proves little")
  }

  @Test func `a view cannot use them: a file makes sense to every tool`() throws {
    try connection.execute("CREATE VIEW v AS SELECT quire_sum(1) AS total")
    #expect(throws: SQLiteError.self) { try connection.query("SELECT total FROM v") }
  }
}
