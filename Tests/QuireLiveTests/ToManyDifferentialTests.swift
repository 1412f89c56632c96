import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Random writes, and live queries that ask about to-many relationships: after every commit each equals the same query
/// run afresh.
@MainActor @Suite(.fewOnMainActor) struct ToManyDifferentialTests {
  nonisolated static let seeds = Array(1...5 as ClosedRange<UInt64>) + [extraSeed]

  @Test(arguments: seeds) func `authors by their books are followed`(seed: UInt64) throws {
    let (problem, told) = try authors(seed, steps: 40)
    if let problem { Issue.record("seed \(seed), \(problem)") }
    #expect(told > 20, "seed \(seed): \(told) differences prove little")
  }

  @Test(arguments: seeds) func `papers by their parts and topics are followed`(seed: UInt64) throws {
    let (problem, told) = try papers(seed, steps: 40)
    if let problem { Issue.record("seed \(seed), \(problem)") }
    #expect(told > 20, "seed \(seed): \(told) differences prove little")
  }

  @Test(.enabled(if: isSoaking))
  func `to-many queries are followed, for long`() throws {
    try soak("to-many") { seed in
      try authors(seed, steps: 120).problem ?? papers(seed, steps: 120).problem
    }
  }

  @Test func `who forgets whose a row was is found out`() throws {
    for fault in [Fault.ofLists, .ofValues] {
      var found = (authors: false, papers: false)
      for seed in 1...20 as ClosedRange<UInt64> where !found.authors || !found.papers {
        if try authors(seed, steps: 40, fault: fault).problem != nil { found.authors = true }
        if try papers(seed, steps: 40, fault: fault).problem != nil { found.papers = true }
      }
      #expect(found.authors && found.papers, "the differential test would not notice \(fault)")
    }
  }

  /// Who forgets.
  enum Fault { case ofLists, ofValues }

  // MARK: Runs

  private func authors(_ seed: UInt64, steps: Int, fault: Fault? = nil) throws -> (problem: String?, told: Int) {
    let graph = try RandomGraph(seed: seed)
    let runs: [any ToManyRun] = [
      try Queries(
        graph.context, graph.store, "author", ["id", "name", "rank"], Self.ofAuthors, Self.authorOrders, seed),
      try Queries(
        graph.context, graph.store, "book", ["id", "title", "year", "price", "is_in", "note", "author_id"],
        Self.ofBooks, [[], [SortDescriptor(\.title)]], greatest: \.title, seed),
    ]
    if let fault { for run in runs { run.inject(fault) } }
    return try follow(runs, steps: steps, { try graph.step() }, { graph.done })
  }

  private func papers(_ seed: UInt64, steps: Int, fault: Fault? = nil) throws -> (problem: String?, told: Int) {
    let graph = try RandomPapers(seed: seed)
    let runs: [any ToManyRun] = [
      try Queries(
        graph.context, graph.store, "paper", ["id", "title", "year", "parent_id"], Self.ofPapers,
        [[], [SortDescriptor(\.title)], [SortDescriptor(\.year, order: .reverse)]], greatest: \.title, seed),
      try Queries(
        graph.context, graph.store, "topic", ["id", "name", "rank"], Self.ofTopics, [[], [SortDescriptor(\.name)]],
        seed),
    ]
    if let fault { for run in runs { run.inject(fault) } }
    return try follow(runs, steps: steps, { try graph.step() }, { graph.done })
  }

  private func follow(_ runs: [any ToManyRun], steps: Int, _ step: () throws -> Void, _ done: () -> [String]) throws
    -> (problem: String?, told: Int)
  {
    for run in runs { try run.remember() }
    for number in 0..<steps {
      try step()
      for run in runs {
        if let problem = try run.problem() { return ("step \(number): \(problem)\n\(done())", 0) }
      }
    }
    return (nil, runs.reduce(0) { $0 + $1.told })
  }

  // MARK: Questions

  static let authorOrders: [[SortDescriptor<Author>]] = [
    [], [SortDescriptor(\.name)], [SortDescriptor(\.rank, order: .reverse)],
  ]
  static let ofAuthors: [(String, Predicate<Author>)] = [
    ("one in", #Predicate { $0.books.contains { $0.isIn } }),
    ("none in", #Predicate { !$0.books.contains { $0.isIn } }),
    ("all in", #Predicate { $0.books.allSatisfy { $0.isIn } }),
    ("no books", #Predicate { $0.books.isEmpty }),
    ("many books", #Predicate { $0.books.count > 8 }),
    ("two of a year", #Predicate { $0.books.filter { $0.year != nil }.count >= 2 }),
    ("titled é", #Predicate { $0.books.contains { $0.title == "é" } }),
    ("rank or cheap", #Predicate { $0.rank == 2 || $0.books.contains { $0.price < 1 } }),
    ("of an author of rank", #Predicate { $0.books.contains { $0.author?.rank == 3 } }),
  ]
  static let ofBooks: [(String, Predicate<Book>)] = [
    ("author of many", #Predicate { ($0.author?.books.count ?? 0) > 8 }),
    ("author with twin", #Predicate { $0.author?.books.contains { $0.title == "twin" } ?? true }),
    ("author's all in", #Predicate { $0.isIn && $0.author?.books.allSatisfy { $0.price >= 0 } == true }),
  ]
  static let ofPapers: [(String, Predicate<Paper>)] = [
    ("recent part", #Predicate { $0.parts.contains { $0.year > 2 } }),
    ("no parts", #Predicate { $0.parts.isEmpty }),
    ("parts", #Predicate { $0.parts.count >= 2 }),
    ("topic a", #Predicate { $0.topics.contains { $0.name == "a" } }),
    ("all ranked", #Predicate { $0.topics.allSatisfy { $0.rank != nil } }),
    ("one of rank 1", #Predicate { $0.topics.filter { $0.rank == 1 }.count == 1 }),
    ("part of topic a", #Predicate { $0.parts.contains { $0.topics.contains { $0.name == "a" } } }),
    ("part with parts", #Predicate { $0.parts.contains { !$0.parts.isEmpty } }),
    ("siblings", #Predicate { ($0.parent?.parts.count ?? 0) > 1 }),
    ("busy topic", #Predicate { $0.topics.contains { $0.papers.count > 4 } }),
    ("parent's topics", #Predicate { $0.parent?.topics.contains { $0.name == "b" } ?? false }),
  ]
  static let ofTopics: [(String, Predicate<Topic>)] = [
    ("no papers", #Predicate { $0.papers.isEmpty }),
    ("parts of a", #Predicate { $0.papers.contains { $0.parent?.title == "a" } }),
    ("with wholes", #Predicate { $0.papers.contains { !$0.parts.isEmpty } }),
    ("more than three", #Predicate { $0.papers.count > 3 }),
    ("all recent", #Predicate { $0.papers.allSatisfy { $0.year >= 2 } }),
  ]
}

@MainActor private protocol ToManyRun {
  var told: Int { get }
  func inject(_ fault: ToManyDifferentialTests.Fault)
  func remember() throws
  func problem() throws -> String?
}

/// Live queries and counts of one model, each of a question.
@MainActor private final class Queries<Model: PersistentModel>: ToManyRun {
  private let context: ModelContext
  private let store: ModelContainer
  private let table: String
  private let columns: [String]
  private var lists: [Watched<Model>] = []
  private var counts: [(name: String, live: LiveValue<Int>, predicate: Predicate<Model>)] = []
  private var extremes: [Greatest<Model>] = []
  private var before: [Int64: Row] = [:]

  init(
    _ context: ModelContext, _ store: ModelContainer, _ table: String, _ columns: [String],
    _ predicates: [(String, Predicate<Model>)], _ orders: [[SortDescriptor<Model>]],
    greatest text: KeyPath<Model, String>? = nil, _ seed: UInt64
  ) throws {
    (self.context, self.store, self.table, self.columns) = (context, store, table, columns)
    var random = Random(seed: seed &+ 7)
    for (number, (name, predicate)) in predicates.enumerated() {
      let limit = random.pick([nil, nil, 1, 3])
      let offset = random.pick([0, 0, 1])
      lists.append(
        try Watched(
          "\(name), limit \(limit ?? -1), offset \(offset)", table,
          FetchDescriptor(
            predicate: predicate, sortBy: random.pick(orders), fetchLimit: limit, fetchOffset: offset), in: context,
          listens: number % 3 != 2))
      counts.append((name, try context.liveCount(Model.self, where: predicate), predicate))
      if let text { extremes.append(try Greatest(name, text, predicate, in: context)) }
    }
  }

  var told: Int { lists.reduce(0) { $0 + $1.differences } }

  func inject(_ fault: ToManyDifferentialTests.Fault) {
    switch fault {
    case .ofLists:
      faults += lists.map { watched in
        let table = watched.live.list.select.table
        return Distorted(watched.live.node, in: context.owner) { $0.forgetOldOrigins(but: table) }
      }
    case .ofValues:
      faults += counts.map { count in
        let table = count.live.node.query.table
        return Distorted(count.live.node, in: context.owner) { $0.keep(only: table) }
      }
      for extreme in extremes { faults += extreme.faults(in: context.owner) }
    }
  }
  private var faults: [Distorted] = []

  func remember() throws { before = try state() }

  func problem() throws -> String? {
    let after = try state()
    defer { before = after }
    let commit = context.commitNumber
    for watched in lists {
      if let problem = try watched.check(store, commit: commit, before: before, after: after) { return problem }
    }
    for count in counts {
      let fresh = try ModelContext(store, isolation: nil).fetchCount(FetchDescriptor(predicate: count.predicate))
      if count.live.value != fresh || count.live.commitNumber != commit {
        return "count \(count.name) is \(count.live.value), afresh \(fresh)"
      }
    }
    for extreme in extremes {
      if let problem = try extreme.problem(ModelContext(store, isolation: nil)) { return problem }
    }
    let errors = context.drainDeferredErrors()
    return errors.isEmpty ? nil : "\(errors)"
  }

  private func state() throws -> [Int64: Row] {
    var state: [Int64: Row] = [:]
    for values in try store.query(SQL(verbatim: "SELECT \(columns.joined(separator: ", ")) FROM \(table)")).map(
      \.values)
    {
      guard case .integer(let key) = values[0] else { continue }
      state[key] = Dictionary(uniqueKeysWithValues: zip(columns, values))
    }
    return state
  }
}

/// The greatest text and the groups of the same rows.
@MainActor private final class Greatest<Model: PersistentModel> {
  private let name: String
  private let text: KeyPath<Model, String>
  private let predicate: Predicate<Model>
  private let value: LiveValue<String?>
  private let groups: LiveGroups<String, Int>

  init(_ name: String, _ text: KeyPath<Model, String>, _ predicate: Predicate<Model>, in context: ModelContext) throws {
    (self.name, self.text, self.predicate) = (name, text, predicate)
    value = try context.liveMax(text, where: predicate)
    groups = try context.liveGroups(Model.self, by: text, .count, where: predicate)
  }

  func faults(in owner: ContextCore) -> [Distorted] {
    let table = value.node.query.table
    return [
      Distorted(value.node, in: owner) { $0.keep(only: table) },
      Distorted(groups.node, in: owner) { $0.keep(only: table) },
    ]
  }

  func problem(_ fresh: ModelContext) throws -> String? {
    let greatest = try fresh.fetchMax(text, where: predicate)
    if value.value != greatest { return "greatest of \(name) is \(value.value ?? "nil"), afresh \(greatest ?? "nil")" }
    var counts: [String: Int] = [:]
    for model in try fresh.fetch(FetchDescriptor(predicate: predicate)) {
      counts[model[keyPath: text], default: 0] += 1
    }
    let told = Dictionary(groups.map { ($0.key, $0.values) }, uniquingKeysWith: +)
    return told == counts ? nil : "groups of \(name) are \(told), afresh \(counts)"
  }
}
