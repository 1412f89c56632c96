import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

/// What SQL finds, as values, tuples, structs and objects.
@MainActor @Suite(.fewOnMainActor) struct TypedSQLTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    try store.execute("INSERT INTO author (name, rank) VALUES ('Lem', 1), ('Tawada', NULL)")
    try store.execute(
      "INSERT INTO book (title, year, price, is_in, author_id) VALUES ('Eden', 1959, 8, 1, 1), ('Solaris', 1961, 12, 1, 1), ('Talisman', NULL, 9, 0, 2)"
    )
  }

  // MARK: Values and tuples

  @Test func `one column comes as values, several as tuples`() throws {
    let titles: [String] = try context.fetch(String.self, sql: "SELECT title FROM book WHERE price > \(8.5) ORDER BY 1")
    #expect(titles == ["Solaris", "Talisman"])
    let years: [Int?] = try context.fetch(Int?.self, sql: "SELECT year FROM book ORDER BY id")
    #expect(years == [1959, 1961, nil])
    var lines: [String] = []
    for (name, books, least) in try context.fetch(
      String.self, Int.self, Double?.self,
      sql: "SELECT name, count(*), min(price) FROM author a JOIN book b ON b.author_id = a.id GROUP BY a.id ORDER BY 1")
    {
      lines.append("\(name) \(books + 0) \(least ?? 0)")
    }
    #expect(lines == ["Lem 2 8.0", "Tawada 1 9.0"])
    #expect(try context.fetch(String.self, Int.self, sql: "SELECT title, year FROM book WHERE 0").isEmpty)
  }

  @Test func `one value, or nil where there is no row, and for NULL where that is asked`() throws {
    #expect(try context.fetchOne(Int.self, sql: "SELECT count(*) FROM book") == 3)
    #expect(try context.fetchOne(String.self, sql: "SELECT title FROM book WHERE id = \(9)") == nil)
    let greatest: Int? = try context.fetchOne(Int?.self, sql: "SELECT max(year) FROM book WHERE 0")
    #expect(greatest == nil)
    #expect(throws: RecordError.self) { try context.fetchOne(Int.self, sql: "SELECT max(year) FROM book WHERE 0") }
    let pair = try context.fetchOne(String.self, Int.self, sql: "SELECT title, year FROM book ORDER BY year DESC")
    #expect(pair?.0 == "Solaris" && pair?.1 == 1961)
    #expect(try context.fetchOne(sql: "SELECT title AS t FROM book ORDER BY id")?["t"] == "Eden")
    #expect(try context.fetchOne(sql: "SELECT 1 WHERE 0") == nil)
  }

  @Test func `one value reads one row`() throws {
    // The second row would be an error.
    let sql: SQL = "SELECT 1 UNION ALL SELECT abs(\(Int.min))"
    #expect(try context.fetchOne(Int.self, sql: sql) == 1)
    #expect(throws: SQLiteError.self) { try context.fetch(Int.self, sql: sql) }
  }

  @Test func `a value that does not fit names row, column and type`() throws {
    #expect(
      throws: RecordError.undecodable(
        row: 2, column: "y", type: "Int",
        reason: .wrongStorageClass(column: 1, expected: "INTEGER", found: "text"))
    ) {
      try context.fetch(String.self, Int.self, sql: "SELECT 'a', 1 AS y UNION ALL SELECT 'b', 'c'")
    }
    let error = #expect(throws: RecordError.self) {
      try context.fetch(String.self, sql: "SELECT \(identifier: "title") FROM book UNION ALL SELECT NULL")
    }
    #expect("\(try #require(error))" == "row 4, column title: expected TEXT, found null, for String")
    #expect(throws: RecordError.otherWidth(asked: ["String"], columns: ["id", "title"])) {
      try context.fetch(String.self, sql: "SELECT id, title FROM book WHERE 0")
    }
    #expect(throws: RecordError.otherWidth(asked: ["String", "Int"], columns: ["title"])) {
      try context.fetchOne(String.self, Int.self, sql: "SELECT title FROM book")
    }
  }

  @Test(arguments: ["DELETE FROM book", "SELECT 1; SELECT 2", "PRAGMA user_version", ""])
  func `what is no query is refused`(text: String) throws {
    #expect(throws: StatementError.self) { try context.fetch(Int.self, sql: SQL(verbatim: text)) }
    #expect(throws: StatementError.self) { try context.fetch(Book.self, sql: SQL(verbatim: text)) }
    #expect(throws: StatementError.self) { try context.fetchOne(Shelf.self, sql: SQL(verbatim: text)) }
    #expect(try store.query("SELECT count(*) FROM book").map(\.values) == [[3]])
  }

  // MARK: Structs

  struct Shelf: Decodable, Equatable {
    var name: String
    var books: Int
    var isKnown: Bool?
  }

  enum Genre: String, Codable { case novel, poem }

  struct Details: Decodable, Equatable {
    struct Size: Codable, Equatable { var width: Int }
    var added: Date
    var genre: Genre
    var other: Genre?
    var size: Size
    var words: [String]
    var code: UUID
    var raw: Data
  }

  @Test func `rows become structs by the names of columns`() throws {
    let shelves = try context.fetch(
      Shelf.self,
      sql: """
        SELECT count(*) AS BOOKS, name, CASE a.id WHEN 1 THEN 1 END AS is_known, 'more' AS other
        FROM author a JOIN book b ON b.author_id = a.id GROUP BY a.id ORDER BY name
        """)
    #expect(
      shelves == [Shelf(name: "Lem", books: 2, isKnown: true), Shelf(name: "Tawada", books: 1, isKnown: nil)])
    #expect(try context.fetchOne(Shelf.self, sql: "SELECT 'x' AS name, 1 AS books, 0 AS isKnown")?.isKnown == false)
    #expect(try context.fetchOne(Shelf.self, sql: "SELECT 'x' AS name, 1 AS books, 0 AS isKnown WHERE 0") == nil)
    #expect(try context.fetch(Shelf.self, sql: "SELECT 1 AS other WHERE 0").isEmpty)
  }

  @Test func `columns are read as models store them`() throws {
    let code = UUID()
    let details = try context.fetch(
      Details.self,
      sql: """
        SELECT \(Date(timeIntervalSince1970: 5)) AS added, 'poem' AS genre, NULL AS other, '{"width": 3}' AS size,
        '["a", "b"]' AS words, \(code) AS code, \(Data([1, 0])) AS raw
        """)
    #expect(
      details == [
        Details(
          added: Date(timeIntervalSince1970: 5), genre: .poem, other: nil, size: .init(width: 3), words: ["a", "b"],
          code: code, raw: Data([1, 0]))
      ])
    #expect(try context.fetch(Genre.self, sql: "SELECT 'poem' UNION ALL SELECT 'novel'") == [.poem, .novel])
  }

  @Test func `a column that is missing, there twice or of another type is named`() throws {
    #expect(throws: RecordError.missingColumn("books", type: "Shelf", columns: ["name"])) {
      try context.fetch(Shelf.self, sql: "SELECT name FROM author")
    }
    #expect(throws: RecordError.missingColumn("isKnown", type: "Shelf", columns: ["name", "books"])) {
      try context.fetch(Shelf.self, sql: "SELECT name, 1 AS books FROM author")
    }
    #expect(throws: RecordError.severalColumns("name", type: "Shelf", columns: ["name", "Name", "books"])) {
      try context.fetch(Shelf.self, sql: "SELECT 'a' AS name, 'b' AS Name, 1 AS books")
    }
    let error = #expect(throws: RecordError.self) {
      try context.fetch(Shelf.self, sql: "SELECT 'a' AS name, 1 AS books, NULL AS isKnown UNION ALL SELECT 'b', 'x', 1")
    }
    #expect("\(try #require(error))" == "row 2, column books: expected INTEGER, found text, for Int")
    let genre = #expect(throws: RecordError.self) { try context.fetch(Genre.self, sql: "SELECT 'essay' AS g") }
    #expect("\(try #require(genre))" == "row 1, column g: ‘essay’ is not a valid Genre, for Genre")
    #expect(throws: RecordError.otherWidth(asked: ["Genre"], columns: ["1", "2"])) {
      try context.fetch(Genre.self, sql: "SELECT 1, 2")
    }
    #expect(throws: RecordError.self) { try context.fetch([String].self, sql: "SELECT 1") }
  }

  // MARK: Objects

  @Test func `objects keep their identity and their unsaved edits`() throws {
    let eden = try #require(context.model(Book.self, key: 1))
    eden.title = "Eden, edited"
    let before = context.owner.queriesRun.value
    let found = try context.fetch(
      Book.self,
      sql:
        "SELECT book.* FROM book JOIN author ON author.id = book.author_id WHERE author.name = \("Lem") ORDER BY book.title DESC"
    )
    #expect(found.map(\.title) == ["Solaris", "Eden, edited"] && found[1] === eden && eden.hasChanges)
    #expect(context.owner.queriesRun.value <= before + 2)
    let again = try context.fetch(Book.self, sql: "SELECT id FROM book WHERE title = 'Eden' UNION ALL SELECT 1")
    #expect(again.count == 2 && again.allSatisfy { $0 === eden })
    #expect(try context.fetchOne(Book.self, sql: "SELECT id FROM book ORDER BY price DESC") === found[0])
    #expect(try context.fetchOne(Book.self, sql: "SELECT id FROM book WHERE 0") == nil)
    context.delete(found[0])
    #expect(
      try context.fetch(Book.self, sql: "SELECT id FROM book ORDER BY id").map(\.title) == ["Eden, edited", "Talisman"])
  }

  @Test func `objects want a key, and one that has a row`() throws {
    #expect(throws: RecordError.missingColumn("id", type: "Book", columns: ["title"])) {
      try context.fetch(Book.self, sql: "SELECT title FROM book WHERE 0")
    }
    #expect(throws: RecordError.severalColumns("id", type: "Book", columns: ["id", "id"])) {
      try context.fetch(Book.self, sql: "SELECT a.id, b.id FROM author a JOIN book b ON b.author_id = a.id")
    }
    context.insert(Book("unsaved"))
    for key in [77, 0, -1, -9_223_372_036_854_775_808, Int(Int64.min) + 1] {
      let error = #expect(throws: RecordError.self) { try context.fetch(Book.self, sql: "SELECT \(key) AS id") }
      #expect(error == .noObject(row: 1, column: "id", model: "Book", key: Int64(key)))
    }
    let error = #expect(throws: RecordError.self) {
      try context.fetch(Book.self, sql: "SELECT b.id FROM author a LEFT JOIN book b ON b.title = a.name")
    }
    #expect("\(try #require(error))" == "row 1, column id: expected INTEGER, found null, for a key of Book")
  }

  @Test func `SQL sees what is saved`() throws {
    context.insert(Book("unsaved"))
    #expect(try context.fetchOne(Int.self, sql: "SELECT count(*) FROM book") == 3)
    try context.save()
    #expect(try context.fetchOne(Int.self, sql: "SELECT count(*) FROM book") == 4)
  }

  @Test func `a cancelled task ends the query`() async throws {
    let endless: SQL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0"
    let task = Task { @MainActor in try context.fetch(Int.self, sql: endless) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
