/// The first rows of a sorted result, and as many spare ones behind them.
///
/// Rows are in the list's order and without gaps: between the first and the last held row nothing is missing. Behind
/// the last one there may be more, unless `isExhausted`.
struct SortedWindow {
  let limit: Int
  private(set) var rows: [BookRow] = []
  private(set) var isExhausted = false

  init(limit: Int) { self.limit = limit }

  /// What a change did to the rows shown: the first `limit`.
  enum Step: Equatable, Sendable {
    case removed(at: Int)
    case inserted(at: Int)
    case updated(at: Int)
  }

  var shown: ArraySlice<BookRow> { rows.prefix(limit) }

  /// Whether rows are missing at the end that the table may have.
  var isShort: Bool { rows.count < limit && !isExhausted }

  /// Takes up a row's change; a side that is nil is not in the list.
  mutating func apply(old: BookRow?, new: BookRow?, _ tell: (Step) -> Void) {
    if let old, let new, old.title == new.title {
      guard let index = index(of: old) else { return }
      rows[index] = new
      if index < limit { tell(.updated(at: index)) }
      return
    }
    if let old, let index = index(of: old) {
      rows.remove(at: index)
      if index < limit { tell(.removed(at: index)) }
    }
    if let new {
      let index = firstIndex(notBefore: new)
      // Behind the last held row there may be others that come first.
      guard index < rows.count || isExhausted else { return }
      rows.insert(new, at: index)
      if index < limit { tell(.inserted(at: index)) }
      if rows.count > 2 * limit {
        rows.removeLast()
        isExhausted = false
      }
    }
  }

  /// Adds what the table has behind the last row.
  /// - Parameter behind: Gives the rows behind a title and key, as many as it is asked for.
  @MainActor mutating func refill(from behind: RawStatement, _ tell: (Step) -> Void) throws {
    let (last, before) = (rows.last, shown.count)
    let asked = 2 * limit - rows.count
    behind.bind(2, last?.id ?? 0)
    behind.bind(3, Int64(asked))
    let more = try behind.binding(1, last?.title ?? "") {
      var more: [BookRow] = []
      while try behind.step() { more.append(behind.book) }
      behind.reset()
      return more
    }
    rows += more
    isExhausted = more.count < asked
    for index in before..<shown.count { tell(.inserted(at: index)) }
  }

  private func index(of row: BookRow) -> Int? {
    let index = firstIndex(notBefore: row)
    return index < rows.count && rows[index].id == row.id ? index : nil
  }

  private func firstIndex(notBefore row: BookRow) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if BookRow.precedes(rows[middle], row) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
