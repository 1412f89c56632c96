import Quire
import TestSupport
import Testing

@testable import QuireModel

@Model private final class Heading {
  var title: String
  var parent: Heading?
  @Relationship(deleteRule: .cascade, inverse: \Heading.parent) var parts: [Heading] = []
  @Relationship(deleteRule: .cascade, inverse: \Remark.heading) var remarks: [Remark] = []
  init(_ title: String) { self.title = title }
}

@Model private final class Remark {
  var text: String
  var heading: Heading?
  init(_ text: String, _ heading: Heading) { (self.text, self.heading) = (text, heading) }
}

/// A new object that belongs to one which a cascade will delete, in the same save.
@MainActor @Suite(.fewOnMainActor) struct CascadedInsertTests {
  private let store: ModelContainer
  private let context: ModelContext
  private let (book, chapter, page): (Heading, Heading, Heading)

  init() throws {
    store = try ModelContainer(for: Heading.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
    try store.execute(
      "INSERT INTO heading (id, title, parent_id) VALUES (1, 'book', NULL), (2, 'chapter', 1), (3, 'page', 2), (4, 'other', NULL)"
    )
    book = try #require(try context.get(Heading.self, key: 1))
    chapter = try #require(try context.get(Heading.self, key: 2))
    page = try #require(try context.get(Heading.self, key: 3))
  }

  enum Way: CaseIterable { case save, transaction, saveWhenReady, behindAnother }

  private func save(_ way: Way) async throws {
    switch way {
    case .save: try context.save()
    case .transaction: try context.transaction {}
    case .saveWhenReady: try await context.saveWhenReady()
    case .behindAnother:
      let gate = try await ServingTests.Gate(store)
      let task = Task { try await context.saveWhenReady() }
      await ServingTests.waiting(1, in: store)
      try await gate.open()
      try await task.value
    }
  }

  private func requireDeleted(_ new: [any PersistentModel]) throws {
    #expect(try store.query("SELECT title FROM heading").map(\.values) == [["other"]])
    #expect(try store.value("SELECT count(*) FROM remark") == 0)
    #expect(([book, chapter, page] + new).allSatisfy(\.isDeleted) && !context.hasChanges)
  }

  @Test(arguments: Way.allCases) func `it is deleted with it, as after a fetch`(way: Way) async throws {
    let remark = Remark("new", page)
    context.insert(remark)
    context.delete(book)
    let part = Heading("part")
    part.parent = chapter
    try await save(way)
    try requireDeleted([remark, part])
  }

  @Test(arguments: [Way.save, .transaction, .saveWhenReady])
  func `so it is if another context has moved it there meanwhile`(way: Way) async throws {
    let stray = try #require(try context.get(Heading.self, key: 4))
    let remark = Remark("new", stray)
    context.insert(remark)
    context.delete(book)
    let other = ModelContext(store)
    try other.get(Heading.self, key: 4)?.parent = try other.get(Heading.self, key: 2)
    try other.save()
    try await save(way)
    #expect(try store.value("SELECT count(*) FROM heading") == 0)
    #expect(stray.isDeleted && remark.isDeleted && !context.hasChanges)
  }

  @Test(arguments: Way.allCases, [true, false])
  func `so it is if it is made after the deletion`(way: Way, isFetched: Bool) async throws {
    context.delete(book)
    if isFetched { #expect(try context.fetchCount(FetchDescriptor<Heading>()) == 1 && page.isDeleted) }
    let (remark, part, below) = (Remark("new", isFetched ? page : book), Heading("part"), Remark("below", page))
    below.heading = part
    part.parent = isFetched ? chapter : book
    for model in [remark, below] { context.insert(model) }
    if isFetched {
      #expect(try context.fetchCount(FetchDescriptor<Remark>()) == 0)
      #expect([remark, below].allSatisfy(\.isDeleted) && part.isDeleted)
    }
    try await save(way)
    try requireDeleted([remark, part, below])
  }

  @Test(arguments: [true, false])
  func `what is given to a deleted object goes with it, and comes back with it`(isSaved: Bool) throws {
    let parent = isSaved ? book : Heading("new")
    context.insert(parent)
    context.delete(parent)
    #expect(try context.fetchCount(FetchDescriptor<Heading>()) == (isSaved ? 1 : 4))
    let (other, part) = (try #require(try context.get(Heading.self, key: 4)), Heading("part"))
    context.insert(part)
    (other.parent, part.parent) = (parent, parent)
    #expect(try context.fetchCount(FetchDescriptor<Heading>()) == (isSaved ? 0 : 3))
    #expect(other.isDeleted && part.isDeleted)
    context.insert(parent)
    #expect(try context.fetchCount(FetchDescriptor<Heading>()) == (isSaved ? 5 : 6))
    #expect(!other.isDeleted && !part.isDeleted)
    #expect(Set(parent.parts) == (isSaved ? [chapter, other, part] : [other, part]))
    context.delete(parent)
    try context.save()
    #expect(other.isDeleted && part.isDeleted && !context.hasChanges)
    #expect(try store.value("SELECT count(*) FROM heading") == (isSaved ? 0 : 3))
  }

  @Test func `what is given to an object whose deletion has been saved is not saved`() throws {
    context.delete(book)
    try context.save()
    let remark = Remark("new", book)
    context.insert(remark)
    for _ in 0..<2 { #expect(throws: ModelError.self) { try context.save() } }
    #expect(!remark.isDeleted && context.hasChanges)
    remark.heading = nil
    try context.save()
    #expect(try store.value("SELECT count(*) FROM remark") == 1)
  }

  @Test func `an autosave behind another writer deletes it, too`() async throws {
    let context = store.mainContext
    let remark = Remark("new", try #require(try context.get(Heading.self, key: 3)))
    let gate = try await ServingTests.Gate(store)
    context.insert(remark)
    context.delete(try #require(try context.get(Heading.self, key: 1)))
    await ServingTests.waiting(1, in: store)
    try await gate.open()
    while context.hasChanges { await Task.yield() }
    #expect(context.autosaveError == nil && remark.isDeleted)
    #expect(try store.query("SELECT title FROM heading").map(\.values) == [["other"]])
  }

  @Test func `undo brings back what had a row`() throws {
    context.undoManager = UndoManager()
    context.insert(Remark("new", page))
    context.delete(book)
    try context.save()
    try context.undo()
    #expect(try store.value("SELECT count(*) FROM heading") == 4)
    #expect(!page.isDeleted && page.remarks.isEmpty && page.parent === chapter)
  }

  @Test func `a row that a trigger deletes is refused as before`() throws {
    try store.execute("CREATE TRIGGER gone AFTER INSERT ON remark BEGIN DELETE FROM remark WHERE id = NEW.id; END")
    let remark = Remark("new", page)
    context.insert(remark)
    context.delete(try #require(try context.get(Heading.self, key: 4)))
    for _ in 0..<2 {
      #expect {
        try context.save()
      } throws: {
        "\($0)".hasPrefix("a trigger has deleted the row of a new Remark")
      }
    }
    #expect(!remark.isDeleted && context.hasChanges)
    #expect(try store.value("SELECT count(*) FROM heading") == 4)
  }
}
