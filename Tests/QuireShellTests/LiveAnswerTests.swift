import Foundation
import QuireLive
import QuireModel
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// Answers that follow a file, against the same queries asked afresh.
@MainActor @Suite(.fewOnMainActor) struct LiveAnswerTests {
  @Test(arguments: [1, 2, 3, extraSeed])
  func `a live answer is what the query gives afresh`(seed: UInt64) async throws {
    let run = try await LiveRun(seed)
    #expect(try await run.problem(steps: 40) == nil, "seed \(seed)")
    #expect(run.kept > 12 && run.kept < run.watched.count, "both ways are tried")
  }

  @Test func `one that looks at its own table alone is found out`() async throws {
    let run = try await LiveRun(5)
    run.injectFault()
    #expect(try await run.problem(steps: 60) != nil)
  }

  @Test func `without a log of changes it is compared`() async throws {
    let run = try await LiveRun(4, isLogged: false)
    #expect(try await run.problem(steps: 15) == nil)
  }

  // MARK: Which way

  nonisolated static let kept = [
    "Book", "live Book where year > 1950 order by title limit 2",
    "Book where author.name like \"s%\" order by year desc",
    "Book where any(tags where name = \"novel\") and not count(copies) > 1",
    "Book where none(author.books where year = 1)",
    "Author 1 .books", "Book 1 .author", "Tag 1 .books", "count Book where author is null", "live count Book",
    "Book select title, upper(author.name) as who order by price nulls last", "Note where about_id = 1 select text",
    "Book where year between :low and 1990 limit :few", "Book select count(*) as books where all(tags where id > 1)",
    "Category where parent.name = \"all\"", "Book where case when year > 1960 then 1 else price > 9 end",
  ]

  @Test(arguments: kept) func `it is kept by its changes`(query: String) async throws {
    let library = try Library()
    let session = try library.session { $0.parameters = ["low": 1950, "few": 2] }
    let plan = try await session.livePlan(query)
    #expect(plan.selection != nil, "\(plan.reason ?? "")")
    let answers = LiveAnswers(library.file)
    defer { answers.close() }
    let (answer, manner) = try answers.open(plan)
    #expect("\(manner)".hasPrefix("kept by its changes; without a log"))
    let asked = query.hasPrefix("live ") ? String(query.dropFirst(5)) : query
    let fresh = try await session.shown(asked)
    let isOrdered = asked.contains("order by")
    func sorted(_ rows: [[Value]]) -> [[Value]] { isOrdered ? rows : rows.sorted { "\($0)" < "\($1)" } }
    #expect(sorted(answer.records.map(\.values)) == sorted(fresh.rows))
    #expect(answer.columns == fresh.columns || plan.selection?.tally != nil)
  }

  @Test(arguments: [
    ("Book group by year", "it makes groups"), ("Book select distinct year", "all their values"),
    ("Recent", "Recent is not a table"), ("Book where sum(copies.number) > 1", "sum of related rows"),
    ("Copy where shelf.label = 'A'", "it joins shelf"), ("BookTag", "BookTag has no row id"),
    ("Book where random() > 5", "another at other times"), ("Book select max(year)", "max is of all rows together"),
  ])
  func `another is run again, and says why`(query: String, reason: String) async throws {
    let library = try Library()
    let plan = try await library.session().livePlan(query)
    #expect("\(plan.manner(knowsRows: true))".contains(reason), "\(plan.manner(knowsRows: true))")
  }

  @Test func `a table with an order of its own for texts is not ordered by ours`() async throws {
    let library = try Library("CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT COLLATE NOCASE)")
    let session = try library.session()
    #expect(try await session.livePlan("Word order by text").selection == nil)
    #expect(try await session.livePlan("Word where text = \"A\"").selection != nil)
  }

  @Test func `texts in UTF-16 are not ordered by ours`() async throws {
    let library = try Library("PRAGMA encoding = 'UTF-16le'; CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT)")
    let session = try library.session()
    #expect(try await session.livePlan("Word order by text").selection == nil)
    #expect(try await session.livePlan("Word where text > \"A\"").selection != nil)
    let writer = try Database(logging: library.file)
    try writer.execute("INSERT INTO word (text) VALUES ('B'), ('ā'), ('A')")
    let answers = LiveAnswers(library.file)
    defer { answers.close() }
    let queries = ["Word order by text", "Word where text > \"A\" order by id"]
    var followed: [any LiveAnswer] = []
    for query in queries { followed.append(try answers.open(try await session.livePlan(query)).answer) }
    try writer.execute("UPDATE word SET text = 'ăb' WHERE text = 'B'")
    try writer.execute("INSERT INTO word (text) VALUES ('C')")
    try answers.store?.mainContext.refresh()
    for (query, answer) in zip(queries, followed) {
      #expect(try await answer.records.map(\.values) == session.shown(query).rows)
    }
  }

  // MARK: Costs

  @Test func `a commit that concerns no row of it costs no statement`() async throws {
    let library = try Library()
    let writer = try Database(logging: library.file)
    let answers = LiveAnswers(library.file)
    defer { answers.close() }
    let plan = try await library.session().livePlan("Book where author.name = \"Stanisław Lem\" order by title limit 2")
    let (answer, manner) = try answers.open(plan)
    #expect("\(manner)" == "kept by its changes")
    let start = answer.queriesRun
    try writer.execute("UPDATE author SET born = 1900")
    try writer.execute("UPDATE copy SET room = NULL, number = NULL")
    try answers.store?.mainContext.refresh()
    #expect(answer.queriesRun == start)
    try writer.execute("UPDATE book SET title = 'Aden' WHERE id = 4")
    try answers.store?.mainContext.refresh()
    #expect(answer.queriesRun > start && answer.records.map { $0["title"] } == ["Aden", "Eden"])
  }

  @Test func `what changed is told by place, and an error too`() async throws {
    let library = try Library()
    let writer = try Database(logging: library.file)
    let answers = LiveAnswers(library.file)
    defer { answers.close() }
    let session = try library.session()
    let list = try answers.open(try await session.livePlan("Book where year > 1958 order by title")).answer
    let tally = try answers.open(try await session.livePlan("count Book where year > 1958")).answer
    var told: [String] = []
    let tokens = [list, tally].map { answer in
      answer.onDifference { told += $0.changes.map { "\($0)" } }
    }
    try writer.execute("UPDATE book SET year = 1900 WHERE id = 1")
    try answers.store?.mainContext.refresh()
    #expect(
      told.count == 2 && told.contains { $0.hasPrefix("delete(at: 2") } && told.contains { $0.contains("count: 2") })
    try writer.execute("DROP TABLE copy")
    try writer.execute("DROP TABLE book_tag")
    try writer.execute("DROP TABLE book")
    try answers.store?.mainContext.refresh()
    #expect(list.records.count == 2 && tally.records[0]["count"] == 2)
    withExtendedLifetime(tokens) {}
  }
}

/// Random queries followed while another store writes.
@MainActor private final class LiveRun {
  private var random: PairMaker
  private let library: Library
  private let session: ShellSession
  private let writer: Database
  private let answers: LiveAnswers
  private(set) var watched: [(query: String, answer: any LiveAnswer)] = []

  init(_ seed: UInt64, isLogged: Bool = true) async throws {
    random = PairMaker(seed: seed, isWrong: false)
    library = try Library(Library.schema + random.rows())
    writer = try Database(logging: library.file, isLogged ? .on() : .asInFile)
    session = try library.session()
    answers = LiveAnswers(library.file)
    for _ in 0..<24 {
      let condition = random.condition(depth: 2).model
      let order = random.order().0
      let limit = random.one(of: ["", " limit 4", " limit 3 offset 2"])
      let query = random.one(of: [
        "Book where \(condition) order by \(order)\(limit)", "count Book where \(condition)",
        "Book where \(condition) select id, title, author.name, count(tags) as many order by \(order)\(limit)",
        "Book where \(condition) .author order by id\(limit)",
      ])
      watched.append((query, try answers.open(try await session.livePlan(query)).answer))
    }
  }

  /// How many are kept by their changes.
  var kept: Int { watched.count { !($0.answer is LiveRecords) } }

  func injectFault() {
    for (_, answer) in watched {
      (answer as? LiveSelection)?.pause()
      (answer as? LiveTally)?.pause()
    }
  }

  /// The first answer that is not what its query gives, after some writes; nil where all are.
  func problem(steps: Int) async throws -> String? {
    defer { answers.close() }
    for step in 0..<steps {
      let writes = (0...random.below(3)).map { _ in write() }
      for sql in writes.joined() { try writer.execute(sql) }
      try answers.store?.mainContext.refresh()
      for (query, answer) in watched {
        let fresh = try await session.shown(query).rows
        let shown = answer.records.map(\.values)
        if shown != fresh {
          return "step \(step), \(writes)\n\(query)\nshows \(shown)\nafresh \(fresh)\n\(answer)"
        }
      }
    }
    return nil
  }

  private func write() -> [String] {
    let key = 1 + random.below(60)
    let author = random.nullable(1 + random.below(8))
    switch random.below(13) {
    case 0: return ["UPDATE book SET year = \(random.nullable(1950 + random.below(20))) WHERE id = \(key)"]
    case 1: return ["UPDATE book SET title = 'title \(random.below(9))', price = 3 WHERE id < \(key) AND id % 7 = 0"]
    case 2: return ["UPDATE book SET author_id = \(author) WHERE id = \(key)"]
    case 3: return ["UPDATE book SET translator_id = \(author), price = \(random.below(30)) WHERE id = \(key)"]
    case 4:
      return [
        "DELETE FROM copy WHERE book_id = \(key)", "DELETE FROM book_tag WHERE book_id = \(key)",
        "DELETE FROM book WHERE id = \(key)",
      ]
    case 5:
      return [
        "INSERT OR IGNORE INTO book VALUES (\(key), 'title \(random.below(9))', \(1950 + random.below(20)), 7, \(author), 1)"
      ]
    case 6: return ["UPDATE author SET name = 'name \(random.below(5))' WHERE id = \(1 + key % 8)"]
    case 7: return ["UPDATE author SET born = \(random.nullable(1900 + random.below(8))) WHERE id = \(1 + key % 8)"]
    case 8: return ["DELETE FROM book_tag WHERE book_id = \(key)"]
    case 9:
      return ["INSERT OR IGNORE INTO book_tag SELECT id, \(1 + random.below(3)) FROM book WHERE id = \(key)"]
    case 10: return ["UPDATE copy SET book_id = (SELECT max(id) FROM book) WHERE id = \(key)"]
    case 11:
      return ["UPDATE copy SET room = NULL, number = 1 WHERE id = \(key)", "DELETE FROM copy WHERE id = \(key + 1)"]
    default: return ["INSERT INTO copy (book_id, room, number) SELECT id, 'north', 1 FROM book WHERE id = \(key)"]
    }
  }
}

extension Database {
  fileprivate convenience init(logging file: URL, _ log: ChangeLog = .on()) throws {
    var configuration = DatabaseConfiguration(.file(file.path))
    configuration.changeLog = log
    configuration.synchronous = .off
    try self.init(configuration)
  }

  fileprivate func execute(_ sql: String) throws { try write { try $0.connection.execute(sql) } }
}

extension ShellSession {
  /// The rows a query gives a script: all of them, and nothing beside.
  fileprivate func shown(_ text: String) async throws -> Answer {
    switch try await replies(text).last {
    case .answer(let answer): return answer
    case .card:
      return try await answer("\(text) where 1")
    default: throw ShellFailure("no answer to \(text)")
    }
  }
}
