/// The edits of a step to the shown values: removals, insertions and replacements.
struct ValueEdits<Row> {
  /// Indices before the step of removed and moved values, ascending.
  private let leaving: [Int]
  /// Inserted and moved values, by index after the step, ascending.
  private let coming: [(at: Int, row: Row)]
  /// Values replaced in place, by index after the step.
  var updates: [(at: Int, row: Row)] = []

  /// - Parameter arrived: The value of a key that was inserted, or that moved from an old index.
  init(_ difference: KeyDifference, arrived: (_ key: Int64, _ from: Int?) throws -> Row) rethrows {
    let deleted = difference.deletes.map(\.at)
    let inserted = try difference.inserts.map { (at: $0.at, row: try arrived($0.key, nil)) }
    if difference.moves.isEmpty {
      (leaving, coming) = (deleted, inserted)
    } else {
      leaving = (deleted + difference.moves.map(\.from)).sorted()
      let moved = try difference.moves.map { (at: $0.to, row: try arrived($0.key, $0.from)) }
      coming = (inserted + moved).sorted { $0.at < $1.at }
    }
  }

  /// The index after the step of an unmoved value.
  func place(after from: Int) -> Int {
    let rank = from - below(leaving.count) { leaving[$0] < from }
    // Before the insertion number n there are n other insertions: all other values before it are unmoved ones.
    return rank + below(coming.count) { coming[$0].at - $0 <= rank }
  }

  /// In place if there are few edits; otherwise in one pass, because each single edit would shift everything behind it.
  func apply(to values: inout [Row]) {
    if leaving.count + coming.count <= 32 {
      for at in leaving.reversed() { values.remove(at: at) }
      for (at, row) in coming { values.insert(row, at: at) }
    } else {
      values = merged(values)
    }
    for (at, row) in updates { values[at] = row }
  }

  private func merged(_ values: [Row]) -> [Row] {
    var result: [Row] = []
    result.reserveCapacity(values.count - leaving.count + coming.count)
    var (gone, came) = (0, 0)
    for (at, row) in values.enumerated() {
      if gone < leaving.count, leaving[gone] == at {
        gone += 1
        continue
      }
      while came < coming.count, coming[came].at == result.count {
        result.append(coming[came].row)
        came += 1
      }
      result.append(row)
    }
    for (_, row) in coming[came...] { result.append(row) }
    return result
  }

  /// The length of the leading range of indices that meet the condition.
  private func below(_ count: Int, _ holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
