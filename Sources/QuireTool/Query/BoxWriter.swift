import Quire

/// A table with lines around every cell: kept until the end, because the widths are known only then.
struct BoxWriter: RowWriter {
  private let header: [String]
  private let hasHeader: Bool
  private let terminal: Terminal
  private var rows: [[CellText]] = []
  private var isNumeric: [Bool]

  init(_ columns: [String], _ hasHeader: Bool, _ terminal: Terminal) {
    header = columns.map { printable($0) }
    self.hasHeader = hasHeader
    self.terminal = terminal
    isNumeric = columns.map { _ in true }
  }

  mutating func write(_ row: [Value]) {
    rows.append(row.map(CellText.init))
    for (column, value) in row.enumerated() where !value.isNumber && value != .null { isNumeric[column] = false }
  }

  mutating func end() {
    let widths = header.indices.map { column in
      max(hasHeader ? displayWidth(header[column]) : 0, rows.map { displayWidth($0[column].text) }.max() ?? 0)
    }
    func rule(_ left: String, _ middle: String, _ right: String) -> String {
      left + widths.map { String(repeating: "─", count: $0 + 2) }.joined(separator: middle) + right
    }
    func line(_ cells: [String], _ styles: [Terminal.Stream.Style?], right: [Bool]) -> String {
      let padded = cells.indices.map { column in
        let space = String(repeating: " ", count: max(0, widths[column] - displayWidth(cells[column])))
        let cell = styles[column].map { terminal.output.styled(cells[column], $0) } ?? cells[column]
        return " " + (right[column] ? space + cell : cell + space) + " "
      }
      return "│" + padded.joined(separator: "│") + "│"
    }
    terminal.print(rule("┌", "┬", "┐"))
    if hasHeader {
      terminal.print(line(header, header.map { _ in .bold }, right: isNumeric))
      terminal.print(rule("├", "┼", "┤"))
    }
    for row in rows { terminal.print(line(row.map(\.text), row.map { $0.isNull ? .dim : nil }, right: isNumeric)) }
    terminal.print(rule("└", "┴", "┘"))
  }
}
