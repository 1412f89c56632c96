import Foundation
import Observation
import Quire
import TestSupport
import Testing

/// The observation contract, F1 to F3 and F6, and what keeps an object on its isolation.
@MainActor @Suite(.fewOnMainActor) struct EnvironmentTests {
  private enum PageSize: ModelEnvironmentKey { static let defaultValue = 20 }
  private enum Shown: ModelEnvironmentKey { static let defaultValue: PersistentIdentifier? = nil }

  private let store: ModelContainer
  private let context: ModelContext
  private let author: Author
  private let book: Book

  init() throws {
    store = try makeStore()
    context = ModelContext(store)
    author = Author("Lem")
    book = Book("Eden", author: author)
    context.insert(book)
    try context.save()
  }

  private func turn() async { for _ in 0..<20 { await Task.yield() } }

  /// Some layers below, with no parameter for any of it.
  private func layers(_ depth: Int) throws -> String {
    if depth > 0 { return try layers(depth - 1) }
    return try environment[Author.self].name
  }

  private func asynchronousLayers(_ depth: Int) async throws -> String {
    await Task.yield()
    if depth > 0 { return try await asynchronousLayers(depth - 1) }
    return try environment[Author.self].name
  }

  /// By itself: a look-up
  @Test func `F1: an environment hands models down by type, without passing them through every layer`() async throws {
    let below = try withEnvironment(author) { try layers(5) }
    let found = try withEnvironment(author) { try environment[Author.self] }
    let later = try await withEnvironment(author) { try await asynchronousLayers(5) }
    #expect(found === author && below == "Lem" && later == "Lem")
    let inherited = try await withEnvironment(author) {
      try await Task { @MainActor in try await asynchronousLayers(2) }.value
    }
    #expect(inherited == "Lem")
  }

  /// By itself: a look-up
  @Test func `F1: a key has its default value where nobody put one in`() async {
    #expect(environment[PageSize.self] == 20 && environment[Shown.self] == nil)
    let near = withEnvironment(PageSize.self, 5) { environment[PageSize.self] }
    #expect(near == 5)
    let id = book.persistentModelID
    let found = await withEnvironment(Shown.self, id) {
      await Task.yield()
      return environment[Shown.self]
    }
    #expect(found == id)
    #expect(environment[PageSize.self] == 20 && environment[Shown.self] == nil)
  }

  /// By itself: a look-up
  @Test func `F2: the required look-up fails naming the missing type; the optional one gives nil`() throws {
    let error = #expect(throws: ModelEnvironmentError.self) { try environment[Author.self] }
    #expect(error == .missing(type: "Author"))
    #expect("\(try #require(error))".contains("no Author in the environment"))
    #expect(environment[Author?.self] == nil && environment[ModelContainer?.self] == nil)
    withEnvironment(author) {
      #expect(environment[Author?.self] === author && environment[Book?.self] == nil)
      #expect(throws: ModelEnvironmentError.missing(type: "Book")) { try environment[Book.self] }
    }
  }

  /// By itself: a look-up
  @Test func `F3: a nearer environment overrides an outer one and leaves it as it was`() async throws {
    struct Stop: Error {}
    let other = Author("Le Guin")
    try withEnvironment(author) {
      try withEnvironment(book) {
        let near = try withEnvironment(other) { try layers(1) + environment[Book.self].title }
        let here = try layers(1)
        #expect(near == "Le GuinEden" && here == "Lem")
        #expect(throws: Stop.self) { try withEnvironment(other) { throw Stop() } }
        let still = try layers(1)
        #expect(still == "Lem")
      }
      #expect(environment[Book?.self] == nil)
    }
    try await withEnvironment(author) {
      let inner = try await withEnvironment(other) { try await asynchronousLayers(1) }
      let here = try await asynchronousLayers(1)
      #expect(inner == "Le Guin" && here == "Lem")
    }
    #expect(environment[Author?.self] == nil)
  }

  @Test func `the requests of a server each have their own, and share what is Sendable`() async throws {
    let names = try await withEnvironment(store) {
      try await withThrowingTaskGroup(of: String.self) { group in
        for number in 0..<8 {
          group.addTask {
            let context = ModelContext(try environment[ModelContainer.self], isolation: nil)
            let own = try context.fetch(FetchDescriptor<Author>())[0]
            own.name += "\(number)"
            return try await withEnvironment(own) {
              await Task.yield()
              return try environment.object(Author.self).name
            }
          }
        }
        var names: Set<String> = []
        for try await name in group { names.insert(name) }
        return names
      }
    }
    #expect(names == Set((0..<8).map { "Lem\($0)" }))
  }

  private nonisolated func onNoActor() throws -> String { try environment.object(Author.self).name }

  @Test func `code of no isolation finds what belongs to the closure it was called in`() throws {
    let name = try withEnvironment(author) { try onNoActor() }
    #expect(name == "Lem")
    var seen: [String?] = []
    let token = withEnvironment(author) { observe { seen.append(try? onNoActor()) } }
    #expect(seen == ["Lem"])
    withExtendedLifetime(token) {}
  }

  @Test func `an object is not found from an isolation it does not belong to`() async throws {
    let away = ModelEnvironmentError.elsewhere(type: "Author")
    #expect("\(away)".contains("Author belongs to another isolation"))
    await withEnvironment(author) {
      // A task of its own, on no actor: it might run beside the main actor.
      await #expect(throws: away) { try await Task { @concurrent in try onNoActor() }.value }
      #expect(throws: away) { try onNoActor() }
      #expect((try? environment.object(Author.self)) === author)
    }
    // And a task that outlives the closure that started it, on whatever thread.
    let late = withEnvironment(author) {
      Task { @concurrent in
        for _ in 0..<100 {
          await Task.yield()
          if (try? onNoActor()) != nil { return true }
        }
        return false
      }
    }
    #expect(await late.value == false)
    actor Desk {
      func name() throws -> String { try environment.object(Author.self).name }
    }
    await #expect(throws: away) { try await withEnvironment(author) { try await Desk().name() } }
  }

  @Test func `what a task put in is not found by its child tasks, nor after it`() async throws {
    @concurrent func run(_ store: ModelContainer) async throws {
      let context = ModelContext(store, isolation: nil)
      let own = try context.fetch(FetchDescriptor<Author>())[0]
      try await withEnvironment(own) {
        let name = try onNoActor()
        async let child = try? onNoActor()
        let ofChild = await child
        #expect(name == "Lem" && ofChild == nil)
      }
    }
    try await run(store)
  }

  @Test func `a task-local alone would show the writer's values: what the capture is for`() async {
    @MainActor final class Seen { var sizes: [Int] = [] }
    let seen = Seen()
    withEnvironment(PageSize.self, 7) {
      withObservationTracking {
        _ = book.title
      } onChange: {
        Task { @MainActor in seen.sizes.append(environment[PageSize.self]) }
      }
    }
    withEnvironment(PageSize.self, 99) { book.title = "Solaris" }
    await turn()
    #expect(seen.sizes == [99])
  }

  /// By itself: a look-up
  @Test func `F6: a reader made outside of any environment finds none, though the writer has one`() async {
    var seen: [Bool] = []
    let token = observe {
      _ = book.title
      seen.append(environment[Author?.self] == nil)
    }
    withEnvironment(author) { book.title = "Solaris" }
    await turn()
    #expect(seen == [true, true])
    withExtendedLifetime(token) {}
  }
}
