import LineEditor
import Quire
import QuireShell

/// A result in aligned columns, formatted line by line on demand, with row numbers for `_3`.
///
/// Columns are as wide as the first and last rows need, and a page widens those that it needs wider, so that a page at
/// row one hundred thousand costs what the first one does. If even short columns do not fit beside each other, the
/// rightmost ones are left out, and counted.
struct AnswerTable: Sendable {
  private let answer: Answer
  private let paint: Paint
  private let names: [String]
  private let widths: [Int]
  private let alignsRight: [Bool]
  /// How the columns and the row number fit into the width; nil if there is no width.
  private let fit: ColumnFit?
  /// The longest line; nil for any.
  private let width: Int?
  /// Rows looked at for their widths, at either end.
  private static let sampled = 500

  /// - Parameters:
  ///   - width: The longest line; nil for lines as long as they must be.
  init(_ answer: Answer, width: Int? = nil, paint: Paint = Paint(usesColor: false)) {
    self.answer = answer
    self.paint = paint
    self.width = width
    names = ["#"] + answer.columns.map { printable($0) }
    let sample = (answer.rows.prefix(Self.sampled) + answer.rows.suffix(Self.sampled)).map { row in
      row.map { ShownCell($0, limit: width) }
    }
    alignsRight =
      [true]
      + answer.columns.indices.map { column in
        sample.contains { $0[column].isNumber } && sample.allSatisfy { $0[column].isNumber || $0[column].isNull }
      }
    let widths = Self.widened([max(1, "\(answer.rows.count)".count)] + names.dropFirst().map(displayWidth), by: sample)
    let rights = alignsRight
    fit = width.map { ColumnFit(widths, isNumber: rights, least: 2, in: $0) }
    self.widths = widths
  }

  /// How many columns at the right are left out.
  var hiddenCount: Int { fit?.hiddenCount ?? 0 }

  private static func widened(_ widths: [Int], by rows: [[ShownCell]]) -> [Int] {
    [widths[0]]
      + widths.dropFirst().enumerated().map { column, width in
        rows.reduce(width) { max($0, displayWidth($1[column].text)) }
      }
  }

  var rowCount: Int { answer.rows.count }

  /// The header and the lines of these rows.
  func lines(in range: Range<Int>) -> [String] {
    let rows = range.map { answer.rows[$0].map { ShownCell($0, limit: width) } }
    let needed = Self.widened(widths, by: rows)
    let widths = fit?.fitted(needed, fixed: 1) ?? needed
    return [line(names.map { ($0, .bold) }, widths)]
      + zip(range, rows).map { row, cells in
        line([("\(row + 1)", .dim)] + cells.map { ($0.text, $0.isNull ? .dim : .plain) }, widths)
      }
  }

  private func line(_ cells: [(text: String, style: Style)], _ widths: [Int]) -> String {
    var line = ""
    for (column, cell) in cells.prefix(widths.count).enumerated() {
      let text = truncated(cell.text, to: widths[column])
      let space = String(repeating: " ", count: max(0, widths[column] - displayWidth(text)))
      let dressed = paint(text, cell.style)
      line += (column > 0 ? "  " : "") + (alignsRight[column] ? space + dressed : dressed + space)
    }
    if hiddenCount > 0 { return line + "  " + paint("…", .dim) }
    while line.last == " " { line.removeLast() }
    return line
  }
}

/// One row with what it leads to, a line for each value.
struct CardLines {
  let lines: [String]

  init(_ card: Card, _ paint: Paint) {
    let width = card.lines.map { displayWidth(printable($0.name)) }.max() ?? 0
    lines =
      [paint(printable(card.title), .bold)]
      + card.lines.map { line in
        let cell = ShownCell(line.value)
        let note = line.note.map { "  " + paint(printable($0), .cyan) } ?? ""
        return "  " + padded(printable(line.name), to: width) + "  " + paint(cell.text, cell.isNull ? .dim : .plain)
          + note
      }
  }
}
