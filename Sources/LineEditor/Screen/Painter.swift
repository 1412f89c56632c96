/// Draws frames over one another: writes the difference from the present to the next frame in one piece.
///
/// It knows only what it drew itself. If other code has written in between, call ``forget()``.
struct Painter: Sendable {
  private var drawn: [Rows.Row] = []
  private var cursorRow = 0
  private var columns = 0

  /// The text that shows `frame`. Rows that stay as they are are not written again.
  mutating func draw(_ frame: Frame, columns: Int) -> String {
    var text = "\u{1B}[?2026h\u{1B}[?25l"
    if self.columns != columns {
      text += erase(columns: columns)
      self.columns = columns
    }
    var row = cursorRow
    func go(to target: Int) {
      // Below what is drawn only a line end makes a new row.
      let reachable = max(row, drawn.count - 1)
      if target < row { text += "\u{1B}[\(row - target)A" }
      if target > row, reachable > row { text += "\u{1B}[\(min(target, reachable) - row)B" }
      if target > reachable { text += String(repeating: "\r\n", count: target - reachable) }
      row = target
    }
    for (index, new) in frame.rows.enumerated() where index >= drawn.count || drawn[index] != new {
      go(to: index)
      // Erased first: after the last column the cursor is still on that column.
      text += "\r\u{1B}[K" + new.text
    }
    if drawn.count > frame.rows.count {
      go(to: frame.rows.count)
      text += "\r\u{1B}[J"
    }
    drawn = frame.rows
    go(to: frame.cursorRow)
    text += "\r" + (frame.cursorColumn > 0 ? "\u{1B}[\(frame.cursorColumn)C" : "")
    cursorRow = frame.cursorRow
    return text + "\u{1B}[?25h\u{1B}[?2026l"
  }

  /// Takes away what is drawn. After the terminal became narrower, rows that were wider take several.
  private mutating func erase(columns: Int) -> String {
    guard !drawn.isEmpty else { return "" }
    let width = max(1, columns)
    let above = drawn.prefix(cursorRow).reduce(0) { $0 + max(1, ($1.width + width - 1) / width) }
    drawn = []
    cursorRow = 0
    return "\r" + (above > 0 ? "\u{1B}[\(above)A" : "") + "\u{1B}[J"
  }

  /// The text that goes to the row below, and leaves what is drawn there for good.
  mutating func leave() -> String {
    let below = drawn.count - 1 - cursorRow
    forget()
    return (below > 0 ? "\u{1B}[\(below)B" : "") + "\r\n"
  }

  /// Starts over at the cursor's position.
  mutating func forget() {
    drawn = []
    cursorRow = 0
    columns = 0
  }
}
