import Foundation

/// How the bytes of an imported file represent text.
enum ImportEncoding: Hashable {
  case utf8
  /// UTF-8, except that a text that is not is kept as its bytes.
  case raw
  /// What Windows programs write in Western Europe; Latin-1 is a part of it.
  case windows1252
  case utf16(isBigEndian: Bool)

  static let names = ["utf-8", "windows-1252", "utf-16", "utf-16le", "utf-16be", "raw"]

  /// - Throws: ``ShellFailure`` for an encoding that is not read here.
  init(named name: String) throws(ShellFailure) {
    switch name.lowercased().filter({ !"-_".contains($0) }) {
    case "utf8": self = .utf8
    case "raw": self = .raw
    case "windows1252", "cp1252", "latin1", "iso88591": self = .windows1252
    case "utf16", "utf16le": self = .utf16(isBigEndian: false)
    case "utf16be": self = .utf16(isBigEndian: true)
    default:
      throw ShellFailure(
        "\(printable(name)) is not an encoding that is read here: \(Self.names.joined(separator: ", "))",
        hint: "iconv -f \(printable(name)) -t UTF-8 FILE > NEW converts a file", .usage)
    }
  }

  // MARK: Marks

  /// The encoding that a mark at the beginning of a file tells, and the mark's length.
  static func marked(_ bytes: [UInt8], of path: String) throws(ShellFailure) -> (ImportEncoding?, Int) {
    if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) {
      throw ShellFailure(
        "\(printable(path)) is in UTF-32, which is not read here", state: ShellFailure.nothingAdded,
        hint: "iconv -f UTF-32 -t UTF-8 FILE > NEW converts a file", .usage)
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
    if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16(isBigEndian: false), 2) }
    if bytes.starts(with: [0xFE, 0xFF]) { return (.utf16(isBigEndian: true), 2) }
    return (nil, 0)
  }

  /// Refuses a file of UTF-16 without its mark, whose first letter has a NUL byte beside it.
  static func checkIsOfBytes(_ bytes: [UInt8], of path: String) throws(ShellFailure) {
    guard let place = bytes.prefix(2).firstIndex(of: 0) else { return }
    throw ShellFailure(
      "\(printable(path)) begins with a NUL byte, as no such file does in UTF-8", state: ShellFailure.nothingAdded,
      hint: "if it is in UTF-16: --encoding \(place == 0 ? "utf-16be" : "utf-16le")", .usage)
  }

  // MARK: Conversion

  /// Bytes of the file as UTF-8. Of what has none, such as half of a surrogate pair, the result is not valid.
  ///
  /// - Parameter rest: What is behind the last whole character, for the next call.
  func utf8(_ bytes: ArraySlice<UInt8>, rest: inout [UInt8]) -> [UInt8] {
    switch self {
    case .utf8, .raw: return Array(bytes)
    case .windows1252:
      var result: [UInt8] = []
      result.reserveCapacity(bytes.count + bytes.count / 8)
      for byte in bytes {
        if byte < 0x80 { result.append(byte) } else { result += String(Self.scalar(byte)).utf8 }
      }
      return result
    case .utf16(let isBigEndian): return Self.utf8(rest + bytes, isBigEndian, &rest)
    }
  }

  private static func utf8(_ bytes: [UInt8], _ isBigEndian: Bool, _ rest: inout [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    func unit(_ place: Int) -> UInt32 {
      let (a, b) = (UInt32(bytes[place]), UInt32(bytes[place + 1]))
      return isBigEndian ? a << 8 | b : b << 8 | a
    }
    var place = 0
    while place + 2 <= bytes.count {
      let high = unit(place)
      if let scalar = Unicode.Scalar(high) {
        if high < 0x80 { result.append(UInt8(high)) } else { result += String(scalar).utf8 }
        place += 2
        continue
      }
      if UTF16.isLeadSurrogate(UInt16(high)), place + 4 > bytes.count { break }
      let low = UTF16.isLeadSurrogate(UInt16(high)) ? unit(place + 2) : 0
      if UTF16.isTrailSurrogate(UInt16(low)),
        let scalar = Unicode.Scalar(0x10000 + ((high & 0x3FF) << 10 | low & 0x3FF))
      {
        result += String(scalar).utf8
        place += 4
      } else {
        result.append(0xFF)
        place += 2
      }
    }
    rest = Array(bytes[place...])
    return result
  }

  /// A byte from 0x80 on. Those that Windows gives no meaning are control characters, as in Latin-1.
  private static func scalar(_ byte: UInt8) -> Unicode.Scalar {
    byte < 0xA0 ? windows[Int(byte) - 0x80] : Unicode.Scalar(byte)
  }

  private static let windows = Array(
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

  // MARK: Failures

  /// - Parameters:
  ///   - text: Not valid in this encoding.
  ///   - canBeKept: Whether the format has a place for such text.
  func failure(_ text: Data, of what: String, at record: RecordPlace, canBeKept: Bool) -> ShellFailure {
    if case .utf16 = self { return record.failure("\(what) is not valid UTF-16") }
    let place = InvalidUTF8(text)?.place ?? "its beginning"
    let option = ImportOption(
      option: "--encoding windows-1252",
      effect: "reads files of Windows and of Latin-1"
        + (canBeKept ? ", --encoding raw keeps the bytes as they are" : ""))
    var failure = record.failure("\(what) is not UTF-8 from \(place)", hint: option.behindModel)
    failure.option = option
    return failure
  }
}
