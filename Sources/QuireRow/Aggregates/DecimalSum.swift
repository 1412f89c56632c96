/// A sum of decimals as text without rounding, to which values can be added and from which they can be removed.
///
/// Exact for all that `Decimal` can hold, whatever the order of additions and removals: its own `+` rounds to 38 digits at
/// each step. Stores one fixed-point number in digits of base 10⁹, only those ever used. `quire_decimal_sum` of CSQLite is
/// the same for SQL.
package struct DecimalSum: Sendable {
  /// Digits of weight 10^(9 · (first + i)), with carries not yet passed on.
  private var digits: [Int64] = []
  private var first: Int32 = 0
  /// The number of additions before carries must be passed on.
  private var room = Self.fullRoom

  private static let fullRoom: Int32 = 1 << 30
  private static let base: Int64 = 1_000_000_000
  private static let powers: [Int64] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
  /// The powers of ten that a digit may stand for: more than those of any `Decimal`.
  private static let reach = -180..<198

  package init() {}

  /// - Returns: False if it is no text of a sign, digits and a point, or has digits beyond those of any `Decimal`; then
  ///   nothing was added.
  package mutating func add(_ value: Value) -> Bool { add(value, sign: 1) }
  package mutating func subtract(_ value: Value) -> Bool { add(value, sign: -1) }

  private mutating func add(_ value: Value, sign: Int64) -> Bool {
    guard case .text(let words) = value else { return false }
    let text = Array(words.utf8)
    let isNegative = text.first == UInt8(ascii: "-")
    let start = isNegative || text.first == UInt8(ascii: "+") ? 1 : 0
    let point = text.firstIndex(of: UInt8(ascii: ".")) ?? text.count
    if text.count - start < (point < text.count ? 2 : 1) { return false }
    func power(_ place: Int) -> Int { place < point ? point - place - 1 : point - place }
    for place in start..<text.count where place != point {
      let isIn = text[place] == 48 || (49...57).contains(text[place]) && Self.reach.contains(power(place))
      if !isIn { return false }
    }
    if room == 0 { passOn() }
    room -= 1
    for place in start..<text.count where place != point && text[place] != 48 {
      let (limb, rest) = (power(place) + 180).quotientAndRemainder(dividingBy: 9)
      add(Int64(text[place] - 48) * Self.powers[rest] * (isNegative ? -sign : sign), at: limb - 20)
    }
    return true
  }

  private mutating func add(_ amount: Int64, at place: Int) {
    if digits.isEmpty { first = Int32(place) }
    if place < Int(first) {
      digits.insert(contentsOf: repeatElement(0, count: Int(first) - place), at: 0)
      first = Int32(place)
    }
    while digits.count <= place - Int(first) { digits.append(0) }
    digits[place - Int(first)] += amount
  }

  /// Normalizes all digits but the last to 0 ..< 10⁹.
  private mutating func passOn() {
    room = Self.fullRoom
    var place = 0
    while place < digits.count {
      let carry = (digits[place] - (digits[place] < 0 ? Self.base - 1 : 0)) / Self.base
      if place == digits.count - 1 {
        if carry == 0 || carry == -1 { return }
        digits.append(0)
      }
      digits[place] -= carry * Self.base
      digits[place + 1] += carry
      place += 1
    }
  }

  /// The sign, and all digits of the magnitude from the lowest on, each below 10⁹.
  private var magnitude: (isNegative: Bool, digits: [Int64]) {
    var sum = self
    sum.passOn()
    let isNegative = (sum.digits.last ?? 0) < 0
    if isNegative {
      sum.digits = sum.digits.map { -$0 }
      sum.passOn()
    }
    return (isNegative, sum.digits)
  }

  /// The sum as text, without zeros at its ends.
  package var text: String {
    let (isNegative, digits) = magnitude
    guard digits.contains(where: { $0 != 0 }) else { return "0" }
    let key = Self.written(digits)
    let exponent = key.utf8.count + 9 * Int(first)  // of the text as 0.digits · 10^exponent
    let zeros = { String(repeating: "0", count: $0) }
    let whole =
      exponent <= 0 ? "0" : exponent >= key.count ? key + zeros(exponent - key.count) : String(key.prefix(exponent))
    var fraction =
      exponent <= 0 ? zeros(-exponent) + key : exponent >= key.count ? "" : String(key.dropFirst(exponent))
    while fraction.last == "0" { fraction.removeLast() }
    return (isNegative ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
  }

  /// The sum by a count, to the nearest real.
  package func divided(by count: Int) -> Double {
    if count <= 0 { return .nan }
    let (isNegative, sum) = magnitude
    // Eight digits more than there are give a quotient of more digits than tell two reals apart.
    var digits = [Int64](repeating: 0, count: 8) + sum
    var rest: UInt64 = 0
    for place in digits.indices.reversed() {
      let (high, low) = rest.multipliedFullWidth(by: UInt64(Self.base))
      let (sum, carries) = low.addingReportingOverflow(UInt64(digits[place]))
      let part = UInt64(count).dividingFullWidth((high + (carries ? 1 : 0), sum))
      digits[place] = Int64(part.quotient)
      rest = part.remainder
    }
    let text = Self.written(digits) + (rest == 0 ? "0" : "1")
    let result = Double("\(text)e\(9 * (Int(first) - 8) - 1)") ?? .nan
    return isNegative ? -result : result
  }

  /// The digits from the highest on, without zeros in front.
  private static func written(_ digits: [Int64]) -> String {
    var text = ""
    for digit in digits.reversed() where !text.isEmpty || digit != 0 {
      let part = String(digit)
      text += text.isEmpty ? part : String(repeating: "0", count: 9 - part.utf8.count) + part
    }
    return text.isEmpty ? "0" : text
  }
}
