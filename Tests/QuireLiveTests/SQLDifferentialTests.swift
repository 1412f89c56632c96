import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

/// Random writes by every way: after every move each live query in SQL is what the same query gives afresh, and what it
/// told leads from its answer before to that.
@MainActor @Suite(.fewOnMainActor) struct SQLDifferentialTests {
  nonisolated static let corpus: [UInt64] = []

  private func play(seed: UInt64, from elsewhere: SQLRun.Elsewhere? = nil) async throws {
    let run = try SQLRun(seed: seed, from: elsewhere)
    for step in 0..<30 {
      await Task.yield()  // others wait for the main actor
      if let problem = try run.step() {
        Issue.record("seed \(seed), step \(step): \(problem)\n\(run.done)")
        return
      }
    }
    // Without a log nobody knows what has changed: all is run again.
    let isQuiet = run.quiet > 10 || elsewhere == .unlogged
    #expect(run.differences > 20 && isQuiet, "seed \(seed) proves little")
  }

  @Test(arguments: corpus + Array(1...8 as ClosedRange<UInt64>))
  func `queries of every shape equal the same afresh`(seed: UInt64) async throws { try await play(seed: seed) }

  @Test(arguments: [1, 2, 3, extraSeed], [SQLRun.Elsewhere.logged, .unlogged])
  func `so they do where another process writes`(seed: UInt64, elsewhere: SQLRun.Elsewhere) async throws {
    try await play(seed: seed, from: elsewhere)
  }

  @Test(.enabled(if: isSoaking))
  func `queries of every shape equal the same afresh, for long`() async throws {
    let seconds = ProcessInfo.processInfo.environment["QUIRE_SOAK"].flatMap(Double.init) ?? 0
    let end = ContinuousClock.now + .seconds(seconds)
    var seed: UInt64 = 1000
    while ContinuousClock.now < end {
      try await play(seed: seed)
      seed += 1
    }
  }

  @Test func `one that ignores a table is found out`() throws {
    for elsewhere in [nil, SQLRun.Elsewhere.logged] {
      let isFound = try (1...4 as ClosedRange<UInt64>).contains { seed in
        let run = try SQLRun(seed: seed, from: elsewhere)
        run.injectFault(ignoring: "author")
        return try (0..<40).contains { _ in try run.step() != nil }
      }
      #expect(isFound, "nothing noticed that changes of authors were not looked at")
    }
  }
}

/// One graph with its live queries.
@MainActor final class SQLRun {
  private let graph: RandomGraph
  private var watched: [Watched] = []
  private(set) var differences = 0
  /// How often a query was not run because nothing it reads had changed.
  private(set) var quiet = 0
  private var random: Random

  private final class Watched {
    let sql: SQL
    let live: LiveRecords
    var shown: [Record]
    var runs = 1
    var told: [Difference<Record>] = []
    var token: ChangeToken?

    init(_ sql: SQL, _ live: LiveRecords) {
      self.sql = sql
      self.live = live
      shown = Array(live)
      token = live.onDifference { [unowned self] in told.append($0) }
    }
  }

  var done: [String] { graph.done }

  /// Another store on the same file writes, with a change log or without.
  enum Elsewhere { case logged, unlogged }
  private let scratch: Scratch?
  /// Where the queries are followed.
  private let store: ModelContainer
  private let context: ModelContext

  init(seed: UInt64, from elsewhere: Elsewhere? = nil) throws {
    let scratch = try elsewhere.map { _ in try Scratch() }
    self.scratch = scratch
    func open(_ log: ChangeLog) throws -> ModelContainer? {
      guard let scratch else { return nil }
      var configuration = ModelConfiguration(url: URL(filePath: scratch.file()), changeLog: log)
      configuration.synchronous = .off
      return try ModelContainer(for: Schema(Author.self, Book.self), configurations: configuration)
    }
    graph = try RandomGraph(seed: seed, in: open(elsewhere == .logged ? .on() : .asInFile))
    store = try open(.asInFile) ?? graph.store
    context = elsewhere == nil ? graph.context : ModelContext(store, isolation: nil)
    random = Random(seed: seed &+ 1_000_000)
    _ = try graph.store.writeSQL { transaction in
      try transaction.connection.execute(
        """
        CREATE VIRTUAL TABLE search USING fts5(title);
        INSERT INTO search (rowid, title) SELECT id, title FROM book;
        CREATE VIEW ranked AS SELECT b.id AS id, b.title AS title, a.rank AS rank FROM book b JOIN author a ON a.id = b.author_id;
        """)
    }
    try refresh()
    for (sql, keys) in try (0..<14).map({ _ in try shape() }) {
      watched.append(Watched(sql, try context.live(sql: sql, key: keys)))
    }
  }

  private func refresh() throws {
    try context.refresh()
    // Others are here: what the context stands at is held for it.
    if scratch != nil { store.store.database.share(true) }
  }

  func injectFault(ignoring table: String) {
    faults = watched.map { one in Distorted(one.live.node, in: context.owner) { $0.drop(table) } }
  }
  private var faults: [Distorted] = []

  /// What does not fit after one more write; nil where all does.
  func step() throws -> String? {
    switch random.below(12) {
    case 0:
      // The view says something else from now on.
      try write(
        """
        DROP VIEW ranked;
        CREATE VIEW ranked AS
          SELECT b.id, b.title, a.rank FROM book b JOIN author a ON a.id \(random.pick(["<", ">", "="])) b.author_id;
        """)
    case 1...3:
      // Triggers may not write to an index: the schema is not trusted.
      let part = random.below(4)
      try write(
        random.pick([
          "INSERT OR REPLACE INTO search (rowid, title) SELECT id, title FROM book WHERE id % 4 = \(part)",
          "DELETE FROM search WHERE rowid % 4 = \(part)", "UPDATE search SET title = 'a b z' WHERE rowid % 9 = \(part)",
        ]))
    default: try graph.step()
    }
    try refresh()
    for one in watched {
      if let problem = try problem(one) { return "\(one.sql.text) \(one.sql.arguments): \(problem)" }
    }
    return nil
  }

  private func write(_ sql: String) throws {
    _ = try graph.store.writeSQL { transaction in try transaction.connection.execute(sql) }
  }

  private func problem(_ one: Watched) throws -> String? {
    defer {
      one.shown = Array(one.live)
      one.told.removeAll()
      one.runs = one.live.queriesRun
    }
    if let error = one.live.error { return "\(error)" }
    let fresh = try ModelContext(store, isolation: nil).fetch(sql: one.sql)
    if Array(one.live) != fresh { return "shows \(Array(one.live)), afresh \(fresh)" }
    if one.live.commitNumber != context.commitNumber { return "stands at \(one.live.commitNumber)" }
    if one.live.queriesRun == one.runs { quiet += 1 }
    var shown = one.shown
    for difference in one.told {
      if difference.changes.isEmpty { return "told of nothing" }
      guard let next = replayed(difference.changes, onto: shown) else {
        return "\(difference.changes) do not fit \(shown)"
      }
      shown = next
      differences += 1
    }
    return shown == fresh ? nil : "told \(one.told), which lead to \(shown)"
  }

  // MARK: Shapes

  private static let columns = ["title", "year", "price", "is_in", "note", "author_id"]

  private func condition() -> SQL {
    switch random.below(6) {
    case 0: "year IS NOT NULL"
    case 1: "price < \(random.pick([0.5, 2, 100]))"
    case 2: "title >= \(random.pick(RandomGraph.texts))"
    case 3: "author_id IN (SELECT id FROM author WHERE rank > \(random.below(3)))"
    case 4:
      "EXISTS (SELECT 1 FROM author WHERE author.id = book.author_id AND name < \(random.pick(RandomGraph.texts)))"
    default: "1"
    }
  }

  /// A query that has one answer only: its order leaves nothing open.
  private func shape() throws -> (SQL, keys: [String]) {
    let column: SQL = "\(identifier: random.pick(Self.columns))"
    let order: SQL = random.chance(2) ? "\(column), id" : "\(column) DESC, id"
    switch random.below(13) {
    case 0:
      return ("SELECT id, \(column) FROM book WHERE \(condition()) ORDER BY \(order) LIMIT \(random.below(12))", ["id"])
    case 1: return ("SELECT title, \(column) FROM book WHERE \(condition()) ORDER BY \(order)", [])
    case 2:
      return (
        "SELECT id, row_number() OVER (PARTITION BY author_id ORDER BY \(order)) AS n, sum(is_in) OVER (ORDER BY id ROWS 2 PRECEDING) AS s FROM book WHERE \(condition()) ORDER BY id",
        ["id"]
      )
    case 3:
      return (
        "SELECT author_id, count(*) AS n, min(title) AS t FROM book GROUP BY author_id HAVING count(*) > \(random.below(4)) ORDER BY 2 DESC, 1",
        random.chance(2) ? ["author_id"] : []
      )
    case 4:
      return (
        "SELECT a.name, b.title FROM author a LEFT JOIN book b ON b.author_id = a.id AND b.is_in ORDER BY a.id, b.id",
        []
      )
    case 5:
      return (
        "SELECT name, (SELECT count(*) FROM book WHERE author_id = author.id AND \(condition())) AS n FROM author ORDER BY id",
        []
      )
    case 6:
      return (
        "SELECT title AS t FROM book WHERE \(condition()) UNION SELECT name FROM author WHERE rank IS NULL ORDER BY 1",
        []
      )
    case 7:
      return (
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT max(rank) % 5 FROM author)) SELECT i, (SELECT count(*) FROM book WHERE id % 5 = i) AS c FROM n ORDER BY i",
        ["i"]
      )
    case 8:
      return ("SELECT rowid AS id, title FROM search WHERE search MATCH 'a OR b OR z' ORDER BY rank, rowid", ["id"])
    case 9:
      return ("SELECT id, title, rank FROM ranked WHERE rank > \(random.below(2)) ORDER BY title, id LIMIT 9", ["id"])
    case 10: return ("SELECT count(*) AS n, total(is_in) AS t, max(\(column)) AS m FROM book WHERE \(condition())", [])
    case 11: return ("SELECT DISTINCT \(column) AS v FROM book ORDER BY 1", [])
    default:
      return ("SELECT j.value, b.title FROM book b, json_each('[1,2]') j WHERE b.id % 3 = j.value ORDER BY 1, b.id", [])
    }
  }
}
