import Quire

/// How the rows of an answer are printed.
enum QueryFormat: String, CaseIterable, Sendable {
  case table, box, csv, tsv, json, jsonl, line, md, insert, value

  /// - Parameter table: What rows are put into by ``insert``.
  func writer(columns: [String], hasHeader: Bool, into table: String, on terminal: Terminal) throws -> any RowWriter {
    switch self {
    case .table: TableWriter(columns, hasHeader, terminal)
    case .box: BoxWriter(columns, hasHeader, terminal)
    case .csv: SeparatedWriter(columns, hasHeader, ",", terminal)
    case .tsv: SeparatedWriter(columns, hasHeader, "\t", terminal)
    case .json: JSONWriter(columns, terminal)
    case .jsonl: JSONLinesWriter(columns, terminal)
    case .line: LineWriter(columns, terminal)
    case .md: MarkdownWriter(columns, terminal)
    case .insert: try InsertWriter(columns, into: table, terminal)
    case .value: ValueWriter(terminal)
    }
  }
}

/// Takes the rows of an answer one by one.
protocol RowWriter {
  mutating func write(_ row: [Value])
  mutating func end()
}

extension RowWriter {
  mutating func end() {}
}

/// Aligned columns: kept until the end, because their widths are known only then.
private struct TableWriter: RowWriter {
  private let columns: [String]
  private let hasHeader: Bool
  private let terminal: Terminal
  private var rows: [[Value]] = []

  init(_ columns: [String], _ hasHeader: Bool, _ terminal: Terminal) {
    self.columns = columns
    self.hasHeader = hasHeader
    self.terminal = terminal
  }

  mutating func write(_ row: [Value]) { rows.append(row) }

  mutating func end() {
    let table = RowTable(columns, rows, hasHeader: hasHeader)
    for line in table.lines(on: terminal, width: terminal.output.isTerminal ? terminal.columns : nil) {
      terminal.print(line)
    }
    if hasHeader { terminal.print("\(rows.count) \(rows.count == 1 ? "row" : "rows")") }
  }
}

/// RFC 4180, or the same with tabs. On a terminal control characters are made visible.
private struct SeparatedWriter: RowWriter {
  private let separator: String
  private let terminal: Terminal

  init(_ columns: [String], _ hasHeader: Bool, _ separator: String, _ terminal: Terminal) {
    self.separator = separator
    self.terminal = terminal
    if hasHeader { print(columns) }
  }

  mutating func write(_ row: [Value]) { print(row.map(\.field)) }

  private func print(_ fields: [String?]) {
    let line = fields.map { $0.map(quoted) ?? "" }.joined(separator: separator)
    terminal.print(terminal.output.isTerminal ? printable(line) : line)
  }

  private func quoted(_ field: String) -> String {
    let needsQuotes =
      field.isEmpty || field.hasPrefix(" ") || field.hasSuffix(" ")
      || field.unicodeScalars.contains { "\"\r\n".unicodeScalars.contains($0) } || field.contains(separator)
    return needsQuotes ? "\"" + field.replacing("\"", with: "\"\"") + "\"" : field
  }
}

/// One array of objects, an object a line.
private struct JSONWriter: RowWriter {
  private let names: [String]
  private let terminal: Terminal
  private var isEmpty = true

  init(_ columns: [String], _ terminal: Terminal) {
    names = distinct(columns)
    self.terminal = terminal
  }

  mutating func write(_ row: [Value]) {
    terminal.output.write((isEmpty ? "[" : ",\n") + JSON.object(Array(zip(names, row.map(\.json)))).text)
    isEmpty = false
  }

  mutating func end() { terminal.print(isEmpty ? "[]" : "]") }
}

private struct JSONLinesWriter: RowWriter {
  private let names: [String]
  private let terminal: Terminal

  init(_ columns: [String], _ terminal: Terminal) {
    names = distinct(columns)
    self.terminal = terminal
  }

  mutating func write(_ row: [Value]) { terminal.print(JSON.object(Array(zip(names, row.map(\.json)))).text) }
}

/// A value a line under its name, and a blank line between rows.
private struct LineWriter: RowWriter {
  private let names: [String]
  private let width: Int
  private let terminal: Terminal
  private var isFirst = true

  init(_ columns: [String], _ terminal: Terminal) {
    names = columns.map { printable($0) }
    width = names.map(displayWidth).max() ?? 0
    self.terminal = terminal
  }

  mutating func write(_ row: [Value]) {
    if !isFirst { terminal.print() }
    isFirst = false
    for (name, value) in zip(names, row) {
      let cell = CellText(value)
      terminal.print(
        padded(name, to: width) + "  " + (cell.isNull ? terminal.output.styled(cell.text, .dim) : cell.text))
    }
  }
}

private struct MarkdownWriter: RowWriter {
  private let terminal: Terminal

  init(_ columns: [String], _ terminal: Terminal) {
    self.terminal = terminal
    print(columns.map { printable($0) })
    print(columns.map { _ in "---" })
  }

  mutating func write(_ row: [Value]) { print(row.map { CellText($0).text }) }

  private func print(_ cells: [String]) {
    terminal.print("| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |")
  }
}

/// The bare values, one a line, for scripts.
private struct ValueWriter: RowWriter {
  private let terminal: Terminal
  init(_ terminal: Terminal) { self.terminal = terminal }

  mutating func write(_ row: [Value]) {
    for value in row {
      let text = value.field ?? ""
      terminal.print(terminal.output.isTerminal ? printable(text) : text)
    }
  }
}
