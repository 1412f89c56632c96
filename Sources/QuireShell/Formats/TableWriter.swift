import QuireRow
import QuireSQLite

/// Aligned columns, numbers right-aligned, with or without lines around them.
///
/// The first rows are kept until the widths are known; later rows are written with those widths, so that a result of
/// any length takes the same memory. If lines have a limited width, what does not fit is truncated or left out, see
/// ``ColumnFit``; otherwise it stays whole.
struct TableWriter: AnswerWriter {
  private let columns: [String]
  private let hasHeader: Bool
  private let style: AnswerStyle
  private let isBox: Bool
  private var waiting: [[ShownCell]] = []
  private var widths: [Int]?
  private var isNumber: [Bool] = []
  private var hiddenCount = 0
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
    let cells = row.values.map { ShownCell($0, limit: style.columns) }
    if let widths { return put(cells, widths, &bytes) }
    waiting.append(cells)
    if waiting.count == Self.sampleSize { begin(&bytes) }
  }

  mutating func end(_ bytes: inout ByteBuffer) {
    begin(&bytes)
    if isBox, let widths { rule("└", "┴", "┘", widths, &bytes) }
    guard hasHeader else { return }
    let hidden = "\(hiddenCount.grouped) \(hiddenCount == 1 ? "column" : "columns") more (-f line)"
    let parts = (isBox ? [] : ["\(count.grouped) \(count == 1 ? "row" : "rows")"]) + (hiddenCount > 0 ? [hidden] : [])
    if !parts.isEmpty { bytes.put(parts.joined(separator: " · ") + "\n") }
  }

  private mutating func begin(_ bytes: inout ByteBuffer) {
    if widths != nil { return }
    isNumber = columns.indices.map { column in
      waiting.contains { $0[column].isNumber } && waiting.allSatisfy { $0[column].isNumber || $0[column].isNull }
    }
    let needed = columns.indices.map { column in
      max(hasHeader ? style.width(columns[column]) : 0, waiting.map { style.width($0[column].text) }.max() ?? 0)
    }
    let widths: [Int]
    if let room = style.columns {
      let fit = ColumnFit(needed, isNumber: isNumber, gap: isBox ? 3 : 2, in: room - (isBox ? 4 : 0))
      hiddenCount = fit.hiddenCount
      widths = fit.fitted(needed)
    } else {
      widths = needed
    }
    self.widths = widths
    if isBox { rule("┌", "┬", "┐", widths, &bytes) }
    if hasHeader {
      put(columns.map { ($0, .header) }, widths, &bytes)
      if isBox { rule("├", "┼", "┤", widths, &bytes) }
    }
    for cells in waiting { put(cells, widths, &bytes) }
    waiting = []
  }

  private func put(_ cells: [ShownCell], _ widths: [Int], _ bytes: inout ByteBuffer) {
    put(cells.map { ($0.text, $0.isNull ? .null : nil) }, widths, &bytes)
  }

  private func put(
    _ cells: [(text: String, dress: AnswerStyle.OutputPart?)], _ widths: [Int], _ bytes: inout ByteBuffer
  ) {
    let cells = cells.prefix(widths.count)
    let last = isBox || hiddenCount > 0 ? cells.count - 1 : cells.lastIndex { !$0.text.isEmpty } ?? -1
    if isBox { bytes.put("│ ") }
    for (column, cell) in cells.enumerated() where column <= last {
      if column > 0 { bytes.put(isBox ? " │ " : "  ") }
      let text = style.columns == nil ? cell.text : style.cut(cell.text, to: widths[column])
      let space = String(repeating: " ", count: max(0, widths[column] - style.width(text)))
      let dressed = cell.dress.map { text.isEmpty ? text : style.dressed(text, $0) } ?? text
      if isNumber[column] {
        bytes.put(space + dressed)
      } else {
        bytes.put(column == last && !isBox && hiddenCount == 0 ? dressed : dressed + space)
      }
    }
    if isBox { bytes.put(" │") } else if hiddenCount > 0 { bytes.put("  …") }
    bytes.put(10)
  }

  private func rule(_ left: String, _ middle: String, _ right: String, _ widths: [Int], _ bytes: inout ByteBuffer) {
    bytes.put(
      left + widths.map { String(repeating: "─", count: $0 + 2) }.joined(separator: middle) + right + "\n")
  }
}

extension AnswerStyle {
  /// `text` truncated to at most `limit` cells, ending in `…` if it was longer.
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
