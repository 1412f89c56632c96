// begin fixture
import Quire
import Testing

/// A store with sample data, for one test.
@MainActor func sampleStore() throws -> ModelContainer {
  let store = try ModelContainer(
    for: Author.self, Book.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  let lem = Author(name: "Stanisław Lem")
  lem.books = ["Solaris", "Eden", "Fiasco"].map(Book.init)
  store.mainContext.insert(lem)
  try store.mainContext.save()
  return store
}
// end fixture

// begin shelf-tests
@MainActor @Suite(.timeLimit(.minutes(60))) struct ShelfTests {
  let store: ModelContainer
  let shelf: LiveQuery<Book>

  init() throws {  // before each test
    store = try sampleStore()
    shelf = try store.mainContext.live(
      Book.self, where: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.title)])
  }

  @Test func `a lent book leaves the shelf`() throws {
    try store.mainContext.transaction { shelf[0].isAvailable = false }
    #expect(shelf.map(\.title) == ["Fiasco", "Solaris"])
  }

  @Test func `a write of another task is seen after a refresh`() async throws {
    try await store.write { context in
      for book in try context.fetch(FetchDescriptor<Book>()) { book.isAvailable = false }
    }
    try store.mainContext.refresh()
    #expect(shelf.isEmpty)
  }

  @Test func `what is shown follows SQL`() async throws {
    try store.execute("DELETE FROM book WHERE title = 'Fiasco'")
    // The present value first, then one after each change.
    for await titles in observing({ shelf.map(\.title) }) where titles == ["Eden", "Solaris"] { break }
  }
}
// end shelf-tests

// begin announced
@MainActor @Suite struct AnnouncementTests {
  @Test func `a rename is one commit with the old and the new title`() async throws {
    let store = try sampleStore()
    var commits = store.commits.makeAsyncIterator()  // before the write
    try await store.write(author: "desk") { context in
      for book in try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "Eden" })) {
        book.title = "Eden, a novel"
      }
    }
    let commit = try #require(await commits.next())
    let changes = commit.changes(of: Book.self)
    #expect(commit.author == "desk" && changes.count == 1)
    #expect(changes[0].old?.title == "Eden" && changes[0].new?.title == "Eden, a novel")
  }

  @Test func `a list reports which rows left it`() throws {
    let store = try sampleStore()
    let shelf = try store.mainContext.live(Book.self, where: #Predicate { $0.isAvailable })
    var left: [String?] = []
    let token = shelf.onDifference { for case .delete(_, let old) in $0 { left.append(old.title) } }
    try store.mainContext.transaction { shelf[1].isAvailable = false }
    #expect(left == ["Eden"])
    token.cancel()
  }
}
// end announced

// begin failing
struct Refused: Error {}

@MainActor @Test func `a failed save leaves the edit pending`() throws {
  let store = try sampleStore()
  let context = store.mainContext
  let book = try #require(try context.fetchOne(FetchDescriptor<Book>()))
  let token = store.beforeCommit { _ in throw Refused() }
  book.title = "Eden"
  #expect(throws: Refused.self) { try context.save() }
  #expect(context.hasChanges)
  token.cancel()
  try context.save()
  #expect(!context.hasChanges)
}
// end failing
