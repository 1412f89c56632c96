/// A sum of integers and reals without rounding, to which values can be added and from which they can be removed.
///
/// The result is the exact sum, rounded once to the nearest real (ties to even), regardless of the order of additions
/// and removals. So a sum that follows its rows equals one computed from scratch; plain `+` and `-` would drift apart,
/// and would stay NaN after an infinity is removed. Infinities are counted; both kinds together give NaN, as adding
/// them does. An empty sum, and one of zeros of either sign, is +0.
///
/// Stores one fixed-point number in digits of 32 bits, only those ever used: three for small integers, five for prices,
/// at most 70. Adding costs O(1), reading O(digits).
package struct ExactSum: Sendable {
  /// Digits of weight 2^(32·(first + i) − 1088), each with carries not yet propagated.
  private var digits: [Int64] = []
  private var first = 0
  /// The number of additions before carries must be propagated.
  private var room = Self.fullRoom
  private var infinities = (positive: 0, negative: 0)

  private static let fullRoom = 1 << 30
  /// The position of the digit of ones: 2⁻¹⁰⁷⁴ lies above position 0.
  private static let ones = 34

  package init() {}

  package mutating func add(_ value: Int64) { add(value.magnitude, exponent: 0, isNegative: value < 0) }
  package mutating func subtract(_ value: Int64) { add(value.magnitude, exponent: 0, isNegative: value >= 0) }
  /// - Parameter value: Not NaN: no column contains one.
  package mutating func add(_ value: Double) { add(value, sign: 1) }
  package mutating func subtract(_ value: Double) { add(value, sign: -1) }

  private mutating func add(_ value: Double, sign: Int) {
    if value.isInfinite {
      if value > 0 { infinities.positive += sign } else { infinities.negative += sign }
      return
    }
    if value.isNaN || value == 0 { return }
    let isSmall = value.exponentBitPattern == 0
    add(
      isSmall ? value.significandBitPattern : value.significandBitPattern | 1 << 52,
      exponent: (isSmall ? 1 : Int(value.exponentBitPattern)) - 1075, isNegative: (value < 0) == (sign > 0))
  }

  /// Adds ±magnitude · 2^exponent.
  private mutating func add(_ magnitude: UInt64, exponent: Int, isNegative: Bool) {
    if magnitude == 0 { return }
    if room == 0 { passOn() }
    room -= 1
    let bit = exponent + Self.ones * 32
    let (place, shift) = (bit >> 5, UInt64(bit & 31))
    reach(place)
    let low = magnitude << shift
    let high = shift == 0 ? 0 : magnitude >> (64 - shift)
    let sign: Int64 = isNegative ? -1 : 1
    let at = place - first
    digits[at] += sign * Int64(low & 0xFFFF_FFFF)
    digits[at + 1] += sign * Int64(low >> 32)
    digits[at + 2] += sign * Int64(high)
  }

  /// Makes sure that there are three digits from `place` on.
  private mutating func reach(_ place: Int) {
    if digits.isEmpty { first = place }
    if place < first {
      digits.insert(contentsOf: repeatElement(0, count: first - place), at: 0)
      first = place
    }
    while digits.count < place + 3 - first { digits.append(0) }
  }

  /// Normalizes all digits but the last to 0 ..< 2³², which allows as many additions again.
  private mutating func passOn() {
    for place in digits.indices.dropLast() {
      digits[place + 1] += digits[place] >> 32
      digits[place] &= 0xFFFF_FFFF
    }
    if let last = digits.last, last.magnitude >> 32 != 0 {
      digits[digits.count - 1] = last & 0xFFFF_FFFF
      digits.append(last >> 32)
    }
    room = Self.fullRoom
  }

  /// The sign, the digits from the lowest on, and the position of the first.
  private var magnitude: (isNegative: Bool, digits: [UInt32], first: Int) {
    func carried(_ sign: Int64) -> (rest: Int64, digits: [UInt32]) {
      var carry: Int64 = 0
      var result: [UInt32] = []
      result.reserveCapacity(digits.count + 5)
      for digit in digits {
        let sum = sign * digit + carry
        result.append(UInt32(truncatingIfNeeded: sum))
        carry = sum >> 32
      }
      while carry > 0 {
        result.append(UInt32(truncatingIfNeeded: carry))
        carry >>= 32
      }
      return (carry, result)
    }
    let plain = carried(1)
    return plain.rest < 0 ? (true, carried(-1).digits, first) : (false, plain.digits, first)
  }

  // MARK: Reading

  /// The sum if all values are integers and it fits; nil beyond `Int64`, or if a value is not an integer.
  package var integer: Int64? {
    if infinities != (0, 0) { return nil }
    let (isNegative, digits, first) = magnitude
    var result: UInt64 = 0
    for (index, digit) in digits.enumerated() where digit != 0 {
      let place = first + index - Self.ones
      guard place == 0 || place == 1 else { return nil }
      result |= UInt64(digit) << UInt64(32 * place)
    }
    if isNegative { return result <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- result) : nil }
    return Int64(exactly: result)
  }

  /// The sum, rounded once; infinite if it is beyond all reals.
  package var real: Double { divided(by: 1) }

  /// The exact sum divided by a count, rounded once: an average. NaN for a count of 0.
  package func divided(by count: Int) -> Double {
    if infinities.positive > 0 { return infinities.negative > 0 ? .nan : .infinity }
    if infinities.negative > 0 { return -.infinity }
    if count <= 0 { return .nan }
    let (isNegative, magnitude, place) = magnitude
    var (digits, first) = (magnitude, place)
    var isInexact = false
    if count > 1 {
      // Four more digits give a quotient with more bits than a real has.
      digits.insert(contentsOf: repeatElement(0, count: 4), at: 0)
      first -= 4
      let divisor = UInt64(count)
      var rest: UInt64 = 0
      for index in digits.indices.reversed() {
        let (quotient, remainder) = divisor.dividingFullWidth((rest >> 32, rest << 32 | UInt64(digits[index])))
        digits[index] = UInt32(truncatingIfNeeded: quotient)
        rest = remainder
      }
      isInexact = rest != 0
    }
    let result = Self.rounded(digits, exponent: 32 * (first - Self.ones), isInexact: isInexact)
    return isNegative ? -result : result
  }

  /// digits · 2^exponent rounded to the nearest real, ties to even; `isInexact` says that the value is slightly
  /// greater.
  private static func rounded(_ digits: [UInt32], exponent: Int, isInexact: Bool) -> Double {
    guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    let high = 32 * top + 31 - digits[top].leadingZeroBitCount
    if high + exponent > 1023 { return .infinity }
    // The bit that becomes the last one of the result.
    let last = max(high - 52, -1074 - exponent)
    func bit(_ place: Int) -> UInt64 {
      place < 0 || place >> 5 > top ? 0 : UInt64(digits[place >> 5] >> UInt32(place & 31) & 1)
    }
    var significand: UInt64 = 0
    for place in stride(from: high, through: last, by: -1) { significand = significand << 1 | bit(place) }
    if bit(last - 1) == 1 {
      let below = last - 1
      let hasMore =
        isInexact || digits[..<(below >> 5)].contains { $0 != 0 }
        || digits[below >> 5] & (1 << UInt32(below & 31) - 1) != 0
      if hasMore || significand & 1 == 1 { significand += 1 }
    }
    return Double(sign: .plus, exponent: last + exponent, significand: Double(significand))
  }
}
