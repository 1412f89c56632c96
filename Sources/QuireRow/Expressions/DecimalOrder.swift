import Foundation

/// A key for each decimal that is kept as text, such that blobs in SQLite's order are numbers in theirs.
///
/// The number is written as 0.digits · 10^exponent, without zeros at either end of its digits. The key is a byte for the
/// sign (0, 1 for zero, 2), the exponent in four bytes, and the digits; those of a negative number are inverted, and end
/// with a byte above all digits. `quire_decimal_order` of CSQLite is the same for SQL.
package enum DecimalOrder {
  /// NULL for what is no text of a sign, digits and a point.
  package static func key(of value: Value) -> Value {
    guard case .text(let text) = value else { return .null }
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let bytes = Array(isNegative || text.utf8.first == UInt8(ascii: "+") ? text.utf8.dropFirst() : text.utf8[...])
    let point = bytes.firstIndex(of: UInt8(ascii: ".")) ?? bytes.count
    var digits = bytes
    if point < bytes.count { digits.remove(at: point) }
    guard !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }) else { return .null }
    guard let first = digits.firstIndex(where: { $0 != 48 }), let last = digits.lastIndex(where: { $0 != 48 }) else {
      return .blob(Data([1]))
    }
    let mask: UInt8 = isNegative ? 0xFF : 0
    let exponent = UInt32(bitPattern: Int32(truncatingIfNeeded: point - first)) ^ 0x8000_0000
    let inOrder = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: exponent >> $0) }
    let key = (inOrder + digits[first...last]).map { $0 ^ mask }
    return .blob(Data([isNegative ? 0 : 2] + key + (isNegative ? [0xFF] : [])))
  }

  /// The order of decimals that are kept as text, by number; of two texts of one number, as of what is no decimal, by the
  /// column's own order.
  package static func compare(_ a: Value, _ b: Value) -> Int {
    let order = key(of: a).compare(to: key(of: b))
    return order == 0 ? a.compare(to: b) : order
  }

  /// The text of the decimal that has a key, without zeros at its ends; NULL for what is no key.
  package static func decimal(of key: Value) -> Value {
    guard case .blob(let data) = key, let sign = data.first else { return .null }
    if sign == 1 { return .text("0") }
    let isNegative = sign == 0
    let bytes = data.dropFirst().map { isNegative ? ~$0 : $0 }
    guard bytes.count > 4 else { return .null }
    let digits = String(decoding: isNegative ? bytes[4...].dropLast() : bytes[4...], as: UTF8.self)
    let exponent = Int(Int32(bitPattern: bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) } ^ 0x8000_0000))
    let zeros = { String(repeating: "0", count: $0) }
    let text =
      exponent <= 0
      ? "0." + zeros(-exponent) + digits
      : exponent >= digits.count
        ? digits + zeros(exponent - digits.count) : digits.prefix(exponent) + "." + digits.dropFirst(exponent)
    return .text(isNegative ? "-" + text : text)
  }
}
