import Foundation

/// Texts that a new table takes for real numbers if they stand without quotes. A real number has all of their digits.
enum KeptDecimal {
  /// `-12.50`, `.5` and `9.78e+12`, and not `1e3`, `007.5` or a number that a real one does not keep.
  static func isOne(_ text: String) -> Bool {
    var rest = text.utf8[...]
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let whole = rest.prefix(while: isDigit)
    if whole.count > 1, whole.first == UInt8(ascii: "0") { return false }
    rest = rest.dropFirst(whole.count)
    guard rest.popFirst() == UInt8(ascii: ".") else { return false }
    let fraction = rest.prefix(while: isDigit)
    rest = rest.dropFirst(fraction.count)
    if fraction.isEmpty { return false }
    if let e = rest.popFirst() {
      if e | 32 != UInt8(ascii: "e") { return false }
      if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
      if rest.isEmpty || !rest.allSatisfy(isDigit) { return false }
    }
    return isKept(text, significant: significant(Array(whole) + fraction))
  }

  /// Whether the nearest real number has the same digits, if as many of them are written.
  private static func isKept(_ text: String, significant digits: ArraySlice<UInt8>) -> Bool {
    if digits.isEmpty { return true }
    guard digits.count <= mostDigits, let number = Double(text), number.isFinite else { return false }
    if digits.count <= alwaysKeptDigits, number.isNormal { return true }
    func written(_ text: String) -> ArraySlice<UInt8> {
      significant(text.utf8.prefix { $0 != UInt8(ascii: "e") }.filter(isDigit))
    }
    // The shortest text that means the number is quicker to have.
    return written(number.description) == digits || written(String(format: "%.\(digits.count - 1)e", number)) == digits
  }

  /// Without the zeros in front of them and behind them.
  private static func significant(_ digits: [UInt8]) -> ArraySlice<UInt8> {
    let zero = UInt8(ascii: "0")
    let rest = digits.drop { $0 == zero }
    return rest[..<((rest.lastIndex { $0 != zero } ?? rest.startIndex - 1) + 1)]
  }

  /// More than these do not tell numbers apart.
  private static let mostDigits = 17
  private static let alwaysKeptDigits = 15

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

  /// Whether a text has the characters of one and no others: quick, and true of a few texts that are none.
  static func mayBeOne(_ text: some Collection<UInt8>) -> Bool {
    guard let first = text.first, isDigit(first) || "-.".utf8.contains(first) else { return false }
    return text.contains(UInt8(ascii: ".")) && text.allSatisfy { isDigit($0) || ".eE+-".utf8.contains($0) }
  }
}
