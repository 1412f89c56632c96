import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

/// What a commit costs: statements run and readers woken.
@MainActor @Suite(.fewOnMainActor) struct CountingTests {
  private let store: ModelContainer
  private let context: ModelContext

  /// Ten thousand books, by SQL.
  init() throws {
    store = try makeStore()
    try store.execute("INSERT INTO author (id, name, rank) VALUES (1, 'A', 1), (2, 'B', 2)")
    try store.execute(
      """
      INSERT INTO book (id, title, year, price, is_in, author_id)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      SELECT i, printf('%05d', i * 7919 % 10007), 1900 + i % 120, 1, 1, 1 FROM n
      """)
    context = ModelContext(store, isolation: nil)
  }

  private func list(limit: Int? = 100) throws -> LiveQuery<Book> {
    try context.live(
      Book.self, where: #Predicate { $0.isIn && ($0.year ?? 0) > 1950 }, sortBy: [SortDescriptor(\.title)], limit: limit
    )
  }

  private func sql(_ statement: String) throws {
    try store.execute(SQL(verbatim: statement))
    try context.refresh()
  }

  @Test(arguments: [100, nil] as [Int?])
  func `one row into, out of and within a list of ten thousand runs no statement`(limit: Int?) throws {
    let list = try list(limit: limit)
    let count = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
    var woken = 0
    func watch() {
      track {
        _ = (list.count, count.value)
      } before: {
        woken += 1
      }
    }
    let key = list.list.keys[50]
    for statement in [
      "UPDATE book SET title = '00000' WHERE id = \(key)", "UPDATE book SET is_in = 0 WHERE id = \(key)",
      "UPDATE book SET is_in = 1 WHERE id = \(key)", "DELETE FROM book WHERE id = \(key)",
      "INSERT INTO book (title, year, price, is_in) VALUES ('0', 2000, 1, 1)",
    ] {
      watch()
      let before = woken
      try sql(statement)
      #expect(woken > before, "\(statement) changed nothing")
    }
    let book = list[3]
    book.title = "000"
    try context.save()
    #expect(list.queriesRun == 1 && count.queriesRun == 1)
    #expect(list.titles.first == "0" && list[1] === book)
  }

  @Test func `one row of one of ten lists wakes the reader of that list alone`() throws {
    let lists = try (1950..<1960).map { year in
      try context.live(Book.self, where: #Predicate { $0.year == year }, sortBy: [SortDescriptor(\.title)])
    }
    var woken: [Int] = []
    for (index, list) in lists.enumerated() {
      track {
        _ = list.count
      } before: {
        woken.append(index)
      }
    }
    try sql("DELETE FROM book WHERE id = \(lists[4].list.keys[0])")
    #expect(woken == [4] && lists.allSatisfy { $0.queriesRun == 1 })
  }

  @Test(arguments: [
    "UPDATE book SET note = 'n' WHERE id = 5", "UPDATE book SET price = 3", "UPDATE author SET name = 'x'",
    "UPDATE book SET title = title, is_in = is_in", "UPDATE book SET author_id = 2 WHERE id < 100",
    "UPDATE book SET is_in = 0 WHERE year < 1950", "UPDATE book SET title = 'zzz' WHERE title > '09'",
  ])
  func `columns, tables and rows that do not concern a list wake nobody and run nothing`(statement: String) throws {
    let list = try list()
    let count = try context.liveCount(Book.self, where: #Predicate { ($0.year ?? 0) > 1950 })
    let named = try context.live(
      Book.self, where: #Predicate { $0.author?.rank == 2 && $0.year == 1900 },
      sortBy: [SortDescriptor(\.author?.rank)], limit: 10)
    var woken = 0
    track {
      _ = (list.count, count.value)
    } before: {
      woken += 1
    }
    let queries = named.queriesRun
    try sql(statement)
    #expect(woken == 0 && list.queriesRun == 1 && count.queriesRun == 1)
    #expect(list.commitNumber == context.commitNumber && count.commitNumber == context.commitNumber)
    if !statement.contains("author_id"), !statement.contains("is_in = 0") {
      #expect(named.queriesRun == queries, "a path's columns: rank, year and author_id alone")
    }
  }

  @Test func `a path asks by key, once, and only when a column of it changed`() throws {
    let list = try context.live(
      Book.self, where: #Predicate { $0.author?.name == "A" }, sortBy: [SortDescriptor(\.title)], limit: 5)
    let count = try context.liveCount(Book.self, where: #Predicate { $0.author?.name == "A" })
    try sql("UPDATE author SET rank = 9")
    try sql("UPDATE book SET note = 'x' WHERE id < 50")
    #expect(list.queriesRun == 1 && count.queriesRun == 1)
    try sql("UPDATE book SET author_id = 2 WHERE id = \(list.list.keys[0])")
    #expect(list.queriesRun == 2 && count.queriesRun == 3 && count.value == 9999, "as it was, and as it is")
  }

  @Test func `an update of columns a list does not look at is told to listeners as one, else to nobody`() throws {
    let list = try list()
    let silent = try self.list()
    var told: [Difference<ModelRow<Book>>.Change] = []
    var token: ChangeToken? = list.onDifference { told += $0.changes }
    var woken = 0
    track {
      _ = (list.count, silent.count)
    } before: {
      woken += 1
    }
    let key = list.list.keys[42]
    try sql("UPDATE book SET note = 'n', price = 2 WHERE id = \(key)")
    guard case .update(42, let old, let new)? = told.first else {
      Issue.record("told \(told)")
      return
    }
    #expect(told.count == 1 && old.price == 1 && new.price == 2 && new.note == "n" && new.title == list[42].title)
    #expect(woken == 0 && list.queriesRun == 1)
    // A row that is held as look-ahead, but not shown.
    try sql("UPDATE book SET note = 'm' WHERE id = \(list.list.window.entries[150].key)")
    #expect(told.count == 1)
    token = nil
    try sql("UPDATE book SET note = 'l' WHERE id = \(key)")
    #expect(told.count == 1 && token == nil)
  }

  @Test func `rows that come to a limited list because others went are told with their values`() throws {
    let list = try list(limit: 3)
    var told: [Difference<ModelRow<Book>>.Change] = []
    let token = list.onDifference { told = $0.changes }
    let fourth = list.list.window.entries[3].key
    let title = try #require(context.model(Book.self, key: fourth)?.title)
    try sql("DELETE FROM book WHERE id = \(list.list.keys[0])")
    guard told.count == 2, case .insert(2, let new) = told[1] else {
      Issue.record("told \(told)")
      return
    }
    #expect(new.id.key == fourth && new.title == title && new.isIn == true)
    token.cancel()
  }

  @Test func `a row edited and not saved stays at its place until it is saved`() throws {
    let list = try list()
    let book = list[10]
    book.title = "0"
    #expect(list[10] === book)
    try sql("UPDATE book SET note = 'x' WHERE id = 1")
    #expect(list[10] === book && book.title == "0")
    try context.save()
    #expect(list[0] === book)
    book.title = "z"
    context.rollback()
    #expect(list[0] === book && book.title == "0")
  }

  @Test func `fifty thousand rows unlimited: a change is judged by itself, and told as one`() throws {
    try store.execute(
      """
      INSERT INTO book (title, year, price, is_in)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) SELECT 'x' || i, 2000, 1, 1 FROM n
      """)
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    #expect(list.count == 50_000)
    var told: [Difference<ModelRow<Book>>.Change] = []
    let token = list.onDifference { told = $0.changes }
    let last = list.list.keys[49_999]
    try sql("UPDATE book SET title = ' ' WHERE id = \(last)")
    guard told.count == 1, case .move(49_999, 0, _, _) = told[0] else {
      Issue.record("told \(told.count)")
      return
    }
    let judged = list.list.judgedInMemory
    for number in 0..<100 {
      try sql("UPDATE book SET title = '\(number)' WHERE id = \(last)")
      #expect(told.count == 1)
    }
    #expect(list.list.judgedInMemory == judged + 100 && list.queriesRun == 1)
    token.cancel()
  }

  @Test(arguments: [false, true])
  func `a context that reads before every save keeps the log from growing no more than one that does not`(
    besideObserver: Bool
  ) throws {
    // One in the process is enough for each context to keep the state before its commits.
    let observer = besideObserver ? observe({ 0 }, willChange: { _ in }) : nil
    defer { observer?.cancel() }
    let context = ModelContext(store)
    let database = try #require(context.owner.store).database
    let count = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
    let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
    let pages = 100
    let checkpoints = Locked<[String]>([])
    let token = store.observeEvents { event in
      if case .checkpoint = event { checkpoints.withLock { $0.append("\(event)") } }
    }
    for round in 0..<3 * database.configuration.pagesBetweenCheckpoints / pages {
      // What it reads on stays open until the save has been taken in.
      _ = try context.fetchCount(FetchDescriptor<Book>())
      book.note = String(repeating: round.isMultiple(of: 2) ? "a" : "b", count: pages * 4096)
      book.isIn = round.isMultiple(of: 2)
      try context.save()
      #expect(count.value == 9_999 + (round.isMultiple(of: 2) ? 1 : 0))
    }
    let log = try FileManager.default.attributesOfItem(atPath: database.path + "-wal")[.size] as? Int
    #expect(
      try #require(log) < (database.configuration.pagesBetweenCheckpoints + 3 * pages) * 4200,
      "\(log ?? 0) bytes; others are known: \(database.isShared); \(checkpoints.withLock { $0 })")
    token.cancel()
  }
}
