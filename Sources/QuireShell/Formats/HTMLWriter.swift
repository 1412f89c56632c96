/// A table for a page or a message: no style of its own, and a text looks as it does in Markdown.
struct HTMLWriter: AnswerWriter {
  /// Nil if no names are to be written.
  private let header: [String]?
  private var isFirst = true

  init(_ columns: [String], _ output: RowOutput) { header = output.hasHeader ? columns.map { printable($0) } : nil }

  mutating func write(_ row: some CellRow, to bytes: inout ByteBuffer) {
    begin(&bytes)
    put(row.values.map { ShownCell($0).text }, "td", &bytes)
  }

  mutating func end(_ bytes: inout ByteBuffer) {
    begin(&bytes)
    bytes.put("</tbody>\n</table>\n")
  }

  private mutating func begin(_ bytes: inout ByteBuffer) {
    if !isFirst { return }
    isFirst = false
    bytes.put("<table>\n")
    if let header {
      bytes.put("<thead>\n")
      put(header, "th", &bytes)
      bytes.put("</thead>\n")
    }
    bytes.put("<tbody>\n")
  }

  private func put(_ cells: [String], _ tag: String, _ bytes: inout ByteBuffer) {
    bytes.put("<tr>" + cells.map { "<\(tag)>\(Self.escaped($0))</\(tag)>" }.joined() + "</tr>\n")
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
