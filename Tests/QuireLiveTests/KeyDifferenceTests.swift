import TestSupport
import Testing

@testable import QuireLive

@Suite(.fewAtOnce) struct KeyDifferenceTests {
  /// Takes out all that leaves, highest index first, and puts in all that comes, lowest first.
  static func apply(_ difference: KeyDifference, to old: [Int64]) -> [Int64] {
    var result = old
    let leaving = difference.deletes.map { ($0.key, $0.at) } + difference.moves.map { ($0.key, $0.from) }
    for (key, at) in leaving.sorted(by: { $0.1 > $1.1 }) {
      #expect(old[at] == key)
      result.remove(at: at)
    }
    let coming = difference.inserts.map { ($0.key, $0.at) } + difference.moves.map { ($0.key, $0.to) }
    for (key, at) in coming.sorted(by: { $0.1 < $1.1 }) {
      guard at <= result.count else { return [] }
      result.insert(key, at: at)
    }
    return result
  }

  /// How many can keep their order, all that are not touched among them: weighing those, over all subsequences.
  static func mostStaying(_ keys: [Int64], _ old: [Int64], _ touched: Set<Int64>) -> Int {
    var best: [Int] = []
    for (place, key) in keys.enumerated() {
      var most = 0
      for earlier in 0..<place where old.firstIndex(of: keys[earlier])! < old.firstIndex(of: key)! {
        most = max(most, best[earlier])
      }
      best.append(most + (touched.contains(key) ? 1 : 1001))
    }
    return (best.max() ?? 0) % 1000
  }

  /// Rows with a place each; a window over them, before and after some places changed.
  @Test(arguments: 1...300 as ClosedRange<UInt64>)
  func `applied to the old order it gives the new one`(seed: UInt64) {
    var random = Random(seed: seed)
    let count = random.below(40)
    var places: [Int64: Int] = [:]
    for key in 0..<Int64(count) { places[key] = random.below(1000) }
    let (offset, limit) = (random.pick([0, 0, 1, 5, 50]), random.pick([Int.max, Int.max, 0, 1, 3, 10, 30]))
    func shown() -> [Int64] {
      let all = places.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
      return Array(all.dropFirst(offset).prefix(limit))
    }
    for step in 0..<20 {
      let old = shown()
      var touched: Set<Int64> = []
      for _ in 0..<random.pick([1, 1, 1, 2, 5, 40]) {
        let key = Int64(random.below(count + 10))
        touched.insert(key)
        places[key] = random.chance(3) ? nil : random.chance(4) ? places[key] : random.below(1000)
      }
      let new = shown()
      let difference = KeyDifference.between(old[...], new[...], touched: touched)
      let where_: Comment = "seed \(seed), step \(step): \(old) → \(new), touched \(touched)"
      #expect(Self.apply(difference, to: old) == new, where_)
      for (key, at) in difference.deletes { #expect(old[at] == key && !new.contains(key), where_) }
      for (key, at) in difference.inserts { #expect(new[at] == key && !old.contains(key), where_) }
      for (key, from, to) in difference.moves {
        #expect(old[from] == key && new[to] == key && touched.contains(key), where_)
      }
      // No more moves than needed where those not touched stay.
      let both = new.filter(Set(old).contains)
      #expect(difference.moves.count == both.count - Self.mostStaying(both, old, touched), where_)
      for list in [difference.deletes.map(\.at), difference.inserts.map(\.at), difference.moves.map(\.to)] {
        #expect(list == list.sorted(), where_)
      }
    }
  }

  @Test func `one row that moves is one move, however long the way`() {
    let old = Array(0..<Int64(1000))
    let new = Array(old[1...] + [0])
    let difference = KeyDifference.between(old[...], new[...], touched: [0])
    #expect(difference.moves.map(\.key) == [0])
    #expect(difference.moves.first?.from == 0 && difference.moves.first?.to == 999)
    #expect(difference.deletes.isEmpty && difference.inserts.isEmpty)
  }

  @Test func `of two neighbors that change places the touched one moves`() {
    for touched in [1, 2] as [Int64] {
      let difference = KeyDifference.between([0, 1, 2, 3], [0, 2, 1, 3], touched: [touched])
      #expect(difference.moves.map(\.key) == [touched])
    }
  }

  @Test func `a limited list shifts at its ends`() {
    // Ten rows, three shown from the second on; a row enters before them all.
    let difference = KeyDifference.between([2, 3, 4], [1, 2, 3], touched: [100])
    #expect(difference.deletes.map(\.key) == [4] && difference.deletes.first?.at == 2)
    #expect(difference.inserts.map(\.key) == [1] && difference.inserts.first?.at == 0)
    #expect(difference.moves.isEmpty)
  }

  @Test func `stretches that share nothing are deleted and inserted`() {
    let difference = KeyDifference.between([1, 2], [3, 4, 5], touched: [])
    #expect(difference.deletes.map(\.at) == [0, 1])
    #expect(difference.inserts.map(\.at) == [0, 1, 2])
  }

  @Test func `indices count from the base`() {
    let difference = KeyDifference.between([7, 8, 9][...], [7, 9][...], touched: [8], base: 40)
    #expect(difference.deletes.map(\.at) == [41])
  }

  @Test(arguments: [([], 0), ([3], 1), ([1, 2, 3], 3), ([3, 2, 1], 1), ([2, 9, 4, 5, 1, 6], 4)])
  func `the longest increase is found`(values: [Int], length: Int) {
    let places = longestIncrease(values)
    #expect(places.count == length)
    #expect(zip(places, places.dropFirst()).allSatisfy { $0 < $1 && values[$0] < values[$1] })
  }
}
