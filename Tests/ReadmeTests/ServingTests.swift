import Foundation
import Quire
import Synchronization
import Testing

@Suite struct ServingTests {
  @Test(arguments: ["requests", "status", "backup", "monitoring"])
  func `the page's code is the code that is compiled here`(name: String) throws {
    let source = try String(contentsOf: Readme.root.appending(path: "Tests/ReadmeTests/Serving.swift"), encoding: .utf8)
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    let begin = try #require(lines.firstIndex(of: "// begin \(name)"))
    let end = try #require(lines.firstIndex(of: "// end \(name)"))
    let code = lines[(begin + 1)..<end].map { $0 + "\n" }.joined()
    #expect(try Readme.block(name, in: "Documentation/Server.md") == code)
  }

  @Test func `the page's code does what the page says`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-serving-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try ModelContainer(for: Author.self, Book.self, url: folder.appending(path: "library.db"))
    let notes = Mutex<[String]>([])
    let monitor = Monitor { _ in }
    let observation = monitored(store, by: monitor)
    let key = try await store.write { context in
      let book = Book(title: "Eden")
      context.insert(book)
      try context.save()
      return book.persistentModelID.rowKey ?? 0
    }
    let circulation = Circulation(store: store)
    #expect(try await circulation.book(key) == BookAnswer(id: key, title: "Eden", author: nil))
    try await circulation.lend(key)
    let lent = await #expect(throws: LentAlready.self) { try await circulation.lend(key) }
    #expect(lent.map(status) == 409)
    await #expect(throws: NotFound.self) { try await circulation.book(99) }
    #expect(monitor.count(of: "commits") == 2 && monitor.count(of: "write waits") == 3)
    #expect(monitor.count(of: "statements") > 3)
    observation.cancel()
    try await backUp(store, into: folder) { note in notes.withLock { $0.append(note) } }
    #expect(notes.withLock { $0.count } == 2)
    let copy = try ModelContainer(for: Author.self, Book.self, url: folder.appending(path: "library.backup"))
    #expect(try copy.query("SELECT title, is_available FROM book").map(\.values) == [["Eden", 0]])
  }
}
