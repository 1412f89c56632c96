import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

@Projection(groupsOf: Book.self) private struct YearShelf {
  var year: Int?
  @Count var books: Int
  @Average(\Book.price) var meanPrice: Double?
  @Min(\Book.title) var first: String?
  @Max(\Book.note) var lastNote: String?
  var label: String { "\(year ?? 0): \(books)" }
}

@Projection(groupsOf: Book.self) private struct AuthorYears {
  @Sum(\Book.year) var years: Int
  @From(\Book.author?.name) var author: String?
  @Count var books: Int
}

/// Projections whose rows are groups.
@MainActor @Suite(.fewOnMainActor) struct GroupProjectionTests {
  @Test func `rows are the groups, filtered, ordered and cut, by one statement`() throws {
    let store = try makeStore()
    let context = ModelContext(store, isolation: nil)
    let author = Author("A")
    for (number, year) in [1990, 1990, nil, 2001, 2001, 2001].enumerated() {
      context.insert(Book("t\(number)", year: year, price: Double(number), author: number < 4 ? author : nil))
    }
    try context.save()
    let before = context.owner.queriesRun.value
    let years = try context.fetch(YearShelf.self)
    #expect(context.owner.queriesRun.value == before + 1)
    #expect(
      years == [
        YearShelf(year: nil, books: 1, meanPrice: 2, first: "t2", lastNote: nil),
        YearShelf(year: 1990, books: 2, meanPrice: 0.5, first: "t0", lastNote: nil),
        YearShelf(year: 2001, books: 3, meanPrice: 4, first: "t3", lastNote: nil),
      ])
    let most = try context.fetch(
      YearShelf.self, where: #Predicate { $0.price > 0 }, having: { $0.year != nil }, sortBy: { $0.books > $1.books },
      limit: 1)
    #expect(most.map(\.label) == ["2001: 3"])
    #expect(
      try context.fetch(AuthorYears.self) == [
        AuthorYears(years: 4002, author: nil, books: 2), AuthorYears(years: 5981, author: "A", books: 4),
      ])
  }

  @Test func `they are followed by the changes alone, and told with rows before and after`() throws {
    let store = try makeStore()
    let context = ModelContext(store, isolation: nil)
    for number in 0..<6 { context.insert(Book("t\(number)", year: number % 2, price: Double(number))) }
    try context.save()
    let years = try context.live(YearShelf.self)
    let start = years.queriesRun
    var told: [Difference<YearShelf>] = []
    let token = years.onDifference { told.append($0) }
    try store.execute("UPDATE book SET price = 12, year = 7 WHERE title = 't5'")
    try context.refresh()
    #expect(years.map(\.books) == [3, 2, 1] && years.map(\.meanPrice) == [2, 2, 12])
    #expect(years.queriesRun == start && years.commitNumber == context.commitNumber)
    guard case .insert(2, let new)? = told.first?.changes.first,
      case .update(1, let old, let now)? = told.first?.changes.last
    else {
      Issue.record("\(told)")
      return
    }
    #expect(new.year == 7 && old.books == 3 && now.books == 2 && told.count == 1)
    _ = token
  }

  @Test(arguments: [1, 2, extraSeed])
  func `live groups equal the same fetch afresh`(seed: UInt64) throws {
    let graph = try RandomGraph(seed: seed)
    let all = try graph.context.live(YearShelf.self)
    let best = try graph.context.live(
      YearShelf.self, where: #Predicate { $0.isIn }, having: { $0.books > 1 }, sortBy: { $0.books > $1.books }, limit: 3
    )
    let authors = try? graph.context.live(AuthorYears.self)
    var changes = 0
    var before = Array(all)
    for step in 0..<30 {
      try graph.step()
      let fresh = ModelContext(graph.store, isolation: nil)
      let what = Comment("seed \(seed), step \(step): \(graph.done)")
      // By their words: a mean of infinities of both signs is no number, and equals nothing.
      #expect("\(Array(all))" == "\(try fresh.fetch(YearShelf.self))", what)
      let groups = Dictionary(grouping: try fresh.fetch(FetchDescriptor<Book>()), by: \.year)
      #expect(Set(all.map(\.year)) == Set(groups.keys) && all.allSatisfy { groups[$0.year]?.count == $0.books }, what)
      let bestAfresh = try fresh.fetch(
        YearShelf.self, where: #Predicate { $0.isIn }, having: { $0.books > 1 }, sortBy: { $0.books > $1.books },
        limit: 3)
      #expect("\(Array(best))" == "\(bestAfresh)", what)
      if let authors {
        do {
          let rows = try fresh.fetch(AuthorYears.self)
          #expect(Array(authors) == rows && authors.error == nil, what)
        } catch {
          #expect(authors.error.map { "\($0)" } == "\(error)", what)
        }
      }
      if "\(before)" != "\(Array(all))" { changes += 1 }
      before = Array(all)
    }
    #expect(changes > 5, "seed \(seed): \(changes) changes prove little")
  }
}
