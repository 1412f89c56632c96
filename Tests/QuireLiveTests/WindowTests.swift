import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireLive

/// The window against the whole sorted list it stands for.
@Suite(.fewAtOnce) struct WindowTests {
  private static let order = EntryOrder(ascending: [true, false])

  private static func entry(_ random: inout Random, key: Int64) -> Entry {
    let values: [Value] = [
      .null, 0, 1, .real(-0.0), .real(0.5), .integer(1 << 53), .real(9007199254740992), "a", "e\u{301}", "é",
    ]
    return Entry(sort: [random.pick(values), random.pick(values)], key: key)
  }

  /// One table, one window over it, and what was done.
  private struct Run {
    var random: Random
    var table: [Int64: Entry] = [:]
    var window: Window
    var refills = 0
    /// Inserts and deletes take turns in being more, so that spare rows are used up.
    var steps = 0

    init(seed: UInt64, wanted: Int?) {
      random = Random(seed: seed)
      window = Window(order: WindowTests.order, wanted: wanted)
      for key in 1...Int64(120) { table[key] = entry(&random, key: key) }
      let limit = window.capacity
      window.fill(Array(sorted.prefix(limit ?? .max)), limit: limit)
    }

    var sorted: [Entry] { table.values.sorted(by: WindowTests.order.precedes) }

    mutating func step(_ changes: Int) {
      var touched: Set<Int64> = []
      steps += 1
      let deletes = steps % 40 < 20
      for _ in 0..<changes {
        let held = window.entries.prefix(30)
        let key = deletes && !held.isEmpty ? random.pick(held.map(\.key)) : Int64(1 + random.below(160))
        touched.insert(key)
        table[key] = random.chance(3) != deletes ? nil : entry(&random, key: key)
      }
      let before = window.entries
      let rows = touched.compactMap { table[$0] }
      let alike = window.apply(removing: touched, adding: rows)
      let end = min(alike.end, before.count - alike.start)
      #expect(before.prefix(alike.start) == window.entries.prefix(alike.start))
      #expect(before.suffix(end) == window.entries.suffix(end))
      while let shortage = window.shortage, let frontier = window.frontier {
        refills += 1
        let after = sorted.filter { WindowTests.order.compare($0, frontier) > 0 }
        window.refill(Array(after.prefix(shortage)), limit: shortage)
      }
    }
  }

  @Test(arguments: [nil, 0, 1, 2, 5, 20, 100], 1...12 as ClosedRange<UInt64>)
  func `the window is the start of the sorted rows`(wanted: Int?, seed: UInt64) {
    var run = Run(seed: seed, wanted: wanted)
    for step in 0..<120 {
      run.step(1 + run.random.below(step % 9 == 0 ? 70 : 12))
      let all = run.sorted
      #expect(run.window.entries == Array(all.prefix(run.window.entries.count)), "seed \(seed), step \(step)")
      #expect(run.window.entries.count >= min(wanted ?? .max, all.count), "seed \(seed), step \(step)")
      #expect(run.window.frontier != nil || run.window.entries.count == all.count, "seed \(seed), step \(step)")
      for (index, entry) in run.window.entries.enumerated() { #expect(run.window.position(of: entry.key) == index) }
      if let capacity = run.window.capacity { #expect(run.window.entries.count <= 2 * capacity + 70) }
    }
    if let wanted, wanted == 20 { #expect(run.refills > 0, "seed \(seed): no refill, nothing proved") }
  }

  @Test func `a window that ignores its frontier goes wrong`() {
    var failures = 0
    for seed in 1...10 as ClosedRange<UInt64> {
      var run = Run(seed: seed, wanted: 5)
      for _ in 0..<100 {
        run.window = run.window.withoutFrontier
        run.step(6)
        if run.window.entries.prefix(5) != run.sorted.prefix(5) {
          failures += 1
          break
        }
      }
    }
    #expect(failures > 0)
  }

  @Test func `a row beyond the last held one is not taken in before it is known to be next`() {
    var window = Window(order: EntryOrder(ascending: [true]), wanted: 1)
    let rows = (1...17).map { Entry(sort: [.integer(Int64($0))], key: Int64($0)) }
    window.fill(rows, limit: 17)
    window.apply(removing: [], adding: [Entry(sort: [100], key: 100)])
    #expect(!window.holds(100))
    window.apply(removing: (1...17).map { Int64($0) }, adding: [])
    #expect(window.shortage == 17)
    window.refill([Entry(sort: [50], key: 50), Entry(sort: [100], key: 100)], limit: 17)
    #expect(window.entries.map(\.key) == [50, 100])
    #expect(window.frontier == nil)
    window.apply(removing: [], adding: [Entry(sort: [200], key: 200)])
    #expect(window.holds(200))
  }

  @Test func `order is SQLite's: NULL, numbers exactly, text by its bytes, then the key`() {
    let order = EntryOrder(ascending: [true])
    let values: [Value] = [
      .null, .real(-.infinity), .integer(.min), 0, .integer(1 << 53), .integer((1 << 53) + 1), .integer(.max),
      .real(0x1p63), .real(.infinity), "", "E", "e\u{301}", "z", "é", .blob(Data([0])),
    ]
    for (a, x) in values.enumerated() {
      for (b, y) in values.enumerated() where a != b {
        #expect(order.precedes(Entry(sort: [x], key: 1), Entry(sort: [y], key: 1)) == (a < b), "\(x) \(y)")
      }
    }
    #expect(order.compare(Entry(sort: [.real(-0.0)], key: 1), Entry(sort: [0], key: 2)) < 0)
    #expect(EntryOrder(ascending: [false]).compare(Entry(sort: [1], key: 1), Entry(sort: [1], key: 2)) < 0)
  }
}
