import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel

/// The write-ahead log of a small file stays under 32 MB beside contexts that follow: those of one-row commits, of which
/// eight thousand fill as much.
@Suite(.timeLimit(.minutes(60))) struct LogLengthTests {
  private let scratch: Scratch
  private let store: ModelContainer
  private static let count = isSoaking ? 80_000 : 9000

  init() throws {
    scratch = try Scratch()
    var configuration = ModelConfiguration(url: URL(filePath: scratch.file()))
    configuration.synchronous = .normal
    store = try ModelContainer(for: Schema(Author.self, Book.self), configurations: configuration)
    let context = ModelContext(store)
    for number in 1...100 { context.insert(Book("book \(number)", price: 1)) }
    try context.save()
  }

  private var logSize: Int {
    get throws {
      try #require(FileManager.default.attributesOfItem(atPath: scratch.file() + "-wal")[.size] as? Int)
    }
  }

  private static func write(_ store: ModelContainer, _ number: Int) throws {
    try store.execute("UPDATE book SET price = price + 1 WHERE id = \(number % 100 + 1)")
  }

  @Test func `beside a context that is refreshed after each commit`() throws {
    let other = ModelContext(store, isolation: nil)
    let list = try other.live(Book.self)
    for number in 0..<LogLengthTests.count {
      try LogLengthTests.write(store, number)
      try other.refresh()
    }
    #expect(list.reduce(0) { $0 + $1.price } == Double(LogLengthTests.count + 100))
    try #expect(logSize < 32 << 20)
  }

  @Test func `beside saves of one context and another one that is refreshed`() throws {
    let (context, other) = (ModelContext(store, isolation: nil), ModelContext(store, isolation: nil))
    let list = try other.live(Book.self)
    let books = try context.fetch(FetchDescriptor<Book>())
    for number in 0..<LogLengthTests.count {
      books[number % books.count].price += 1
      try context.save()
      try other.refresh()
    }
    #expect(list.reduce(0) { $0 + $1.price } == Double(LogLengthTests.count + 100))
    try #expect(logSize < 32 << 20)
  }

  @MainActor private func writeBesideActors() async throws {
    let list = try store.mainContext.live(Book.self)
    let follower = Follower(modelContainer: store)
    try await follower.follow()
    let store = store
    try await Task.detached {
      for number in 0..<LogLengthTests.count { try LogLengthTests.write(store, number) }
    }.value
    try #expect(logSize < 32 << 20)
    let total = Double(LogLengthTests.count + 100)
    try store.mainContext.refresh()
    #expect(list.reduce(0) { $0 + $1.price } == total)
    try await #expect(follower.total() == total)
  }

  /// Another container, as another process, notices only afterwards that the log was copied.
  @Test func `beside a context of another container on the file`() async throws {
    let other = try ModelContainer(
      for: Schema(Author.self, Book.self),
      configurations: ModelConfiguration(url: URL(filePath: scratch.file()), allowsSave: false))
    let follower = Follower(modelContainer: other)
    try await follower.follow()
    for number in 0..<LogLengthTests.count { try LogLengthTests.write(store, number) }
    try #expect(logSize < 32 << 20)
    try await #expect(follower.total() == Double(LogLengthTests.count + 100))
  }

  /// In a process of its own: in this one other tests keep the main actor busy, so that its context does not follow.
  @Test func `beside the main context and a model actor`() async {
    await #expect(processExitsWith: .success) { try await LogLengthTests().writeBesideActors() }
  }
}

@ModelActor private actor Follower {
  private var list: LiveQuery<Book>?

  func follow() throws { list = try modelContext.live(Book.self) }

  func total() throws -> Double {
    try modelContext.refresh()
    return list?.reduce(0) { $0 + $1.price } ?? 0
  }
}
