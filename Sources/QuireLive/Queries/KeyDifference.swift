/// Where keys left, came, moved or stayed changed, between two orders of them. All four by ascending index.
struct KeyDifference {
  /// By index before.
  var deletes: [(key: Int64, at: Int)] = []
  /// By index after, as all that follows.
  var inserts: [(key: Int64, at: Int)] = []
  var moves: [(key: Int64, from: Int, to: Int)] = []
  /// Keys that kept their place among the others and whose rows changed.
  var updates: [(key: Int64, at: Int)] = []

  var isEmpty: Bool { !changesList && updates.isEmpty }
  /// Whether the list itself is another: which rows, in which order.
  var changesList: Bool { !deletes.isEmpty || !inserts.isEmpty || !moves.isEmpty }

  /// The difference of two stretches of an ordered result that begin at index `base` in it.
  ///
  /// - Parameter touched: Keys that may have come, gone or moved. All others keep their order, and both stretches hold a
  ///   run of that order: so they can only leave or enter at the ends. No touched key moves in vain: those that keep
  ///   their order among themselves and between the others stay.
  /// - Complexity: O(n + t log t) for n keys between the common ends, t of them touched; without hashing those that
  ///   are not.
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
  /// What one row does to a limited result: it leaves and the next moves up at the end, or it comes and the last is
  /// pushed out. Nil where it is anything else.
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

/// One side of a comparison: what was touched, and the run of what was not.
private struct Side {
  /// Untouched keys with their index, in order.
  var others: [(key: Int64, at: Int)] = []
  /// Touched keys with their index, in order, and how many of the others stand before them.
  var touched: [(key: Int64, at: Int, after: Int)] = []

  init(_ keys: ArraySlice<Int64>, _ touched: Set<Int64>, _ start: Int) {
    // A few are found sooner by looking at each than by hashing every key.
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
  /// The others that are on both sides, as places in `others`.
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

  /// How many of the kept stand before what has `count` of its side's others before it.
  private func rank(_ count: Int, _ kept: Range<Int>) -> Int {
    min(max(count, kept.lowerBound), kept.upperBound) - kept.lowerBound
  }
}

/// Places of a longest strictly increasing subsequence. O(n log n).
func longestIncrease(_ values: [Int]) -> [Int] {
  var ends: [Int] = []  // for each length the place of the least value such a subsequence can end with
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
