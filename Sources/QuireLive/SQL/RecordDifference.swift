import QuireRow
import QuireSQLite

/// The changes of a query's rows, found by comparing two results.
///
/// Two rows are the same row if their key columns are equal; without key columns, if all their values are. Of several
/// rows with equal keys the first matches the first, and so on. Without key columns, rows that replaced equally many
/// others between the same neighbors are reported as updates.
struct RecordDifference {
  private let old: [Record]
  private let new: [Record]
  /// The positions of the key columns in both results; nil for all columns.
  private let keys: (old: [Int], new: [Int])?
  /// The ranges that remain without the common rows at both ends.
  private let oldRange: Range<Int>
  private let newRange: Range<Int>

  private init(_ old: [Record], _ new: [Record], _ keys: (old: [Int], new: [Int])?) {
    self.old = old
    self.new = new
    self.keys = keys
    let count = min(old.count, new.count)
    var start = 0
    while start < count, old[start] == new[start] { start += 1 }
    var end = 0
    while end < count - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
    oldRange = start..<old.count - end
    newRange = start..<new.count - end
  }

  /// - Complexity: O(n log n) for n rows between the first and the last that differ.
  static func changes(from old: [Record], to new: [Record], keys: (old: [Int], new: [Int])?)
    -> [Difference<Record>.Change]
  {
    let difference = RecordDifference(old, new, keys)
    if difference.oldRange.isEmpty, difference.newRange.isEmpty { return [] }
    return difference.changes
  }

  private var changes: [Difference<Record>.Change] {
    let (before, after) = numbers
    let start = oldRange.lowerBound
    var difference = KeyDifference.between(before[...], after[...], touched: Set(before).union(after), base: start)
    var updates: [(from: Int, to: Int)] = []
    if keys == nil { updates = pairs(&difference) }
    var changes: [Difference<Record>.Change] = difference.deletes.map { .delete(at: $0.at, old: old[$0.at]) }
    for (_, from, to) in difference.moves { changes.append(.move(from: from, to: to, old: old[from], new: new[to])) }
    for (_, at) in difference.inserts { changes.append(.insert(at: at, new: new[at])) }
    if keys != nil {
      let moved = Set(difference.moves.map(\.key))
      let places = Dictionary(zip(before, oldRange), uniquingKeysWith: { first, _ in first })
      for (key, to) in zip(after, newRange) where !moved.contains(key) {
        if let from = places[key], old[from] != new[to] { updates.append((from, to)) }
      }
    }
    for (from, to) in updates { changes.append(.update(at: to, old: old[from], new: new[to])) }
    return changes
  }

  /// A number for each row of the two ranges: equal for the same row.
  private var numbers: (old: [Int64], new: [Int64]) {
    var known: [[Value]: [Int64]] = [:]
    var before: [Int64] = []
    for row in old[oldRange] {
      let number = Int64(before.count)
      before.append(number)
      known[identity(row, keys?.old), default: []].append(number)
    }
    var next = Int64(before.count)
    var taken: [[Value]: Int] = [:]
    let after = new[newRange].map { row -> Int64 in
      let identity = identity(row, keys?.new)
      let place = taken[identity, default: 0]
      taken[identity] = place + 1
      if let numbers = known[identity], place < numbers.count { return numbers[place] }
      next += 1
      return next
    }
    return (before, after)
  }

  private func identity(_ row: Record, _ places: [Int]?) -> [Value] {
    places.map { $0.map { row.values[$0] } } ?? row.values
  }

  /// Removes from the difference the rows that left and came between the same remaining rows, if their numbers are
  /// equal.
  private func pairs(_ difference: inout KeyDifference) -> [(from: Int, to: Int)] {
    let leaving = Set(difference.deletes.map(\.at) + difference.moves.map(\.from))
    let coming = Set(difference.inserts.map(\.at) + difference.moves.map(\.to))
    /// By row: how many remaining rows are before it.
    func gaps(_ places: [Int], _ range: Range<Int>, _ passing: Set<Int>) -> [Int: [Int]] {
      let wanted = Set(places)
      var gaps: [Int: [Int]] = [:]
      var staying = 0
      for place in range {
        if !passing.contains(place) { staying += 1 }
        if wanted.contains(place) { gaps[staying, default: []].append(place) }
      }
      return gaps
    }
    let gone = gaps(difference.deletes.map(\.at), oldRange, leaving)
    let come = gaps(difference.inserts.map(\.at), newRange, coming)
    let pairs = gone.flatMap { gap, places in
      come[gap].map { $0.count == places.count ? Array(zip(places, $0)) : [] } ?? []
    }.sorted { $0.1 < $1.1 }
    let (from, to) = (Set(pairs.map(\.0)), Set(pairs.map(\.1)))
    difference.deletes.removeAll { from.contains($0.at) }
    difference.inserts.removeAll { to.contains($0.at) }
    return pairs.map { (from: $0.0, to: $0.1) }
  }
}
