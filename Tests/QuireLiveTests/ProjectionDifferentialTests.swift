import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireLive

/// Random writes on both sides of every path, many live lists of rows at once: after every commit each equals the same
/// fetch afresh.
@MainActor @Suite(.fewOnMainActor) struct ProjectionDifferentialTests {
  /// Seeds that failed once.
  nonisolated static let corpus: [UInt64] = []

  @Test(arguments: corpus + Array(1...10 as ClosedRange<UInt64>))
  func `live rows equal the same fetch afresh`(seed: UInt64) throws {
    let run = try BookRowsRun(seed: seed)
    if let problem = try run.firstProblem(steps: 40) { Issue.record("seed \(seed), \(problem)") }
    #expect(run.differences > 40, "seed \(seed): \(run.differences) differences prove little")
  }

  @Test(arguments: corpus + Array(1...20 as ClosedRange<UInt64>))
  func `live rows over two tables equal the same fetch afresh`(seed: UInt64) throws {
    let run = try VolumeRowsRun(seed: seed)
    if let problem = try run.firstProblem(steps: 60) { Issue.record("seed \(seed), \(problem)") }
    #expect(run.differences > 60, "seed \(seed): \(run.differences) differences prove little")
  }

  @Test(.enabled(if: isSoaking))
  func `live rows equal the same fetch afresh, for long`() throws {
    try soak("projections") { seed in
      try BookRowsRun(seed: seed).firstProblem(steps: 100) ?? VolumeRowsRun(seed: seed).firstProblem(steps: 150)
    }
  }

  @Test func `rows that ignore what their paths lead to are found out`() throws {
    let run = try VolumeRowsRun(seed: 1)
    let faults = run.lines.map { watched in
      let table = watched.live.node.content.window.select.table
      return Distorted(watched.live.node, in: watched.live.node.owner) { $0.keep(only: table) }
    }
    defer { withExtendedLifetime(faults) {} }
    #expect(try run.firstProblem(steps: 60) != nil, "the differential test would not notice")
  }

  @Test func `spare rows that stay what they were are found out`() throws {
    let run = try VolumeRowsRun(seed: 1)
    let faults = run.lines.map { watched in
      let rows = watched.live.node.content
      return Distorted(watched.live.node, in: watched.live.node.owner) {
        $0.keepUpdates(in: rows.window.select.table, of: Set(rows.keys))
      }
    }
    defer { withExtendedLifetime(faults) {} }
    #expect(try run.firstProblem(steps: 60) != nil, "the differential test would not notice")
  }
}

/// On the shared graph of authors and books: cascades, triggers, SQL, key changes, commits taken together.
@MainActor final class BookRowsRun {
  private let graph: RandomGraph
  private var lines: [WatchedRows<BookLine>] = []
  private var random: Random
  private var replaced = 0

  init(seed: UInt64) throws {
    random = Random(seed: seed &+ 7)
    graph = try RandomGraph(seed: seed)
    for number in 0..<10 { try add(number) }
  }

  var differences: Int { lines.reduce(replaced) { $0 + $1.differences } }

  private func add(_ number: Int) throws {
    let predicate = number < 3 ? Self.predicates[0] : random.pick(Self.predicates)
    let order = random.pick(Self.orders)
    lines.append(
      try WatchedRows(
        "\(number): \(predicate.0) by \(order.0)", BookLine.self, where: predicate.1, sortBy: .properties(order.1),
        limit: random.pick([nil, nil, 0, 1, 3, 10, 30] as [Int?]), offset: random.pick([0, 0, 0, 1, 5, 30]),
        in: graph.context))
  }

  func firstProblem(steps: Int) throws -> String? {
    for step in 0..<steps {
      if step % 10 == 9 {
        replaced += lines.removeFirst().differences
        try add(100 + step)
      }
      try graph.step()
      for watched in lines {
        if let problem = try watched.check(graph.store, commit: graph.context.commitNumber) {
          return "step \(step): \(problem)\n\(graph.done)"
        }
      }
    }
    return nil
  }

  static let predicates: [(String, Predicate<Book>?)] = [
    ("all", nil),
    ("isIn", #Predicate { $0.isIn }),
    ("author's name is not a", #Predicate { $0.author?.name != "a" }),
    ("author's rank is 3", #Predicate { $0.author?.rank == 3 }),
    ("no author", #Predicate { $0.author == nil }),
    ("price < 3", #Predicate { $0.price < 3 }),
  ]

  static let orders: [(String, [SortDescriptor<Book>])] = [
    ("key", []),
    ("title", [SortDescriptor(\.title)]),
    ("year down", [SortDescriptor(\.year, order: .reverse)]),
    ("author's name, title", [SortDescriptor(\.author?.name), SortDescriptor(\.title)]),
    ("author's rank down", [SortDescriptor(\.author?.rank, order: .reverse)]),
  ]
}

/// On volumes, writers and presses: a path of two steps, and references that become nil or lead nowhere.
@MainActor final class VolumeRowsRun {
  private let store: ModelContainer
  private let context: ModelContext
  private let other: ModelContext
  private(set) var lines: [WatchedRows<VolumeLine>] = []
  private var cities: [WatchedRows<PressLine>] = []
  private var random: Random
  private var done: [String] = []

  init(seed: UInt64) throws {
    random = Random(seed: seed &+ 3)
    store = try makePressStore()
    context = ModelContext(store, isolation: nil)
    other = ModelContext(store, isolation: nil)
    let presses = (0..<3).map { Press("p\($0)", city: "c\($0)") }
    let writers = (0..<6).map { Writer("w\($0)", press: presses[$0 % 3]) }
    for press in presses { context.insert(press) }
    for writer in writers { context.insert(writer) }
    for number in 0..<40 {
      context.insert(Volume("v\(number % 7)", writer: number % 8 == 7 ? nil : writers[number % 6]))
    }
    try context.save()
    for number in 0..<8 {
      let predicate = random.pick(Self.predicates)
      let order = random.pick(Self.orders)
      let limit = number == 0 ? nil : random.pick([nil, 1, 4, 12] as [Int?])
      let offset = number == 0 ? 0 : random.pick([0, 0, 2, 20])
      let name = "\(number): \(predicate.0) by \(order.0)"
      if number % 3 == 2 {
        cities.append(
          try WatchedRows(
            name, PressLine.self, where: predicate.1, sortBy: .properties(order.1), limit: limit, offset: offset,
            in: context))
      } else {
        lines.append(
          try WatchedRows(
            name, VolumeLine.self, where: predicate.1, sortBy: .properties(order.1), limit: limit, offset: offset,
            in: context))
      }
    }
  }

  var differences: Int {
    lines.reduce(0) { $0 + $1.differences } + cities.reduce(0) { $0 + $1.differences }
  }

  func firstProblem(steps: Int) throws -> String? {
    for step in 0..<steps {
      done.removeAll()
      switch random.below(4) {
      case 0:
        try write(in: other)
        try context.refresh()
      case 1:
        for _ in 0..<3 { sql() }
        try context.refresh()
      default: try write(in: context)
      }
      let commit = context.commitNumber
      for watched in lines {
        if let problem = try watched.check(store, commit: commit) { return "step \(step): \(problem)\n\(done)" }
      }
      for watched in cities {
        if let problem = try watched.check(store, commit: commit) { return "step \(step): \(problem)\n\(done)" }
      }
    }
    return nil
  }

  private func write(in context: ModelContext) throws {
    for _ in 0..<random.pick([1, 1, 3]) {
      let volumes = try context.fetch(FetchDescriptor<Volume>())
      let writers = try context.fetch(FetchDescriptor<Writer>())
      let presses = try context.fetch(FetchDescriptor<Press>())
      let choice = random.below(10)
      done.append("\(choice)")
      switch choice {
      case 0: presses.randomElement(using: &random)?.name = random.pick(RandomGraph.texts)
      case 1: presses.randomElement(using: &random)?.city = "c\(random.below(4))"
      case 2: writers.randomElement(using: &random)?.name = random.pick(RandomGraph.texts)
      case 3:
        writers.randomElement(using: &random)?.press = random.chance(4) ? nil : presses.randomElement(using: &random)
      case 4:
        volumes.randomElement(using: &random)?.writer = random.chance(4) ? nil : writers.randomElement(using: &random)
      case 5: volumes.randomElement(using: &random)?.title = "v\(random.below(9))"
      case 6: volumes.randomElement(using: &random)?.shelf += 1
      case 7:
        if let writer = writers.randomElement(using: &random) { context.delete(writer) }
        context.insert(Writer(random.pick(RandomGraph.texts), press: presses.randomElement(using: &random)))
      case 8:
        if let press = presses.randomElement(using: &random) { context.delete(press) }
        context.insert(Press("p\(random.below(9))", city: "c\(random.below(4))"))
      default:
        if volumes.count > 30, let volume = volumes.randomElement(using: &random) { context.delete(volume) }
        context.insert(Volume("v\(random.below(9))", writer: writers.randomElement(using: &random)))
      }
    }
    try context.save()
  }

  /// Statements that failed, as some may, change nothing.
  private func sql() {
    let key = 1 + random.below(9)
    let text = "'v\(random.below(9))'"
    let statement = random.pick([
      "UPDATE press SET name = \(text), city = \(text) WHERE id = \(key)",
      "UPDATE writer SET name = \(text) WHERE id % 2 = \(key % 2)",
      "UPDATE writer SET press_id = (SELECT id FROM press ORDER BY (id * 7) % \(key) LIMIT 1) WHERE id = \(key)",
      "UPDATE volume SET writer_id = (SELECT id FROM writer ORDER BY (id * 5) % \(key) LIMIT 1) WHERE id % 5 = \(key % 5)",
      "UPDATE volume SET shelf = shelf + 1, title = title",
      "UPDATE writer SET age = age + 1",
      "UPDATE volume SET id = id + 1000 WHERE id = \(key)",
      "UPDATE press SET id = id + 1000 WHERE id = \(key)",
      "DELETE FROM press WHERE id = \(key)",
      "DELETE FROM volume WHERE id IN (SELECT id FROM volume ORDER BY title LIMIT 2)",
      "INSERT INTO volume (title, binding, tags, shelf, writer_id) SELECT \(text), 'paper', '[]', 0, id FROM writer",
      "INSERT OR REPLACE INTO volume (id, title, binding, tags, shelf) VALUES (\(key), \(text), 'paper', '[]', 0)",
    ])
    do {
      try store.execute(SQL(verbatim: statement))
      done.append(statement)
    } catch {
      done.append("✗ \(statement)")
    }
  }
}

extension VolumeRowsRun {
  static let predicates: [(String, Predicate<Volume>?)] = [
    ("all", nil),
    ("has a press", #Predicate { $0.writer?.press?.name != nil }),
    ("press is not p1", #Predicate { $0.writer?.press?.name != "p1" }),
    ("writer is not w2", #Predicate { $0.writer?.name != "w2" }),
    ("title is below v5", #Predicate { $0.title < "v5" }),
  ]

  static let orders: [(String, [SortDescriptor<Volume>])] = [
    ("key", []),
    ("title", [SortDescriptor(\.title)]),
    ("title down", [SortDescriptor(\.title, order: .reverse)]),
    ("writer, title", [SortDescriptor(\.writer?.name), SortDescriptor(\.title)]),
    ("press down, title", [SortDescriptor(\.writer?.press?.name, order: .reverse), SortDescriptor(\.title)]),
  ]
}
