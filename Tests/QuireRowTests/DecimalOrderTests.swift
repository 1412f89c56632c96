import Foundation
import QuireRow
import TestSupport
import Testing

/// Keys of decimals against the decimals themselves.
@Suite(.fewAtOnce) struct DecimalOrderTests {
  static let limits = [
    "0", "-0", "0.0", "1", "-1", "10", "9", "-9", "-10", "99", "100", "1.5", "1.05", "1.50", "-1.5", "-1.05", "0.1",
    "0.01",
    "0.09", "-0.1", "-0.01", "12", "12.5", "12.45", "+7", "007", "1.", ".5", "-.5",
    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
    "0." + String(repeating: "0", count: 60) + "1", "1" + String(repeating: "0", count: 60),
  ]

  static func any(_ random: inout Random) -> String {
    if random.chance(4) { return random.pick(limits) }
    let digits = (0..<1 + random.below(random.pick([2, 5, 18]))).map { _ in random.below(10) }
    let place = random.below(digits.count + 1)
    let text = digits.map(String.init)
    return (random.chance(2) ? "-" : "") + text[..<place].joined() + (random.chance(2) ? "." : "")
      + text[place...].joined()
  }

  @Test(arguments: Array(1...20 as ClosedRange<UInt64>) + [extraSeed])
  func `keys are in the order of the decimals, and equal where these are`(seed: UInt64) throws {
    var random = Random(seed: seed)
    for _ in 0..<300 {
      let (a, b) = (Self.any(&random), Self.any(&random))
      let (first, second) = (try #require(Decimal(string: a)), try #require(Decimal(string: b)))
      let order = DecimalOrder.key(of: .text(a)).compare(to: DecimalOrder.key(of: .text(b)))
      let expected = first < second ? -1 : first == second ? 0 : 1
      #expect(order.signum() == expected, "seed \(seed): \(a) and \(b)")
      #expect(
        try DecimalOrder.decimal(of: DecimalOrder.key(of: .text(a))) == Value(storing: first), "seed \(seed): \(a)")
    }
  }

  @Test(arguments: ["", "-", "+", ".", "-.", "1.2.3", "1e3", "--1", "1-", " 1", "1 ", "abc", "1\0", "١"])
  func `what is no decimal has no key`(text: String) {
    #expect(DecimalOrder.key(of: .text(text)) == .null)
  }

  @Test func `values that are not text have no key, and what is no key is no decimal`() {
    for value in [.null, 1, .real(1.5), .blob(Data([1]))] as [Value] { #expect(DecimalOrder.key(of: value) == .null) }
    for value in [.null, 1, "1", .blob(Data()), .blob(Data([2, 1]))] as [Value] {
      #expect(DecimalOrder.decimal(of: value) == .null)
    }
  }
}
