import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel

/// A row that does not decode is an error and no object, in live results as in fetches, and nothing that is done to what
/// stands in its place is passed over in silence.
@MainActor @Suite(.fewOnMainActor) struct UndecodableRowTests {
  private let scratch: Scratch
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    scratch = try Scratch()
    store = try ModelContainer(for: Author.self, Book.self, url: URL(filePath: scratch.file()))
    context = ModelContext(store, isolation: nil)
    let author = Author("Lem")
    context.insert(author)
    context.insert(Book("good", year: 1, price: 1, author: author))
    context.insert(Book("bad", year: 1, price: 1, author: author))
    try context.save()
  }

  private func spoil() throws { try store.execute("UPDATE book SET title = CAST(x'61ff62' AS TEXT) WHERE id = 2") }
  private func mend() throws { try store.execute("UPDATE book SET title = 'mended' WHERE id = 2") }

  private func isUndecodable(_ error: (any Error)?, _ key: Int64 = 2) -> Bool {
    if case ModelError.undecodable("Book", key, "title", _)? = error { true } else { false }
  }

  @Test func `a live list has the error that a fetch throws, once the row is reached, until the row decodes`()
    async throws
  {
    try spoil()
    let context = ModelContext(store, isolation: nil)
    let error = #expect(throws: ModelError.self) { try context.fetch(FetchDescriptor<Book>()) }
    #expect(isUndecodable(error))
    let live = try context.live(Book.self)
    #expect(live.titles == ["good", ""])
    #expect(isUndecodable(live.error))
    let standIn = live[1]
    #expect(standIn.isDeleted && live[1] === standIn && live.error != nil)
    #expect(throws: ModelError.self) { try context.fetch(FetchDescriptor<Book>()) }
    #expect(context.model(Book.self, key: 2) == nil)
    var heard: [[String]] = []
    let token = observe { heard.append(live.titles) }
    try mend()
    try context.refresh()
    #expect(live.error == nil && live[1] === standIn && !standIn.isDeleted)
    while heard.count < 2 { await Task.yield() }
    #expect(heard == [["good", ""], ["good", "mended"]])
    standIn.price = 50
    try context.save()
    #expect(
      try store.query("SELECT title, price FROM book WHERE id = 2").map(\.values) == [["mended", 50.0]])
    #expect(try context.fetch(FetchDescriptor<Book>()).last === standIn)
    _ = token
  }

  @Test func `an edit of what stands in its place, and its deletion, are errors of the save`() throws {
    try spoil()
    let context = ModelContext(store, isolation: nil)
    let live = try context.live(Book.self)
    let before = try store.query("SELECT id, price FROM book").map(\.values)
    live[1].price = 50
    let assigned = #expect(throws: ModelError.self) { try context.save() }
    guard case .ignoredAssignments(let places)? = assigned else { throw assigned! }
    #expect(places.count == 1 && places[0].hasPrefix("Book.price of"))
    context.delete(live[1])
    let deleted = #expect(throws: ModelError.self) { try context.save() }
    guard case .ignoredAssignments(["the deletion of Book 2, whose row could not be read"])? = deleted else {
      throw deleted!
    }
    context.insert(live[1])
    #expect(throws: ModelError.self) { try context.save() }
    #expect(throws: ModelError.self) { try live[1].set(\.price, to: 7) }
    try context.save()
    #expect(try store.query("SELECT id, price FROM book").map(\.values) == before)
  }

  @Test func `sections and batches have the error too`() throws {
    try spoil()
    let context = ModelContext(store, isolation: nil)
    let sections = try context.live(Book.self, sectionBy: \.year)
    #expect(sections.map { $0.titles } == [["good", ""]] && isUndecodable(sections.error))
    let batches = try context.fetch(FetchDescriptor<Book>(), batchSize: 1)
    #expect(batches[0].title == "good" && batches[1].isDeleted && isUndecodable(batches.error))
    batches[1].price = 3
    #expect(throws: ModelError.self) { try context.save() }
    try mend()
    try context.refresh()
    #expect(sections.map { $0.titles } == [["good", "mended"]] && sections.error == nil && batches.error == nil)
  }

  @Test func `so it is where another process mends or deletes the row, of which nobody has told`() throws {
    try spoil()
    let context = ModelContext(store, isolation: nil)
    let live = try context.live(Book.self)
    let standIn = live[1]
    #expect(isUndecodable(live.error))
    let other = try ModelContainer(for: Author.self, Book.self, url: URL(filePath: scratch.file()))
    try other.execute("UPDATE book SET title = 'mended' WHERE id = 2")
    try context.refresh()
    #expect(live.titles == ["good", "mended"] && live.error == nil && live[1] === standIn)
    try spoil()
    let third = ModelContext(store, isolation: nil)
    let gone = try third.live(Book.self)
    #expect(gone[1].isDeleted && gone.error != nil)
    try other.execute("DELETE FROM book WHERE id = 2")
    try third.refresh()
    #expect(gone.titles == ["good"] && gone.error == nil)
  }

  @Test func `live values, groups, projections and SQL of such rows are errors`() throws {
    let context = ModelContext(store, isolation: nil)
    let rows = try context.live(TitleRow.self)
    let least = try context.liveMin(\Book.title)
    try spoil()
    try context.refresh()
    #expect(rows.error != nil && least.error != nil)
    #expect(throws: (any Error).self) { try context.live(TitleRow.self) }
    try mend()
    try context.refresh()
    #expect(rows.error == nil && least.error == nil && rows.map(\.title) == ["good", "mended"])
  }
}

@Projection(of: Book.self) private struct TitleRow {
  var title: String
}
