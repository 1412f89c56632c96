import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

@Projection(of: Book.self) private struct BookFigures {
  var id: PersistentIdentifier
  @Computed({ (book: Book) in book.price * 20 - 1.5 }) var times: Double?
  @Computed({ (book: Book) in book.price / 3 }) var third: Double?
  @Computed({ (book: Book) in 2 / book.price }) var inverse: Double?
  @Computed({ (book: Book) in -book.price }) var minus: Double?
  @Computed({ (book: Book) in (book.year ?? 12) / 7 }) var weeks: Int?
  @Computed({ (book: Book) in (book.year ?? 12) % 7 }) var rest: Int?
  @Computed({ (book: Book) in book.author?.name ?? "nobody" }) var by: String
  @Computed({ (book: Book) in book.author?.rank }) var rank: Int?
  @Computed({ (book: Book) in book.isIn && book.price > 1 || book.title == "é" }) var isGood: Bool
  @Computed({ (book: Book) in book.price >= 1 ? book.title : "cheap" }) var label: String
  @Computed({ (book: Book) in book.year == nil ? 0 : 1 }) var dated: Int
}

@Projection(of: Book.self) private struct BookTwice {
  @Computed({ (book: Book) in (book.year ?? 0) * 2 }) var twice: Int
}

@Projection(of: Book.self) private struct BookOverYear {
  @Computed({ (book: Book) in 100 / (book.year ?? 1) }) var share: Int?
}

@Projection(of: Volume.self) private struct LoudTitle {
  @Computed({ (volume: Volume) in volume.loud }) var loud: String
}

@Projection(of: Book.self) private struct Percent {
  var title: String
  @Computed({ (book: Book) in book.price * 20 }) var percent: Double
}

/// Fields computed by the database.
@MainActor @Suite(.fewOnMainActor) struct ProjectionComputedTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
  }

  /// NaN, which no column holds, is nil.
  private func number(_ value: Double) -> Double? { value.isNaN ? nil : value }

  @Test func `they are what Swift computes, over values at their limits`() throws {
    let authors = [nil, Author("A", rank: nil), Author("é", rank: .min)]
    let years: [Int?] = [nil, 0, 1, -1, 6, 7, -7, -8, .max, .min, 1 << 53, (1 << 53) + 1]
    let prices: [Double] = [
      0, -0.0, 1, -1, 0.1, 3, 1e308, -1e308, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
      1.0.nextUp, 1.0.nextDown, 0x1p53,
    ]
    for (number, price) in prices.enumerated() {
      for year in years {
        context.insert(
          Book(
            RandomGraph.texts[number], year: year, price: price, isIn: number.isMultiple(of: 2),
            author: authors[number % 3]))
      }
    }
    try context.save()
    let reader = ModelContext(store, isolation: nil)
    let rows = try reader.fetch(BookFigures.self)
    #expect(rows.count == prices.count * years.count)
    for row in rows {
      let book = try #require(reader.model(for: row.id) as? Book)
      let what = Comment("price \(book.price), year \(book.year ?? -999)")
      #expect(row.times == number(book.price * 20 - 1.5), what)
      #expect(row.third == number(book.price / 3), what)
      #expect(row.inverse == number(2 / book.price), what)
      #expect(row.minus == number(-book.price), what)
      #expect(row.weeks == (book.year ?? 12) / 7, what)
      #expect(row.rest == (book.year ?? 12) % 7, what)
      #expect(row.by == book.author?.name ?? "nobody", what)
      #expect(row.rank == book.author?.rank, what)
      #expect(row.isGood == (book.isIn && book.price > 1 || book.title.utf8.elementsEqual("é".utf8)), what)
      #expect(row.label == (book.price >= 1 ? book.title : "cheap"), what)
      #expect(row.dated == (book.year == nil ? 0 : 1), what)
    }
  }

  @Test(arguments: [Int.max, .min, 1 << 62])
  func `where Swift would trap the row has no such value, and the error names it`(year: Int) throws {
    context.insert(Book("a", year: 2))
    context.insert(Book("b", year: year))
    try context.save()
    #expect {
      try context.fetch(BookTwice.self)
    } throws: { error in
      guard case ModelError.undecodable("BookTwice", 2, "twice", _) = error else { return false }
      return true
    }
    #expect(try context.fetch(BookTwice.self, where: #Predicate { $0.title == "a" }).map(\.twice) == [4])
  }

  @Test func `a division of whole numbers by zero is nil`() throws {
    context.insert(Book("a", year: 0))
    context.insert(Book("b", year: 7))
    try context.save()
    #expect(try context.fetch(BookOverYear.self).map(\.share) == [nil, 14])
  }

  @Test func `what has no SQL is refused when the query is made, by the field's name`() throws {
    let context = ModelContext(try makePressStore(), isolation: nil)
    for ask in [{ _ = try context.fetch(LoudTitle.self) }, { _ = try context.live(LoudTitle.self) }] {
      #expect {
        try ask()
      } throws: {
        "\($0)".hasPrefix("LoudTitle.loud: ‘") && "\($0)".contains("it is not a stored property of Volume")
      }
    }
  }

  @Test func `a computed property of the model is not taken for what it reads, in predicates too`() throws {
    let context = ModelContext(try makePressStore(), isolation: nil)
    context.insert(Volume("a"))
    try context.save()
    let loud = #Predicate<Volume> { $0.loud == "a" }
    #expect(try context.fetchCount(FetchDescriptor(predicate: loud)) == 0)
    #expect(throws: UntranslatablePredicate.self) { try context.live(Volume.self, where: loud) }
  }

  @Test func `what a predicate makes of all related rows is refused with the projection that has it`() throws {
    let context = ModelContext(try makeStore(), isolation: nil)
    context.insert(Author("A", rank: 1))
    try context.save()
    let dear = #Predicate<Author> { author in (author.books.map { $0.price }.max() ?? 0) > 5 }
    let costly = #Predicate<Author> { author in author.books.map { $0.price }.reduce(0, +) > 5 }
    for (predicate, advice) in [(dear, "@Max"), (costly, "@Projection with @Sum")] {
      #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == 0)
      #expect {
        try context.live(Author.self, where: predicate)
      } throws: {
        "\($0)".contains(advice)
      }
    }
  }

  @Test func `they are followed, ordered by and filtered by, without a statement where their columns stay`() throws {
    let author = Author("A")
    for number in 1...5 { context.insert(Book("t\(number)", price: Double(number), author: author)) }
    try context.save()
    let rows = try context.live(
      Percent.self, having: #Predicate { $0.percent < 90 }, sortBy: [SortDescriptor(\Percent.percent, order: .reverse)],
      limit: 2)
    #expect(rows.map(\.percent) == [80, 60])
    let start = rows.queriesRun
    try store.execute("UPDATE book SET year = 3")
    try context.refresh()
    #expect(rows.queriesRun == start)
    try store.execute("UPDATE book SET price = 4.25 WHERE title = 't1'")
    try context.refresh()
    #expect(rows.map(\.percent) == [85, 80] && rows.map(\.title) == ["t1", "t4"] && rows.queriesRun == start + 1)
  }
}
