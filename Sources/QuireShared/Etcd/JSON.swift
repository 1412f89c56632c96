/// JSON as etcd's gateway takes and gives it: objects with few names, keys and values of etcd in base64.
///
/// Every commit waits for one request and its answer. Foundation's dictionaries of `Any` cost more there than the network.
enum JSON {
  case object([(name: String, value: JSON)])
  case array([JSON])
  case text(String)
  /// Bytes that are written in base64; read as ``text(_:)``.
  case base64([UInt8])
  /// As etcd sends one, with the digits that it has.
  case number(String)
  case bool(Bool)
  case null
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringInterpolation,
  ExpressibleByBooleanLiteral
{
  init(dictionaryLiteral pairs: (String, JSON)...) { self = .object(pairs.map { (name: $0.0, value: $0.1) }) }
  init(arrayLiteral items: JSON...) { self = .array(items) }
  init(stringLiteral text: String) { self = .text(text) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON {
  /// The value of a name; nil if it is not an object, or has no such name.
  subscript(name: String) -> JSON? {
    if case .object(let pairs) = self { pairs.first { $0.name == name }?.value } else { nil }
  }

  /// Of an array; none if it is not one.
  var items: [JSON] { if case .array(let items) = self { items } else { [] } }

  var string: String? { if case .text(let text) = self { text } else { nil } }
  var integer: Int? { if case .number(let digits) = self { Int(digits) } else { nil } }
  var isTrue: Bool { if case .bool(true) = self { true } else { false } }

  /// What a text says in base64; nil if it does not.
  var decoded: [UInt8]? { if case .text(let text) = self { Base64.decode(text) } else { nil } }
}

// MARK: Writing

extension JSON {
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    write(to: &bytes)
    return bytes
  }

  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .object(let pairs):
      var before = UInt8(ascii: "{")
      for pair in pairs {
        bytes.append(before)
        JSON.write(pair.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        pair.value.write(to: &bytes)
        before = UInt8(ascii: ",")
      }
      if pairs.isEmpty { bytes.append(before) }
      bytes.append(UInt8(ascii: "}"))
    case .array(let items):
      var before = UInt8(ascii: "[")
      for item in items {
        bytes.append(before)
        item.write(to: &bytes)
        before = UInt8(ascii: ",")
      }
      if items.isEmpty { bytes.append(before) }
      bytes.append(UInt8(ascii: "]"))
    case .text(let text): JSON.write(text, to: &bytes)
    case .base64(let value):
      bytes.append(UInt8(ascii: "\""))
      Base64.encode(value, to: &bytes)
      bytes.append(UInt8(ascii: "\""))
    case .number(let digits): bytes.append(contentsOf: digits.utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .null: bytes.append(contentsOf: "null".utf8)
    }
  }

  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20: bytes.append(contentsOf: "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

// MARK: Reading

extension JSON {
  /// Nil for bytes that are not one value.
  init?(_ bytes: some RandomAccessCollection<UInt8>) {
    var reader = JSONReader(Array(bytes))
    guard let value = reader.value(), reader.isAtEnd else { return nil }
    self = value
  }
}

private struct JSONReader {
  private let bytes: [UInt8]
  private var place = 0
  /// Of arrays and objects around the place: what comes from the network is not to fill the stack.
  private var depth = 0
  private static let depthLimit = 32

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Zero at the end, which stands in no JSON.
  private var next: UInt8 { place < bytes.count ? bytes[place] : 0 }

  var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return place == bytes.count
    }
  }

  private mutating func skipSpace() {
    while next == 0x20 || next == 0x0a || next == 0x0d || next == 0x09 { place += 1 }
  }

  /// Goes behind a byte, if it comes next.
  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    if next != byte { return false }
    place += 1
    return true
  }

  private mutating func take(_ word: String, _ value: JSON) -> JSON? {
    guard bytes[place...].starts(with: word.utf8) else { return nil }
    place += word.utf8.count
    return value
  }

  mutating func value() -> JSON? {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return nested { $0.object() }
    case UInt8(ascii: "["): return nested { $0.array() }
    case UInt8(ascii: "\""): return text().map { .text($0) }
    case UInt8(ascii: "t"): return take("true", .bool(true))
    case UInt8(ascii: "f"): return take("false", .bool(false))
    case UInt8(ascii: "n"): return take("null", .null)
    default: return number()
    }
  }

  private mutating func nested(_ body: (inout JSONReader) -> JSON?) -> JSON? {
    if depth == JSONReader.depthLimit { return nil }
    place += 1
    depth += 1
    defer { depth -= 1 }
    return body(&self)
  }

  private mutating func object() -> JSON? {
    var pairs: [(name: String, value: JSON)] = []
    if take(UInt8(ascii: "}")) { return .object(pairs) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\""), let name = text(), take(UInt8(ascii: ":")), let value = value() else {
        return nil
      }
      pairs.append((name: name, value: value))
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "}")) ? .object(pairs) : nil
  }

  private mutating func array() -> JSON? {
    var items: [JSON] = []
    if take(UInt8(ascii: "]")) { return .array(items) }
    repeat {
      guard let value = value() else { return nil }
      items.append(value)
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "]")) ? .array(items) : nil
  }

  private mutating func number() -> JSON? {
    let start = place
    while JSONReader.isOfNumber(next) { place += 1 }
    return place == start ? nil : .number(String(decoding: bytes[start..<place], as: UTF8.self))
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  private mutating func text() -> String? {
    place += 1
    var text = plain()
    while next != UInt8(ascii: "\"") {
      guard next == UInt8(ascii: "\\"), let character = escaped() else { return nil }
      text.unicodeScalars.append(character)
      text += plain()
    }
    place += 1
    return text
  }

  /// Up to a quote or a backslash.
  private mutating func plain() -> String {
    let start = place
    while next != UInt8(ascii: "\""), next != UInt8(ascii: "\\"), next >= 0x20 { place += 1 }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  /// What stands behind a backslash. One half of a pair of surrogates is read as a replacement: only messages have them.
  private mutating func escaped() -> Unicode.Scalar? {
    place += 2
    guard place <= bytes.count else { return nil }
    switch bytes[place - 1] {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "u"):
      guard place + 4 <= bytes.count else { return nil }
      let digits = String(decoding: bytes[place..<place + 4], as: UTF8.self)
      place += 4
      return UInt32(digits, radix: 16).map { Unicode.Scalar($0) ?? "\u{fffd}" }
    case let byte: return byte < 0x80 ? Unicode.Scalar(byte) : nil
    }
  }
}
