import Foundation
import QuireRow

/// Reads a line that is one JSON object. Its numbers stay as they are written: Foundation's reader rounds some of them.
struct JSONLine {
  typealias Member = (name: String, field: ImportedField)

  enum Failure: Error {
    case notAnObject
    /// The member's value is an object that should represent bytes, and does not.
    case notBytes(name: String)
    /// Arrays and objects in one another, more of them than SQLite reads.
    case tooDeep(name: String)
    /// The member's value is not written as JSON has it.
    case malformed(name: String, value: String)
  }

  private let bytes: [UInt8]
  private var place = 0

  /// The members of the object, in order.
  static func members(_ bytes: [UInt8]) throws(Failure) -> [Member] {
    var line = JSONLine(bytes: bytes)
    let members = try line.object()
    line.skipSpace()
    if line.place < bytes.count { throw .notAnObject }
    return members
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func skipSpace() { while let byte = next, [9, 10, 13, 32].contains(byte) { place += 1 } }

  private mutating func take(_ sign: Unicode.Scalar) -> Bool {
    skipSpace()
    guard next == UInt8(ascii: sign) else { return false }
    place += 1
    return true
  }

  private mutating func take(word: String) -> Bool {
    guard bytes[place...].starts(with: word.utf8) else { return false }
    place += word.utf8.count
    return true
  }

  private mutating func object() throws(Failure) -> [Member] {
    guard take("{") else { throw .notAnObject }
    var members: [Member] = []
    if take("}") { return members }
    repeat {
      let name = try string()
      guard take(":") else { throw .notAnObject }
      members.append((name, try field(name)))
    } while take(",")
    guard take("}") else { throw .notAnObject }
    return members
  }

  // MARK: Values

  private mutating func field(_ name: String) throws(Failure) -> ImportedField {
    skipSpace()
    let start = place
    do {
      return try value(name)
    } catch .notAnObject {
      let end = bytes[start...].firstIndex { [9, 10, 13, 32, 44, 93, 125].contains($0) } ?? bytes.count
      let written = String(decoding: bytes[start..<max(place, end)], as: UTF8.self)
      if written.isEmpty { throw .notAnObject }
      throw .malformed(name: name, value: written)
    } catch {
      throw error
    }
  }

  private mutating func value(_ name: String) throws(Failure) -> ImportedField {
    switch next {
    case UInt8(ascii: "\""):
      for infinity in JSONInfinity.allCases where take(word: infinity.json) { return .number(infinity.rawValue) }
      return .value(.text(try string()))
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      let start = place
      if let value = try bytesObject(name) { return .value(value) }
      place = start
      try skipNested(name)
      return .value(.text(String(decoding: bytes[start..<place], as: UTF8.self)))
    case UInt8(ascii: "n") where take(word: "null"): return .value(.null)
    case UInt8(ascii: "t") where take(word: "true"): return .value(1)
    case UInt8(ascii: "f") where take(word: "false"): return .value(0)
    default: return .number(try number())
    }
  }

  /// `{"base64": "AP8="}`, or `malformedText` in its place; nil for what is neither.
  private mutating func bytesObject(_ name: String) throws(Failure) -> Value? {
    guard take("{") else { return nil }
    skipSpace()
    guard next == UInt8(ascii: "\"") else { return nil }
    let kind = try string()
    guard kind == "base64" || kind == "malformedText", take(":") else { return nil }
    skipSpace()
    guard next == UInt8(ascii: "\"") else { return nil }
    let content = try string()
    guard take("}") else { return nil }
    guard let data = Data(base64Encoded: content) else { throw .notBytes(name: name) }
    return kind == "base64" ? .blob(data) : .malformedText(data)
  }

  /// SQLite's JSON functions refuse more.
  private static let deepest = 1000

  /// Passes over an array or an object, whose text is kept as it is written.
  private mutating func skipNested(_ name: String) throws(Failure) {
    /// What closes those that are open.
    var ends: [Unicode.Scalar] = []
    repeat {
      if ends.count > Self.deepest { throw .tooDeep(name: name) }
      if take("{") {
        ends.append("}")
        if !isNext("}") {
          try skipMemberName()
          continue
        }
      } else if take("[") {
        ends.append("]")
        if !isNext("]") { continue }
      } else if isNext("\"") {
        try skipString()
      } else if !take(word: "null"), !take(word: "true"), !take(word: "false") {
        _ = try number()
      }
      while let end = ends.last {
        if take(end) {
          ends.removeLast()
          continue
        }
        guard take(",") else { throw .notAnObject }
        if end == "}" { try skipMemberName() }
        break
      }
    } while !ends.isEmpty
  }

  private mutating func isNext(_ sign: Unicode.Scalar) -> Bool {
    skipSpace()
    return next == UInt8(ascii: sign)
  }

  private mutating func skipMemberName() throws(Failure) {
    try skipString()
    guard take(":") else { throw .notAnObject }
  }

  /// A string in an array or an object. A control character in it would make the text something else than JSON.
  private mutating func skipString() throws(Failure) {
    skipSpace()
    let start = place
    _ = try string()
    if bytes[start..<place].contains(where: { $0 < 32 }) { throw .notAnObject }
  }

  /// `-12.5e3` as it is written.
  private mutating func number() throws(Failure) -> String {
    let start = place
    func digits() -> Int {
      var end = place
      while end < bytes.count, (48...57).contains(bytes[end]) { end += 1 }
      return end - place
    }
    if next == UInt8(ascii: "-") { place += 1 }
    let whole = digits()
    if whole == 0 || whole > 1 && next == 48 { throw .notAnObject }
    place += whole
    if next == UInt8(ascii: ".") {
      place += 1
      let fraction = digits()
      if fraction == 0 { throw .notAnObject }
      place += fraction
    }
    if let e = next, e | 32 == UInt8(ascii: "e") {
      place += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { place += 1 }
      let exponent = digits()
      if exponent == 0 { throw .notAnObject }
      place += exponent
    }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  // MARK: Strings

  private mutating func string() throws(Failure) -> String {
    guard take("\"") else { throw .notAnObject }
    var content: [UInt8] = []
    while let byte = next {
      place += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: content, as: UTF8.self) else { throw .notAnObject }
        return text
      case UInt8(ascii: "\\"): content.append(contentsOf: String(try escaped()).utf8)
      default: content.append(byte)
      }
    }
    throw .notAnObject
  }

  private mutating func escaped() throws(Failure) -> Unicode.Scalar {
    guard let byte = next else { throw .notAnObject }
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let high = try unit()
      if let scalar = Unicode.Scalar(high) { return scalar }
      // Half of a character has no UTF-8: it needs its other half.
      guard UTF16.isLeadSurrogate(UInt16(high)), take(word: "\\u"), case let low = try unit(),
        UTF16.isTrailSurrogate(UInt16(low)),
        let scalar = Unicode.Scalar(0x10000 + ((high & 0x3FF) << 10 | low & 0x3FF))
      else { throw .notAnObject }
      return scalar
    default: throw .notAnObject
    }
  }

  /// Four hexadecimal digits.
  private mutating func unit() throws(Failure) -> UInt32 {
    guard place + 4 <= bytes.count else { throw .notAnObject }
    var value: UInt32 = 0
    for byte in bytes[place..<place + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw .notAnObject }
      value = value << 4 | UInt32(digit)
    }
    place += 4
    return value
  }
}
