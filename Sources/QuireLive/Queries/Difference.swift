/// What one move changed in a live result, by index.
///
/// Indices of what leaves (`delete`, a move's `from`) count in the result before, of what comes or stays (`insert`, a
/// move's `to`, `update`) in the result after. Taking out all that leaves, highest index first, and then putting in all
/// that comes, lowest first, turns the one into the other.
public struct Difference<Row>: Sequence {
  /// The commit the result stands at now.
  public let commit: Int64
  public let changes: [Change]

  public enum Change {
    case insert(at: Int, new: Row)
    case delete(at: Int, old: Row)
    case move(from: Int, to: Int, old: Row, new: Row)
    case update(at: Int, old: Row, new: Row)
  }

  public func makeIterator() -> IndexingIterator<[Change]> { changes.makeIterator() }
}

/// Where keys left, came, moved or stayed changed, between two orders of them.
struct KeyDifference: Equatable {
  var deletes: [(key: Int64, at: Int)] = []
  var inserts: [(key: Int64, at: Int)] = []
  var moves: [(key: Int64, from: Int, to: Int)] = []
  var updates: [(key: Int64, at: Int)] = []

  var isEmpty: Bool { deletes.isEmpty && inserts.isEmpty && moves.isEmpty && updates.isEmpty }
  /// Whether the list itself is another: which rows, in which order.
  var changesList: Bool { !deletes.isEmpty || !inserts.isEmpty || !moves.isEmpty }

  /// - Parameter touched: keys whose rows changed. Only they can move; all others keep their order.
  static func between(_ old: [Int64], _ new: [Int64], touched: Set<Int64>) -> KeyDifference {
    var result = KeyDifference()
    // The ends are alike in nearly every step: only what lies between is looked at.
    var start = 0
    while start < old.count, start < new.count, old[start] == new[start] { start += 1 }
    var oldEnd = old.count
    var newEnd = new.count
    while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1] {
      oldEnd -= 1
      newEnd -= 1
    }
    let before = Dictionary(zip(old[start..<oldEnd], start..<oldEnd), uniquingKeysWith: { first, _ in first })
    let after = Dictionary(zip(new[start..<newEnd], start..<newEnd), uniquingKeysWith: { first, _ in first })
    for index in start..<oldEnd where after[old[index]] == nil { result.deletes.append((old[index], index)) }
    for index in start..<newEnd where before[new[index]] == nil { result.inserts.append((new[index], index)) }
    // Of the keys in both, the touched ones may stand elsewhere among the others.
    let oldRest = old[start..<oldEnd].filter { after[$0] != nil }
    let newRest = new[start..<newEnd].filter { before[$0] != nil }
    var moved: Set<Int64> = []
    if oldRest != newRest {
      for key in newRest where touched.contains(key) {
        guard let from = before[key], let to = after[key] else { continue }
        moved.insert(key)
        result.moves.append((key, from, to))
      }
    }
    if !touched.isEmpty {
      let middle = touched.count < new.count ? touched : Set(new).intersection(touched)
      for key in middle where !moved.contains(key) && (before[key] != nil || after[key] == nil) {
        let at = after[key] ?? outside(key, new, start, newEnd)
        if let at, before[key] != nil || after[key] == nil { result.updates.append((key, at)) }
      }
      result.updates.sort { $0.at < $1.at }
    }
    return result
  }

  /// The index of a key in the parts that are alike at both ends.
  private static func outside(_ key: Int64, _ new: [Int64], _ start: Int, _ end: Int) -> Int? {
    new[..<start].firstIndex(of: key) ?? new[end...].firstIndex(of: key)
  }

  static func == (a: KeyDifference, b: KeyDifference) -> Bool {
    a.deletes.elementsEqual(b.deletes, by: ==) && a.inserts.elementsEqual(b.inserts, by: ==)
      && a.moves.elementsEqual(b.moves, by: ==) && a.updates.elementsEqual(b.updates, by: ==)
  }
}
