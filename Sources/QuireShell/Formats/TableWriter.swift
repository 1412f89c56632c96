import QuireRow
import QuireSQLite

/// Aligned columns, numbers on the right, with lines around them or without.
///
/// The first rows are kept until their widths are known; what comes after is written in those widths, so that an answer of
/// any length takes the same memory. A cell that does not fit is cut where lines have a length, and stays whole elsewhere.
struct TableWriter: AnswerWriter {
  private let columns: [String]
  private let hasHeader: Bool
  private let style: AnswerStyle
  private let isBox: Bool
  private var waiting: [[ShownCell]] = []
  private var widths: [Int]?
  private var isNumber: [Bool] = []
  private var count = 0
  private static let sampleSize = 5000

  init(_ columns: [String], _ output: RowOutput, isBox: Bool) {
    self.columns = columns.map { printable($0) }
    hasHeader = output.hasHeader
    style = output.style
    self.isBox = isBox
  }

  mutating func write(_ row: some CellRow, to bytes: inout ByteBuffer) {
    count += 1
    let cells = row.values.map { ShownCell($0) }
    if let widths { return put(cells, widths, &bytes) }
    waiting.append(cells)
    if waiting.count == Self.sampleSize { begin(&bytes) }
  }

  mutating func end(_ bytes: inout ByteBuffer) {
    begin(&bytes)
    if isBox, let widths { rule("└", "┴", "┘", widths, &bytes) }
    if hasHeader, !isBox { bytes.put("\(count) \(count == 1 ? "row" : "rows")\n") }
  }

  private mutating func begin(_ bytes: inout ByteBuffer) {
    if widths != nil { return }
    isNumber = columns.indices.map { column in
      waiting.contains { $0[column].isNumber } && waiting.allSatisfy { $0[column].isNumber || $0[column].isNull }
    }
    let widths = fitted(
      columns.indices.map { column in
        max(hasHeader ? style.width(columns[column]) : 0, waiting.map { style.width($0[column].text) }.max() ?? 0)
      })
    self.widths = widths
    if isBox { rule("┌", "┬", "┐", widths, &bytes) }
    if hasHeader {
      put(columns.map { ($0, .header) }, widths, &bytes)
      if isBox { rule("├", "┼", "┤", widths, &bytes) }
    }
    for cells in waiting { put(cells, widths, &bytes) }
    waiting = []
  }

  /// Where a line would be too long the widest column is cut, down to the next widest.
  private func fitted(_ widths: [Int]) -> [Int] {
    guard let columns = style.columns else { return widths }
    var widths = widths
    let signs = isBox ? 3 * widths.count + 1 : 2 * max(0, widths.count - 1)
    var excess = widths.reduce(0, +) + signs - columns
    while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > 8 {
      let next = widths.indices.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
      let cut = min(excess, max(1, widths[widest] - max(8, next)))
      widths[widest] -= cut
      excess -= cut
    }
    return widths
  }

  private func put(_ cells: [ShownCell], _ widths: [Int], _ bytes: inout ByteBuffer) {
    put(cells.map { ($0.text, $0.isNull ? .null : nil) }, widths, &bytes)
  }

  private func put(_ cells: [(text: String, dress: AnswerStyle.Dress?)], _ widths: [Int], _ bytes: inout ByteBuffer) {
    let last = isBox ? cells.count - 1 : cells.lastIndex { !$0.text.isEmpty } ?? -1
    if isBox { bytes.put("│ ") }
    for (column, cell) in cells.enumerated() where column <= last {
      if column > 0 { bytes.put(isBox ? " │ " : "  ") }
      let text = style.columns == nil ? cell.text : style.cut(cell.text, to: widths[column])
      let space = String(repeating: " ", count: max(0, widths[column] - style.width(text)))
      let dressed = cell.dress.map { text.isEmpty ? text : style.dressed(text, $0) } ?? text
      if isNumber[column] {
        bytes.put(space + dressed)
      } else {
        bytes.put(column == last && !isBox ? dressed : dressed + space)
      }
    }
    if isBox { bytes.put(" │") }
    bytes.put(10)
  }

  private func rule(_ left: String, _ middle: String, _ right: String, _ widths: [Int], _ bytes: inout ByteBuffer) {
    bytes.put(
      left + widths.map { String(repeating: "─", count: $0 + 2) }.joined(separator: middle) + right + "\n")
  }
}

extension AnswerStyle {
  /// `text` cut to at most so many cells, ending in `…` where something was cut.
  func cut(_ text: String, to limit: Int) -> String {
    if width(text) <= limit { return text }
    var result = ""
    var used = 0
    for character in text {
      let next = width(String(character))
      if used + next > limit - 1 { break }
      result.append(character)
      used += next
    }
    return limit > 0 ? result + "…" : ""
  }
}
