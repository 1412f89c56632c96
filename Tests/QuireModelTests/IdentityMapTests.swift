import TestSupport
import Testing

@testable import QuireModel

/// The map against a dictionary: random insertions, removals and sweeps, of few keys, so that each comes and goes often.
@Suite struct IdentityMapTests {
  private final class Object {}

  @Test(arguments: Array(1...12) + [extraSeed]) func `it has what a dictionary has`(seed: UInt64) {
    var random = Random(seed: seed)
    let map = IdentityMap()
    var objects: [Int64: Object] = [:]
    var order: [Int64] = []
    /// Those of which the map has the only reference.
    var released: Set<Int64> = []
    for _ in 0..<1000 {
      let key = Int64.random(in: 1...60, using: &random)
      switch Int.random(in: 0..<100, using: &random) {
      case 0:
        map.removeAll()
        (objects, order, released) = ([:], [], [])
      case 1..<4:
        map.sweep()
        order.removeAll(where: released.contains)
        released = []
      case 4..<20:
        map.remove(key)
        objects[key] = nil
        released.remove(key)
        order.removeAll { $0 == key }
      case 20..<40:
        if objects.removeValue(forKey: key) != nil { released.insert(key) }
      case 40..<43: map.reserve(Int.random(in: 0...20, using: &random))
      default:
        if objects[key] != nil || released.contains(key) { continue }
        let object = Object()
        map.insert(object, key: key)
        objects[key] = object
        order.append(key)
      }
      var seen: [Int64] = []
      map.forEach { key, _ in seen.append(key) }
      #expect(seen == order && map.count == order.count, "seed \(seed)")
      let wrong = (Int64(1)...60).filter { !released.contains($0) && map.find($0) !== objects[$0] }
      #expect(wrong == [], "seed \(seed)")
      #expect(Set(map.heldKeys()) == Set(objects.keys), "seed \(seed)")
      if let first = order.first { #expect(map.neighbors(of: first, limit: .max / 2).count == order.count) }
    }
  }
}
