import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireModel

private struct Failed: Error, Equatable {}

/// A page whose load step does what a test says.
private final class Page: SelfLoading {
  @LazyLoaded var text: String
  @LazyLoaded var words: Int
  @LazyLoaded var language: String = "unknown"
  let loadStep = LoadStep()
  var step: (Page) throws -> Void
  var visits = 0 { didSet { seenByObserver = text } }
  var seenByObserver = ""

  init(_ step: @escaping (Page) throws -> Void = Page.fill) { self.step = step }

  /// Sets a property in its initializer.
  init(text: String) {
    step = Page.fill
    self.text = text
  }

  func load() throws { try step(self) }

  static func fill(_ page: Page) {
    page.text = "loaded"
    page.words = 1
    page.language = "en"
  }
}

@MainActor private final class Desk: @MainActor SelfLoading {
  @LazyLoaded var name: String
  let loadStep = LoadStep()
  func load() { name = "desk" }
}

@Observable private final class ObservedPage: SelfLoading {
  @ObservationIgnored @LazyLoaded var text: String
  @ObservationIgnored let loadStep = LoadStep()
  var other = 0
  func load() { text = "loaded" }
}

private class Leaf: SelfLoading {
  @LazyLoaded var color: String
  let loadStep = LoadStep()
  func load() { color = "green" }
}

private final class AutumnLeaf: Leaf {
  @LazyLoaded var shape: String
  override func load() {
    super.load()
    shape = "round"
  }
}

@Model final class Chapter: SelfLoading {
  var name: String
  @ObservationIgnored @LazyLoaded var summary: String = ""
  @ObservationIgnored let loadStep = LoadStep()
  init(_ name: String) { self.name = name }
  func load() { summary = "of \(name)" }
}

/// The observation contract, D1 to D4, D6 and D7, for any class; D5 and D7 for relationships are in LoadingTests and below.
@MainActor @Suite(.fewOnMainActor) struct SelfLoadingTests {
  private func turn() async { for _ in 0..<20 { await Task.yield() } }

  /// By itself: any class
  @Test(arguments: ["text", "words", "language"])
  func `D1: a property is loaded on first read, by one step whichever is read first`(first: String) {
    let page = Page()
    #expect(page.loadStep.runs == 0 && !page.$text.isLoaded)
    switch first {
    case "text": #expect(page.text == "loaded")
    case "words": #expect(page.words == 1)
    default: #expect(page.language == "en")
    }
    #expect(page.$text.isLoaded && page.$words.isLoaded)
    #expect(page.text == "loaded" && page.words == 1 && page.language == "en" && page.loadStep.runs == 1)
    let other = Page()
    #expect(other.loadStep.runs == 0, "each object for itself")
  }

  /// By itself: any class
  @Test func `D2: a property set before is not loaded for its own sake, and keeps its value when the step runs`() {
    for page in [Page(), Page(text: "mine")] {
      page.text = "mine"
      #expect(page.text == "mine" && page.loadStep.runs == 0)
      #expect(page.words == 1 && page.loadStep.runs == 1)
      #expect(page.text == "mine")
    }
    #expect(Page(text: "first").text == "first")
  }

  /// By itself: any class
  @Test func `D3: it works through the object it sits in, for any class that says how it loads`() {
    #expect(Desk().name == "desk")
    let watched = ObservedPage()
    #expect(watched.text == "loaded" && watched.loadStep.runs == 1)
    let leaf = AutumnLeaf()
    #expect(leaf.shape == "round" && leaf.color == "green" && leaf.loadStep.runs == 1)
  }

  /// By itself: any class
  @Test func `D4: a step that throws gives its error to the throwing accessor, and the next read tries again`() throws {
    var fails = true
    let page = Page { page in
      page.words = fails ? 13 : 1
      if fails { throw Failed() }
      page.text = "loaded"
    }
    #expect(throws: Failed()) { try page.$text.value }
    #expect(throws: Failed()) { try page.$words.value }
    #expect(page.loadStep.runs == 2 && !page.$words.isLoaded, "what it filled before it threw is forgotten")
    #expect(page.language == "unknown" && page.loadStep.runs == 3, "the plain accessor gives the default")
    fails = false
    #expect(try page.$text.value == "loaded")
    #expect(page.words == 1 && page.loadStep.runs == 4)
  }

  /// By itself: any class
  @Test func `D4: a step that leaves the property empty is an error too, and disturbs no other`() throws {
    var run = 0
    let page = Page { page in
      run += 1
      page.text = "run \(run)"
      if run == 3 { page.words = 3 }
    }
    #expect(page.text == "run 1")
    let error = #expect(throws: LoadError.self) { try page.$words.value }
    #expect(error == .leftEmpty(type: "Page", property: "words"))
    #expect("\(try #require(error))" == "the load step of Page left ‘words’ empty: assign it there")
    #expect(try page.$words.value == 3)
    #expect(page.text == "run 1", "what was loaded stays")
    #expect(page.language == "unknown")
  }

  /// By itself: any class
  @Test func `D4: a step that reads what it is loading gets an error, not an endless loop`() throws {
    let page = Page { page in page.text = try page.$text.value + "!" }
    #expect(throws: LoadError.readByItsOwnStep(type: "Page", property: "text")) { try page.$text.value }
    #expect(page.loadStep.runs == 1)
    let crosswise = Page { page in page.words = try page.$text.value.count }
    #expect(throws: LoadError.readByItsOwnStep(type: "Page", property: "text")) { try crosswise.$words.value }
    let inOrder = Page { page in
      page.text = "four"
      page.words = page.text.count
      page.text += "!"
    }
    #expect(inOrder.words == 4 && inOrder.text == "four!", "what it has assigned it may read")
    let plain = Page { page in page.text = page.language }
    #expect(plain.text == "unknown")
  }

  /// By itself: any class
  @Test func `D4: without a default the plain accessor stops the program naming type, property and error`() async throws
  {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let page = Page { _ in throw Failed() }
        _ = page.text
      })
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("Page.text could not be loaded and has no default: Failed()"), "\(text)")
  }

  /// By itself: any class
  @Test func `D6: any first read will do: from another property's observer, from inside observe`() async {
    let page = Page()
    page.visits += 1
    #expect(page.seenByObserver == "loaded" && page.loadStep.runs == 1)
    let read = Page()
    var seen: [String] = []
    let token = observe { seen.append((try? read.$text.value) ?? "none") }
    await turn()
    #expect(seen == ["loaded"] && token.runs == 1)
  }

  /// By itself: any class
  @Test func `D7: a first load is no change; setting it later is one, and an equal value is none`() async {
    let page = Page()
    var lengths: [Int] = []
    var texts: [String] = []
    let early = observe { lengths.append(page.words) }
    let token = observe { texts.append(page.text) }
    await turn()
    #expect(lengths == [1] && texts == ["loaded"] && early.runs == 1)
    page.text = "loaded"
    await turn()
    #expect(token.runs == 1)
    page.text = "mine"
    await turn()
    #expect(texts == ["loaded", "mine"] && early.runs == 1)
    var fails = true
    let late = Page { page in
      if fails { throw Failed() }
      Page.fill(page)
    }
    let unknown = observe { _ = late.language }
    fails = false
    #expect(late.text == "loaded" && late.language == "en")
    await turn()
    #expect(unknown.runs == 1, "a load after one that failed is a first load too")
  }

  /// By itself: no commit
  @Test func `D7: a first load of a model's property leaves hasChanges as it was, and wakes nobody`() async throws {
    let store = try ModelContainer(
      for: Chapter.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    context.insert(Chapter("one"))
    try context.save()
    let chapter = try #require(try ModelContext(store).fetch(FetchDescriptor<Chapter>()).first)
    var runs = 0
    let token = observe {
      _ = chapter.name
      runs += 1
    }
    #expect(chapter.summary == "of one")
    await turn()
    #expect(!chapter.hasChanges && runs == 1 && chapter.loadStep.runs == 1)
    #expect(try store.query("SELECT * FROM chapter").map(\.values) == [[1, "one"]])
    withExtendedLifetime(token) {}
  }

  // MARK: Relationships

  /// 250 books of 250 authors.
  private func library() throws -> ModelContainer {
    let store = try makeStore()
    try store.writeSQL { transaction in
      for sql in [
        "INSERT INTO author (id, name) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) SELECT i, 'a' || i FROM n",
        "INSERT INTO book (id, title, price, is_in, author_id) SELECT id, 'b' || id, 0, 1, id FROM author",
      ] { try transaction.connection.execute(sql) }
    }
    return store
  }

  /// By itself: no commit
  @Test func `D5: relationships come on first read for the siblings of one fetch, in batches of 100`() throws {
    let context = ModelContext(try library())
    let books = try context.fetch(FetchDescriptor<Book>())
    let before = context.owner.queriesRun.value
    _ = books[0].author?.name
    #expect(context.owner.queriesRun.value == before + 1 && context.registeredCount == 350)
    for book in books { #expect(book.author != nil) }
    #expect(context.owner.queriesRun.value == before + 3)
    let authors = try context.fetch(FetchDescriptor<Author>())
    let again = context.owner.queriesRun.value
    for author in authors { #expect(author.books.count == 1) }
    #expect(context.owner.queriesRun.value == again + 3)
  }

  /// By itself: no commit
  @Test func `D7: a relationship's first read is no change, from inside observe too`() async throws {
    let context = ModelContext(try library())
    let books = try context.fetch(FetchDescriptor<Book>())
    var heard = 0
    let listeners = books.flatMap { [$0.onWillChange { _ in heard += 1 }, $0.onDidChange { _ in heard += 1 }] }
    let reader = observe { _ = books.map { $0.author?.books.count } }
    await turn()
    #expect(reader.runs == 1 && heard == 0 && listeners.count == 500 && !context.hasChanges && !books[0].hasChanges)
  }
}
