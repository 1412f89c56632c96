import LineEditor
import Quire
import QuireShell

/// An answer in aligned columns, line by line as they are wanted, numbered so that `_3` can be said.
///
/// Columns are as wide as the first and the last rows need, and a page makes those wider that it needs wider, so that a
/// page of the hundred thousandth row costs what the first does. Where not even short columns fit beside one another,
/// those at the right are left out, and counted.
struct AnswerTable: Sendable {
  private let answer: Answer
  private let paint: Paint
  private let names: [String]
  private let widths: [Int]
  private let alignsRight: [Bool]
  /// How the columns, the row's number among them, fit into the width; nil where there is none.
  private let fit: ColumnFit?
  /// Rows looked at for their widths, at either end.
  private static let sampled = 500

  /// - Parameters:
  ///   - width: The longest line; nil for lines as long as they must be.
  init(_ answer: Answer, width: Int? = nil, paint: Paint = Paint(usesColor: false)) {
    self.answer = answer
    self.paint = paint
    names = ["#"] + answer.columns.map { printable($0) }
    let sample = (answer.rows.prefix(Self.sampled) + answer.rows.suffix(Self.sampled)).map { $0.map(ShownCell.init) }
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
    let rows = range.map { answer.rows[$0].map(ShownCell.init) }
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
