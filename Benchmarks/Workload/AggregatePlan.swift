/// A one-row write of the aggregate cases, at any row: what it changes counts in the result or not, by halves.
struct AggregatePlan {
  private var random = SplitMix(seed: 13)
  private var count = 0
  private let rows: Int

  init(rows: Int) { self.rows = rows }

  enum Write {
    case rating(Double)
    case isAvailable
    case year(Int)
  }

  mutating func next(movesGroups: Bool) -> (id: Int64, write: Write) {
    count += 1
    let id = Int64.random(in: 1...Int64(rows), using: &random)
    if count.isMultiple(of: 2) { return (id, .rating(1 + Double(count) / 1_048_576)) }
    return (id, movesGroups ? .year(Int.random(in: 1900...2026, using: &random)) : .isAvailable)
  }
}

extension Checksum {
  mutating func add(aggregate year: Int, _ count: Int, _ average: Double) {
    add(Int64(year))
    add(Int64(count))
    add(Int64((average * 1e6).rounded()))
  }
}
