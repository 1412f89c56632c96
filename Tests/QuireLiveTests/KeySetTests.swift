import TestSupport
import Testing

@testable import QuireLive

/// Keys by 64 to a word.
@Suite(.fewAtOnce) struct KeySetTests {
  @Test(arguments: [1, 2, 3, extraSeed])
  func `it holds what a Set would`(seed: UInt64) {
    var random = Random(seed: seed)
    var (keys, expected): (KeySet, Set<Int64>) = (KeySet(), [])
    let edges: [Int64] = [.min, .min + 1, -65, -64, -63, -1, 0, 1, 63, 64, .max - 1, .max]
    func key() -> Int64 { random.chance(3) ? random.pick(edges) : Int64(random.below(300)) - 150 }
    for _ in 0..<2000 {
      let key = key()
      if random.chance(2) {
        keys.insert(key)
        expected.insert(key)
      } else {
        keys.remove(key)
        expected.remove(key)
      }
      let asked = random.chance(2) ? key : edges[random.below(edges.count)]
      #expect(keys.contains(asked) == expected.contains(asked), "seed \(seed), key \(asked)")
    }
    for key in -200...200 as ClosedRange<Int64> {
      #expect(keys.contains(key) == expected.contains(key), "seed \(seed), key \(key)")
    }
  }
}
