import Foundation
import QuireRow
import Testing

@Suite struct SelectQueryTests {
  static let author = ColumnPath.Step("author_id", to: "author")
  static let country = ColumnPath.Step("country_id", to: "country")

  private func library(books: Int = 3000) throws -> TestDatabase {
    try TestDatabase(
      """
      CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
      CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country_id INTEGER) STRICT;
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, rating REAL,
        is_available INTEGER NOT NULL, author_id INTEGER) STRICT;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
        INSERT INTO country SELECT i, 'Land ' || i FROM n;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        INSERT INTO author SELECT i, 'Author ' || i % 90, nullif(i % 21, 0) FROM n;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(books))
        INSERT INTO book SELECT i, 'Title ' || i % 700, CASE WHEN i % 7 > 0 THEN 1900 + i * 31 % 97 END,
          CASE WHEN i % 5 > 0 THEN i % 9 / 2.0 END, i % 2, CASE WHEN i % 11 > 0 THEN i % 220 END FROM n;
      CREATE INDEX book_author ON book(author_id);
      CREATE INDEX book_year_title ON book(year, title);
      CREATE INDEX book_available_title ON book(is_available, title);
      CREATE INDEX author_name ON author(name);
      CREATE INDEX author_country ON author(country_id);
      ANALYZE;
      """)
  }

  @Test func `an order is made total by the key, in the last term's direction`() throws {
    let query = SelectQuery(from: "book", columns: ["id"], orderedBy: [OrderTerm("year", ascending: false)])
    #expect(query.totalOrder.map(\.ascending) == [false, false])
    #expect(
      try query.statement().text == #"SELECT t0."id" FROM "book" AS t0 ORDER BY t0."year" DESC, t0."id" DESC"#)
    var keyed = query
    keyed.order.insert(OrderTerm("id"), at: 0)
    #expect(keyed.totalOrder == [OrderTerm("id", isNullable: false)])
  }

  @Test func `limit, offset and count`() throws {
    let database = try library()
    var query = SelectQuery(
      from: "book", columns: ["id"], where: .column("is_available"), orderedBy: [OrderTerm("title")])
    let all = try database.rows(query.statement())
    #expect(try database.rows(query.count()) == [[.integer(Int64(all.count))]])
    query.limit = 7
    query.offset = 5
    #expect(try database.rows(query.statement()) == Array(all[5..<12]))
    #expect(try database.rows(query.count()) == [[7]])
    query.limit = nil
    #expect(try database.rows(query.statement()) == Array(all[5...]))
    query.limit = 0
    #expect(try database.rows(query.statement()) == [])
    query.filter = .true
    #expect(try !query.statement().text.contains("WHERE"))
  }

  @Test func `an index serves filter and order together`() throws {
    let database = try library()
    let query = SelectQuery(
      from: "book", columns: ["id"], where: .column("is_available"), orderedBy: [OrderTerm("title")], limit: 100)
    let plan = try database.plan(query.statement())
    #expect(plan == "SEARCH t0 USING COVERING INDEX book_available_title (is_available=?)")
    let descending = SelectQuery(
      from: "book", columns: ["id"],
      orderedBy: [OrderTerm("year", ascending: false), OrderTerm("title", ascending: false)])
    #expect(try database.plan(descending.statement()) == "SCAN t0 USING COVERING INDEX book_year_title")
  }

  @Test func `a condition on the other side of a reference uses that side's index`() throws {
    let database = try library()
    let name = RowExpression.column(ColumnPath([Self.author], "name"))
    let query = SelectQuery(from: "book", columns: ["id"], where: .compare(.equal, name, .literal("Author 7")))
    let plan = try database.plan(query.statement())
    #expect(plan.contains("SEARCH t1 USING COVERING INDEX author_name (name=?)"))
    #expect(plan.contains("SEARCH t0 USING") && !plan.contains("SCAN"))
  }

  @Test func `keys drive the search, whatever the filter's indexes`() throws {
    let database = try library()
    let filter = RowExpression.all([.column("is_available"), .compare(.less, .column("title"), .literal("Title 5"))])
    let query = SelectQuery(from: "book", columns: ["id"], where: filter, orderedBy: [OrderTerm("title")], limit: 5)
    let keys: [Int64] = [1, 2, 3, 405, 407, 409, 99_999]
    let statement = try query.statement(forKeys: keys)
    #expect(statement.bindings[0] == "[1,2,3,405,407,409,99999]")
    #expect(try database.plan(statement).contains("SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"))
    var restricted = query
    restricted.limit = nil
    restricted.filter = .all([filter, .contains(keys.map { .integer($0) }, .column("id"))])
    #expect(try database.rows(statement) == database.rows(restricted.statement()))
    #expect(try query.statement(forKeys: []).text == statement.text)
  }

  @Test func `keys of a referenced table find the rows that refer to them, one or two steps away`() throws {
    let database = try library()
    let place = ColumnPath([Self.author, Self.country], "name")
    let query = SelectQuery(
      from: "book", columns: ["id", place, ColumnPath([Self.author], "name")],
      where: .compare(.unequal, .column(place), .literal("Land 4")), orderedBy: [OrderTerm("title")])
    let all = try database.rows(query.statement())
    let byAuthor = try query.statement(forKeys: [3, 4, 215], reachedBy: [Self.author])
    let authors = try database.rows("SELECT id, author_id FROM book")
      .filter { [3, 4, 215].contains($0[1]) }.map { $0[0] }
    #expect(try database.rows(byAuthor) == all.filter { authors.contains($0[0]) })
    #expect(authors.count > 10)
    let byCountry = try query.statement(forKeys: [2, 5], reachedBy: [Self.author, Self.country])
    #expect(try database.rows(byCountry) == all.filter { ["Land 2", "Land 5"].contains($0[1]) })
    for statement in [byAuthor, byCountry] {
      let plan = try database.plan(statement)
      #expect(plan.contains("SEARCH t0 USING INDEX book_author (author_id=?)"))
      #expect(!plan.contains("SCAN t"))
    }
  }

  @Test func `held keys can be left out`() throws {
    let database = try library()
    let query = SelectQuery(from: "book", columns: ["id"], orderedBy: [OrderTerm("title")], limit: 10)
    let first = try database.rows(query.statement())
    var next = query
    next.offset = 10
    let held = first.compactMap { if case .integer(let key) = $0[0] { key } else { nil } }
    #expect(try database.rows(query.statement(excluding: held)) == database.rows(next.statement()))
  }

  static let orders: [[OrderTerm]] = [
    [],
    [OrderTerm("id", ascending: false)],
    [OrderTerm("title")],
    [OrderTerm("year")],
    [OrderTerm("year", ascending: false)],
    [OrderTerm("year"), OrderTerm("title")],
    [OrderTerm("year"), OrderTerm("title", ascending: false, isNullable: false)],
    [OrderTerm("rating", ascending: false), OrderTerm("year")],
    [
      OrderTerm("rating", ascending: false), OrderTerm("year", ascending: false), OrderTerm("title", isNullable: false),
    ],
    [OrderTerm(ColumnPath([author], "name")), OrderTerm("rating")],
    [OrderTerm(.count(.column("title"))), OrderTerm("year", ascending: false)],
  ]

  @Test(arguments: orders) func `resuming after any row gives exactly the rows after it`(order: [OrderTerm]) throws {
    let database = try library(books: 150)
    let query = SelectQuery(
      from: "book", columns: ["id"], where: .compare(.greater, .column("id"), .literal(3)), orderedBy: order)
    let all = try database.rows(query.statement())
    for (place, row) in all.enumerated() {
      var bound: [Value] = []
      for term in query.totalOrder {
        let (value, joins) = try term.expression.sql()
        bound += try database.rows(
          "SELECT \(value.text) FROM book AS t0\(joins) WHERE t0.id = ?", value.bindings + row)[0]
      }
      let statements = try query.statements(after: bound, limit: nil)
      let found = try statements.flatMap { try database.rows($0) }
      #expect(found == Array(all[(place + 1)...]), "\(bound): \(statements)")
      let limited = try query.statements(after: bound, excluding: [50, 51], limit: 4)
      let rest = all[(place + 1)...].filter { $0 != [50] && $0 != [51] }
      #expect(try Array(limited.flatMap { try database.rows($0) }.prefix(4)) == Array(rest.prefix(4)))
    }
  }

  @Test func `resuming searches the index, also among ties and NULLs`() throws {
    let database = try library()
    let plain = SelectQuery(
      from: "book", columns: ["id"], where: .column("is_available"), orderedBy: [OrderTerm("title")], limit: 10)
    #expect(
      try plain.statements(after: ["Title 3", 12], limit: 10).map { try database.plan($0) } == [
        "SEARCH t0 USING COVERING INDEX book_available_title (is_available=? AND title=? AND rowid>?)",
        "SEARCH t0 USING COVERING INDEX book_available_title (is_available=? AND title>?)",
      ])
    let descending = SelectQuery(
      from: "book", columns: ["id"],
      orderedBy: [OrderTerm("year", ascending: false), OrderTerm("title", ascending: false, isNullable: false)])
    #expect(
      try descending.statements(after: [1950, "Title 3", 12], limit: 10).map { try database.plan($0) } == [
        "SEARCH t0 USING COVERING INDEX book_year_title (year=? AND title=? AND rowid<?)",
        "SEARCH t0 USING COVERING INDEX book_year_title (year=? AND title<?)",
        "SEARCH t0 USING COVERING INDEX book_year_title (year<?)",
        "SEARCH t0 USING COVERING INDEX book_year_title (year=?)",
      ])
    let ascending = SelectQuery(from: "book", columns: ["id"], orderedBy: [OrderTerm("year"), OrderTerm("title")])
    #expect(
      try ascending.statements(after: [.null, "Title 3", 12], limit: 10).map { try database.plan($0) } == [
        "SEARCH t0 USING COVERING INDEX book_year_title (year=? AND title=? AND rowid>?)",
        "SEARCH t0 USING COVERING INDEX book_year_title (year=? AND title>?)",
        "SEARCH t0 USING COVERING INDEX book_year_title (year>?)",
      ])
  }

  @Test func `a search begins with its index, and known rows are looked up in it`() throws {
    let database = try library()
    try database.run(
      "CREATE VIRTUAL TABLE words USING fts5(title, content = 'book', content_rowid = 'id');"
        + " INSERT INTO words(words) VALUES ('rebuild')")
    let search = TextSearch(index: "words", columns: ["title"], expression: "title")
    var query = SelectQuery(
      from: "book", columns: ["id"], where: .column("is_available"), searching: search,
      orderedBy: [OrderTerm(TextSearch.rank, isNullable: false)], limit: 3)
    #expect(query.isRanked && query.decidingColumns == ["is_available", "title", "id"])
    #expect(try query.statement().bindings == ["title", 3])
    let plan = "SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"
    #expect(try database.plan(query.statement()).hasPrefix("SCAN s VIRTUAL TABLE INDEX 0:M1"))
    #expect(try database.plan(query.statement()).contains(plan))
    #expect(try database.plan(query.count()).contains(plan))
    query.order = []
    #expect(!query.isRanked)
    #expect(try database.plan(query.statement(forKeys: [1, 2])).contains("SCAN s VIRTUAL TABLE INDEX 0:=M1"))
  }
}
