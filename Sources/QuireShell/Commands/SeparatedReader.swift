import Foundation
import QuireRow

/// Reads separated fields as they are written by the formats csv and tsv: an empty field is NULL, `""` is empty text.
struct SeparatedReader {
  enum Field: Hashable {
    case absent
    case bare(String)
    case quoted(String)
    /// Bytes that are not UTF-8, with quotes or without.
    case malformed(Data)

    init(_ content: some Sequence<UInt8>, isQuoted: Bool) {
      guard let text = String(validating: content, as: UTF8.self) else {
        self = .malformed(Data(content))
        return
      }
      self = isQuoted ? .quoted(text) : text.isEmpty ? .absent : .bare(text)
    }

    var text: String {
      switch self {
      case .absent: ""
      case .bare(let text), .quoted(let text): text
      case .malformed(let data): String(decoding: data, as: UTF8.self)
      }
    }

    var isMalformed: Bool { if case .malformed = self { true } else { false } }

    /// As a value of a column; bytes are as SQL writes them.
    var imported: ImportedField {
      switch self {
      case .absent: return .value(.null)
      case .quoted(let text): return .value(.text(text))
      case .malformed(let data): return .value(.malformedText(data))
      case .bare(let text):
        if text.hasPrefix("x'"), let token = Tokenizer.tokens(of: text).first, case .blob(let bytes) = token.kind,
          token.range == 0..<text.utf8.count
        {
          return .value(.blob(Data(bytes)))
        }
        return .word(text)
      }
    }
  }

  private var bytes: FileBytes
  private let separator: UInt8
  /// Where the last record began.
  private(set) var start: RecordPlace
  private var line = 1

  init(_ bytes: FileBytes, _ separator: UInt8) {
    self.bytes = bytes
    self.separator = separator
    start = RecordPlace(path: bytes.path, line: 1)
  }

  private var place: RecordPlace { RecordPlace(path: bytes.path, line: line) }

  /// Nil at the end.
  mutating func next() throws(ShellFailure) -> [Field]? {
    guard try bytes.peek() != nil else { return nil }
    start = place
    var fields: [Field] = []
    while true {
      fields.append(try field(fields.count + 1))
      guard let byte = try bytes.peek() else { return fields }
      bytes.pass()
      if byte == separator { continue }
      if byte == 13, try bytes.peek() == 10 { bytes.pass() }
      line += 1
      return fields
    }
  }

  /// - Parameter number: Its place in the record, from 1.
  private mutating func field(_ number: Int) throws(ShellFailure) -> Field {
    guard try bytes.peek() == UInt8(ascii: "\"") else {
      let separator = separator
      return Field(try bytes.take { $0 != separator && $0 != 10 && $0 != 13 }, isQuoted: false)
    }
    var content: [UInt8] = []
    bytes.pass()
    while let byte = try bytes.peek() {
      if byte == UInt8(ascii: "\"") {
        bytes.pass()
        guard let next = try bytes.peek(), next != separator, next != 10, next != 13 else {
          return Field(content, isQuoted: true)
        }
        if next != byte {
          throw place.failure(
            "in field \(number) more follows the closing quote",
            hint: "a quote inside a quoted field is written twice")
        }
      } else if byte == 10 {
        line += 1
      } else {
        content += try bytes.take { $0 != UInt8(ascii: "\"") && $0 != 10 }
        continue
      }
      content.append(byte)
      bytes.pass()
    }
    throw start.failure("a quote that is not closed")
  }
}
