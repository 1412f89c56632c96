import TestSupport
import Testing

/// Objects of a block of `store.write` or `store.read` that would leave it: the compiler refuses each.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"), .fewCompilers)
struct ServingIsolationTests {
  private static let preamble = """
    import Quire
    @Model final class Book {
      var title: String
      init(title: String) { self.title = title }
    }
    final class Shelf: @unchecked Sendable { nonisolated(unsafe) var id: PersistentIdentifier? }
    struct Row: Sendable { let title: String }

    """

  /// What does not compile, with a part of what the compiler says at its line; compiled one by one, to the end, because
  /// where values go is looked at behind the types.
  static let wrong: [(source: String, says: String)] = ["write", "read"].flatMap { name in
    [
      (
        """
        func take(_ store: ModelContainer) async throws {
          let book = try await store.\(name) { context in
            try context.fetch(FetchDescriptor<Book>())[0]  // ✗
          }
          print(book.title)
        }
        """, "data races"
      ),
      (
        """
        func take(_ store: ModelContainer) async throws {
          _ = try await store.\(name) { context in
            context  // ✗
          }
        }
        """, "data races"
      ),
      (
        """
        func take(_ store: ModelContainer) async throws {
          let titles = try await store.\(name) { context in
            let books = try context.fetch(FetchDescriptor<Book>())
            return { books.map(\\.title) }  // ✗
          }
          print(titles())
        }
        """, "data races"
      ),
      (
        """
        @MainActor func capture(_ store: ModelContainer, _ book: Book) async throws {
          try await store.\(name) { _ in print(book.title) }  // ✗
        }
        """, "book"
      ),
      (
        """
        func keep(_ store: ModelContainer) async throws {
          var kept: Book?
          try await store.\(name) { context in
            kept = try context.fetch(FetchDescriptor<Book>()).first  // ✗
          }
          print(kept as Any)
        }
        """, "kept"
      ),
      (
        """
        func start(_ store: ModelContainer) async throws {
          try await store.\(name) { context in
            Task { try context.save() }  // ✗
          }
        }
        """, "data races"
      ),
      (
        """
        func wait(_ store: ModelContainer) async throws {
          try await store.\(name) { context in  // ✗
            await Task.yield()
          }
        }
        """, "async"
      ),
    ]
  }

  @Test(arguments: wrong.indices) func `an object does not leave its block`(_ number: Int) async throws {
    let (source, says) = Self.wrong[number]
    let text = Self.preamble + source + "\n"
    let found = try await Compiler.shared!.check([text], ["-emit-sil", "-o", "/dev/null"])[0].filter {
      $0.severity == "error"
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let line = try #require(lines.firstIndex { $0.hasSuffix("// ✗") }) + 1
    #expect(!found.isEmpty, "\(source)")
    for error in found { #expect(error.line == line && error.text.contains(says), "\(error)") }
  }

  @Test func `values leave their block, and objects made in it are used in it`() async throws {
    let source =
      Self.preamble + """
        func travel(_ store: ModelContainer, _ shelf: Shelf, title: String) async throws {
          let id = try await store.write(author: "test", deadline: .now + .seconds(2)) { context in
            let book = Book(title: title)
            context.insert(book)
            try context.save()
            shelf.id = book.persistentModelID
            return book.persistentModelID
          }
          let rows = try await store.read(deadline: .now + .seconds(2)) { context in
            try context.fetch(FetchDescriptor<Book>()).map { Row(title: $0.title) }
          }
          let snapshot = try await store.read { try ($0.model(for: id) as? Book)?.snapshot() }
          try await store.write { $0.insert(Book(title: "second")) }
          try store.writeSQL { _ = try $0.query("SELECT 1") }
          print(rows.map(\\.title), try snapshot?.title as Any)
        }
        """
    let found = try await Compiler.shared!.check([source], ["-emit-sil", "-o", "/dev/null"])[0]
    #expect(found.isEmpty, "\(found)")
  }
}
