import Foundation
import QuireRow
import Testing

/// What SQLite finds equal is alike.
@Suite struct LikenessTests {
  private static let values: [Value] =
    RandomExpression.someIntegers.map(Value.integer) + RandomExpression.someReals.map(Value.real)
    + RandomExpression.someTexts.map(Value.text) + RandomExpression.someBlobs.map(Value.blob)
    + [
      "1", "1.0", "+1", " 1", "1 ", "01", "1e0", "-0", "9223372036854775807", "9223372036854775808", "0.5", "5e-1",
      ".5",
      "1.", "0x1", "1_0", "inf", "nan", "1e", "--1", "0.30000000000000004", "0.3", "\t7\n", "2.0", .null,
      .real(0.1 + 0.2),
      .malformedText(Data([0x31, 0xFF])), .malformedText(Data([0xFF])),
    ]

  @Test(arguments: ["INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB", ""])
  func `values that a column of any affinity finds equal to a parameter are alike`(affinity: String) throws {
    let database = try TestDatabase("CREATE TABLE a (x \(affinity))")
    for value in Self.values { try database.rows(SQLText("INSERT INTO a VALUES (?)", [value])) }
    var equal = 0
    for value in Self.values {
      // Text keeps fifteen digits of a real.
      if affinity == "TEXT", case .real(let number) = value, abs(number) >= 1e15 { continue }
      for row in try database.rows(SQLText("SELECT x FROM a WHERE x IS ?", [value])) {
        equal += 1
        #expect(row[0].equalityKey == value.equalityKey, "\(affinity): \(row[0]) and \(value)")
      }
    }
    #expect(equal >= 90, "\(equal) prove little")
  }

  @Test func `values of different kinds, and texts that differ in a byte, are not alike`() {
    let different: [Value] = [
      .null, 0, 1, "", "a", "A", "\u{E9}", "e\u{301}", "12a", .blob(Data()), .blob(Data("a".utf8)), 2.5,
      .malformedText(Data([0xFF])), .integer(1 << 53), .integer((1 << 53) + 1),
    ]
    #expect(Set(different.map(\.equalityKey)).count == different.count)
  }
}
