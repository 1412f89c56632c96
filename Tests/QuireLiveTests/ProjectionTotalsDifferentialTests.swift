import Foundation
import Quire
import QuireModel
import TestSupport
import Testing

@testable import QuireLive

/// Random writes to parents, children and pairs, and live rows with aggregates of them: after every commit each equals the
/// same fetch afresh, errors included.
@MainActor @Suite(.fewOnMainActor) struct ProjectionTotalsDifferentialTests {
  nonisolated static let seeds = [1, 2, extraSeed]

  @Test(arguments: seeds) func `authors with totals of their books are followed`(seed: UInt64) throws {
    let run = try AuthorTotalsRun(seed: seed)
    if let problem = try run.firstProblem(steps: 30) { Issue.record("seed \(seed), \(problem)") }
    #expect(run.differences > 15, "seed \(seed): \(run.differences) differences prove little")
  }

  @Test(arguments: seeds) func `papers and topics with totals of each other are followed`(seed: UInt64) throws {
    let run = try PaperTotalsRun(seed: seed)
    if let problem = try run.firstProblem(steps: 30) { Issue.record("seed \(seed), \(problem)") }
    #expect(run.differences > 15, "seed \(seed): \(run.differences) differences prove little")
  }

  @Test(.enabled(if: isSoaking))
  func `rows with totals are followed, for long`() throws {
    try soak("totals") { seed in
      try AuthorTotalsRun(seed: seed).firstProblem(steps: 100) ?? PaperTotalsRun(seed: seed).firstProblem(steps: 100)
    }
  }

  @Test func `rows that forget whose a child or a pair was are found out`() throws {
    var found = (authors: false, papers: false)
    for seed in 1...20 as ClosedRange<UInt64> where !found.authors || !found.papers {
      let authors = try AuthorTotalsRun(seed: seed)
      authors.injectFault()
      if try authors.firstProblem(steps: 30) != nil { found.authors = true }
      let papers = try PaperTotalsRun(seed: seed)
      papers.injectFault()
      if try papers.firstProblem(steps: 30) != nil { found.papers = true }
    }
    #expect(found.authors && found.papers, "the differential test would not notice")
  }

  @Test func `the error of a sum beyond its type comes and goes`() throws {
    let runs = try (1...4 as ClosedRange<UInt64>).map { try AuthorTotalsRun(seed: $0) }
    for run in runs { #expect(try run.firstProblem(steps: 40) == nil) }
    #expect(runs.contains { $0.errors > 0 }, "no sum was beyond its type: the test proves little")
    #expect(runs.contains { $0.recoveries > 0 }, "no sum came back: the test proves little")
  }

  @Test(arguments: seeds) func `totals are what the fetches of the same objects give`(seed: UInt64) throws {
    let graph = try RandomGraph(seed: seed)
    for _ in 0..<6 { try graph.step() }
    let context = ModelContext(graph.store, isolation: nil)
    let rows = try context.fetch(AuthorTotals.self)
    let authors = try context.fetch(FetchDescriptor<Author>())
    #expect(rows.count == authors.count)
    for (row, author) in zip(rows, authors) {
      let id: PersistentIdentifier? = author.persistentModelID
      let own = #Predicate<Book> { $0.author?.persistentModelID == id }
      let isIn = #Predicate<Book> { $0.author?.persistentModelID == id && $0.isIn }
      let finite = #Predicate<Book> { $0.author?.persistentModelID == id && $0.price < 1e307 && $0.price > -1e307 }
      #expect(row.name == author.name)
      #expect(row.books == (try context.fetchCount(FetchDescriptor(predicate: own))), "seed \(seed)")
      #expect(row.isIn == (try context.fetchCount(FetchDescriptor(predicate: isIn))), "seed \(seed)")
      #expect(row.meanPrice == (try context.fetchAverage(\Book.price, where: finite)), "seed \(seed)")
      #expect(row.first == (try context.fetchMin(\Book.title, where: own)), "seed \(seed)")
      #expect(row.last == (try context.fetchMax(\Book.year, where: own)), "seed \(seed)")
      #expect(row.dated == author.books.count { $0.year != nil } * 2, "seed \(seed)")
    }
  }
}

@MainActor private protocol TotalsRun {
  func check(_ store: ModelContainer, commit: Int64) throws -> String?
  func fault() -> Distorted
  var differences: Int { get }
  var errors: Int { get }
  /// Whether it had no value when it was checked last.
  var hadError: Bool { get }
}

extension WatchedRows: TotalsRun {
  func fault() -> Distorted {
    let table = live.node.query.table
    return Distorted(live.node, in: live.node.owner) { $0.forgetOldOrigins(but: table) }
  }
}

/// Authors and books: cascades, triggers, SQL, key changes, moves between authors.
@MainActor final class AuthorTotalsRun {
  private let graph: RandomGraph
  private var watched: [any TotalsRun] = []
  private(set) var recoveries = 0

  init(seed: UInt64) throws {
    var random = Random(seed: seed &+ 11)
    graph = try RandomGraph(seed: seed)
    let context = graph.context
    for number in 0..<5 {
      let order = number == 0 ? Self.orders[0] : random.pick(Self.orders)
      let having = number < 2 ? Self.having[0] : random.pick(Self.having)
      watched.append(
        try WatchedRows(
          "\(number): \(having.0) by \(order.0)", AuthorTotals.self,
          where: random.chance(3) ? #Predicate { $0.books.contains { $0.isIn } } : nil, having: having.1,
          sortBy: order.1, limit: number == 0 ? nil : random.pick([nil, 1, 3]), offset: random.pick([0, 0, 1]),
          in: context))
    }
    watched.append(
      try WatchedRows("siblings", BookSiblings.self, sortBy: .properties([]), limit: nil, offset: 0, in: context))
    watched.append(
      try WatchedRows(
        "by siblings", BookSiblings.self, having: #Predicate { !$0.hasTwin },
        sortBy: .fields([SortDescriptor(\.siblings, order: .reverse), SortDescriptor(\.title)]), limit: 10, offset: 0,
        in: context))
  }

  /// Sums that often have no value: asked for again at every step until they have one.
  private var sums: [(String, Predicate<Author>?, ProjectionOrder<AuthorSums>)] = [
    ("sums of rank 3", #Predicate { $0.rank == 3 }, .properties([])),
    ("sums of the first name", nil, .properties([SortDescriptor(\.name)])),
    ("greatest sum", nil, .fields([SortDescriptor(\.prices, order: .reverse)])),
    ("least sum of years", nil, .fields([SortDescriptor(\.years)])),
  ]

  private func addSums() {
    sums.removeAll { name, predicate, order in
      let rows = try? WatchedRows(
        name, AuthorSums.self, where: predicate, sortBy: order, limit: 1, offset: 0, in: graph.context)
      if let rows { watched.append(rows) }
      return rows != nil
    }
  }

  var differences: Int { watched.reduce(0) { $0 + $1.differences } }
  var errors: Int { watched.reduce(0) { $0 + $1.errors } }
  func injectFault() { faults = watched.map { $0.fault() } }
  private var faults: [Distorted] = []

  func firstProblem(steps: Int) throws -> String? {
    for step in 0..<steps {
      addSums()
      try graph.step()
      for rows in watched {
        let (hadError, errors) = (rows.hadError, rows.errors)
        if let problem = try rows.check(graph.store, commit: graph.context.commitNumber) {
          return "step \(step): \(problem)\n\(graph.done)"
        }
        if hadError, rows.errors == errors { recoveries += 1 }
      }
    }
    return nil
  }

  static let having: [(String, Predicate<AuthorTotals>?)] = [
    ("all", nil),
    ("more than eight", #Predicate { $0.books > 8 }),
    ("cheap", #Predicate { ($0.meanPrice ?? 0) < 2 }),
    ("dated and named", #Predicate { $0.dated > 4 && $0.name != "a" }),
    ("no last", #Predicate { $0.last == nil }),
  ]

  static let orders: [(String, ProjectionOrder<AuthorTotals>)] = [
    ("key", .properties([])),
    ("name", .properties([SortDescriptor(\.name)])),
    ("books down, name", .fields([SortDescriptor(\.books, order: .reverse), SortDescriptor(\.name)])),
    ("mean price", .fields([SortDescriptor(\.meanPrice)])),
    ("last down", .fields([SortDescriptor(\.last, order: .reverse)])),
    ("dated, first down", .fields([SortDescriptor(\.dated), SortDescriptor(\.first, order: .reverse)])),
  ]
}

/// A class of itself, and many to many.
@MainActor final class PaperTotalsRun {
  private let graph: RandomPapers
  private var watched: [any TotalsRun] = []

  init(seed: UInt64) throws {
    var random = Random(seed: seed &+ 13)
    graph = try RandomPapers(seed: seed)
    let context = graph.context
    for number in 0..<4 {
      let order = random.pick(Self.paperOrders)
      let limit = number == 0 ? nil : random.pick([nil, 1, 4])
      watched.append(
        try WatchedRows(
          "\(number): papers by \(order.0)", PaperTotals.self,
          where: random.chance(2) ? nil : #Predicate { $0.topics.contains { $0.name == "a" } || $0.year > 1 },
          having: random.chance(2) ? nil : #Predicate { $0.parts > 0 || $0.meanRank != nil }, sortBy: order.1,
          limit: limit, offset: random.pick([0, 0, 1]), in: context))
    }
    for number in 0..<3 {
      let order = random.pick(Self.topicOrders)
      watched.append(
        try WatchedRows(
          "\(number): topics by \(order.0)", TopicTotals.self,
          having: random.chance(2) ? nil : #Predicate { $0.papers > 1 },
          sortBy: order.1, limit: number == 0 ? nil : random.pick([nil, 2]), offset: 0, in: context))
    }
  }

  var differences: Int { watched.reduce(0) { $0 + $1.differences } }
  func injectFault() { faults = watched.map { $0.fault() } }
  private var faults: [Distorted] = []

  func firstProblem(steps: Int) throws -> String? {
    for step in 0..<steps {
      try graph.step()
      for rows in watched {
        if let problem = try rows.check(graph.store, commit: graph.context.commitNumber) {
          return "step \(step): \(problem)\n\(graph.done)"
        }
      }
    }
    return nil
  }

  static let paperOrders: [(String, ProjectionOrder<PaperTotals>)] = [
    ("key", .properties([])),
    ("parts down, title", .fields([SortDescriptor(\.parts, order: .reverse), SortDescriptor(\.title)])),
    ("mean rank", .fields([SortDescriptor(\.meanRank)])),
    ("topic, years down", .fields([SortDescriptor(\.topic), SortDescriptor(\.partYears, order: .reverse)])),
  ]
  static let topicOrders: [(String, ProjectionOrder<TopicTotals>)] = [
    ("key", .properties([])),
    ("papers down", .fields([SortDescriptor(\.papers, order: .reverse)])),
    ("whole, years", .fields([SortDescriptor(\.whole), SortDescriptor(\.years)])),
  ]
}
