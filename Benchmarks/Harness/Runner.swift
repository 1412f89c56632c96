import Foundation
import Synchronization

/// Set by Ctrl-C; a run stops after the round it is in, so that its files are deleted.
let wasInterrupted = Atomic<Bool>(false)

/// What one variant reached.
struct Figure {
  let variant: String
  let isQuire: Bool
  /// Nanoseconds of process CPU time (or bytes) for one operation: the median of the rounds.
  let value: Double
  /// Wall clock, as the median of the rounds.
  let wall: Double
  /// Of every single operation of all rounds; not a number where operations are not sampled.
  let p99: Double
  /// How many operations a second; not a number but for a load.
  let perSecond: Double
  /// For one operation; nil where operations are not sampled, or done in several isolations.
  let counts: (queries: Double, rowsStepped: Double, woken: Double)?
}

/// The figures of one case at one number of rows, in the order of its variants.
@MainActor struct Outcome {
  let benchCase: BenchCase
  let rows: Int
  let figures: [Figure]

  func ratio(_ figure: Figure) -> Double {
    guard let baseline = figures.first(where: { $0.variant == benchCase.baseline }) else { return .nan }
    return figure.value / baseline.value
  }
}

/// Why a run's figures would be worth nothing.
enum RunError: Error, CustomStringConvertible {
  case differs(case: String, variant: String, from: String, round: Int)
  case interrupted

  var description: String {
    switch self {
    case .differs(let name, let variant, let other, let round):
      "\(name): in round \(round) \(variant) came to another result than \(other), so one of them is wrong"
    case .interrupted: "interrupted"
    }
  }
}

/// Plays one case: all variants in every round, each time beginning with the next one. Where operations are sampled a
/// last round counts what statements they run, off the clock.
@MainActor func run(_ benchCase: BenchCase, on stage: Stage, rounds: Int, hops: Bool) async throws -> Outcome {
  Progress.begin("\(benchCase.name) · \(grouped(stage.rows)) rows")
  let entries = benchCase.variants.filter { hops || !$0.isHop }
  var variants: [any Variant] = []
  for entry in entries {
    Connections.variant = variants.count
    variants.append(try await entry.make(stage))
  }
  var meters = Array(repeating: [Meter](), count: variants.count)
  var counting = Array(repeating: Meter?.none, count: variants.count)

  for round in 0...(benchCase.unit == .latency ? rounds + 1 : rounds) {
    let isCounting = round > rounds
    Progress.update(round == 0 ? "warm-up" : isCounting ? "counting" : "round \(round) of \(rounds)")
    var first: (checksum: Checksum, name: String)?
    for turn in variants.indices {
      let index = (turn + round) % variants.count
      Connections.variant = index
      var meter = Meter()
      if isCounting, !entries[index].isHop { meter = Meter { Connections.counts(of: index) } }
      let checksum = try await variants[index].round(round, &meter)
      // Lets what a round left to be done later be done before the next one is measured.
      await Task.yield()
      let name = entries[index].name
      if let first, first.checksum != checksum {
        throw RunError.differs(case: benchCase.name, variant: name, from: first.name, round: round)
      }
      first = first ?? (checksum, name)
      if isCounting { counting[index] = meter } else if round > 0 { meters[index].append(meter) }
      if wasInterrupted.load(ordering: .relaxed) { throw RunError.interrupted }
    }
  }
  for variant in variants { try await variant.close() }
  Progress.wipe()

  let figures = entries.indices.map { index in
    Figure(
      variant: entries[index].name, isQuire: entries[index].isQuire,
      value: median(meters[index].map(\.figure.cpu)), wall: median(meters[index].map(\.figure.wall)),
      p99: percentile(0.99, of: meters[index].flatMap { $0.waits.isEmpty ? $0.samples : $0.waits }),
      perSecond: benchCase.unit == .load ? median(meters[index].map(\.perSecond)) : .nan,
      counts: entries[index].isHop ? nil : counting[index]?.countsPerOperation)
  }
  return Outcome(benchCase: benchCase, rows: stage.rows, figures: figures)
}
