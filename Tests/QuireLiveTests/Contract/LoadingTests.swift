import Quire
import Testing

@testable import QuireLive
@testable import QuireModel

/// A page about a novel, filled from it when the page is first read.
@MainActor private final class Page: @MainActor SelfLoading {
  struct Untitled: Error {}
  @LazyLoaded var text: String = "none"
  @LazyLoaded var words: Int
  let loadStep = LoadStep()
  private let novel: Novel

  init(_ novel: Novel) { self.novel = novel }

  func load() throws {
    if novel.title.isEmpty { throw Untitled() }
    text = "\(novel.title) by \(novel.writer?.name ?? "")"
    words = novel.title.split(separator: " ").count
  }
}

extension ContractTests {
  /// The observation contract, D, where what is loaded from changes. What has nothing to do with a store is in
  /// SelfLoadingTests.
  @MainActor @Suite struct LoadingTests {
    let library: QuireLibrary
    var context: ModelContext { library.context }

    init() throws { library = try QuireLibrary() }

    @Test(arguments: allSources)
    func `D1: the step runs once for an object, whoever changes afterwards what it has read`(source: any ChangeSource)
      async throws
    {
      let page = Page(library.eden)
      #expect(page.words == 1 && page.text == "Eden by Lem" && page.loadStep.runs == 1)
      try await library.make(source, .title(1, "Eden II"), .writer(1, 2))
      #expect(page.words == 1 && page.text == "Eden by Lem" && page.loadStep.runs == 1)
      let next = Page(library.eden)
      #expect(next.words == 2 && next.text == "Eden II by Le Guin" && next.loadStep.runs == 1)
    }

    @Test(arguments: allSources)
    func `D2: what was set before stays, when the step runs after somebody's change`(source: any ChangeSource)
      async throws
    {
      let page = Page(library.eden)
      page.text = "mine"
      try await library.make(source, .title(1, "Eden II"))
      #expect(page.text == "mine" && page.loadStep.runs == 0)
      #expect(page.words == 2 && page.text == "mine" && page.loadStep.runs == 1)
    }

    @Test(arguments: allSources)
    func `D4: a step that threw is tried again at the next read, and fills what somebody has mended`(
      source: any ChangeSource
    ) async throws {
      try await library.make(source, .title(1, ""))
      let page = Page(library.eden)
      #expect(throws: Page.Untitled.self) { try page.$words.value }
      #expect(page.text == "none" && page.loadStep.runs == 2)
      try await library.make(source, .title(1, "Eden II"))
      #expect(try page.$words.value == 2)
      #expect(page.text == "Eden II by Lem" && page.loadStep.runs == 3)
    }

    @Test(arguments: allSources)
    func `D5: relationships come in batches, and as somebody has left them`(source: any ChangeSource) async throws {
      try library.store.writeSQL { transaction in
        for sql in [
          "INSERT INTO novelist (name) WITH n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 253) SELECT 'w' || i FROM n",
          "INSERT INTO novel (title, is_in, edition, writer_id) SELECT name, 1, '{\"number\":1,\"year\":1961}', id FROM novelist WHERE id > 2",
        ] { try transaction.connection.execute(sql) }
      }
      let novels = try context.fetch(FetchDescriptor<Novel>())
      #expect(novels.count == 254)
      try await library.make(source, .writer(60, 55), .name(55, "Ursula"), .delete(70))
      let before = context.owner.queriesRun.value
      #expect(novels[3].writer?.name == "w3")
      #expect(context.owner.queriesRun.value == before + 1, "the first batch")
      #expect(novels[59].writer?.name == "Ursula" && novels.filter { !$0.isDeleted }.allSatisfy { $0.writer != nil })
      #expect(context.owner.queriesRun.value == before + 3, "254 in batches of 100")
    }

    @Test(arguments: allSources)
    func `D6: the first read may be in a reader that runs again for somebody's change`(source: any ChangeSource)
      async throws
    {
      let eden = library.eden
      let page = Page(eden)
      var seen: [String] = []
      let reader = observe { seen.append(eden.isIn ? "in" : page.text) }
      #expect(page.loadStep.runs == 0)
      try await library.make(source, .isIn(1, false))
      #expect(seen == ["in", "Eden by Lem"] && reader.runs == 2 && page.loadStep.runs == 1)
    }

    @Test(arguments: allSources)
    func `D7: a first load after somebody's change is no change itself`(source: any ChangeSource) async throws {
      let (eden, lem) = (library.eden, library.writer(1))
      let page = Page(eden)
      try await library.make(source, .title(2, "Fiasco"))
      var texts: [String] = []
      let words = observe { _ = page.words }
      let reader = observe { texts.append(page.text) }
      let lists = observe { _ = lem.volumes.map(\.title) }
      await library.turn()
      #expect(texts == ["Eden by Lem"] && words.runs == 1 && reader.runs == 1 && lists.runs == 1)
      #expect(!context.hasChanges && !eden.hasChanges && !lem.hasChanges)
      try await library.make(source, .title(1, "Eden II"))
      #expect(page.text == "Eden by Lem" && lists.runs == 2, "what has been loaded stays; what follows, follows")
    }
  }
}
