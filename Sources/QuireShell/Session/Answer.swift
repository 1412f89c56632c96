public import QuireRow

/// The rows an input was answered with, kept in memory.
public struct Answer: Sendable {
  public var columns: [String]
  public var rows: [[SQLValue]]
  /// False if there are more rows than were kept.
  public var isWhole = true
  /// The number of rows without the limit, if it was determined.
  public var total: Total?
  /// What was run, with the values in it.
  public var sql: String
  public var elapsed: Duration
  /// The model its rows are whole rows of.
  public var model: String?
  /// The table that all its columns are columns of, if that is known.
  var table: String?

  public struct Total: Hashable, Sendable {
    public let count: Int
    /// Whether there may be more than that: it was counted no further.
    public let isLeast: Bool
  }
}

extension Answer {
  /// `3 of 500 · 0.8 ms · SELECT …`
  public func footer(_ settings: ShellSettings) -> String {
    var parts: [String] = []
    if let total, total.count > rows.count {
      parts.append("\(rows.count.grouped) of \(total.isLeast ? "more than " : "")\(total.count.grouped)")
    } else if isWhole {
      parts.append("\(rows.count.grouped) \(rows.count == 1 ? "row" : "rows")")
    } else {
      parts.append("the first \(rows.count.grouped) rows; there are more")
    }
    if settings.showsTime { parts.append(elapsed.spoken) }
    if settings.showsSQL, model != nil { parts.append(sql) }
    return parts.joined(separator: " · ")
  }
}

/// One row with what it leads to.
public struct Card: Sendable {
  public let title: String
  public let lines: [Line]
  public var elapsed: Duration

  public struct Line: Sendable {
    public let name: String
    public let value: SQLValue
    /// Shown beside the value: the name of the row that a key leads to, or `→` after a number of rows.
    public let note: String?
  }
}

/// What a session answers to one statement.
public enum Reply: Sendable {
  case answer(Answer)
  case card(Card)
  /// Rows written to the requested output, and their number; `isCut` if a limit left some out.
  case streamed(rows: Int, isCut: Bool, elapsed: Duration)
  /// A write: `2 001 rows changed · 6 ms · undo to take it back`, and the number of rows; nil of what writes no rows.
  case written(String, rows: Int? = nil)
  /// A command's answer.
  case lines([String])
  /// An answer that follows the file, to be opened by ``LiveAnswers``.
  case live(LivePlan)
  /// Live answers that are to be ended: their numbers, or nil for all.
  case endLive([Int]?)
  case listLive
  case listHistory
  /// Another file is open now: its banner.
  case opened([String])
  case quit

  /// Whether its rows are with the reader already: what is written from then on does not make them doubtful.
  var isDelivered: Bool {
    if case .streamed = self { true } else { false }
  }
}

extension Int {
  /// With thin groups of three: `2 005`.
  package var grouped: String {
    let digits = Array(String(magnitude))
    var result = self < 0 ? "-" : ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { result += " " }
      result.append(digit)
    }
    return result
  }
}

extension Duration {
  /// `0.8 ms`, `12 ms`, `3.2 s`.
  public var spoken: String {
    let (seconds, attoseconds) = components
    let milliseconds = Double(seconds) * 1000 + Double(attoseconds) / 1e15
    func text(_ value: Double, _ unit: String) -> String {
      value < 10 ? "\((value * 10).rounded() / 10) \(unit)" : "\(Int(value.rounded())) \(unit)"
    }
    return milliseconds < 1000 ? text(milliseconds, "ms") : text(milliseconds / 1000, "s")
  }
}
