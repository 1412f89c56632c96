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

/// Statements that put the rows into a table. A value is what it was: text that SQL cannot write goes in as its bytes.
struct InsertWriter: AnswerWriter {
  private let start: String
  /// Of the columns that are put in.
  private let places: [Int32]
  private let reals = RealLiteral()

  init(_ columns: [String], _ output: RowOutput) throws {
    let shown = output.style.isTerminal ? columns.map { printable($0) } : columns
    let all = distinct(shown.map { $0.isEmpty ? "column" : $0 })
    let kept = all.indices.filter { !output.computedColumns.contains(all[$0].lowercased()) }
    places = kept.map { Int32($0) }
    let names = try kept.map { try quoted(identifier: all[$0]) }.joined(separator: ", ")
    let table = try quoted(identifier: output.table)
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
    let isPlain = text.allSatisfy { $0 >= 32 && $0 < 127 || $0 == 10 || $0 == 9 }
    guard isPlain || isHarmless(text) else {
      bytes.put("CAST(")
      bytes.putLiteral(blob: text)
      return bytes.put(" AS TEXT)")
    }
    bytes.put(UInt8(ascii: "'"))
    for byte in text {
      if byte == UInt8(ascii: "'") { bytes.put(byte) }
      bytes.put(byte)
    }
    bytes.put(UInt8(ascii: "'"))
  }

  /// Whether it is UTF-8 without anything that steers a terminal but lines and tabs.
  private static func isHarmless(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let string = String(validating: text, as: UTF8.self) else { return false }
    return !string.unicodeScalars.contains { isControl($0) && $0 != "\n" && $0 != "\t" }
  }
}
