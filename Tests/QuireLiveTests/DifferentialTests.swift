import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Random writes by every way, many live queries at once: after every commit each equals the same query run afresh.
@MainActor @Suite(.fewOnMainActor) struct DifferentialTests {
  /// Seeds that failed once.
  nonisolated static let corpus: [UInt64] = []

  @Test(arguments: corpus + Array(1...10 as ClosedRange<UInt64>))
  func `a live query equals the same query run afresh`(seed: UInt64) throws {
    try RandomRun(seed: seed).run(steps: 40)
  }

  @Test(.enabled(if: isSoaking))
  func `a live query equals the same query run afresh, for long`() throws {
    try soak("differential") { try RandomRun(seed: $0).run(steps: 150) ? nil : "see above" }
  }

  @Test func `a window that ignores its frontier is found out`() throws {
    var found = 0
    for seed in 1...10 as ClosedRange<UInt64> {
      let run = try RandomRun(seed: seed)
      let faults = run.books.map { watched in
        Distorted(watched.live.node, in: watched.live.node.owner) { _ in watched.live.list.forgetFrontier() }
      }
      defer { withExtendedLifetime(faults) {} }
      if try run.firstProblem(steps: 60) != nil { found += 1 }
      if found > 0 { break }
    }
    #expect(found > 0, "the differential test would not notice a wrong window")
  }
}

/// One seed's store, its live queries and counts, and the checks.
@MainActor final class RandomRun {
  private let seed: UInt64
  private let graph: RandomGraph
  private(set) var books: [Watched<Book>] = []
  private(set) var authors: [Watched<Author>] = []
  private var counts: [(name: String, live: LiveValue<Int>, predicate: Predicate<Book>?)] = []
  private var random: Random
  /// Differences told by queries that have been replaced, and statements run after the first.
  private var replaced = 0
  private(set) var refills = 0

  init(seed: UInt64) throws {
    self.seed = seed
    random = Random(seed: seed &+ 99)
    graph = try RandomGraph(seed: seed)
    for number in 0..<12 { try addBooks(number) }
    authors.append(
      try Watched(
        "authors", "author", FetchDescriptor(sortBy: [SortDescriptor(\.rank, order: .reverse)], fetchLimit: 3),
        in: graph.context, listens: true))
    for place in [0, 2, 3, 4, 6, 7] {
      counts.append(
        (
          Self.predicates[place].0, try graph.context.liveCount(Book.self, where: Self.predicates[place].1),
          Self.predicates[place].1
        ))
    }
  }

  private func addBooks(_ number: Int) throws {
    // Wide ones more often: what few rows pass proves little. In every run each of the first orders, with a limit.
    let predicate = number < 4 ? Self.predicates[number % 2] : random.pick(Self.predicates + Self.predicates[0..<5])
    let order = number < Self.orders.count ? Self.orders[number] : random.pick(Self.orders)
    let limit = number < 4 ? 1 + 2 * number : random.pick([nil, nil, nil, 0, 1, 3, 10] as [Int?])
    let offset = number < 4 ? 0 : random.pick([0, 0, 0, 1, 4, 30])
    let name = "\(number): \(predicate.0) by \(order.0), limit \(limit.map(String.init) ?? "none"), offset \(offset)"
    books.append(
      try Watched(
        name, "book",
        FetchDescriptor(predicate: predicate.1, sortBy: order.1, fetchLimit: limit, fetchOffset: offset),
        in: graph.context, listens: number % 3 != 0))
  }

  /// - Returns: whether all was well.
  @discardableResult func run(steps: Int) throws -> Bool {
    if let problem = try firstProblem(steps: steps) {
      Issue.record("seed \(seed), \(problem)")
      return false
    }
    let told = books.reduce(replaced) { $0 + $1.differences }
    refills += books.reduce(0) { $0 + $1.live.queriesRun - 1 }
    #expect(told > steps / 2, "seed \(seed): \(told) differences prove little")
    return true
  }

  func firstProblem(steps: Int) throws -> String? {
    var before = try state()
    for step in 0..<steps {
      // A query made in the middle stands where the others do.
      if step % 10 == 9 {
        let gone = books.removeFirst()
        replaced += gone.differences
        refills += gone.live.queriesRun - 1
        try addBooks(100 + step)
      }
      try graph.step()
      let after = try state()
      let commit = graph.context.commitNumber
      func check<Model>(_ watched: Watched<Model>, _ table: String) throws -> String? {
        try watched.check(graph.store, commit: commit, before: before[table] ?? [:], after: after[table] ?? [:])
      }
      for watched in books {
        if let problem = try check(watched, "book") { return "step \(step): \(problem)\n\(graph.done)" }
      }
      for watched in authors {
        if let problem = try check(watched, "author") { return "step \(step): \(problem)\n\(graph.done)" }
      }
      for count in counts {
        let fresh = try ModelContext(graph.store, isolation: nil).fetchCount(
          FetchDescriptor(predicate: count.predicate))
        if count.live.value != fresh || count.live.commitNumber != commit {
          return "step \(step): count \(count.name) is \(count.live.value), afresh \(fresh)\n\(graph.done)"
        }
      }
      let errors = graph.context.drainDeferredErrors()
      if !errors.isEmpty { return "step \(step): \(errors)\n\(graph.done)" }
      before = after
    }
    return nil
  }

  private func state() throws -> [String: [Int64: Row]] {
    let columns = [
      "book": ["id", "title", "year", "price", "is_in", "note", "author_id"], "author": ["id", "name", "rank"],
    ]
    var state: [String: [Int64: Row]] = [:]
    for (table, names) in columns {
      for values in try graph.store.query(SQL(verbatim: "SELECT \(names.joined(separator: ", ")) FROM \(table)")).map(
        \.values)
      {
        guard case .integer(let key) = values[0] else { continue }
        state[table, default: [:]][key] = Dictionary(uniqueKeysWithValues: zip(names, values))
      }
    }
    return state
  }

  static let predicates: [(String, Predicate<Book>?)] = [
    ("all", nil),
    ("isIn", #Predicate { $0.isIn }),
    ("author's name is not a", #Predicate { $0.author?.name != "a" }),
    ("price < 3 or no author", #Predicate { $0.price < 3 || $0.author == nil }),
    ("year > 1", #Predicate { ($0.year ?? 0) > 1 }),
    ("no year", #Predicate { $0.year == nil }),
    ("isIn and price >= 1", #Predicate { $0.isIn && $0.price >= 1 }),
    ("author's rank is 3", #Predicate { $0.author?.rank == 3 }),
    ("no author", #Predicate { $0.author == nil }),
    ("title starts with e", #Predicate { $0.title.starts(with: "e") }),
    ("title is é", #Predicate { $0.title == "é" }),
    ("note", #Predicate { $0.note != nil }),
  ]

  static let orders: [(String, [SortDescriptor<Book>])] = [
    ("key", []),
    ("title", [SortDescriptor(\.title)]),
    ("title down", [SortDescriptor(\.title, order: .reverse)]),
    ("year, title down", [SortDescriptor(\.year), SortDescriptor(\.title, order: .reverse)]),
    ("year down, price", [SortDescriptor(\.year, order: .reverse), SortDescriptor(\.price)]),
    ("price", [SortDescriptor(\.price)]),
    ("author's name, title", [SortDescriptor(\.author?.name), SortDescriptor(\.title)]),
    ("author's rank down", [SortDescriptor(\.author?.rank, order: .reverse)]),
  ]
}
