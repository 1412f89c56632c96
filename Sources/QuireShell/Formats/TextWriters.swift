import QuireRow
import QuireSQLite

/// Each value on a line with its name, and an empty line between rows.
struct LineWriter: AnswerWriter {
  private let names: [String]
  private let style: AnswerStyle
  private var isFirst = true

  init(_ columns: [String], _ output: RowOutput) {
    style = output.style
    let shown = columns.map { printable($0) }
    let width = shown.map(style.width).max() ?? 0
    names = shown.map { $0 + String(repeating: " ", count: width - output.style.width($0) + 2) }
  }

  mutating func write(_ row: some CellRow, to bytes: inout ByteBuffer) {
    if !isFirst { bytes.put(10) }
    isFirst = false
    for (name, value) in zip(names, row.values) {
      let cell = ShownCell(value)
      bytes.put(name)
      bytes.put(cell.isNull ? style.dressed(cell.text, .null) : cell.text)
      bytes.put(10)
    }
  }
}

struct MarkdownWriter: AnswerWriter {
  private var header: [String]?

  init(_ columns: [String], _ output: RowOutput) { header = columns.map { printable($0) } }

  mutating func write(_ row: some CellRow, to bytes: inout ByteBuffer) {
    writeHeader(&bytes)
    put(row.values.map { ShownCell($0).text }, &bytes)
  }

  mutating func end(_ bytes: inout ByteBuffer) { writeHeader(&bytes) }

  private mutating func writeHeader(_ bytes: inout ByteBuffer) {
    guard let names = header else { return }
    header = nil
    put(names, &bytes)
    put(names.map { _ in "---" }, &bytes)
  }

  private func put(_ cells: [String], _ bytes: inout ByteBuffer) {
    bytes.put("| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n")
  }
}

/// The bare values, one a line, for scripts.
struct ValueWriter: AnswerWriter {
  private let isTerminal: Bool

  init(_ output: RowOutput) { isTerminal = output.style.isTerminal }

  mutating func write(_ row: some CellRow, to bytes: inout ByteBuffer) {
    for index in 0..<row.cellCount {
      row.withCell(index) { cell in
        switch cell {
        case .null: break
        case .integer(let number): bytes.put(number: number)
        case .real(let number): bytes.put(number: number)
        case .text(let text):
          if isTerminal { bytes.put(printable(String(decoding: text, as: UTF8.self))) } else { bytes.put(text) }
        case .blob(let data): bytes.putLiteral(blob: data)
        }
      }
      bytes.put(10)
    }
  }
}

/// Statements that put the rows into a table. A value is what it was, in a file of any encoding, except that text that is
/// not UTF-8, which goes in as its bytes, needs one of UTF-8.
struct InsertWriter: AnswerWriter {
  private let start: String
  /// Of the columns that are put in.
  private let places: [Int32]
  private let reals = RealLiteral()

  init(_ columns: [String], _ output: RowOutput) throws {
    let shown = output.style.isTerminal ? columns.map { printable($0) } : columns
    let all = distinct(shown)
    let kept = all.indices.filter { !output.computedColumns.contains(all[$0].lowercased()) }
    places = kept.map { Int32($0) }
    let names = try kept.map { try quoted(identifier: all[$0]) }.joined(separator: ", ")
    let table = try quoted(identifier: output.table ?? "answer")
    start = "INSERT INTO \(table) (\(names)) VALUES ("
  }

  mutating func write(_ row: some CellRow, to bytes: inout ByteBuffer) {
    bytes.put(start)
    for (place, index) in places.enumerated() {
      if place > 0 { bytes.put(", ") }
      row.withCell(index) { cell in
        switch cell {
        case .null: bytes.put("NULL")
        case .integer(let number): bytes.put(number: number)
        case .real(let number): bytes.put(reals.text(number))
        case .text(let text): Self.put(text, &bytes)
        case .blob(let data): bytes.putLiteral(blob: data)
        }
      }
    }
    bytes.put(");\n")
  }

  private static func put(_ text: UnsafeRawBufferPointer, _ bytes: inout ByteBuffer) {
    if text.allSatisfy({ $0 >= 32 && $0 < 127 || $0 == 10 || $0 == 9 }) { return bytes.put(quoted: text) }
    guard let string = String(validating: text, as: UTF8.self) else {
      bytes.put("CAST(")
      bytes.putLiteral(blob: text)
      return bytes.put(" AS TEXT)")
    }
    let parts = parts(of: string)
    if parts.count > 1 { bytes.put(UInt8(ascii: "(")) }
    put(parts[...], &bytes)
    if parts.count > 1 { bytes.put(UInt8(ascii: ")")) }
  }

  /// Of a text, in order.
  private enum Part {
    case plain(Substring.UnicodeScalarView)
    /// What steers a terminal, or what SQL cannot hold, in the numbers of its characters: unlike bytes, they are the same
    /// text in a file of any encoding.
    case controls([UInt32])
  }

  /// As many arguments as every SQLite takes.
  private static let mostArguments = 100

  private static func parts(of text: String) -> [Part] {
    var parts: [Part] = []
    var rest = text.unicodeScalars[...]
    func isSteering(_ scalar: Unicode.Scalar) -> Bool { isControl(scalar) && scalar != "\n" && scalar != "\t" }
    while let first = rest.first {
      if isSteering(first) {
        let run = rest.prefix(mostArguments).prefix(while: isSteering)
        parts.append(.controls(run.map(\.value)))
        rest = rest.dropFirst(run.count)
      } else {
        let run = rest.prefix { !isSteering($0) }
        parts.append(.plain(Substring.UnicodeScalarView(run)))
        rest = rest[run.endIndex...]
      }
    }
    return parts
  }

  /// The parts joined. Halves of a long row are nested, as SQLite takes a thousand levels and each `||` is one.
  private static func put(_ parts: ArraySlice<Part>, _ bytes: inout ByteBuffer) {
    if parts.count > 64 {
      let middle = parts.startIndex + parts.count / 2
      for (place, half) in [parts[..<middle], parts[middle...]].enumerated() {
        bytes.put(place == 0 ? "(" : " || (")
        put(half, &bytes)
        bytes.put(UInt8(ascii: ")"))
      }
      return
    }
    for (place, part) in parts.enumerated() {
      if place > 0 { bytes.put(" || ") }
      switch part {
      case .plain(let text):
        var text = String(text)
        text.withUTF8 { bytes.put(quoted: UnsafeRawBufferPointer($0)) }
      case .controls(let numbers):
        bytes.put("char(\(numbers.map { "\($0)" }.joined(separator: ", ")))")
      }
    }
  }
}

extension ByteBuffer {
  fileprivate mutating func put(quoted text: UnsafeRawBufferPointer) {
    put(UInt8(ascii: "'"))
    for byte in text {
      if byte == UInt8(ascii: "'") { put(byte) }
      put(byte)
    }
    put(UInt8(ascii: "'"))
  }
}
