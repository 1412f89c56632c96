import QuireSQLite

/// What the writes of a script say, one after the other: the first ones each for itself, the rest as one sum. A dump is a
/// million statements of one row.
package final class RepeatedWrites: Sendable {
  private struct Counts {
    var statements = 0
    /// Of the statements that are not shown.
    var rows = 0
  }

  private let counts = Locked(Counts())
  private static let shown = 20

  package init() {}

  /// - Returns: What is to be shown now.
  package func replies(to reply: Reply) -> [Reply] {
    guard case .written(_, let rows?) = reply else { return rest() + [reply] }
    return counts.withLock { counts in
      counts.statements += 1
      if counts.statements <= Self.shown { return [reply] }
      counts.rows += rows
      return []
    }
  }

  /// The sum of what was not shown, at the end or where something else follows.
  package func rest() -> [Reply] {
    let counts = counts.withLock { counts in
      defer { counts = Counts() }
      return counts
    }
    let more = counts.statements - Self.shown
    if more <= 0 { return [] }
    let statements = "\(more.grouped) more \(more == 1 ? "statement" : "statements")"
    return [
      .written("… \(statements): \(counts.rows.grouped) \(counts.rows == 1 ? "row" : "rows")", rows: counts.rows)
    ]
  }
}
