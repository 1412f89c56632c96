import Foundation
import QuireSQLite

/// One array of objects, an object per line, or each object on a line of its own.
///
/// Numbers and text are written as such; bytes, and text that is not UTF-8, as an object with their encoding; numbers
/// that JSON does not have as `"Infinity"`.
struct JSONWriter: AnswerWriter {
  private let isDocument: Bool
  /// `"name":`, with the sign before it.
  private let names: [[UInt8]]
  private var isEmpty = true

  init(_ columns: [String], isDocument: Bool) {
    self.isDocument = isDocument
    names = distinct(columns).enumerated().map { place, name in
      var bytes = ByteArray()
      bytes.bytes.append(UInt8(ascii: place == 0 ? "{" : ","))
      var name = name
      name.withUTF8 { JSONText.put(UnsafeRawBufferPointer($0)) { bytes.bytes.append(contentsOf: $0) } }
      bytes.bytes.append(UInt8(ascii: ":"))
      return bytes.bytes
    }
  }

  private struct ByteArray { var bytes: [UInt8] = [] }

  mutating func write(_ row: some CellRow, to bytes: inout ByteBuffer) {
    if isDocument { bytes.put(isEmpty ? "[" : ",\n") }
    isEmpty = false
    for index in 0..<row.cellCount {
      bytes.put(names[Int(index)])
      row.withCell(index) { cell in
        switch cell {
        case .null: bytes.put("null")
        case .integer(let number): bytes.put(number: number)
        case .real(let number):
          bytes.put(JSONInfinity(number)?.json ?? number.exactText)
        case .text(let text): Self.put(text, &bytes)
        case .blob(let data): Self.put("base64", data, &bytes)
        }
      }
    }
    if row.cellCount == 0 { bytes.put(UInt8(ascii: "{")) }
    bytes.put(UInt8(ascii: "}"))
    if !isDocument { bytes.put(10) }
  }

  mutating func end(_ bytes: inout ByteBuffer) {
    if isDocument { bytes.put(isEmpty ? "[]\n" : "]\n") }
  }

  private static func put(_ text: UnsafeRawBufferPointer, _ bytes: inout ByteBuffer) {
    var isASCII = true
    for byte in text where byte < 32 || byte >= 127 || byte == 34 || byte == 92 {
      isASCII = false
      break
    }
    if let infinity = JSONInfinity(spelledBy: text) {
      bytes.put(infinity.escaped)
    } else if isASCII {
      bytes.put(UInt8(ascii: "\""))
      bytes.put(text)
      bytes.put(UInt8(ascii: "\""))
    } else if String(validating: text, as: UTF8.self) == nil {
      put("malformedText", text, &bytes)
    } else {
      JSONText.put(text) { bytes.put($0) }
    }
  }

  private static func put(_ kind: String, _ data: UnsafeRawBufferPointer, _ bytes: inout ByteBuffer) {
    bytes.put("{\"\(kind)\":\"\(Data(data).base64EncodedString())\"}")
  }
}

/// A number that JSON does not have: in its place a string. A text of these letters has its first one escaped, which
/// makes it the same string for all readers, and for ours another value.
enum JSONInfinity: String, CaseIterable {
  case positive = "Infinity"
  case negative = "-Infinity"

  init?(_ number: Double) {
    if !number.isInfinite { return nil }
    self = number < 0 ? .negative : .positive
  }

  init?(spelledBy text: UnsafeRawBufferPointer) {
    // Most texts have another length.
    guard text.count == 8 || text.count == 9,
      let found = Self.allCases.first(where: { text.elementsEqual($0.rawValue.utf8) })
    else { return nil }
    self = found
  }

  var number: Double { self == .negative ? -.infinity : .infinity }
  var json: String { "\"\(rawValue)\"" }
  var escaped: String { self == .negative ? "\"\\u002dInfinity\"" : "\"\\u0049nfinity\"" }
}

/// Text as JSON has it, with everything escaped that could steer a terminal.
enum JSONText {
  /// - Parameter text: UTF-8.
  static func put(_ text: UnsafeRawBufferPointer, _ put: (UnsafeRawBufferPointer) -> Void) {
    func say(_ text: String) {
      var text = text
      text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    }
    say("\"")
    var start = 0
    var place = 0
    while place < text.count {
      let (length, escaped) = escape(text, at: place)
      if let escaped {
        put(UnsafeRawBufferPointer(rebasing: text[start..<place]))
        say(escaped)
        start = place + length
      }
      place += length
    }
    put(UnsafeRawBufferPointer(rebasing: text[start..<text.count]))
    say("\"")
  }

  /// The length of the character at `place` in bytes, and its escape sequence if it needs one.
  private static func escape(_ text: UnsafeRawBufferPointer, at place: Int) -> (Int, String?) {
    let byte = text[place]
    switch byte {
    case 34: return (1, "\\\"")
    case 92: return (1, "\\\\")
    case 10: return (1, "\\n")
    case 13: return (1, "\\r")
    case 9: return (1, "\\t")
    case 8: return (1, "\\b")
    case 12: return (1, "\\f")
    case 0..<32, 127: return (1, escape(UInt32(byte)))
    case 0xC2 where place + 1 < text.count && text[place + 1] < 0xA0: return (2, escape(UInt32(text[place + 1])))
    case 0xE2 where place + 2 < text.count && (text[place + 1] == 0x80 || text[place + 1] == 0x81):
      let scalar = 0x2000 | UInt32(text[place + 1] & 1) << 6 | UInt32(text[place + 2] & 63)
      return (3, Unicode.Scalar(scalar).map(isControl) == true ? escape(scalar) : nil)
    default: return (1, nil)
    }
  }

  private static func escape(_ scalar: UInt32) -> String {
    let digits = String(scalar, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
