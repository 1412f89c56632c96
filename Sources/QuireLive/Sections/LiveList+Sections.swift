import QuireRow

/// A list whose rows are shown in sections, by the first value of their order.
extension LiveList {
  /// Where a row stands among those shown, and in which section.
  struct Standing {
    let section: Value
    let at: Int
  }

  /// The section of a row that the window holds.
  func section(of key: Int64) -> Value { window.sort(of: key)?.first ?? .null }

  /// Where those of the rows stand that are shown, as of the window.
  func standings(of keys: some Sequence<Int64>) -> [Int64: Standing] {
    let count = shownCount
    var result: [Int64: Standing] = [:]
    for key in keys {
      guard let at = window.position(of: key).map({ $0 - offset }), at >= 0, at < count else { continue }
      result[key] = Standing(section: section(of: key), at: at)
    }
    return result
  }

  /// A row that keeps its place among the others but is in another section now has moved.
  static func addMoves(
    from before: [Int64: Standing], to after: [Int64: Standing], into difference: inout KeyDifference
  ) {
    if before.isEmpty { return }
    let moved = Set(difference.moves.map(\.key))
    let moves = before.compactMap { key, old -> (key: Int64, from: Int, to: Int)? in
      guard !moved.contains(key), let new = after[key], new.section.compare(to: old.section) != 0 else { return nil }
      return (key, old.at, new.at)
    }
    if moves.isEmpty { return }
    difference.moves = (difference.moves + moves).sorted { $0.to < $1.to }
  }
}
