import Foundation
import Quire
import QuireShell

/// A live result on a terminal, redrawn in place: new and changed rows are marked, and highlighted for two seconds.
@MainActor final class LiveScreen: LiveView {
  private let terminal: Terminal
  private let manner: LiveStrategy
  /// How many lines are drawn, the cursor standing below them.
  private var drawn = 0
  private var frame: Frame?
  private var draws = 0

  /// What is shown: kept, so that its highlighting can be removed.
  private struct Frame {
    let columns: [String]
    let rows: [[Value]]
    var status: String
    var marks: [Int: String] = [:]
    var fresh: Set<Int> = []
    var changed: [Int: Set<Int>] = [:]
  }

  init(_ terminal: Terminal, _ manner: LiveStrategy) { (self.terminal, self.manner) = (terminal, manner) }

  func begin(_ live: any LiveAnswer) {
    terminal.output.write("\u{1B}[?25l")
    let frame = frame(live, nil)
    self.frame = frame
    draw(frame, isColored: false)
  }

  func show(_ difference: Difference<Record>, _ live: any LiveAnswer) {
    var frame = frame(live, difference)
    for change in difference {
      switch change {
      case .delete: continue
      case .insert(let at, _):
        frame.marks[at] = "+"
        frame.fresh.insert(at)
      case .move(_, let to, let old, let new):
        frame.marks[to] = ">"
        frame.changed[to] = Self.places(old, new)
      case .update(let at, let old, let new):
        frame.marks[at] = "~"
        frame.changed[at] = Self.places(old, new)
      }
    }
    self.frame = frame
    draw(frame, isColored: true)
    let draw = draws
    Task { [weak self] in
      try await Task.sleep(for: .seconds(2))
      if let self, draws == draw { self.draw(frame, isColored: false) }
    }
  }

  func fail(_ reason: String) {
    guard var frame else { return }
    let line = printable(reason.split(separator: "\n").first.map(String.init) ?? reason)
    frame.status = "error: \(line) · the answer stays what it was"
    self.frame = frame
    draw(frame, isColored: false)
  }

  func end() { terminal.output.write("\u{1B}[?25h") }

  private func frame(_ live: any LiveAnswer, _ difference: Difference<Record>?) -> Frame {
    let records = live.records
    return Frame(
      columns: live.columns, rows: records.prefix(shownRows(of: records.count)).map(\.values),
      status: LiveStatus(difference, live, manner).text + " · Ctrl-C stops")
  }

  /// As many as leave room for the header, the status and the line below.
  private func shownRows(of count: Int) -> Int { min(count, max(1, terminal.lines - 4)) }

  private static func places(_ old: Record, _ new: Record) -> Set<Int> {
    Set(new.values.indices.filter { new[$0] != old[$0] })
  }

  private func draw(_ frame: Frame, isColored: Bool) {
    draws += 1
    let marks = frame.rows.indices.map { frame.marks[$0] ?? " " }
    var lines = RowTable(frame.columns, frame.rows, marks: marks).lines(on: terminal, width: terminal.columns - 1) {
      row, place in
      guard isColored else { return nil }
      if frame.fresh.contains(row) { return .green }
      return frame.changed[row]?.contains(place) == true ? .yellow : nil
    }
    lines.append(terminal.output.styled(truncated(frame.status, to: terminal.columns - 1), .dim))
    // In one piece, and without wrapping, so that a line is a line.
    var text = "\u{1B}[?2026h\u{1B}[?7l" + (drawn > 0 ? "\u{1B}[\(drawn)A" : "") + "\r"
    for line in lines { text += line + "\u{1B}[K\n" }
    terminal.output.write(text + "\u{1B}[J\u{1B}[?7h\u{1B}[?2026l")
    drawn = lines.count
  }
}
