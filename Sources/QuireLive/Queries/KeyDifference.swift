/// Which keys were removed, inserted, moved or updated in place between two orders. All four by ascending index.
struct KeyDifference {
  /// By index before the change.
  var deletes: [(key: Int64, at: Int)] = []
  /// By index after the change, as are the following.
  var inserts: [(key: Int64, at: Int)] = []
  var moves: [(key: Int64, from: Int, to: Int)] = []
  /// Keys that kept their position relative to the others and whose rows changed.
  var updates: [(key: Int64, at: Int)] = []

  var isEmpty: Bool { !changesList && updates.isEmpty }
  /// Whether the list itself changes: its keys or their order.
  var changesList: Bool { !deletes.isEmpty || !inserts.isEmpty || !moves.isEmpty }

  /// The difference of two ranges of an ordered result that both begin at index `base`.
  ///
  /// - Parameter touched: Keys that may have been inserted, removed or moved. All others keep their order, and both
  ///   ranges contain a run of that order, so others can leave or enter only at the ends. No touched key moves
  ///   unnecessarily: those that keep their order among each other and between the others stay.
  /// - Complexity: O(n + t log t) for n keys between the common ends, t of them touched; untouched keys are not hashed.
  static func between(
    _ old: ArraySlice<Int64>, _ new: ArraySlice<Int64>, touched: Set<Int64>, base: Int = 0
  ) -> KeyDifference {
    var (old, new) = (old, new)
    var start = base
    while let a = old.first, a == new.first {
      old.removeFirst()
      new.removeFirst()
      start += 1
    }
    while let a = old.last, a == new.last {
      old.removeLast()
      new.removeLast()
    }
    if old.isEmpty, new.isEmpty { return KeyDifference() }
    if touched.count == 1, let shift = shift(old, new, touched, start) { return shift }
    return Comparison(Side(old, touched, start), Side(new, touched, start)).difference
  }
}

extension KeyDifference {
  /// The common effect of one row on a limited result: it is removed and the next one moves up at the end, or it is
  /// inserted and the last one is pushed out. Nil for any other change.
  private static func shift(
    _ old: ArraySlice<Int64>, _ new: ArraySlice<Int64>, _ touched: Set<Int64>, _ start: Int
  ) -> KeyDifference? {
    guard old.count == new.count, let (firstOld, lastOld) = ends(old), let (firstNew, lastNew) = ends(new) else {
      return nil
    }
    var result = KeyDifference()
    if touched.contains(firstOld), lastNew != firstOld, old.dropFirst().elementsEqual(new.dropLast()) {
      result.deletes = [(firstOld, start)]
      result.inserts = [(lastNew, start + new.count - 1)]
      return result
    }
    if touched.contains(firstNew), lastOld != firstNew, new.dropFirst().elementsEqual(old.dropLast()) {
      result.deletes = [(lastOld, start + old.count - 1)]
      result.inserts = [(firstNew, start)]
      return result
    }
    return nil
  }

  private static func ends(_ keys: ArraySlice<Int64>) -> (first: Int64, last: Int64)? {
    guard let first = keys.first, let last = keys.last else { return nil }
    return (first, last)
  }
}

/// One side of a comparison: the touched keys, and the run of the others.
private struct Side {
  /// Untouched keys with their index, in order.
  var others: [(key: Int64, at: Int)] = []
  /// Touched keys with their index, in order, and the number of others before each.
  var touched: [(key: Int64, at: Int, after: Int)] = []

  init(_ keys: ArraySlice<Int64>, _ touched: Set<Int64>, _ start: Int) {
    // For a few keys a linear search is faster than hashing every key.
    let few = touched.count <= 8 ? Array(touched) : []
    others.reserveCapacity(keys.count)
    for (offset, key) in keys.enumerated() {
      if few.isEmpty ? touched.contains(key) : few.contains(key) {
        self.touched.append((key, start + offset, others.count))
      } else {
        others.append((key, start + offset))
      }
    }
  }
}

private struct Comparison {
  let old: Side
  let new: Side
  /// The others that are on both sides, as indices in `others`.
  private var kept: (old: Range<Int>, new: Range<Int>)

  init(_ old: Side, _ new: Side) {
    self.old = old
    self.new = new
    kept = (0..<0, 0..<0)
    guard let firstOld = old.others.first?.key, let firstNew = new.others.first?.key else { return }
    let (from, to): (Int, Int)
    if let place = old.others.firstIndex(where: { $0.key == firstNew }) {
      (from, to) = (place, 0)
    } else if let place = new.others.firstIndex(where: { $0.key == firstOld }) {
      (from, to) = (0, place)
    } else {
      return
    }
    let count = min(old.others.count - from, new.others.count - to)
    kept = (from..<from + count, to..<to + count)
  }

  var difference: KeyDifference {
    var result = KeyDifference()
    let before = Dictionary(old.touched.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    let after = Set(new.touched.map(\.key))
    for (place, entry) in old.others.enumerated() where !kept.old.contains(place) { result.deletes.append(entry) }
    for entry in old.touched where !after.contains(entry.key) { result.deletes.append((entry.key, entry.at)) }
    for (place, entry) in new.others.enumerated() where !kept.new.contains(place) { result.inserts.append(entry) }
    var both: [(key: Int64, from: Int, to: Int, stays: Bool)] = []
    for entry in new.touched {
      guard let was = before[entry.key] else {
        result.inserts.append((entry.key, entry.at))
        continue
      }
      both.append((entry.key, was.at, entry.at, rank(was.after, kept.old) == rank(entry.after, kept.new)))
    }
    let candidates = both.filter(\.stays)
    let staying = Set(longestIncrease(candidates.map(\.from)).map { candidates[$0].key })
    result.moves = both.filter { !staying.contains($0.key) }.map { ($0.key, $0.from, $0.to) }
    result.deletes.sort { $0.at < $1.at }
    result.inserts.sort { $0.at < $1.at }
    return result
  }

  /// The number of kept keys before a key that has `count` of its side's others before it.
  private func rank(_ count: Int, _ kept: Range<Int>) -> Int {
    min(max(count, kept.lowerBound), kept.upperBound) - kept.lowerBound
  }
}

/// The positions of a longest strictly increasing subsequence. O(n log n).
func longestIncrease(_ values: [Int]) -> [Int] {
  var ends: [Int] = []  // by length, the position of the least last value
  var previous = Array(repeating: -1, count: values.count)
  for (place, value) in values.enumerated() {
    var low = 0
    var high = ends.count
    while low < high {
      let middle = (low + high) / 2
      if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
    }
    if low > 0 { previous[place] = ends[low - 1] }
    if low == ends.count { ends.append(place) } else { ends[low] = place }
  }
  var result: [Int] = []
  var place = ends.last ?? -1
  while place >= 0 {
    result.append(place)
    place = previous[place]
  }
  return result.reversed()
}
