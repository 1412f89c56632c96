import Foundation

/// A generator that gives the same numbers for the same seed (SplitMix64).
package struct Random: RandomNumberGenerator {
  private var state: UInt64
  package init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0xD1B5_4A32_D192_ED03 }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
  package mutating func chance(_ one: Int) -> Bool { below(one) == 0 }
  package mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }
}

/// A seed for a random test besides its fixed ones: `QUIRE_SEED`, or in a long run one that no run has had before. Else always
/// the same, so that what the tests say depends on the code alone.
package let extraSeed: UInt64 =
  ProcessInfo.processInfo.environment["QUIRE_SEED"].flatMap(UInt64.init)
  ?? (isSoaking ? .random(in: 1000...1 << 40) : 20_261_120)
