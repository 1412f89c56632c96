import QuireRow
import QuireSQLite

/// RFC 4180 with lines ended by a line feed, or the same with tabs. NULL is an empty field, empty text is `""`, bytes
/// are SQL literals, and text that would be read as a number or as bytes is quoted; on a terminal control characters
/// are made visible.
struct SeparatedWriter: AnswerWriter {
  private let separator: UInt8
  private let isTerminal: Bool
  private var header: [String]?

  init(_ columns: [String], _ output: RowOutput, _ separator: UInt8) {
    self.separator = separator
    isTerminal = output.style.isTerminal
    header = output.hasHeader ? columns : nil
  }

  mutating func write(_ row: some CellRow, to bytes: inout ByteBuffer) {
    writeHeader(&bytes)
    for index in 0..<row.cellCount {
      if index > 0 { bytes.put(separator) }
      row.withCell(index) { cell in
        switch cell {
        case .null: break
        case .integer(let number): bytes.put(number: number)
        case .real(let number): bytes.put(number: number)
        case .text(let text): put(text, &bytes)
        case .blob(let data): bytes.putLiteral(blob: data)
        }
      }
    }
    bytes.put(10)
  }

  mutating func end(_ bytes: inout ByteBuffer) { writeHeader(&bytes) }

  private mutating func writeHeader(_ bytes: inout ByteBuffer) {
    guard let names = header else { return }
    header = nil
    for (place, name) in names.enumerated() {
      if place > 0 { bytes.put(separator) }
      var name = name
      name.withUTF8 { put(UnsafeRawBufferPointer($0), isName: true, &bytes) }
    }
    bytes.put(10)
  }

  /// - Parameter isName: Whether it is in the header, where nothing is a number or bytes.
  private func put(_ text: UnsafeRawBufferPointer, isName: Bool = false, _ bytes: inout ByteBuffer) {
    if isTerminal, text.contains(where: { $0 < 32 || $0 >= 127 }) {
      var shown = printable(String(decoding: text, as: UTF8.self))
      return shown.withUTF8 { quote(UnsafeRawBufferPointer($0), isName, &bytes) }
    }
    quote(text, isName, &bytes)
  }

  private func quote(_ text: UnsafeRawBufferPointer, _ isName: Bool, _ bytes: inout ByteBuffer) {
    guard needsQuotes(text) || !isName && readsAsAnotherKind(text) else { return bytes.put(text) }
    bytes.put(UInt8(ascii: "\""))
    for byte in text {
      if byte == UInt8(ascii: "\"") { bytes.put(byte) }
      bytes.put(byte)
    }
    bytes.put(UInt8(ascii: "\""))
  }

  private func needsQuotes(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let first = text.first, let last = text.last, first != 32, last != 32 else { return true }
    for byte in text where byte == separator || byte == 34 || byte == 10 || byte == 13 { return true }
    return false
  }

  /// Whether it would be taken for bytes or a number, by a column or by what decides on the type of a new one.
  private func readsAsAnotherKind(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let first = text.first else { return false }
    if first | 32 == UInt8(ascii: "x"), text.count > 1, text[1] == UInt8(ascii: "'") { return true }
    if Value.mayBeNumber(text), Value(exactly: String(decoding: text, as: UTF8.self)) != nil { return true }
    return KeptDecimal.mayBeOne(text) && KeptDecimal.isOne(String(decoding: text, as: UTF8.self))
  }
}

extension ByteBuffer {
  /// `x'00ff'`
  mutating func putLiteral(blob: UnsafeRawBufferPointer) {
    put("x'")
    for byte in blob {
      put(Self.hexDigits[Int(byte >> 4)])
      put(Self.hexDigits[Int(byte & 15)])
    }
    put(UInt8(ascii: "'"))
  }

  static let hexDigits = Array("0123456789abcdef".utf8)
}
