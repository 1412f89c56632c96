/// Base64 of RFC 4648, as etcd's gateway writes keys and values.
enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")
  /// The value of each digit; 64 for other bytes.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  /// Appends the digits of some bytes.
  static func encode(_ bytes: [UInt8], to text: inout [UInt8]) {
    text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4)
    let digits = digits
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var word = UInt32(bytes[start]) << 16
      if count > 1 { word |= UInt32(bytes[start + 1]) << 8 }
      if count > 2 { word |= UInt32(bytes[start + 2]) }
      text.append(digits[Int(word >> 18)])
      text.append(digits[Int(word >> 12 & 63)])
      text.append(count > 1 ? digits[Int(word >> 6 & 63)] : padding)
      text.append(count > 2 ? digits[Int(word & 63)] : padding)
    }
  }

  /// Nil if a text is not base64.
  static func decode(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { text in
      let values = values
      let padded = text.suffix(2).count { $0 == padding }
      guard text.count % 4 == 0 else { return nil }
      var bytes: [UInt8] = []
      bytes.reserveCapacity(text.count / 4 * 3)
      var word: UInt32 = 0
      for (place, digit) in text.dropLast(padded).enumerated() {
        let value = values[Int(digit)]
        if value == 64 { return nil }
        word = word << 6 | UInt32(value)
        switch place & 3 {
        case 1: bytes.append(UInt8(truncatingIfNeeded: word >> 4))
        case 2: bytes.append(UInt8(truncatingIfNeeded: word >> 2))
        case 3: bytes.append(UInt8(truncatingIfNeeded: word))
        default: break
        }
      }
      return bytes
    }
  }
}
