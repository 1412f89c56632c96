/// A one-row write for the live cases. Each changes the value it sets: none is a write of what is there already.
enum BookWrite: Equatable, Sendable {
  case title(String)
  case rating(Double)
  case isAvailable(Bool)
}

/// Chooses the writes of the live cases: half aim at rows of the list of the moment, half at any row of the table.
///
/// Of those aimed at the list, two in five move or change a row, two take one out, and one puts back a row taken out
/// before: so the list runs short about once in a thousand writes. The choice depends on the seed and on the list
/// alone, so that variants whose lists are equal are given the same writes.
struct WritePlan {
  private var random: SplitMix
  private var taken: [Int64] = []
  private var count = 0
  private let rows: Int

  init(rows: Int, seed: UInt64 = 11) {
    self.rows = rows
    random = SplitMix(seed: seed)
  }

  /// The next write, given the list as it is now: its length, and a row's key and title by position.
  mutating func next(count listed: Int, row: (Int) -> (id: Int64, title: String)) -> (id: Int64, write: BookWrite) {
    count += 1
    guard count.isMultiple(of: 2), listed > 0 else {
      let id = Int64.random(in: 1...Int64(rows), using: &random)
      return (id, Bool.random(using: &random) ? .rating(newRating()) : .title(Workload.title(&random)))
    }
    let aim = row(Int.random(in: 0..<listed, using: &random))
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return (aim.id, .rating(newRating()))
    case 1: return (aim.id, .title(Workload.title(near: aim.title, &random)))
    case 2 where !taken.isEmpty: return (taken.removeLast(), .isAvailable(true))
    default:
      taken.append(aim.id)
      return (aim.id, .isAvailable(false))
    }
  }

  /// A rating no row has.
  private func newRating() -> Double { 1 + Double(count) / 1_048_576 }
}
