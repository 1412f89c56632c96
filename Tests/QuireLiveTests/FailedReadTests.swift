import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel

/// Objects that must be returned although their rows cannot be read: nobody takes what stands in their place for values
/// of the file, and they are the rows' objects as soon as these can be read.
@MainActor @Suite(.fewOnMainActor) struct FailedReadTests {
  private let scratch: Scratch
  private let store: ModelContainer

  init() throws {
    scratch = try Scratch()
    store = try ModelContainer(for: Author.self, Book.self, url: URL(filePath: scratch.file()))
    let author = Author("Lem")
    store.mainContext.insert(author)
    for number in 1...3 { store.mainContext.insert(Book("book \(number)", year: 1, price: 1, author: author)) }
    try store.mainContext.save()
  }

  private func isClosed(_ error: (any Error)?) -> Bool {
    if case DatabaseError.closed? = error { true } else { false }
  }

  @Test func `after the store is closed, the result says so as soon as a row is reached that is not in memory`() throws
  {
    let context = ModelContext(store, isolation: nil)
    let live = try context.live(Book.self)
    let sections = try context.live(Book.self, sectionBy: \.year)
    let batches = try context.fetch(FetchDescriptor<Book>(), batchSize: 1)
    let kept = try #require(
      try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "book 1" })).first)
    try store.close()
    #expect(live[0] === kept && live[0].title == "book 1" && live.error == nil)
    let standIn = live[1]
    #expect(standIn.isDeleted && standIn.title.isEmpty && live[1] === standIn)
    #expect(isClosed(live.error), "\(live.error as Any)")
    #expect(sections[0][2].isDeleted && isClosed(sections.error))
    #expect(batches[0].title == "book 1" && batches[2].isDeleted && isClosed(batches.error))
  }

  @Test func `while a migration does not fit the model, and until it does again`() async throws {
    let context = ModelContext(store, isolation: nil)
    let live = try context.live(Book.self)
    let batches = try context.fetch(FetchDescriptor<Book>(), batchSize: 3)
    let other = try Connection(path: scratch.file(), access: .readWrite)
    try other.execute("ALTER TABLE book RENAME COLUMN title TO name")
    try? context.refresh()
    let standIn = live[1]
    #expect(standIn.isDeleted && live.error != nil && batches[1] === standIn && batches.error != nil)
    var heard: [[String]] = []
    let token = observe { heard.append(live.map(\.title)) }
    try other.execute("ALTER TABLE book RENAME COLUMN name TO title")
    try? context.refresh()
    try context.refresh()
    #expect(live.map(\.title) == ["book 1", "book 2", "book 3"] && live.error == nil && live[1] === standIn)
    #expect(!standIn.isDeleted && batches.error == nil && batches[1] === standIn)
    while heard.count < 2 { await Task.yield() }
    #expect(heard == [["", "", ""], ["book 1", "book 2", "book 3"]])
    _ = token
  }

  @Test func `a row that can be read at the next attempt is its object, without a commit`() throws {
    let context = ModelContext(store, isolation: nil)
    let live = try context.live(Book.self)
    let batches = try context.fetch(FetchDescriptor<Book>(), batchSize: 2)
    let entity = try #require(context.owner.store?.entity(for: Book.self))
    let error = SQLiteError(code: 10, message: "disk I/O error", sql: nil)
    context.owner.fetcher.unread.noteFailedRead(error, entity.index, 2)
    #expect(live.error is SQLiteError && batches.error is SQLiteError)
    #expect(live[1].title == "book 2" && !live[1].isDeleted && batches[1] === live[1])
    #expect(live.error == nil && batches.error == nil)
  }
}
