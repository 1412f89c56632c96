import Quire
import TestSupport
import Testing

/// Values of objects that may go anywhere, and rows that are no objects.
@Suite(.fewAtOnce) struct SnapshotTests {
  enum Kind: String, Codable { case novel, play }
  struct Size: Codable, Equatable { var height: Double }

  private func store() throws -> ModelContainer {
    try ModelContainer(for: Printing.self, Printer.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test func `a snapshot has an object's values and the identifiers of what it refers to`() async throws {
    let store = try store()
    let context = ModelContext(store)
    let edition = Printing("Emma")
    edition.printer = Printer(name: "Murray")
    context.insert(edition)
    try context.save()
    edition.year = 1816  // unsaved edits too
    let snapshot = try edition.snapshot()
    edition.title = "Walden"
    let read = try await Task.detached {
      (
        try snapshot.title, try snapshot.year, try snapshot.kind, try snapshot.maybe, try snapshot.size,
        try snapshot.tags, try snapshot.made, try snapshot.printer, snapshot.persistentModelID
      )
    }.value
    #expect(read.0 == "Emma" && read.1 == 1816 && read.2 == .play && read.3 == nil && read.4 == Size(height: 2.5))
    #expect(read.5 == ["a", "b"] && read.6 == Date(timeIntervalSince1970: 5))
    #expect(read.7 == edition.printer?.persistentModelID && read.8 == edition.persistentModelID)
    #expect((context.model(for: try #require(read.7)) as? Printer)?.name == "Murray")
    edition.maybe = .novel
    #expect(try edition.snapshot().maybe == .novel)
    #expect(try edition.snapshot() != snapshot)
    let all = try context.fetchSnapshots(FetchDescriptor<Printing>())
    #expect(all == [try edition.snapshot()])
  }

  @Test func `what is not stored is not in a snapshot, and reading it throws`() throws {
    let edition = Printing("Emma")  // in no context
    let snapshot = try edition.snapshot()
    #expect(try snapshot.title == "Emma")
    #expect(try snapshot.printer == nil)
    #expect(throws: ModelError.self) { try snapshot.headline }
    #expect(throws: ModelError.self) { try snapshot.note }
  }

  @Test func `a fetch goes on past rows that are no objects where it is told to, and reports them`() throws {
    let store = try store()
    let context = ModelContext(store)
    for title in ["Emma", "Walden", "Ulysses"] { context.insert(Printing(title)) }
    try context.save()
    try store.execute("UPDATE printing SET kind = 'opera' WHERE title = 'Walden'")
    let other = ModelContext(store)
    let descriptor = FetchDescriptor<Printing>(sortBy: [SortDescriptor(\.title)])
    #expect(throws: ModelError.self) { try other.fetch(descriptor) }
    #expect(throws: ModelError.self) { try other.fetch(descriptor) }
    let (editions, badRows) = try other.fetchReportingBadRows(descriptor)
    #expect(editions.map(\.title) == ["Emma", "Ulysses"])
    #expect(badRows.count == 1)
    let bad = try #require(badRows.first)
    guard case .undecodable("Printing", 2?, "kind", _) = bad else { throw bad }
    #expect(throws: ModelError.self) { try other.fetch(descriptor) }
  }
}

@Model final class Printing {
  var title: String
  var year: Int?
  var kind = SnapshotTests.Kind.play
  var maybe: SnapshotTests.Kind?
  var size = SnapshotTests.Size(height: 2.5)
  var tags = ["a", "b"]
  let made: Date
  var printer: Printer?
  @Transient var note = ""
  var headline: String { title }
  init(_ title: String) {
    self.title = title
    made = Date(timeIntervalSince1970: 5)
  }
}

@Model final class Printer {
  var name: String
  @Relationship(inverse: \Printing.printer) var editions: [Printing] = []
  init(name: String) { self.name = name }
}
