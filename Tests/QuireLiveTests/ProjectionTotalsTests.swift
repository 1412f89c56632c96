import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Aggregates of to-many relationships as fields.
@MainActor @Suite(.fewOnMainActor) struct ProjectionTotalsTests {
  private let store: ModelContainer
  private let context: ModelContext
  private let authors: [Author]

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    authors = [Author("A"), Author("B"), Author("C"), Author("D")]
    for author in authors { context.insert(author) }
    for (number, author) in [0, 0, 0, 1, 2, 2].enumerated() {
      context.insert(
        Book(
          "t\(number)", year: number, price: Double(number), isIn: number.isMultiple(of: 2), author: authors[author]))
    }
    try context.save()
  }

  @Test func `all aggregates of all rows are read by one statement, and no object is made`() throws {
    let context = ModelContext(store, isolation: nil)
    let before = context.owner.queriesRun.value
    let rows = try context.fetch(AuthorTotals.self)
    #expect(context.owner.queriesRun.value == before + 1 && context.registeredCount == 0)
    #expect(rows.map(\.name) == ["A", "B", "C", "D"])
    #expect(rows.map(\.books) == [3, 1, 2, 0])
    #expect(rows.map(\.isIn) == [2, 0, 1, 0])
    #expect(rows.map(\.meanPrice) == [1, 3, 4.5, nil])
    #expect(rows.map(\.first) == ["t0", "t3", "t4", nil])
    #expect(rows.map(\.last) == [2, 3, 5, nil])
    #expect(rows.map(\.dated) == [6, 2, 4, 0])
    let sums = try context.fetch(AuthorSums.self)
    #expect(sums.map(\.years) == [3, 3, 9, 0] && sums.map(\.prices) == [3, 3, 9, 0])
  }

  @Test func `rows are ordered and filtered by their fields, beside the conditions on objects`() throws {
    let most = try context.fetch(
      AuthorTotals.self, sortBy: [SortDescriptor(\AuthorTotals.books, order: .reverse)], limit: 2)
    #expect(most.map(\.name) == ["A", "C"])
    let mean = try context.fetch(
      AuthorTotals.self, where: #Predicate { $0.name != "C" },
      sortBy: [SortDescriptor(\.meanPrice, order: .reverse), SortDescriptor(\.name)])
    #expect(mean.map(\.name) == ["B", "A", "D"])
    let some = try context.fetch(
      AuthorTotals.self, where: #Predicate { $0.name != "B" }, having: #Predicate { $0.books > 1 && ($0.last ?? 0) > 2 }
    )
    #expect(some.map(\.name) == ["C"])
  }

  @Test func `an order without a root that both have is the model's`() throws {
    let rows = try context.live(AuthorTotals.self, sortBy: [SortDescriptor(\.name, order: .reverse)])
    #expect(rows.map(\.name) == ["D", "C", "B", "A"])
  }

  @Test func `what is no field is refused by name`() throws {
    let context = ModelContext(try makePressStore(), isolation: nil)
    func refusal(_ ask: () throws -> [VolumeForms]) -> String {
      do { return "\(try ask())" } catch { return "\(error)" }
    }
    let order = [SortDescriptor(\VolumeForms.both)]
    let having = #Predicate<VolumeForms> { $0.both == "a" }
    let byOrder = refusal { try context.fetch(VolumeForms.self, sortBy: order) }
    #expect(byOrder.hasPrefix("VolumeForms cannot be sorted by what is not one of its fields"))
    let byCondition = refusal { try context.fetch(VolumeForms.self, having: having) }
    #expect(byCondition.contains("it is not a stored property of VolumeForms"))
  }

  @Test func `a change of a child costs one statement, for the rows it belonged and belongs to`() throws {
    let rows = try context.live(AuthorTotals.self)
    var told: [Difference<AuthorTotals>] = []
    let token = rows.onDifference { told.append($0) }
    let start = rows.queriesRun
    let book = try #require(context.model(Book.self, key: 1))
    book.author = authors[1]
    try context.save()
    #expect(rows.map(\.books) == [2, 2, 2, 0] && rows.map(\.first) == ["t1", "t0", "t4", nil])
    #expect(rows.queriesRun == start + 1)
    let places = told.last?.changes.compactMap { if case .update(let at, _, _) = $0 { at } else { nil as Int? } }
    #expect(told.count == 1 && places == [0, 1])
    book.author = nil
    try context.save()
    #expect(rows.map(\.books) == [2, 1, 2, 0] && rows.queriesRun == start + 2 && told.last?.changes.count == 1)
    context.delete(authors[2])
    try context.save()
    #expect(rows.map(\.books) == [2, 1, 0] && rows.queriesRun == start + 2)
    context.insert(Book("new", price: 9, author: authors[3]))
    try context.save()
    #expect(rows.map(\.meanPrice) == [1.5, 3, 9] && rows.queriesRun == start + 3)
    _ = token
  }

  @Test func `a change of no column that is looked at costs none`() throws {
    let rows = try context.live(AuthorTotals.self, sortBy: [SortDescriptor(\AuthorTotals.books)], limit: 3)
    let start = rows.queriesRun
    try store.execute("UPDATE book SET note = 'n' || id")
    try store.execute("UPDATE author SET rank = 1")
    try context.refresh()
    #expect(rows.queriesRun == start)
    try store.execute("UPDATE book SET price = price + 1 WHERE id = 4")
    try context.refresh()
    #expect(rows.first { $0.name == "B" }?.meanPrice == 4 && rows.queriesRun == start + 1)
  }

  @Test func `a pair costs one statement, a change at its other end one more`() throws {
    let papers = try ModelContainer(
      for: Paper.self, Topic.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(papers, isolation: nil)
    let topics = [Topic("a", rank: 1), Topic("b", rank: 2)]
    let paper = Paper("p")
    paper.topics = [topics[0]]
    context.insert(paper)
    context.insert(Paper("q"))
    context.insert(topics[1])
    try context.save()
    let rows = try context.live(PaperTotals.self, sortBy: [SortDescriptor(\.title)])
    let start = rows.queriesRun
    paper.topics.append(topics[1])
    try context.save()
    #expect(rows.map(\.meanRank) == [1.5, nil] && rows.queriesRun == start + 1)
    topics[1].rank = 4
    try context.save()
    #expect(rows.map(\.meanRank) == [2.5, nil] && rows.queriesRun == start + 3)
    topics[0].papers = []
    try context.save()
    #expect(rows.map(\.meanRank) == [4, nil] && rows.queriesRun == start + 4)
  }

  @Test func `a limited list ordered by a total takes in who comes, and refills`() throws {
    let rows = try context.live(
      AuthorTotals.self, sortBy: [SortDescriptor(\AuthorTotals.books, order: .reverse)], limit: 2)
    #expect(rows.map(\.name) == ["A", "C"])
    for number in 0..<4 { context.insert(Book("d\(number)", author: authors[3])) }
    try context.save()
    #expect(rows.map(\.name) == ["D", "A"] && rows.map(\.books) == [4, 3])
    context.delete(authors[3])
    context.delete(authors[0])
    try context.save()
    #expect(rows.map(\.name) == ["C", "B"])
  }

  @Test func `a sum beyond Int names the row and the field, and comes back`() throws {
    let rows = try context.live(AuthorSums.self)
    try store.execute("UPDATE book SET year = \(Int64.max) WHERE id = 1")
    #expect {
      try context.fetch(AuthorSums.self)
    } throws: { error in
      guard case ModelError.undecodable("AuthorSums", 1, "years", let reason) = error else { return false }
      return "\(reason)" == "‘a sum beyond Int64’ is not a valid Int"
    }
    #expect(rows.error != nil && rows.map(\.years) == [3, 3, 9, 0])
    try store.execute("UPDATE book SET year = 7, price = \(Double.infinity) WHERE id = 1")
    try store.execute("UPDATE book SET price = \(-Double.infinity) WHERE id = 2")
    try context.refresh()
    #expect("\(try #require(rows.error))".contains("AuthorSums 1.prices: ‘a sum of infinities of both signs’"))
    try store.execute("UPDATE book SET price = 0.1 WHERE id < 4")
    try context.refresh()
    #expect(rows.error == nil && rows.map(\.years) == [10, 3, 9, 0] && rows[0].prices == ExactSum.of(0.1, 0.1, 0.1))
  }
}

extension ExactSum {
  fileprivate static func of(_ values: Double...) -> Double {
    var sum = ExactSum()
    for value in values { sum.add(value) }
    return sum.real
  }
}
