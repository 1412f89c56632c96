/// Which rows are observed and which are written in the fan-out cases.
///
/// Every second row is observed, ten thousand of them or half the table; those written are drawn from them, or from the
/// rows between them.
struct FanOutPlan {
  static let count = 500
  private static let most = 10_000

  let observed: [Int64]
  let written: [Int64]

  init(rows: Int, hits: Bool) {
    let count = min(Self.most, rows / 2)
    observed = (1...count).map { Int64(2 * $0) }
    var random = SplitMix(seed: 19)
    written = observed.shuffled(using: &random).prefix(Self.count).map { hits ? $0 : $0 - 1 }
  }

  /// The rating a write sets: never the one that is there.
  func rating(_ place: Int, round: Int) -> Double { Double(place % 97) + Double(round + 1) / 128 }
}
