import Foundation
import Quire
import TestSupport
import Testing

/// A sequence that begins while a transaction is under way, of which columns were not captured from its beginning.
@MainActor @Suite(.fewOnMainActor) struct CommitsUnderWayTests {
  private let folder: Scratch

  init() throws { folder = try Scratch() }

  private func open(_ log: ChangeLog = .asInFile) throws -> ModelContainer {
    let store = try ModelContainer(
      for: Schema(Author.self, Book.self),
      configurations: ModelConfiguration(url: URL(filePath: folder.file("library.db")), changeLog: log))
    try store.execute("INSERT INTO author (id, name) VALUES (1, 'Lem')")
    return store
  }

  private func line(_ commit: StoreCommit) -> String {
    let rows = commit.changes(of: Author.self).map { "\($0.old?.name ?? "-")>\($0.new?.name ?? "-")" }
    return rows.joined(separator: " ") + (commit.rowsUnknown ? "?" : "")
  }

  @Test func `with a change log its commit comes whole, from the log`() async throws {
    let store = try open(.on())
    let token = try #require(store.latestToken)
    let sequences = try store.writeSQL { transaction in
      try transaction.execute("UPDATE author SET name = 'S. Lem'")
      return [store.commits, try store.commits(after: token)]
    }
    try store.execute("INSERT INTO author (id, name) VALUES (2, 'Woolf')")
    for sequence in sequences {
      var commits = sequence.makeAsyncIterator()
      #expect(try await commits.next().map(line) == "Lem>S. Lem")
      #expect(try await commits.next().map(line) == "->Woolf")
    }
  }

  @Test func `without one its commit says that its rows are not known`() async throws {
    let store = try open()
    let sequence = try store.writeSQL { transaction in
      try transaction.execute("UPDATE author SET name = 'S. Lem'")
      return store.commits
    }
    try store.execute("INSERT INTO author (id, name) VALUES (2, 'Woolf')")
    var commits = sequence.makeAsyncIterator()
    #expect(try await commits.next().map(line) == "?")
    #expect(try await commits.next().map(line) == "->Woolf")
  }

  @Test(arguments: [ChangeLog.off, .on()]) func `one of a property is not left out`(log: ChangeLog) async throws {
    let store = try open(log)
    let (authors, books) = try store.writeSQL { transaction in
      try transaction.execute("UPDATE author SET name = 'S. Lem'")
      return (try store.commits(of: Author.self, changing: \.name), try store.commits(of: Book.self))
    }
    try store.execute("INSERT INTO book (title, price, is_in) VALUES ('Eden', 0, 1)")
    var commits = authors.makeAsyncIterator()
    let first = try #require(try await commits.next())
    #expect(first.rowsUnknown == (log == .off) && first.changes.map { $0.new?.name } == (log == .off ? [] : ["S. Lem"]))
    var others = books.makeAsyncIterator()
    #expect(try await others.next()?.changes.map { $0.new?.title } == ["Eden"], "the first has no book")
  }

  @Test func `so does each write of a group`() async throws {
    let store = try open(.on())
    var sequence: Commits?
    let (held, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    async let first: Void = store.write { context in
      try context.execute("UPDATE author SET name = 'A'")
      held.signal()
      goOn.wait()
    }
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        held.wait()
        continuation.resume()
      }
    }
    async let second: Void = store.write { try $0.execute("UPDATE author SET name = 'B'") }
    sequence = store.commits
    goOn.signal()
    _ = try await (first, second)
    var commits = try #require(sequence).makeAsyncIterator()
    #expect(try await commits.next().map(line) == "Lem>A")
    #expect(try await commits.next().map(line) == "A>B")
  }
}
