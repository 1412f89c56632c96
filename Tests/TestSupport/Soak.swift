import Foundation

/// Whether the long forms of random tests are to run: `QUIRE_SOAK` has the seconds for each.
package let isSoaking = ProcessInfo.processInfo.environment["QUIRE_SOAK"] != nil

/// The long form of a random test: seed after seed for `QUIRE_SOAK` seconds, until one has a problem, which is thrown.
/// Says every ten seconds how far it has come.
package func soak(_ name: String, _ problem: (_ seed: UInt64) throws -> String?) throws {
  let seconds = ProcessInfo.processInfo.environment["QUIRE_SOAK"].flatMap(Double.init) ?? 0
  let clock = ContinuousClock()
  let begun = clock.now
  let first = UInt64(Date.now.timeIntervalSince1970) << 20
  var (seed, told) = (first, begun)
  print("\(name) soak from seed \(seed)")
  repeat {
    if let problem = try problem(seed) { throw SoakFailure(description: "\(name), seed \(seed): \(problem)") }
    seed += 1
    if clock.now - told > .seconds(10) {
      told = clock.now
      print("\(name) soak: \(seed - first) seeds in \((told - begun).components.seconds) of \(Int(seconds)) s")
      fflush(nil)
    }
  } while clock.now - begun < .seconds(seconds)
}

struct SoakFailure: Error, CustomStringConvertible {
  let description: String
}
