import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel

/// Groups asked for once: the shape of `liveGroups`, with unsaved edits.
@MainActor @Suite(.fewOnMainActor) struct FetchGroupsTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    try store.execute("INSERT INTO author (id, name, rank) VALUES (1, 'A', 1), (2, 'B', 2)")
    try store.execute(
      """
      INSERT INTO book (title, year, price, is_in, author_id) VALUES
      ('a', 1990, 1, 1, 1), ('b', 1990, 2, 1, 2), ('c', 2000, 3, 1, 1), ('d', NULL, 4, 0, NULL)
      """)
  }

  @Test func `one statement gives what the live groups show`() throws {
    let before = context.owner.queriesRun.value
    let years = try context.fetchGroups(Book.self, by: \.year, .count, .average(\.price), .min(\.title))
    #expect(context.owner.queriesRun.value == before + 1)
    let live = try context.liveGroups(Book.self, by: \.year, .count, .average(\.price), .min(\.title))
    #expect(years.map(\.key) == [nil, 1990, 2000] && live.map(\.key) == years.map(\.key))
    #expect(years.map(\.values.0) == [1, 2, 1] && years.map(\.values.1) == [4, 1.5, 3])
    #expect(years.map(\.values.2) == ["d", "a", "c"])
  }

  @Test func `a filter, having, an order by aggregate and a limit`() throws {
    let authors = try context.fetchGroups(
      Book.self, by: \.author?.name, .count, .sum(\.price), where: #Predicate { $0.year != nil },
      having: { $0.values.1 > 1 }, sortBy: { $0.values.1 > $1.values.1 }, limit: 1)
    #expect(authors.map(\.key) == ["A"] && authors[0].values == (2, 4))
    #expect(try context.fetchGroups(Book.self, by: \.isIn, .count, where: #Predicate { $0.price > 9 }).isEmpty)
    let counts: [Int] = try context.fetchGroups(Book.self, by: \.isIn, .count).map(\.values)
    #expect(counts == [1, 3])
  }

  @Test func `unsaved edits count, at the end of a path too`() throws {
    let author = try #require(try context.fetchOne(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)])))
    author.name = "Z"
    context.insert(Book("e", year: 2000, price: 10, author: author))
    context.delete(try #require(try context.fetchOne(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "d" }))))
    func groups() throws -> [String] {
      try context.fetchGroups(Book.self, by: \.author?.name, .count, .sum(\.price)).map {
        "\($0.key ?? "-") \($0.values)"
      }
    }
    #expect(try groups() == ["B (1, 2.0)", "Z (3, 14.0)"])
    let live = try context.liveGroups(Book.self, by: \.author?.name, .count)
    #expect(live.map(\.key) == [nil, "A", "B"])
    try context.save()
    #expect(try groups() == ["B (1, 2.0)", "Z (3, 14.0)"] && live.map(\.key) == ["B", "Z"])
  }

  @Test func `a predicate of which SQL has only a part asks the objects`() throws {
    let years = try context.fetchGroups(
      Book.self, by: \.year, .count, where: #Predicate { $0.title.uppercased() > "B" })
    #expect(years.map(\.key) == [nil, 2000])
  }

  @Test func `a sum beyond Int, and what has no column, are errors`() throws {
    #expect(throws: ModelError.self) { try context.fetchGroups(Book.self, by: \.title.count, .count) }
    try store.execute("UPDATE author SET rank = \(Int.max)")
    try store.execute("UPDATE book SET author_id = 1")
    #expect(throws: AggregateError.self) {
      _ = try context.fetchGroups(Book.self, by: \.isIn, .sum(\Book.author?.rank))
    }
  }
}
