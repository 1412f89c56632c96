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
  private let width: Int?
  private let names: [String]
  private let widths: [Int]
  private let alignsRight: [Bool]
  /// How many of the columns are shown, the row's number among them.
  private let shownCount: Int
  /// Rows looked at for their widths, at either end.
  private static let sampled = 500

  /// - Parameters:
  ///   - width: The longest line; nil for lines as long as they must be.
  init(_ answer: Answer, width: Int? = nil, paint: Paint = Paint(usesColor: false)) {
    self.answer = answer
    self.paint = paint
    self.width = width
    names = ["#"] + answer.columns.map { printable($0) }
    let sample = (answer.rows.prefix(Self.sampled) + answer.rows.suffix(Self.sampled)).map { $0.map(ShownCell.init) }
    alignsRight =
      [true]
      + answer.columns.indices.map { column in
        sample.contains { $0[column].isNumber } && sample.allSatisfy { $0[column].isNumber || $0[column].isNull }
      }
    let widths = Self.widened([max(1, "\(answer.rows.count)".count)] + names.dropFirst().map(displayWidth), by: sample)
    let rights = alignsRight
    shownCount = width.map { Self.fitting(widths, rights, in: $0) } ?? widths.count
    self.widths = widths
  }

  /// How many columns at the right are left out.
  var hiddenCount: Int { widths.count - shownCount }

  /// Narrower than this no text is cut, and numbers are cut last.
  private static let least = 6
  /// What a text is given at most where columns have to go.
  private static let most = 20

  /// All, where they can be cut so far that they fit, else as many as fit when they are cut no more than is easily read,
  /// with a place for a mark behind them.
  private static func fitting(_ widths: [Int], _ alignsRight: [Bool], in width: Int) -> Int {
    if widths.reduce(0, { $0 + min($1, least) }) + 2 * (widths.count - 1) <= width { return widths.count }
    var (used, count) = (3, 0)
    while count < widths.count {
      used += (alignsRight[count] ? widths[count] : min(widths[count], most)) + (count > 0 ? 2 : 0)
      if used > width { break }
      count += 1
    }
    return min(max(count, 2), widths.count)
  }

  private static func widened(_ widths: [Int], by rows: [[ShownCell]]) -> [Int] {
    [widths[0]]
      + widths.dropFirst().enumerated().map { column, width in
        rows.reduce(width) { max($0, displayWidth($1[column].text)) }
      }
  }

  /// Where a line would be too long the widest column is cut, down to the next widest; numbers, which say something else
  /// when they are cut, only after all text is.
  private func fitted(_ widths: [Int]) -> [Int] {
    guard var width else { return widths }
    var widths = Array(widths.prefix(shownCount))
    if hiddenCount > 0 { width -= 3 }
    var excess = widths.reduce(0, +) + 2 * (widths.count - 1) - width
    for cutsNumbers in [false, true] {
      let columns = widths.indices.dropFirst().filter { alignsRight[$0] == cutsNumbers }
      while excess > 0, let widest = columns.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.least {
        let next = columns.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
        let cut = min(excess, max(1, widths[widest] - max(Self.least, next)))
        widths[widest] -= cut
        excess -= cut
      }
    }
    return widths
  }

  var rowCount: Int { answer.rows.count }

  /// The header and the lines of these rows.
  func lines(in range: Range<Int>) -> [String] {
    let rows = range.map { answer.rows[$0].map(ShownCell.init) }
    let widths = fitted(Self.widened(widths, by: rows))
    return [line(names.map { ($0, .bold) }, widths)]
      + zip(range, rows).map { row, cells in
        line([("\(row + 1)", .dim)] + cells.map { ($0.text, $0.isNull ? .dim : .plain) }, widths)
      }
  }

  private func line(_ cells: [(text: String, style: Style)], _ widths: [Int]) -> String {
    var line = ""
    for (column, cell) in cells.prefix(shownCount).enumerated() {
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
