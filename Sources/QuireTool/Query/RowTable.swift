import Quire
import QuireShell

/// Rows in aligned columns, numbers right-aligned, NULL distinguished from text by its style.
struct RowTable {
  private let cells: [[ShownCell]]
  private let table: Table

  /// - Parameter marks: The mark before each row, such as `+`; nil for a table without marks.
  init(_ columns: [String], _ rows: [[Value]], hasHeader: Bool = true, marks: [String]? = nil) {
    let shown = rows.map { $0.map(ShownCell.init) }
    let numbers = columns.indices.filter { column in
      let values = shown.compactMap { $0.indices.contains(column) ? $0[column] : nil }
      return values.contains(where: \.isNumber) && values.allSatisfy { $0.isNumber || $0.isNull }
    }
    cells = shown
    var texts = shown.map { $0.map(\.text) }
    if let marks { texts = zip(marks, texts).map { [$0] + $1 } }
    let offset = marks == nil ? 0 : 1
    let header = (marks == nil ? [] : [""]) + columns
    table = Table(hasHeader ? header : [], alignRight: Set(numbers.map { $0 + offset }), rows: texts)
  }

  /// - Parameter style: The style of a cell that is not NULL, by row and column.
  func lines(
    on terminal: Terminal, width: Int?, style: (Int, Int) -> Terminal.Stream.Style? = { _, _ in nil }
  ) -> [String] {
    let hasHeader = !table.header.isEmpty
    return table.lines(width: width) { row, column, text in
      let row = hasHeader ? row - 1 : row
      if row < 0 { return terminal.output.styled(text, .bold) }
      let offset = table.rows[row].count - cells[row].count
      let place = column - offset
      if let style = style(row, place) { return terminal.output.styled(text, style) }
      if place >= 0, cells[row][place].isNull { return terminal.output.styled(text, .dim) }
      return text
    }
  }
}
