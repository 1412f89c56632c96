import Foundation
import Observation
import Quire
import Testing

@Model final class Author {
  var name: String
  var rank: Int?
  @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
  init(_ name: String, rank: Int? = nil) {
    self.name = name
    self.rank = rank
  }
}

@Model final class Book {
  var title: String
  var year: Int?
  var price: Double = 0
  var isIn = true
  var note: String?
  var author: Author?
  init(_ title: String, year: Int? = nil, price: Double = 0, isIn: Bool = true, author: Author? = nil) {
    self.title = title
    self.year = year
    self.price = price
    self.isIn = isIn
    self.author = author
  }
}

func makeStore() throws -> ModelContainer {
  try ModelContainer(for: Author.self, Book.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}

/// A generator that gives the same numbers for the same seed.
struct Random: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0xD1B5_4A32_D192_ED03 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
  mutating func chance(_ one: Int) -> Bool { below(one) == 0 }
  mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }
}

extension RandomAccessCollection where Element == Book, Index == Int {
  var titles: [String] { map(\.title) }
  var bookKeys: [Int64] { map(\.persistentModelID.key) }
}

/// Runs `hear` once, when the first of what `read` reads is about to change.
@MainActor func track(_ read: () -> Void, before hear: @escaping @MainActor () -> Void) {
  withObservationTracking(read) { MainActor.assumeIsolated { hear() } }
}

/// The long form of a random test: seed after seed for `QUIRE_SOAK` seconds, until one has a problem. Says every ten
/// seconds how far it has come.
func soak(_ name: String, _ problem: (_ seed: UInt64) throws -> String?) throws {
  let seconds = ProcessInfo.processInfo.environment["QUIRE_SOAK"].flatMap(Double.init) ?? 0
  let clock = ContinuousClock()
  let begun = clock.now
  var (seed, seeds, told) = (UInt64(Date.now.timeIntervalSince1970) << 20, 0, begun)
  print("\(name) soak from seed \(seed)")
  while clock.now - begun < .seconds(seconds) {
    if let problem = try problem(seed) {
      Issue.record("\(name), seed \(seed): \(problem)")
      return
    }
    seed += 1
    seeds += 1
    if clock.now - told > .seconds(10) {
      told = clock.now
      print("\(name) soak: \(seeds) seeds in \((told - begun).components.seconds) of \(Int(seconds)) s")
      fflush(nil)
    }
  }
  #expect(seeds > 0)
}
