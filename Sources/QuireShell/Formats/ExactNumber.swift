import QuireRow

// Numbers as text from which the same number is read again.

extension Double {
  /// `12.0`, `1.0e+20`, `Inf`: in SQLite's form, with as many digits as are needed to read back the same number.
  var exactText: String {
    if !isFinite { return isNaN ? "" : self < 0 ? "-Inf" : "Inf" }
    let text = description
    if magnitude < 1e15, magnitude >= 1e-4 || self == 0 { return text }
    if magnitude >= 1e15, !text.contains("e") { return exponential(text) }
    guard let e = text.firstIndex(of: "e"), !text.contains(".") else { return text }
    return text[..<e] + ".0" + text[e...]
  }

  /// `1000000000000000.0` → `1.0e+15`, `4503599627370495.5` → `4.5035996273704955e+15`
  private func exponential(_ text: String) -> String {
    let sign = self < 0 ? "-" : ""
    let parts = text.drop { $0 == "-" }.split(separator: ".")
    let exponent = parts[0].count - 1
    var digits = parts.joined()[...]
    while digits.count > 2, digits.last == "0" { digits.removeLast() }
    return "\(sign)\(digits.prefix(1)).\(digits.dropFirst())e+\(exponent)"
  }
}

extension Value {
  /// The number that `text` is exactly as we write it; nil for all other texts, those among them that only mean one:
  /// `007`, `1.50`, `+1`, `0x10`.
  init?(exactly text: String) {
    guard Value.mayBeNumber(text.utf8) else { return nil }
    if let number = Int64(text) {
      guard "\(number)" == text else { return nil }
      self = .integer(number)
    } else if let number = Double(text), number.exactText == text {
      self = .real(number)
    } else {
      return nil
    }
  }

  /// Whether a text has the characters of a number as we write it and no others: quick, and true of a few texts that
  /// are not numbers.
  static func mayBeNumber(_ text: some Collection<UInt8>) -> Bool {
    let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
    guard let first = digits.first, digits.count <= 24 else { return false }
    if first == UInt8(ascii: "I") { return digits.elementsEqual("Inf".utf8) }
    guard (48...57).contains(first) else { return false }
    var last: UInt8 = 0
    for byte in digits {
      switch byte {
      case 48...57, UInt8(ascii: "."), UInt8(ascii: "e"): break
      case UInt8(ascii: "+"), UInt8(ascii: "-"): if last != UInt8(ascii: "e") { return false }
      default: return false
      }
      last = byte
    }
    return true
  }
}
