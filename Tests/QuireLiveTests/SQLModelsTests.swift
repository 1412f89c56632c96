import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel

@Model private final class Odd {
  @Attribute(column: "a \"b\" ? :c") var label: String
  var order: Int
  var twin: Odd?
  init(_ label: String, order: Int) {
    self.label = label
    self.order = order
  }
}

@Model private final class SpelledShelf {
  @Relationship(inverse: \SpelledLabel.shelves) var labels: [SpelledLabel] = []
  init() {}
}

@Model private final class SpelledLabel {
  var shelves: [SpelledShelf] = []
  init() {}
}

/// Models in SQL: names, keys, and predicates as sub-queries.
@MainActor @Suite(.fewOnMainActor) struct SQLModelsTests {
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

  private func titles(_ sql: SQL) throws -> [String] { try context.fetch(String.self, sql: sql) }

  @Test func `models and properties are what they are called in the file`() throws {
    let sql: SQL = """
      SELECT b.\(\Book.title) FROM \(Book.self) AS b JOIN \(Author.self) AS a
      ON b.\(\Book.author) = a.\(\Author.persistentModelID) WHERE \(\Book.isIn) AND \(\Author.name) = \("Lem") ORDER BY 1
      """
    #expect(try titles(sql) == ["Eden", "Solaris"])
    let statement = try sql.statement(in: try context.owner.requireStore())
    #expect(
      statement.text == """
        SELECT b."title" FROM "book" AS b JOIN "author" AS a
        ON b."author_id" = a."id" WHERE "is_in" AND "name" = ? ORDER BY 1
        """)
    #expect(statement.bindings == ["Lem"] && sql.arguments == ["Lem"])
    #expect(sql.text.hasPrefix("SELECT b.‹Book.title› FROM ‹Book› AS b"))
    let path = \Book.title
    #expect(try titles("SELECT \(path) FROM \(Book.self) WHERE \(\Book.year) IS NULL") == ["Talisman"])
  }

  @Test func `objects and identifiers are bound as their keys`() throws {
    let lem = try #require(context.model(Author.self, key: 1))
    let solaris = try #require(context.model(Book.self, key: 2))
    #expect(try titles("SELECT title FROM book WHERE author_id = \(lem) ORDER BY id") == ["Eden", "Solaris"])
    #expect(
      try titles("SELECT title FROM book WHERE author_id = \(solaris.author) ORDER BY id") == ["Eden", "Solaris"])
    #expect(try titles("SELECT title FROM book WHERE id = \(solaris.persistentModelID)") == ["Solaris"])
    let nobody: Author? = nil
    let none: PersistentIdentifier? = nil
    #expect(try titles("SELECT title FROM book WHERE author_id IS \(nobody) OR author_id IS \(none)").isEmpty)
    let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])).prefix(2)
    #expect(try titles("SELECT title FROM book WHERE id IN \(list: books) ORDER BY 1") == ["Eden", "Solaris"])
    #expect(try titles("SELECT title FROM book WHERE id IN \(list: [solaris.persistentModelID])") == ["Solaris"])
    #expect(try titles("SELECT title FROM book WHERE id IN \(list: [PersistentIdentifier]())").isEmpty)
  }

  @Test func `what has no key here is an error where the statement is used`() throws {
    let unsaved = Book("unsaved")
    context.insert(unsaved)
    #expect(throws: ModelError.self) { try titles("SELECT title FROM book WHERE id = \(unsaved)") }
    let other = ModelContext(try makeStore(), isolation: nil)
    let stranger = Book("stranger")
    other.insert(stranger)
    try other.save()
    #expect(throws: ModelError.self) { try titles("SELECT title FROM book WHERE id = \(stranger)") }
    #expect(throws: ModelError.self) { try titles("SELECT title FROM book WHERE id IN \(list: [stranger])") }
    #expect(throws: ModelError.self) { try titles("SELECT \(\Book.author?.name) FROM book") }
    #expect(throws: ModelError.self) { try titles("SELECT \(\Author.books) FROM author") }
    #expect(throws: ModelError.self) { try titles("SELECT \(\Book.title.count) FROM book") }
    #expect(throws: ModelError.self) { try titles("SELECT 1 FROM \(Odd.self)") }
  }

  @Test func `a list has no column, and the error says which table has its rows`() throws {
    #expect {
      try titles("SELECT \(\Author.books) FROM author")
    } throws: {
      "\($0)" == "Author.books has no column in author: join book, whose author_id is the key here"
    }
    let shelves = try ModelContainer(
      for: SpelledShelf.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    #expect {
      try shelves.query("SELECT \(\SpelledShelf.labels) FROM spelled_shelf")
    } throws: {
      "\($0)" == "SpelledShelf.labels has no column in spelled_shelf: join spelled_shelf_labels, with spelled_shelf_id "
        + "for the key here and spelled_label_id for the other"
    }
  }

  @Test func `a predicate stands in SQL as a sub-query`() throws {
    let name = "Le' m"
    try store.execute("UPDATE author SET name = \(name) WHERE id = 1")
    #expect(
      try titles(
        """
        SELECT title FROM book WHERE price > \(1) AND id IN \(keysOf: Book.self, where: #Predicate { $0.author?.name == name })
        AND price < \(100) ORDER BY title
        """) == ["Eden", "Solaris"])
    #expect(
      try titles(
        "SELECT name FROM author WHERE id NOT IN \(keysOf: Author.self, where: #Predicate { $0.books.contains { $0.isIn } })"
      ) == ["Tawada"])
    #expect(
      try titles(
        "SELECT name FROM author WHERE name = \(valuesOf: \Book.author?.name, sortBy: [SortDescriptor(\.price)], limit: 1)"
      )
        == [name])
    #expect(try titles("SELECT count(*) || '' FROM book WHERE id IN \(keysOf: Book.self)") == ["3"])
    #expect(throws: UntranslatablePredicate.self) {
      try titles(
        "SELECT title FROM book WHERE id IN \(keysOf: Book.self, where: #Predicate { $0.title.uppercased() == "X" })")
    }
  }

  @Test func `a part with models stands in another, and follows its rows`() throws {
    let inside: SQL = "\(\Book.id) IN \(keysOf: Book.self, where: #Predicate { $0.author?.name == "Lem" })"
    let live = try context.live(sql: "SELECT \(\Book.title) AS t FROM \(Book.self) WHERE \(inside) ORDER BY 1")
    #expect(live.map { $0["t"] } == ["Eden", "Solaris"])
    try store.execute("UPDATE author SET name = 'Lem' WHERE id = 2; UPDATE author SET name = 'x' WHERE id = 1")
    try context.refresh()
    #expect(live.map { $0["t"] } == ["Talisman"])
    #expect(try context.explainLive(sql: "SELECT \(\Book.title) FROM \(Book.self)").description.contains("book"))
  }

  @Test func `columns of hostile names are quoted`() throws {
    let store = try ModelContainer(for: Odd.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store, isolation: nil)
    let one = Odd("one", order: 1)
    one.twin = one
    context.insert(one)
    context.insert(Odd("two", order: 2))
    try context.save()
    let labels = try context.fetch(
      String.self, Int.self,
      sql: """
        SELECT \(\Odd.label), \(\Odd.order) FROM \(Odd.self) WHERE \(\Odd.label) IN
        \(valuesOf: \Odd.twin?.label, where: #Predicate { $0.label == "one" }) AND \(\Odd.order) < \(5)
        """)
    #expect(labels.map(\.0) == ["one"] && labels.map(\.1) == [1])
    #expect(
      try context.fetch(Odd.self, sql: "SELECT * FROM \(Odd.self) WHERE \(\Odd.label) = \("two")").map(\.order) == [2])
  }
}
