import Foundation
import Quire
import Testing

@MainActor @Suite struct WritingTests {
  private let page = "Documentation/Writing.md"

  @Test(arguments: ["transaction", "actor", "serving", "ready", "retry"])
  func `the page's code is the code that is compiled here`(name: String) throws {
    let source = try String(contentsOf: Readme.root.appending(path: "Tests/ReadmeTests/Writing.swift"), encoding: .utf8)
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    let begin = try #require(lines.firstIndex(of: "// begin \(name)"))
    let end = try #require(lines.firstIndex(of: "// end \(name)"))
    #expect(try Readme.block(name, in: page) == lines[(begin + 1)..<end].map { $0 + "\n" }.joined())
  }

  @Test func `the page's code does what the page says`() async throws {
    let store = try ModelContainer(
      for: Author.self, Book.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = store.mainContext
    context.insert(Book(title: "Eden"))
    try context.save()
    let book = try lend("Eden", in: context)
    #expect(!book.isAvailable && !context.hasChanges)
    #expect(throws: Lent.self) { try lend("Eden", in: context) }
    let identifier = try await Enrolment(modelContainer: store).enrol("Ada")
    #expect((context.model(for: identifier) as? Author)?.name == "Ada")
    context.onConflict = .refuse
    book.isAvailable = true
    try store.execute("UPDATE book SET is_available = 1")
    context.rollback()
    try toggle(book, in: context)
    #expect(try store.query("SELECT is_available FROM book").map(\.values) == [[0]])
    book.isAvailable = true
    try context.save()
    #expect(try await lend("Eden", in: store) == book.persistentModelID)
    await #expect(throws: SoldOut.self) { try await lend("Eden", in: store) }
    #expect(try await titles(in: store) == ["Eden"])
    try await rename(book, to: "Solaris", in: context)
    #expect(try await titles(in: store) == ["Solaris"])
  }
}
