import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// What live results say of themselves, word for word, and that it is so.
@MainActor @Suite(.fewOnMainActor) struct ExplanationTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
  }

  private func shelf(limit: Int? = 20, in other: ModelContext? = nil) throws -> LiveQuery<Book> {
    try (other ?? context).live(
      Book.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: limit)
  }

  @Test func `a list of its own table is kept by values; without an index its refill is slow, with it not`() throws {
    let list = try shelf()
    #expect(
      try list.explanation.description == """
        the first 20 rows of book: kept incrementally
          why        filter and order read book alone: a change is judged by its values
                     look-ahead rows are kept: removals that use them up cause a refill
          woken by   book: is_in, title; only rows whose is_in it asks for
          costs      a change of book: no statement, it is judged by its values
          start      SCAN t0 · USE TEMP B-TREE FOR ORDER BY
          refill     SEARCH t0 USING INTEGER PRIMARY KEY (rowid>?)
                     SCAN t0 · USE TEMP B-TREE FOR ORDER BY  ← slow
          would help CREATE INDEX "book_is_in_title" ON "book" ("is_in", "title")
        """)
    #expect(
      try list.warnings == [
        "refilling, when removals have used up the look-ahead, reads all of book; this would help: "
          + #"CREATE INDEX "book_is_in_title" ON "book" ("is_in", "title")"#
      ])
    let explanation = try list.explanation
    #expect(
      try context.explainLive(
        Book.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: 20) == explanation)
    for index in explanation.indexes { try store.execute(SQL(verbatim: index)) }
    #expect(
      try list.explanation.description == """
        the first 20 rows of book: kept incrementally
          why        filter and order read book alone: a change is judged by its values
                     look-ahead rows are kept: removals that use them up cause a refill
          woken by   book: is_in, title; only rows whose is_in it asks for
          costs      a change of book: no statement, it is judged by its values
          start      SEARCH t0 USING COVERING INDEX book_is_in_title (is_in=?)
          refill     SEARCH t0 USING COVERING INDEX book_is_in_title (is_in=? AND title=? AND rowid>?)
                     SEARCH t0 USING COVERING INDEX book_is_in_title (is_in=? AND title>?)
        """)
    #expect(try list.warnings.isEmpty && shelf(limit: nil).warnings.isEmpty)
  }

  @Test(arguments: [
    [SortDescriptor(\Book.title)], [SortDescriptor(\.title, order: .reverse)],
    [SortDescriptor(\.year), SortDescriptor(\.title, order: .reverse)],
    [SortDescriptor(\.year, order: .reverse), SortDescriptor(\.price)],
    [SortDescriptor(\.year, order: .reverse), SortDescriptor(\.price, order: .reverse)],
  ])
  func `the index that is named lets a refill search, whatever the directions of the order`(
    order: [SortDescriptor<Book>]
  ) throws {
    let queries: [Predicate<Book>?] = [
      nil, #Predicate { $0.isIn && $0.note == "a" }, #Predicate { $0.year == 3 && $0.price > 2 },
    ]
    for predicate in queries {
      let list = try context.live(Book.self, where: predicate, sortBy: order, limit: 5)
      let advice = try list.explanation.indexes
      #expect(try !list.warnings.isEmpty && advice.count == 1)
      for index in advice { try store.execute(SQL(verbatim: index)) }
      let helped = try list.explanation
      #expect(helped.warnings.isEmpty, "\(helped)")
      try store.execute("ANALYZE")
      let analyzed = try list.explanation
      #expect(analyzed.warnings.isEmpty, "\(analyzed)")
      for index in advice { try store.execute(SQL(verbatim: "DROP INDEX " + index.split(separator: " ")[2])) }
    }
  }

  @Test func `a list that reads another table asks by key; an order from there is never searched`() throws {
    let list = try context.live(
      Book.self, where: #Predicate { $0.author?.name == "a" }, sortBy: [SortDescriptor(\.author?.rank)], limit: 20)
    #expect(
      try list.explanation.description == """
        the first 20 rows of book: kept incrementally, asking for what changed
          why        filter or order read author too: rows that a change concerns are asked for by key
                     look-ahead rows are kept: removals that use them up cause a refill
          woken by   book: author_id
                     author: name, rank; only rows whose name it asks for
          costs      a change of book: one statement, the rows that changed, by key
                     a change of author: 2 statements, the rows that refer to it, and those by key
          start      SCAN t1 · SEARCH t0 USING COVERING INDEX book_author_id (author_id=?) · USE TEMP B-TREE FOR ORDER BY
          refill     SCAN t1 · SEARCH t0 USING COVERING INDEX book_author_id (author_id=? AND rowid>?) · USE TEMP B-TREE FOR RIGHT PART OF ORDER BY  ← slow
                     SCAN t1 · SEARCH t0 USING COVERING INDEX book_author_id (author_id=?) · USE TEMP B-TREE FOR ORDER BY  ← slow
          changed    SCAN k VIRTUAL TABLE INDEX 1: · SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?) · SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?) · USE TEMP B-TREE FOR ORDER BY
          referring  SCAN k VIRTUAL TABLE INDEX 1: · SEARCH t0 USING COVERING INDEX book_author_id (author_id=?) · USE TEMP B-TREE FOR ORDER BY
        """)
    #expect(
      try list.warnings.allSatisfy { $0.hasSuffix("reads all of author; no index would help") }
        && list.warnings.count == 2)
  }

  @Test func `a question about related rows follows them back`() throws {
    #expect(
      try context.explainLive(Author.self, where: #Predicate { $0.books.contains { $0.isIn } }).description == """
        all rows of author: kept incrementally, asking for what changed
          why        filter or order read book too: rows that a change concerns are asked for by key
          woken by   author: rows that come or go
                     book: author_id, is_in
          costs      a change of author: one statement, the rows that changed, by key
                     a change of book: 2 statements, the rows that refer to it, and those by key
          start      SCAN t0 · CORRELATED SCALAR SUBQUERY 1 · SEARCH r1t0 USING INDEX book_author_id (author_id=?)
          changed    SCAN k VIRTUAL TABLE INDEX 1: · SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?) · CORRELATED SCALAR SUBQUERY 1 · SEARCH r1t0 USING INDEX book_author_id (author_id=?) · USE TEMP B-TREE FOR ORDER BY
          referring  SCAN k VIRTUAL TABLE INDEX 1: · SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?) · USE TEMP B-TREE FOR ORDER BY
        """)
  }

  @Test func `a foreign key without an index is named`() throws {
    let ofAuthor = try context.live(Book.self, where: #Predicate { ($0.author?.rank ?? 0) > 3 })
    let ofBooks = try context.live(Author.self, where: #Predicate { $0.books.contains { $0.isIn } })
    #expect(try ofAuthor.warnings.isEmpty && ofBooks.warnings.isEmpty)
    try store.execute("DROP INDEX book_author_id")
    let index = #"CREATE INDEX "book_author_id" ON "book" ("author_id")"#
    #expect(
      try ofAuthor.warnings == [
        "finding the rows that refer to one that changed reads all of book; this would help: \(index)"
      ])
    #expect(try ofBooks.warnings == ["asking for rows that changed reads all of book; this would help: \(index)"])
    try store.execute(SQL(verbatim: index))
    #expect(try ofAuthor.warnings.isEmpty && ofBooks.warnings.isEmpty)
  }

  @Test func `rows of a projection are read by key, and from the tables their fields read`() throws {
    let rows = try context.live(
      BookLine.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: 20)
    #expect(
      try rows.explanation.description == """
        the first 20 rows of book as BookLine: kept incrementally, asking for what changed
          why        filter and order read book alone: a change is judged by its values
                     look-ahead rows are kept: removals that use them up cause a refill
                     rows that changed are read by key
          woken by   book: author_id, is_in, price, title; only rows whose is_in it asks for
                     author: name, rank
          costs      a change of book: one statement, it is judged by its values, then its rows are read by key
                     a change of author: one statement, the rows that show it are read by key
          start      SCAN t0 · USE TEMP B-TREE FOR ORDER BY
          refill     SEARCH t0 USING INTEGER PRIMARY KEY (rowid>?)
                     SCAN t0 · USE TEMP B-TREE FOR ORDER BY  ← slow
          changed    SCAN k VIRTUAL TABLE INDEX 1: · SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?) · SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN · USE TEMP B-TREE FOR ORDER BY
          would help CREATE INDEX "book_is_in_title" ON "book" ("is_in", "title")
        """)
    #expect(try rows.warnings.count == 1)
    let explained = try context.explainLive(
      BookLine.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: 20)
    #expect(try explained == rows.explanation)
  }

  @Test func `counts are kept by values, through paths by key`() throws {
    let own = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
    #expect(
      try own.explanation.description == """
        the number of rows of book: kept incrementally
          why        filter and values are read from book alone: a change is judged by its values
          woken by   book: is_in; only rows whose is_in it asks for
          costs      a change of book: no statement, rows are taken away and added by their values
          start      SCAN t0
        """)
    let reached = try context.liveCount(Book.self, where: #Predicate { $0.author?.name == "a" })
    #expect(
      try reached.explanation.description == """
        the number of rows of book: kept incrementally, asking for what changed
          why        it reads author too: rows that a change concerns are asked for by key, as they were and as they are
          woken by   book: author_id
                     author: name; only rows whose name it asks for
          costs      a change of book: 2 statements, rows are taken away and added by their values
                     a change of author: 3 statements, rows are taken away and added by their values
          start      SCAN t1 · SEARCH t0 USING COVERING INDEX book_author_id (author_id=?)
          changed    SCAN k VIRTUAL TABLE INDEX 1: · SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?) · SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?) · USE TEMP B-TREE FOR ORDER BY
          referring  SCAN k VIRTUAL TABLE INDEX 1: · SEARCH t0 USING COVERING INDEX book_author_id (author_id=?) · USE TEMP B-TREE FOR ORDER BY
          would help CREATE INDEX "author_name" ON "author" ("name")
        """)
    #expect(try context.explainLiveCount(Book.self, where: #Predicate { $0.isIn }) == own.explanation)
    for index in try reached.explanation.indexes { try store.execute(SQL(verbatim: index)) }
    #expect(try reached.warnings.isEmpty && own.warnings.isEmpty)
  }

  @Test func `a count over to-many rows holds keys, and asks for those concerned`() throws {
    let count = try context.liveCount(Author.self, where: #Predicate { $0.books.contains { $0.isIn } })
    let explanation = try count.explanation
    let words = """
      the number of rows of author: kept incrementally, asking for what changed
        why        it reads book too: rows that a change concerns are asked for by key, as they were and as they are
                   the keys of all rows that count are held: they tell which counted
        woken by   author: rows that come or go
                   book: author_id, is_in
        costs      a change of author: one statement, rows are taken away and added by their values
                   a change of book: one statement, rows are taken away and added by their values

      """
    #expect(explanation.description.hasPrefix(words), "\(explanation)")
    #expect(explanation.statements.map(\.purpose) == [.start, .changed, .referring] && explanation.warnings.isEmpty)
    #expect(
      try context.explainLiveCount(Author.self, where: #Predicate { $0.books.contains { $0.isIn } })
        == count.explanation)
  }

  @Test func `sums are kept by values, extremes look up the next one, groups do as their aggregates`() throws {
    let sum = try context.liveSum(\Book.price, where: #Predicate { $0.isIn })
    #expect(
      try sum.explanation.description == """
        the sum of price of book: kept incrementally
          why        filter and values are read from book alone: a change is judged by its values
          woken by   book: is_in, price; only rows whose is_in it asks for
          costs      a change of book: no statement, rows are taken away and added by their values
          start      SCAN t0
        """)
    let least = try context.liveMin(\Book.year, where: #Predicate { $0.isIn })
    #expect(
      try least.explanation.description == """
        the least year of book: kept incrementally, asking for what changed
          why        filter and values are read from book alone: a change is judged by its values
                     when the least or greatest value goes, the next ones are looked up
          woken by   book: is_in, year; only rows whose is_in it asks for
          costs      a change of book: no statement, rows are taken away and added by their values; a look-up when the least or greatest values that are known are gone
          start      SCAN t0
          extreme    SCAN t0 · USE TEMP B-TREE FOR ORDER BY  ← slow
          would help CREATE INDEX "book_is_in_year" ON "book" ("is_in", "year")
        """)
    let groups = try context.liveGroups(Book.self, by: \.year, .count, .max(\.price))
    #expect(
      try groups.explanation.description == """
        the number of rows, the greatest price of book, by year: kept incrementally, asking for what changed
          why        filter and values are read from book alone: a change is judged by its values
                     when the least or greatest value goes, the next ones are looked up
          woken by   book: price, year
          costs      a change of book: no statement, rows are taken away and added by their values; a look-up when the least or greatest values that are known are gone
          start      SCAN t0
          extreme    SCAN t0 · USE TEMP B-TREE FOR ORDER BY  ← slow
          would help CREATE INDEX "book_year_price" ON "book" ("year", "price")
        """)
    let many = try context.liveSum(\Author.rank, where: #Predicate { $0.books.contains { $0.isIn } })
    #expect(try many.explanation.strategy == .requerying && many.warnings.isEmpty)
    let average = try context.liveAverage(\Book.price)
    #expect(try average.explanation.strategy == .incremental && average.warnings.isEmpty)
    for index in try least.explanation.indexes + groups.explanation.indexes { try store.execute(SQL(verbatim: index)) }
    #expect(try least.warnings.isEmpty && groups.warnings.isEmpty)
    let named = try context.liveGroups(Book.self, by: \.author?.name, .count)
    #expect(
      try named.explanation.description == """
        the number of rows of book, by author_id.name: kept incrementally, asking for what changed
          why        it reads author too: rows that a change concerns are asked for by key, as they were and as they are
          woken by   book: author_id
                     author: name
          costs      a change of book: 2 statements, rows are taken away and added by their values
                     a change of author: 3 statements, rows are taken away and added by their values
          start      SCAN t0 · SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN
          changed    SCAN k VIRTUAL TABLE INDEX 1: · SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?) · SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN · USE TEMP B-TREE FOR ORDER BY
          referring  SCAN k VIRTUAL TABLE INDEX 1: · SEARCH t0 USING COVERING INDEX book_author_id (author_id=?) · USE TEMP B-TREE FOR ORDER BY
        """)
    let asked = named.queriesRun
    try store.execute("INSERT INTO author (id, name) VALUES (1, 'a'), (2, 'b')")
    try store.execute("INSERT INTO book (title, price, is_in, author_id) VALUES ('x', 1, 1, 1), ('y', 1, 1, 2)")
    try context.refresh()
    let before = named.queriesRun
    #expect(before - asked <= 3)
    try store.execute("UPDATE author SET name = 'c' WHERE id = 1")
    try context.refresh()
    #expect(named.queriesRun - before == 3 && named.map(\.key) == ["b", "c"], "as many statements as it says")
  }

  @Test func `rows that changed are searched by their key, whatever SQLite knows of the other indexes`() throws {
    try store.execute(
      """
      INSERT INTO book (title, year, price, is_in, author_id)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      SELECT 't' || i, i, i % 3, i % 2, NULL FROM n
      """)
    try store.execute("INSERT INTO author (name, rank) VALUES ('a', 1), ('b', 2)")
    for column in ["year", "price", "is_in, year", "title"] {
      try store.execute(SQL(verbatim: "CREATE INDEX \"by \(column)\" ON book (\(column))"))
    }
    try store.execute("ANALYZE")
    let explanations = [
      try context.explainLive(
        Book.self, where: #Predicate { $0.isIn && $0.year == 7 && $0.author?.name != "x" },
        sortBy: [SortDescriptor(\.title)], limit: 3),
      try context.explainLive(Author.self, where: #Predicate { $0.books.contains { $0.year == 7 } }),
      try context.explainLive(BookLine.self, where: #Predicate { $0.year == 7 }, sortBy: [SortDescriptor(\.price)]),
    ]
    for explanation in explanations {
      let changed = explanation.statements.filter { $0.purpose == .changed }
      #expect(!changed.isEmpty)
      for statement in changed {
        #expect(statement.plan.contains("SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"), "\(explanation)")
      }
    }
  }

  @Test func `who wants to hear of slow results is told when one is made, and nobody else`() throws {
    _ = try shelf()
    let run = context.owner.queriesRun.value
    _ = try shelf()
    let cost = context.owner.queriesRun.value - run
    let told = Locked<[String]>([])
    let observation = store.observeWarnings { warning in told.withLock { $0.append(warning.description) } }
    let list = try shelf()
    _ = try context.liveMax(\Book.year)
    _ = try context.liveCount(Book.self)
    _ = try context.live(Book.self, limit: 10)
    let warning = try list.warnings[0]
    let said = told.withLock { $0 }
    #expect(said.count == 2 && said[0] == "the first 20 rows of book: \(warning)")
    #expect(said[1].hasPrefix("the greatest year of book: looking for the next value"))
    #expect(list.queriesRun == 1 && cost == 1)
    // Another one of the same kind, such as another client's, is not told again.
    _ = try shelf(in: ModelContext(store))
    #expect(told.withLock { $0.count } == 2)
    observation.cancel()
    _ = try shelf()
    #expect(told.withLock { $0.count } == 2)
  }

  @Test func `an explanation is coded and read again as it was`() throws {
    let explanation = try shelf().explanation
    let data = try JSONEncoder().encode(explanation)
    #expect(try JSONDecoder().decode(LiveExplanation.self, from: data) == explanation)
    #expect(explanation.wakes == [.init(table: "book", columns: ["is_in", "title"], equalities: ["is_in"])])
    #expect(explanation.costs.map(\.statements) == [0] && explanation.statements.map(\.sorts) == [true, false, true])
    #expect(explanation.statements[0].scans == ["book"])
  }

  @Test func `tables are found by their aliases, with quotes in their names too`() throws {
    try store.execute(#"CREATE TABLE "odd "" AS t1 name" (id INTEGER PRIMARY KEY, x)"#)
    try store.writeSQL { transaction in
      let sql = SQLText(#"SELECT * FROM "odd "" AS t1 name" AS t1 LEFT JOIN "author" AS t10 ON t10."name" = t1."x""#)
      let statement = try LiveExplanation.Statement(.again, sql, on: transaction.connection)
      #expect(statement.scans == [#"odd " AS t1 name"#, "author"] && statement.isSlow)
    }
  }
}
