import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// What results of each kind say of themselves, before and after they are made.
@MainActor @Suite(.fewOnMainActor) struct ExplanationKindsTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
  }

  @Test func `sections say what their list does, before and after they are made`() throws {
    let sections = try context.live(
      Book.self, sectionBy: \.year, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: 20)
    #expect(
      try sections.explanation
        == context.explainLive(
          Book.self, sectionBy: \.year, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: 20))
    #expect(try sections.explanation.subject == "the first 20 rows of book" && !sections.warnings.isEmpty)
    for index in try sections.explanation.indexes { try store.execute(SQL(verbatim: index)) }
    #expect(try sections.warnings.isEmpty)
  }

  @Test func `a condition on a row's own fields, and an order by them, are explained as they are followed`() throws {
    let rows = try context.live(
      AuthorTotals.self, having: #Predicate { $0.books > 1 },
      sortBy: [SortDescriptor(\AuthorTotals.isIn, order: .reverse)], limit: 5)
    let explained = try context.explainLive(
      AuthorTotals.self, having: #Predicate { $0.books > 1 },
      sortBy: [SortDescriptor(\AuthorTotals.isIn, order: .reverse)], limit: 5)
    #expect(try explained == rows.explanation)
    #expect(
      explained.reasons.first == "filter or order read book too: rows that a change concerns are asked for by key")
    let own = try context.explainLive(AuthorTotals.self, sortBy: [SortDescriptor(\.name)], limit: 5)
    #expect(own.reasons.first == "filter and order read author alone: a change is judged by its values")
    #expect(
      try context.explainLive(AuthorTotals.self, having: #Predicate { $0.name > "a" })
        == context.live(AuthorTotals.self, having: #Predicate { $0.name > "a" }).explanation)
  }

  @Test func `groups and values are explained before they are made`() throws {
    let groups = try context.liveGroups(Book.self, by: \.year, .count, .max(\.price), where: #Predicate { $0.isIn })
    #expect(
      try context.explainLiveGroups(Book.self, by: \.year, .count, .max(\.price), where: #Predicate { $0.isIn })
        == groups.explanation)
    let shelves = try context.live(Shelves.self, where: #Predicate { $0.isIn })
    #expect(try context.explainLive(Shelves.self, where: #Predicate { $0.isIn }) == shelves.explanation)
    #expect(try shelves.warnings.count == 1 && shelves.explanation.subject.hasSuffix("of book, by year"))
    #expect(try context.explainLiveValue(.average(\Book.price)) == context.liveAverage(\Book.price).explanation)
    #expect(
      try context.explainLiveValue(.min(\Book.year), where: #Predicate { $0.isIn })
        == context.liveMin(\Book.year, where: #Predicate { $0.isIn }).explanation)
  }

  @Test func `who wants to hear of slow results hears of those in SQL too`() throws {
    let heard = Locked<[String]>([])
    let observation = store.observeWarnings { warning in heard.withLock { $0.append(warning.description) } }
    _ = try context.live(sql: "SELECT count(*) FROM book")
    _ = try context.live(sql: "SELECT title FROM book WHERE id = 1")
    observation.cancel()
    #expect(heard.withLock { $0 } == ["the answer of an SQL query: asking again reads all of book"])
  }
}

@Projection(groupsOf: Book.self) private struct Shelves {
  var year: Int?
  @Count var books: Int
  @Min(\Book.title) var first: String?
}
