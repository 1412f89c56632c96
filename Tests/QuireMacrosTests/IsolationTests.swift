import TestSupport
import Testing

/// Programs that would use an object or a context in two places at once: the compiler refuses each.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"), .fewCompilers)
struct IsolationTests {
  private static let preamble = """
    import Quire
    @Model final class Book {
      var title = ""
    }
    @ModelActor actor Importer {
      func first() throws -> PersistentIdentifier? { try modelContext.fetchIdentifiers(FetchDescriptor<Book>()).first }
      func book() throws -> Book? { try modelContext.fetch(FetchDescriptor<Book>()).first }
      func add(_ book: Book) { modelContext.insert(book) }
    }

    """

  /// What does not compile, with a part of what the compiler says at its line.
  static let wrong: [(source: String, says: String)] = [
    (
      """
      @MainActor static func send(_ book: Book) {
        Task.detached { print(book.title) }  // ✗
      }
      """, "risks causing data races"
    ),
    (
      """
      @MainActor static func send(_ context: ModelContext) {
        Task.detached { try context.save() }  // ✗
      }
      """, "risks causing data races"
    ),
    (
      """
      static func take(_ importer: Importer) async throws {
        _ = try await importer.book()  // ✗
      }
      """, "Book"
    ),
    (
      """
      @MainActor static func give(_ importer: Importer, _ book: Book) async {
        await importer.add(book)  // ✗
      }
      """, "book"
    ),
    (
      """
      static func look(_ importer: Importer) async {
        _ = await importer.modelContext.hasChanges  // ✗
      }
      """, "modelContext"
    ),
    (
      """
      static func main(_ store: ModelContainer) -> ModelContext {
        store.mainContext  // ✗
      }
      """, "mainContext"
    ),
    (
      """
      @MainActor final class Shelf {
        let context: ModelContext
        init(_ store: ModelContainer) { context = store.mainContext }
        nonisolated func save() throws { try context.save() }  // ✗
      }
      """, "context"
    ),
    (
      """
      struct Held: Sendable {
        let book: Book  // ✗
      }
      """, "Book"
    ),
    (
      """
      nonisolated static func keep(_ book: Book, _ work: @escaping @Sendable () -> Void) {
        let closure: @Sendable () -> Void = { print(book.title) }  // ✗
        closure()
      }
      """, "book"
    ),
  ]

  @Test func `a program that shares an object or a context between isolations does not compile`() async throws {
    // Where values go is looked at only in a module whose types are right: what is refused by its types first.
    var waiting = Array(Self.wrong.indices)
    for _ in 0..<2 {
      let sources = waiting.map { number in "import Quire\nenum Program\(number) {\n\(Self.wrong[number].source)\n}\n" }
      let found = try await Compiler.shared!.check([Self.preamble] + sources, ["-emit-sil", "-o", "/dev/null"])
      #expect(found[0].allSatisfy { $0.severity == "note" }, "\(found[0])")
      var left: [Int] = []
      for (place, number) in waiting.enumerated() {
        let lines = sources[place].split(separator: "\n", omittingEmptySubsequences: false)
        let line = lines.firstIndex { $0.hasSuffix("// ✗") }.map { $0 + 1 }
        let errors = found[place + 1].filter { $0.severity == "error" }
        if errors.isEmpty { left.append(number) }
        for error in errors {
          #expect(error.line == line && error.text.contains(Self.wrong[number].says), "\(error)")
        }
      }
      waiting = left
    }
    #expect(waiting.isEmpty, "\(waiting.map { Self.wrong[$0].source })")
  }

  @Test func `what is meant to travel does`() async throws {
    let source =
      Self.preamble + """
        func travel(_ store: ModelContainer, _ importer: Importer) async throws {
          let id = try await importer.first()
          let title = try await MainActor.run { () throws -> ModelSnapshot<Book>? in
            guard let id, let book = store.mainContext.model(for: id) as? Book else { return nil }
            return try book.snapshot()
          }
          Task.detached { print(store, id as Any, try title?.title as Any) }
        }
        """
    let found = try await Compiler.shared!.check([source], ["-emit-sil", "-o", "/dev/null"])[0]
    #expect(found.isEmpty, "\(found)")
  }
}
