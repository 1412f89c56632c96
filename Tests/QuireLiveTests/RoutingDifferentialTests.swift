import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Random writes by every way, and many live results that are routed by equality: after every move each equals the same
/// question asked afresh.
@MainActor @Suite(.fewOnMainActor) struct RoutingDifferentialTests {
  /// Seeds that failed once.
  nonisolated static let corpus: [UInt64] = []

  @Test(arguments: corpus + Array(1...4 as ClosedRange<UInt64>))
  func `results that are routed by equality equal the same questions asked afresh`(seed: UInt64) throws {
    let run = try RoutedRun(seed: seed)
    if let problem = try run.firstProblem(steps: 30) { Issue.record("seed \(seed), \(problem)") }
    let all = run.count * 30
    #expect(run.routed > 40 && run.routed < all / 2, "seed \(seed): \(run.routed) of \(all) prove little")
  }

  @Test func `routing that forgets what a row was is found out`() throws {
    for seed in 1...8 as ClosedRange<UInt64> {
      let run = try RoutedRun(seed: seed)
      run.injectFault()
      if try run.firstProblem(steps: 40) != nil { return }
    }
    Issue.record("the differential test would not notice")
  }
}

/// One seed's store, its live results, and the checks.
@MainActor private final class RoutedRun {
  private let graph: RandomGraph
  private var lists: [(name: String, live: LiveQuery<Book>, predicate: Predicate<Book>)] = []
  private var rows: [LiveRows<BookLine>] = []
  private var counts: [LiveValue<Int>] = []
  private var sums: [LiveValue<Double>] = []
  private var groups: [LiveGroups<Int?, Int>] = []

  init(seed: UInt64) throws {
    graph = try RandomGraph(seed: seed)
    let context = graph.context
    for (name, predicate) in try Self.predicates(in: context) {
      lists.append(
        (name, try context.live(Book.self, where: predicate, sortBy: [SortDescriptor(\.title)], limit: 4), predicate))
      rows.append(try context.live(BookLine.self, where: predicate, sortBy: [SortDescriptor(\.author?.name)]))
      counts.append(try context.liveCount(Book.self, where: predicate))
      sums.append(try context.liveSum(\Book.price, where: predicate))
      groups.append(try context.liveGroups(Book.self, by: \.year, .count, where: predicate))
    }
  }

  var count: Int { lists.count * 5 }
  var routed: Int { graph.context.owner.following.followers.routed }
  func injectFault() { graph.context.owner.following.followers.injectFault() }

  private static func predicates(in context: ModelContext) throws -> [(String, Predicate<Book>)] {
    var all: [(String, Predicate<Book>)] = [
      ("no author", #Predicate { $0.author == nil }), ("in, year 1", #Predicate { $0.isIn && $0.year == 1 }),
      ("author's rank 3", #Predicate { $0.author?.rank == 3 }),
      ("author's name a, or é", #Predicate { $0.author?.name == "a" || $0.author?.name == "é" }),
      ("author without rank", #Predicate { $0.author?.rank == nil }),
      ("year 1 or 2 and in", #Predicate { ($0.year == 1 || $0.year == 2) && $0.isIn }),
      ("year 1, or in", #Predicate { $0.year == 1 || $0.isIn }), ("price 1", #Predicate { $0.price == 1 }),
      ("year 1 and 2", #Predicate { $0.year == 1 && $0.year == 2 }),
    ]
    for title in RandomGraph.texts { all.append(("title \(title)", #Predicate { $0.title == title })) }
    for year in Set(RandomGraph.years) { all.append(("year \(year ?? -7)", #Predicate { $0.year == year })) }
    for id in try context.fetchIdentifiers(FetchDescriptor<Author>()) {
      all.append(("author \(id)", #Predicate { $0.author?.persistentModelID == id }))
    }
    for id in try context.fetchIdentifiers(FetchDescriptor<Book>(fetchLimit: 20)) {
      all.append(("book \(id)", #Predicate { $0.persistentModelID == id }))
    }
    let years: [Int?] = [nil, 0, 1990]
    all.append(("years", #Predicate { years.contains($0.year) }))
    return all
  }

  func firstProblem(steps: Int) throws -> String? {
    for step in 0..<steps {
      try graph.step()
      let fresh = ModelContext(graph.store, isolation: nil)
      for (place, list) in lists.enumerated() {
        func problem(_ what: String) -> String { "step \(step): \(what) of \(list.name)\n\(graph.done)" }
        let keys = try fresh.fetchIdentifiers(
          FetchDescriptor(predicate: list.predicate, sortBy: [SortDescriptor(\.title)])
        ).map(\.key)
        if list.live.list.keys != Array(keys.prefix(4)) { return problem("list") }
        if counts[place].value != keys.count { return problem("count") }
        if try sums[place].value.bitPattern != fresh.fetchSum(\Book.price, where: list.predicate).bitPattern {
          return problem("sum")
        }
        if groups[place].reduce(0, { $0 + $1.values }) != keys.count { return problem("groups") }
        let lines = try fresh.live(BookLine.self, where: list.predicate, sortBy: [SortDescriptor(\.author?.name)])
        if Array(rows[place]) != Array(lines) { return problem("rows") }
        if list.live.commitNumber != graph.context.commitNumber { return problem("commit") }
      }
    }
    return nil
  }
}
