import Foundation
import QuireRow
import TestSupport
import Testing

/// Exact sums of decimals against Foundation's arithmetic where that is exact, and against the exact sum of reals.
@Suite(.fewAtOnce) struct DecimalSumTests {
  @Test(arguments: Array(1...20 as ClosedRange<UInt64>) + [extraSeed])
  func `a sum is that of what was added and not removed`(seed: UInt64) throws {
    var random = Random(seed: seed)
    var sum = DecimalSum()
    var present: [Value] = []
    for _ in 0..<200 {
      if random.chance(3), !present.isEmpty {
        let isRemoved = sum.subtract(present.remove(at: random.below(present.count)))
        #expect(isRemoved)
      } else {
        let digits = String(random.next() % random.pick([10, 10_000, 10_000_000_000]))
        let place = random.below(digits.count + 1)
        let value = Value.text(
          random.pick(["", "-"]) + digits.prefix(place) + random.pick(["", "."]) + digits.dropFirst(place))
        present.append(value)
        let isAdded = sum.add(value)
        #expect(isAdded)
      }
      let expected = try present.reduce(Decimal(0)) { total, value in
        guard case .text(let text) = value else { return total }
        return total + (try #require(Decimal(string: text)))
      }
      #expect(try Value.text(sum.text) == Value(storing: expected), "seed \(seed): \(present)")
    }
  }

  @Test(arguments: Array(1...20 as ClosedRange<UInt64>) + [extraSeed])
  func `an average is the nearest real`(seed: UInt64) throws {
    var random = Random(seed: seed)
    for _ in 0..<50 {
      var (sum, exact) = (DecimalSum(), ExactSum())
      let count = 1 + random.below(9)
      for _ in 0..<count {
        // Exact as a real and as a decimal.
        let real = Double(random.below(1 << 20) - 1 << 19) / 64
        exact.add(real)
        let isAdded = sum.add(try Value(storing: #require(Decimal(string: String(real)))))
        #expect(isAdded)
      }
      #expect(sum.divided(by: count) == exact.divided(by: count), "seed \(seed)")
    }
    #expect(DecimalSum().divided(by: 0).isNaN && DecimalSum().divided(by: 3) == 0)
  }

  /// The sum after each step; nil where the text is no decimal.
  private func sums(_ steps: [(isAdded: Bool, text: String)]) -> [String?] {
    var sum = DecimalSum()
    return steps.map { sum.change($0.isAdded, $0.text) ? sum.text : nil }
  }

  @Test func `no digit is lost, however far apart they are`() {
    let nines = String(repeating: "9", count: 38)
    let much = "1" + String(repeating: "0", count: 38)
    let least = "0." + String(repeating: "0", count: 127) + "1"
    #expect(
      sums([(true, nines), (true, "1"), (true, least), (false, much), (false, least)])
        == [nines, much, much + least.dropFirst(), least, "0"])
    #expect(
      sums([(false, "1000000000"), (true, "0.000000001"), (true, "-0.5")])
        == ["-1000000000", "-999999999.999999999", "-1000000000.499999999"])
  }

  @Test func `what is no decimal adds nothing`() {
    var sum = DecimalSum()
    let far = "1" + String(repeating: "0", count: 200)
    for value in [.null, 1, .real(1), "", "-", ".", "1.2.3", "1e3", "5x", .text(far)] as [Value] {
      let isAdded = sum.add(value)
      #expect(!isAdded && sum.text == "0", "\(value)")
    }
    // Zeros are no digits.
    #expect(sums([(true, String(repeating: "0", count: 300) + "1")]) == ["1"])
  }
}

extension DecimalSum {
  fileprivate mutating func change(_ isAdded: Bool, _ text: String) -> Bool {
    isAdded ? add(.text(text)) : subtract(.text(text))
  }
}
