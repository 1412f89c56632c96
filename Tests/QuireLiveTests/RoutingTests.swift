import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Ten thousand observers of different rows: a commit costs those it concerns.
@MainActor @Suite(.fewOnMainActor) struct RoutingTests {
  private static let count = 10_000
  private let store: ModelContainer
  private let context: ModelContext

  /// Ten thousand authors with a book each, by SQL.
  init() throws {
    store = try makeStore()
    for statement in [
      "INSERT INTO author (id, name, rank) SELECT i, 'author ' || i, i % 10 FROM n",
      "INSERT INTO book (id, title, year, price, is_in, author_id) SELECT i, 'book ' || i, i % 120, i % 7, 1, i FROM n",
    ] {
      let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.count))"
      try store.execute(SQL(verbatim: statement.replacing("SELECT", with: numbers + " SELECT", maxReplacements: 1)))
    }
    context = ModelContext(store, isolation: nil)
  }

  private var followers: LiveRegistry { context.owner.following.followers }

  private func authors() throws -> [PersistentIdentifier] {
    try context.fetchIdentifiers(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)]))
      .sorted { $0.key < $1.key }
  }

  /// What a statement costs: followers concerned, and statements run by the results.
  private func cost(_ sql: String, _ queries: () -> Int) throws -> (concerned: Int, statements: Int) {
    let (before, run) = (followers.routed, queries())
    try store.execute(SQL(verbatim: sql))
    try context.refresh()
    return (followers.routed - before, queries() - run)
  }

  /// Which of the readers are woken, from now on.
  private final class Woken {
    private(set) var places: [Int] = []
    @MainActor func watch(_ place: Int, _ read: () -> Void) { track(read) { [self] in places.append(place) } }
    func take() -> [Int] {
      defer { places.removeAll() }
      return places.sorted()
    }
  }

  @Test func `of ten thousand queries of one row each, a write of one concerns that one`() throws {
    let books = try context.fetchIdentifiers(FetchDescriptor<Book>()).sorted { $0.key < $1.key }
    let queries = try books.map { id in
      try context.live(
        Book.self, where: #Predicate { $0.persistentModelID == id && $0.isIn }, sortBy: [SortDescriptor(\.title)])
    }
    let woken = Woken()
    for (place, query) in queries.enumerated() { woken.watch(place) { _ = query.count } }
    func run() -> Int { queries.reduce(0) { $0 + $1.queriesRun } }
    #expect(try cost("UPDATE book SET is_in = 0 WHERE id = 4711", run) == (1, 0))
    #expect(woken.take() == [4710] && queries[4710].isEmpty)
    #expect(try cost("UPDATE book SET note = 'n' WHERE id = 12", run) == (0, 0), "a column it does not look at")
    #expect(try cost("DELETE FROM book WHERE id = 77", run) == (1, 0))
    #expect(try cost("INSERT INTO book (title, price, is_in) VALUES ('new', 1, 1)", run) == (0, 0))
    #expect(woken.take() == [76] && queries[76].isEmpty)
    #expect(queries[0].commitNumber == context.commitNumber)
  }

  @Test func `of ten thousand queries by a unique value, a write of one concerns that one`() throws {
    try store.execute("CREATE UNIQUE INDEX book_title ON book (title)")
    let queries = try (1...Self.count).map { number in
      let title = "book \(number)"
      return try context.live(Book.self, where: #Predicate { $0.title == title })
    }
    func run() -> Int { queries.reduce(0) { $0 + $1.queriesRun } }
    #expect(try cost("UPDATE book SET title = 'gone' WHERE id = 9", run) == (1, 0))
    #expect(try cost("UPDATE book SET title = 'book 9' WHERE id = 10", run) == (2, 0))
    #expect(queries[8].bookKeys == [10] && queries[9].isEmpty)
  }

  @Test func `of ten thousand lists and counts of an author's books, a book that moves concerns two of each`() throws {
    let authors = try authors()
    let lists = try authors.map { id in
      try context.live(
        Book.self, where: #Predicate { $0.author?.persistentModelID == id }, sortBy: [SortDescriptor(\.title)],
        limit: 10)
    }
    let counts = try authors.map { id in
      try context.liveCount(Book.self, where: #Predicate { $0.author?.persistentModelID == id })
    }
    let sums = try authors.prefix(100).map { id in
      try context.liveSum(\Book.price, where: #Predicate { $0.author?.persistentModelID == id })
    }
    let woken = Woken()
    func watch() {
      for (place, list) in lists.enumerated() { woken.watch(place) { _ = list.count } }
      for (place, count) in counts.enumerated() { woken.watch(Self.count + place) { _ = count.value } }
    }
    watch()
    func run() -> Int {
      lists.reduce(0) { $0 + $1.queriesRun } + counts.reduce(0) { $0 + $1.queriesRun }
        + sums.reduce(0) { $0 + $1.queriesRun }
    }
    #expect(try cost("UPDATE book SET author_id = 200 WHERE id = 100", run) == (5, 0))
    #expect(woken.take() == [99, 199, Self.count + 99, Self.count + 199])
    #expect(lists[199].bookKeys == [100, 200] && counts[199].value == 2 && sums[99].value == 0)
    #expect(try cost("UPDATE book SET year = 1 WHERE id = 100", run) == (0, 0))
    #expect(try cost("UPDATE book SET price = 50 WHERE id = 5", run) == (1, 0), "the sum alone")
    #expect(try cost("UPDATE author SET name = 'x', rank = 3", run) == (0, 0), "no table of theirs")
    #expect(woken.take() == [] && sums[4].value == 50)

    let book = try #require(context.model(Book.self, key: 300))
    let before = followers.routed
    book.author = nil
    try context.save()
    #expect(followers.routed - before == 2, "an own save too")
    #expect(woken.take() == [299, Self.count + 299])
  }

  @Test func `projections and groups with an equality are routed by it, and by columns their fields read`() throws {
    let authors = try authors().prefix(500)
    let rows = try authors.map { id in
      try context.live(PricedBook.self, where: #Predicate { $0.author?.persistentModelID == id })
    }
    let groups = try authors.map { id in
      try context.liveGroups(
        Book.self, by: \.year, .count, where: #Predicate { $0.author?.persistentModelID == id })
    }
    func run() -> Int { rows.reduce(0) { $0 + $1.queriesRun } + groups.reduce(0) { $0 + $1.queriesRun } }
    #expect(try cost("UPDATE book SET title = 't' WHERE id = 7", run) == (1, 1))
    #expect(try cost("UPDATE book SET year = 8 WHERE id = 7", run) == (1, 0))
    #expect(try cost("UPDATE book SET is_in = 0", run) == (0, 0))
    #expect(rows[6].first?.title == "t" && groups[6].first?.key == 8)
  }

  @Test func `of ten thousand observed objects, a write of one wakes that one and runs a statement`() throws {
    let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
    let woken = Woken()
    for (place, book) in books.enumerated() { woken.watch(place) { _ = book.title } }
    let before = context.owner.queriesRun.value
    #expect(try cost("UPDATE book SET title = 'x' WHERE id = \(books[17].persistentModelID.key)") { 0 } == (0, 0))
    #expect(woken.take() == [17] && books[17].title == "x")
    try store.execute("INSERT INTO book (title, price, is_in) VALUES ('new', 1, 1)")
    try context.refresh()
    #expect(woken.take() == [] && context.owner.queriesRun.value == before)
  }

  @Test func `tracked objects that only lists show stay, and go some turns after the lists, however many there are`()
    throws
  {
    var lists: [LiveQuery<Book>] = []
    let authors = try authors().prefix(2000)
    for id in authors {
      lists.append(try context.live(Book.self, where: #Predicate { $0.author?.persistentModelID == id }))
    }
    for list in lists {
      track {
        _ = list.titles
      } before: {
      }
    }
    for _ in 0..<20 { _ = try cost("UPDATE book SET note = 'n' WHERE id = 5000") { 0 } }
    #expect(context.registeredCount == 2000)
    lists.removeLast(1999)
    for _ in 0..<500 { _ = try cost("UPDATE book SET note = 'n' WHERE id = 5000") { 0 } }
    #expect(context.registeredCount == 1 && lists[0].titles == ["book 1"])
    lists.removeAll()
    for _ in 0..<5 { _ = try cost("UPDATE book SET note = 'n' WHERE id = 5000") { 0 } }
    #expect(context.registeredCount == 0)
  }

  @Test func `a commit of ten thousand rows gives each of ten thousand lists its own`() throws {
    let authors = try authors()
    let lists = try authors.map { id in
      try context.live(Book.self, where: #Predicate { $0.author?.persistentModelID == id })
    }
    func judged() -> Int { lists.reduce(0) { $0 + $1.list.judgedInMemory } }
    #expect(try cost("UPDATE book SET author_id = 1 + id % \(Self.count)", judged) == (Self.count, 2 * Self.count))
    #expect(lists[0].bookKeys == [Int64(Self.count)] && lists[1].bookKeys == [1])
  }

  @Test func `who listens to differences hears of every column of its rows, and of no others, as long as it does`()
    throws
  {
    let authors = try authors()
    let lists = try authors.prefix(100).map { id in
      try context.live(Book.self, where: #Predicate { $0.author?.persistentModelID == id })
    }
    var told: [Int] = []
    var tokens = lists.enumerated().map { place, list in list.onDifference { _ in told.append(place) } }
    #expect(try cost("UPDATE book SET note = 'n' WHERE id = 3") { 0 } == (1, 0))
    #expect(told == [2])
    tokens.removeAll()
    #expect(try cost("UPDATE book SET note = 'm' WHERE id = 3") { 0 } == (1, 0), "it finds out that nobody listens")
    #expect(try cost("UPDATE book SET note = 'l' WHERE id = 3") { 0 } == (0, 0))
    #expect(told == [2])
  }

  @Test func `a list of a few values is woken by each of them and by no other`() throws {
    let wanted = [3, 5, 8]
    let list = try context.live(Book.self, where: #Predicate { wanted.contains($0.year ?? 0) && $0.isIn })
    let years: [Int?] = [3, nil]
    let some = try context.live(Book.self, where: #Predicate { years.contains($0.year) })
    #expect(try cost("UPDATE book SET year = 4 WHERE year = 6") { 0 } == (1, 0), "the first reads through `??`")
    #expect(try cost("UPDATE book SET year = NULL WHERE id = 6") { 0 } == (2, 0))
    #expect(some.bookKeys.contains(6) && !list.bookKeys.contains(6))
    #expect(try cost("UPDATE book SET year = 3 WHERE id = 6") { 0 } == (2, 0))
    #expect(some.bookKeys.contains(6) && list.bookKeys.contains(6))
  }
}

@Projection(of: Book.self) struct PricedBook {
  var title: String
  var price: Double
}
