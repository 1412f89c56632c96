import TestSupport
import Testing

@testable import QuireSQLite

/// Numbers by their places in the log.
@Suite struct LogNumbersTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `each place has the number of the first commit that reaches it`(seed: UInt64) {
    var random = Random(seed: seed)
    var numbers = LogNumbers()
    var known: [(place: Int64, number: Int64)] = []
    var (place, number): (Int64, Int64) = (Int64.random(in: 0...5, using: &random), 0)
    for _ in 0..<200 {
      // Long even stretches, and now and then another pace.
      let steady = Bool.random(using: &random)
      let (places, pace) = (Int64.random(in: 1...4, using: &random), Int64.random(in: 1...2, using: &random))
      for _ in 0..<(steady ? 8 : 1) {
        (place, number) = (place + places, number + pace)
        numbers.add(number, at: place)
        known.append((place, number))
      }
    }
    for place in 0...place {
      #expect(numbers.number(at: place) == known.first { $0.place >= place }?.number, "seed \(seed), place \(place)")
    }
    #expect(numbers.number(at: place + 1) == nil && numbers.count < known.count)
  }

  @Test func `who writes alone, or by turns with us, takes one run`() {
    var (alone, turns) = (LogNumbers(), LogNumbers())
    for number in 1...10_000 as ClosedRange<Int64> {
      alone.add(number, at: number * 3)
      turns.add(number * 2, at: number * 5)
    }
    #expect(alone.count == 1 && turns.count == 1)
    #expect(alone.number(at: 29_998) == 10_000 && turns.number(at: 49_995) == 19_998)
    alone.add(10_001, at: 30_000)  // it has left nothing in the log
    #expect(alone.number(at: 30_000) == 10_000 && alone.count == 1)
  }
}
