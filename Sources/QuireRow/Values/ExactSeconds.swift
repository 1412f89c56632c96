/// Seconds as a whole number with any number of decimals; only the result is rounded.
///
/// The decimals count upward from the whole second below, also before the reference date: -0.25 is -1 and .75.
enum ExactSeconds {
  /// The fewest decimals, at least six, whose nearest number is this one.
  static func split(_ interval: Double) -> (floor: Int, decimals: [UInt8]) {
    // Swift writes the shortest digits that read back, as in `812345678.1234567` or `1.5e-07`.
    let parts = interval.magnitude.description.utf8.split(separator: UInt8(ascii: "e"))
    let mantissa = parts[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let exponent = parts.count > 1 ? Int(String(Substring(parts[1]))) ?? 0 : 0
    let digits = mantissa.flatMap { $0 }
    let point = mantissa[0].count + exponent
    var whole = 0
    for place in stride(from: 0, to: point, by: 1) {
      whole = whole * 10 + (place < digits.count ? Int(digits[place] &- 48) : 0)
    }
    var decimals = [UInt8](repeating: 48, count: max(0, -point)) + digits.dropFirst(max(0, point))
    while decimals.last == 48 { decimals.removeLast() }
    if interval < 0 {
      whole = decimals.isEmpty ? -whole : -whole - 1
      decimals = complement(decimals[...])
    }
    return (whole, decimals + [UInt8](repeating: 48, count: max(0, 6 - decimals.count)))
  }

  /// The number nearest to a whole second with decimals. More than 1100 of these make no difference.
  static func join(_ floor: Int, _ decimals: some Collection<UInt8>) -> Double {
    var digits = Array(decimals.prefix(1100))
    while digits.last == 48 { digits.removeLast() }
    if digits.isEmpty { return Double(floor) }
    if floor >= 0 { return Double("\(floor).\(String(decoding: digits, as: UTF8.self))") ?? Double(floor) }
    digits = complement(digits[...])
    return Double("-\(-(floor + 1)).\(String(decoding: digits, as: UTF8.self))") ?? Double(floor)
  }

  /// One minus the decimals, which must not end with a zero.
  private static func complement(_ decimals: ArraySlice<UInt8>) -> [UInt8] {
    guard let last = decimals.last else { return [] }
    return decimals.dropLast().map { 48 + 57 - $0 } + [48 + 58 - last]
  }
}
