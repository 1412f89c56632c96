import Foundation
import LineEditor
import Quire
import QuireShell

/// A live answer at one moment, as the thread that draws sees it.
struct LivePicture: Sendable {
  let number: Int
  let title: String
  /// How it is kept up to date.
  let manner: String
  var columns: [String] = []
  /// The first rows, as many as a screen may have.
  var rows: [[Value]] = []
  var count = 0
  /// `+` came, `>` moved, `~` changed, by row, as of the last change.
  var marks: [Int: String] = [:]
  /// The highlighted rows, for two seconds.
  var fresh: Set<Int> = []
  var changed: [Int: Set<Int>] = [:]
  /// `+1 ~1 · 14:03:22.118 · another process`, empty before the first change.
  var news = ""
  var error: String?
  /// Whether it is shown above the prompt.
  var isPinned = false

  private static let mostRows = 200

  init(number: Int, title: String, manner: String) {
    (self.number, self.title, self.manner) = (number, title, manner)
  }

  /// The current result, initially or after a difference.
  ///
  /// - Parameter writer: The writer of the change, as text.
  @MainActor mutating func take(_ live: any LiveAnswer, _ difference: Difference<Record>?, from writer: String) {
    let records = live.records
    columns = live.columns
    rows = records.prefix(Self.mostRows).map(\.values)
    count = records.count
    error = nil
    guard let difference else { return }
    (marks, fresh, changed) = ([:], [], [:])
    var counts: [(sign: String, count: Int)] = [("+", 0), ("-", 0), (">", 0), ("~", 0)]
    for change in difference {
      switch change {
      case .insert(let at, _):
        counts[0].count += 1
        marks[at] = "+"
        fresh.insert(at)
      case .delete: counts[1].count += 1
      case .move(_, let to, let old, let new):
        counts[2].count += 1
        marks[to] = ">"
        changed[to] = Self.places(old, new)
      case .update(let at, let old, let new):
        counts[3].count += 1
        marks[at] = "~"
        changed[at] = Self.places(old, new)
      }
    }
    let said = counts.filter { $0.count > 0 }.map { "\($0.sign)\($0.count)" }.joined(separator: " ")
    news = [said, Self.time(.now), writer].filter { !$0.isEmpty }.joined(separator: " · ")
  }

  mutating func fade() { (fresh, changed) = ([], [:]) }

  private static func places(_ old: Record, _ new: Record) -> Set<Int> {
    Set(new.values.indices.filter { new[$0] != old[$0] })
  }

  /// The local time of day, to the millisecond.
  private static func time(_ date: Date) -> String {
    let parts = Calendar.current.dateComponents([.hour, .minute, .second, .nanosecond], from: date)
    return String(
      format: "%02d:%02d:%02d.%03d", parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0,
      (parts.nanosecond ?? 0) / 1_000_000)
  }

  // MARK: Drawing

  /// `2 rows · +1 ~1 · 14:03:22.118 · another process`.
  var status: String {
    let rows = "\(count) \(count == 1 ? "row" : "rows")"
    if let error { return "\(rows) · error: \(error) · the answer stays what it was" }
    return news.isEmpty ? rows : "\(rows) · \(news)"
  }

  /// The header, and so many rows from `first` on.
  func lines(from first: Int = 0, rows height: Int, width: Int, _ paint: Paint) -> [String] {
    let shown = rows.dropFirst(first).prefix(max(0, height))
    let cells = shown.map { $0.map(ShownCell.init) }
    let numbers = columns.indices.filter { column in
      cells.contains { $0[column].isNumber } && cells.allSatisfy { $0[column].isNumber || $0[column].isNull }
    }
    let texts = zip(shown.indices, cells).map { [marks[$0] ?? " "] + $1.map(\.text) }
    let table = Table([""] + columns, alignRight: Set(numbers.map { $0 + 1 }), rows: texts)
    return table.lines(width: width) { line, column, text in
      guard line > 0 else { return paint(text, .bold) }
      let row = first + line - 1
      if fresh.contains(row) { return paint(text, .green) }
      if changed[row]?.contains(column - 1) == true { return paint(text, .yellow) }
      return column > 0 && cells[line - 1][column - 1].isNull ? paint(text, .dim) : text
    }
  }
}
