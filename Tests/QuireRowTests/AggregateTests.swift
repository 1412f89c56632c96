import QuireRow
import Testing

/// Sums without rounding, against sums made in another way.
@Suite struct AggregateTests {
  private static let tiny = Double.leastNonzeroMagnitude
  private var tiny: Double { Self.tiny }

  /// Reals of all sizes, with pairs that cancel.
  private static func real(_ random: inout SeededGenerator) -> Double {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: Double(Int.random(in: -500...500, using: &random)) / 100
    case 1: [0, -0.0, tiny, -tiny, 1e-308, 2.2250738585072014e-308, 1, -1].randomElement(using: &random) ?? 0
    case 2: [9007199254740992, 1e16, -1e16, 0.1, 0.2, 1e22].randomElement(using: &random) ?? 0
    default:
      Double(
        sign: Bool.random(using: &random) ? .plus : .minus, exponent: Int.random(in: -1074...960, using: &random),
        significand: Double.random(in: 1..<2, using: &random))
    }
  }

  /// Shewchuk's sum: partials that do not overlap, rounded as Python's `fsum` does.
  private static func expansion(_ values: [Double]) -> Double {
    var partials: [Double] = []
    for value in values {
      var x = value
      var kept: [Double] = []
      for partial in partials {
        var y = partial
        if x.magnitude < y.magnitude { swap(&x, &y) }
        let high = x + y
        let low = y - (high - x)
        if low != 0 { kept.append(low) }
        x = high
      }
      partials = kept + [x]
    }
    guard var high = partials.popLast() else { return 0 }
    var low = 0.0
    while let y = partials.popLast() {
      let x = high
      high = x + y
      low = y - (high - x)
      if low != 0 { break }
    }
    if let next = partials.last, (low < 0) == (next < 0), low != 0, next != 0 {
      let y = low * 2
      let x = high + y
      if y == x - high { high = x }
    }
    return high
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `a sum of reals is the exact one, rounded once, whatever was added and removed in between`(seed: UInt64) {
    var random = SeededGenerator(seed)
    var values: [Double] = []
    var sum = ExactSum()
    for _ in 0..<300 {
      if values.count > 3, Int.random(in: 0..<3, using: &random) == 0 {
        sum.subtract(values.remove(at: Int.random(in: 0..<values.count, using: &random)))
      } else {
        let value =
          !values.isEmpty && Bool.random(using: &random)
          ? -(values.randomElement(using: &random) ?? 0) : Self.real(&random)
        values.append(value)
        sum.add(value)
      }
      let expected = Self.expansion(values)
      #expect(sum.real == expected, "seed \(seed): \(values)")
      if sum.real != expected { return }
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `sums of integers are exact beyond 64 bits on the way, and averages the nearest reals`(seed: UInt64) {
    var random = SeededGenerator(seed)
    var total: Int128 = 0
    var values: [Int64] = []
    var sum = ExactSum()
    for _ in 0..<200 {
      if values.count > 2, Int.random(in: 0..<3, using: &random) == 0 {
        let value = values.remove(at: Int.random(in: 0..<values.count, using: &random))
        sum.subtract(value)
        total -= Int128(value)
      } else {
        let value =
          [.max, .min, .max - 1, -1, 0, 3, Int64.random(in: .min ... .max, using: &random)].randomElement(
            using: &random) ?? 0
        values.append(value)
        sum.add(value)
        total += Int128(value)
      }
      #expect(sum.integer == Int64(exactly: total), "seed \(seed): \(values)")
      #expect(sum.real == Double(total), "seed \(seed): \(values)")
      let average = sum.divided(by: values.count)
      #expect(Self.isNearest(average, total, values.count), "seed \(seed): \(average) of \(values)")
    }
  }

  /// Whether no neighbor of the real is nearer to total / count: compared in units of 2⁻¹⁴, in which all reals from
  /// 2⁴⁰ on are whole. Smaller averages are for the test after this one.
  private static func isNearest(_ average: Double, _ total: Int128, _ count: Int) -> Bool {
    if average.magnitude < 0x1p40 { return true }
    func distance(_ value: Double) -> Int128 {
      let difference = Int128(value * 0x1p14) * Int128(count) - total << 14
      return difference < 0 ? -difference : difference
    }
    return distance(average) <= distance(average.nextUp) && distance(average) <= distance(average.nextDown)
  }

  @Test func `averages of what no real is in the middle of are the nearest one`() {
    var sum = ExactSum()
    for value in [0.1, 0.2, 0.3] { sum.add(value) }
    #expect(sum.real == 0.6 && sum.divided(by: 3) == 0.2)
    sum = ExactSum()
    sum.add(1 as Int64)
    for count in 1...1000 { #expect(sum.divided(by: count) == 1 / Double(count), "1/\(count)") }
    sum = ExactSum()
    for _ in 0..<3 { sum.add(tiny) }
    #expect(sum.divided(by: 2) == 2 * tiny && sum.divided(by: 3) == tiny && sum.divided(by: 7) == 0)
    #expect(sum.divided(by: 6) == 0, "half of the least real is a tie, which goes to the even one")
    sum.add(tiny)
    #expect(sum.divided(by: 7) == tiny)
    #expect(ExactSum().divided(by: 0).isNaN && ExactSum().real == 0 && ExactSum().real.sign == .plus)
  }

  @Test func `sums beyond all reals are infinite, and come back`() {
    var sum = ExactSum()
    for _ in 0..<4 { sum.add(Double.greatestFiniteMagnitude) }
    #expect(sum.real == .infinity && sum.divided(by: 4) == .greatestFiniteMagnitude)
    for _ in 0..<3 { sum.subtract(Double.greatestFiniteMagnitude) }
    #expect(sum.real == .greatestFiniteMagnitude)
    // Half of the last bit more is a tie that rounds up, out of range; anything less is not.
    sum.add(0x1p970)
    #expect(sum.real == .infinity)
    sum.subtract(tiny)
    #expect(sum.real == .greatestFiniteMagnitude)
  }

  @Test func `infinities are counted, and leave nothing behind`() {
    var sum = ExactSum()
    sum.add(1.5)
    sum.add(Double.infinity)
    #expect(sum.real == .infinity)
    sum.add(-Double.infinity)
    #expect(sum.real.isNaN && sum.divided(by: 3).isNaN)
    sum.subtract(Double.infinity)
    #expect(sum.real == -.infinity && sum.integer == nil)
    sum.subtract(-Double.infinity)
    #expect(sum.real == 1.5)
  }

  @Test func `carries are passed on in time`() {
    var sum = ExactSum()
    for _ in 0..<100_000 { sum.add(Int64.max) }
    for _ in 0..<100_000 { sum.subtract(Int64.max) }
    sum.add(-7 as Int64)
    #expect(sum.integer == -7)
  }

  @Test func `an extreme that goes is asked for, unless another came that lies as far`() throws {
    var state = AggregateState(Aggregate(.minimum, of: "year"))
    for value in [5, 3, 3, nil, "", 4] as [Value] { state.add(value) }
    #expect(state.extreme == 3 && state.count == 5)
    state.remove(5)
    #expect(!state.needsExtreme)
    state.remove(3)
    #expect(state.needsExtreme)
    state.add(4)
    #expect(state.needsExtreme)
    state.add(0)
    #expect(!state.needsExtreme && state.extreme == 0)
    for value in [4, 0, "", 3] as [Value] { state.remove(value) }
    #expect(state.needsExtreme)
    state.remove(4)
    #expect(!state.needsExtreme && state.extreme == .null && state.count == 0)
  }

  @Test func `text to be added up is an error for as long as it is there`() throws {
    var state = AggregateState(Aggregate(.sum, of: "year"))
    state.add(3)
    state.add("3")
    #expect(throws: AggregateError.notANumber(column: "year")) { try state.integerSum() }
    state.remove("3")
    #expect(try state.integerSum() == 3)
  }
}
