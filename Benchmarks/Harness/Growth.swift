/// How figures grew from the smallest to the largest table: what an observer adds to the raw write of the same size.
@MainActor struct Growth {
  let benchCase: BenchCase
  let from: Int
  let to: Int
  /// By variant: 1 is no growth.
  let factors: [(variant: String, factor: Double)]

  /// Nil for a case without a raw write, or played at one size only.
  init?(_ outcomes: [Outcome]) {
    let outcomes = outcomes.sorted { $0.rows < $1.rows }
    guard let small = outcomes.first, let large = outcomes.last, small.rows < large.rows,
      let rawSmall = small.figures.first(where: \.isRawWrite), let rawLarge = large.figures.first(where: \.isRawWrite)
    else { return nil }
    benchCase = small.benchCase
    (from, to) = (small.rows, large.rows)
    factors = zip(small.figures, large.figures).compactMap { small, large in
      small.isRawWrite ? nil : (small.variant, (large.value - rawLarge.value) / (small.value - rawSmall.value))
    }
  }
}

extension Figure {
  /// Whether it is the write alone, with nobody to hear of it.
  fileprivate var isRawWrite: Bool { variant == "raw-write" }
}
