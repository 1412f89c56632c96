import Foundation
import Quire
import Testing

@MainActor @Suite struct AskingTests {
  private let page = "Documentation/Asking.md"

  @Test func `the page's code is the code that is compiled here`() throws {
    let source = try String(contentsOf: Readme.root.appending(path: "Tests/ReadmeTests/Asking.swift"), encoding: .utf8)
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    let begin = try #require(lines.firstIndex(of: "// begin"))
    let end = try #require(lines.firstIndex(of: "// end"))
    let body = lines[(begin + 1)..<end].map { $0 + "\n" }.joined()
    #expect(try Readme.block("asking", in: page) == body)
  }

  @Test func `the page's code prints what the page says`() throws {
    let store = try ModelContainer(
      for: Author.self, Book.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = store.mainContext
    for (name, titles) in ["Stanisław Lem": ["Eden", "Fiasco", "Solaris"], "Yoko Tawada": ["Talisman"]]
      as KeyValuePairs
    {
      let author = Author(name: name)
      author.books = titles.map(Book.init)
      context.insert(author)
    }
    let anonymous = Book(title: "Beowulf")
    context.insert(anonymous)
    try context.save()
    try store.execute("UPDATE book SET is_available = 0 WHERE title = 'Solaris'")
    var printed = ""
    try ask(context) { printed += $0 + "\n" }
    #expect(try Readme.block("asking-output", in: page) == printed)
    #expect(context.hasChanges)
  }
}
