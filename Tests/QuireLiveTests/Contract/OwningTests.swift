import Foundation
import Observation
import Quire
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

@Projection(of: Novel.self) struct NovelLine {
  var title: String
  var isIn: Bool
  @From(\Novel.writer?.name) var author: String?
}

/// What a row of the screen asks for, whoever gives it.
private protocol Titled {
  var title: String { get }
  var isIn: Bool { get }
}
extension Novel: Titled {}
extension NovelLine: Titled {}

extension ContractTests {
  /// The observation contract, E: who owns the truth, who derives a view.
  @MainActor @Suite struct OwningTests {
    let library: QuireLibrary
    var context: ModelContext { library.context }

    init() throws { library = try QuireLibrary() }

    // MARK: E1

    @Test(arguments: allSources)
    func `E1: a value kept under a name is observed, whoever assigns it`(source: any ChangeSource) async throws {
      let size = try context.setting("pageSize", default: 20)
      let other = try context.setting("other", default: "x")
      try other.set("y")  // and the table is there
      var seen: [Int] = []
      let reader = observe { seen.append(size.value) }
      let silent = observe { _ = other.value }
      try await library.make(source, .kept("pageSize", 50))
      #expect(seen == [20, 50] && reader.runs == 2 && silent.runs == 1)
      let commit = library.store.latestCommit
      size.value = 50
      await library.turn()
      #expect(library.store.latestCommit == commit && reader.runs == 2, "an equal value is no commit")
      size.value = 60
      await library.turn()
      #expect(library.store.latestCommit == commit + 1 && seen == [20, 50, 60])
    }

    /// By itself: a restart
    @Test func `E1: a value kept under a name is there after a restart, and until then there is no table`() throws {
      let store = try QuireLibrary.open(library.file)
      let size = try store.mainContext.setting("pageSize", default: 20)
      #expect(size.value == 20)
      #expect(try store.query("SELECT name FROM sqlite_schema WHERE name = 'kept_value'").isEmpty)
      size.value = 50
      #expect(size.value == 50 && size.error == nil)
      try store.close()
      size.value = 60
      #expect(size.value == 50 && size.error != nil)
      let again = try QuireLibrary.open(library.file)
      #expect(try again.mainContext.setting("pageSize", default: 20).value == 50)
      #expect(try again.query("SELECT name, value FROM kept_value").map(\.values) == [["pageSize", "50"]])
      #expect(throws: (any Error).self) { try again.mainContext.setting("pageSize", default: "text") }
      try again.close()
    }

    // MARK: E2, E3

    @Test(arguments: allSources)
    func `E2: a container is read without synchronizing, and closing it ends its readers`(source: any ChangeSource)
      async throws
    {
      let store = library.store
      let (eden, list) = (
        try #require(store.mainContext.model(Novel.self, key: 1)), try store.mainContext.live(Novel.self)
      )
      var seen: [String] = []
      let reader = observe { seen.append("\(eden.title) \(list.count)") }
      try source.make([.title(1, "Eden II"), .delete(2)], in: library)  // and no call that would take it in
      try await library.settle { seen.count > 1 }
      #expect(seen == ["Eden 3", "Eden II 2"])

      let ended = Locked(false)
      let subscriber = Task { [commits = store.commits] in
        for try await _ in commits {}
        ended.withLock { $0 = true }
      }
      try store.close()
      try await library.settle { ended.withLock { $0 } }
      #expect(ended.withLock { $0 })
      subscriber.cancel()
      let again = try QuireLibrary.open(library.file)
      try again.execute("UPDATE novel SET title = 'Eden III' WHERE id = 1")
      await library.turn()
      #expect(reader.runs == 2 && list.count == 2 && eden.title == "Eden II")
      #expect(throws: (any Error).self) { try store.mainContext.fetch(FetchDescriptor<Novel>()) }
      try again.close()
    }

    @Test(arguments: allSources)
    func `E3: a container passed in reads alike, and neither observing it nor its objects keeps it alive`(
      source: any ChangeSource
    ) async throws {
      weak var store: ModelContainer?
      var held: (Novel, LiveQuery<Novel>, LiveValue<Int>, ObservationToken)?
      var seen: [String] = []
      func part(_ store: ModelContainer) throws {
        let eden = try #require(store.mainContext.model(Novel.self, key: 1))
        let list = try store.mainContext.live(Novel.self)
        let count = try store.mainContext.liveCount(Novel.self)
        held = (eden, list, count, observe { seen.append("\(eden.title) \(list.count) \(count.value)") })
      }
      do {
        let owner = try QuireLibrary()
        store = owner.store
        try part(owner.store)
        try source.make([.title(1, "Eden II"), .delete(2)], in: owner)
        try await owner.settle { seen.count > 1 }
      }
      await library.turn()
      #expect(seen == ["Eden 3 3", "Eden II 2 2"] && store == nil)
      #expect(held?.0.title == "Eden II" && held?.2.value == 2)
    }

    // MARK: E4

    /// By itself: no commit
    @Test func `E4: a snapshot is Sendable, and filled at the first read: no reader sees a dummy`() async throws {
      let rows = try context.live(NovelLine.self, where: #Predicate { $0.title == "Eden" })
      var seen: [String?] = []
      let reader = observe { seen.append(rows.first?.title) }
      #expect(seen == ["Eden"] && reader.runs == 1)
      let snapshot = try #require(rows.first)
      let elsewhere = await Task.detached { snapshot.title + " by " + (snapshot.author ?? "") }.value
      #expect(elsewhere == "Eden by Lem")
    }

    @Test(arguments: allSources)
    func `E4: a snapshot is refreshed after each change, though nobody read it before`(source: any ChangeSource)
      async throws
    {
      let rows = try context.live(NovelLine.self, where: #Predicate { $0.title == "Eden" })
      var told = 0
      let token = rows.onDifference { _ in told += 1 }
      try await library.make(source, .isIn(1, false))
      try await library.make(source, .name(1, "S. Lem"))
      try await library.make(source, .isIn(2, false))
      #expect(told == 2 && rows.first?.isIn == false && rows.first?.author == "S. Lem")
      _ = token
    }

    // MARK: E5, E6, E8

    /// A part of a screen that owns a view model, kept by whoever makes the part anew again and again.
    @MainActor private final class Models {
      private let context: ModelContext
      private(set) var events: [String] = ["truth"]
      lazy var count: LiveValue<Int>? = {
        events.append("view model")
        return try? context.liveCount(Novel.self)
      }()
      init(_ context: ModelContext) { self.context = context }
      func note(_ event: String) { events.append(event) }
    }

    @MainActor private struct Screen {
      let models: Models
      func show() -> ObservationToken { observe { models.note("reader \(models.count?.value ?? -1)") } }
    }

    @Test(arguments: allSources)
    func `E5: an owned view model is made before its first reader runs, once, and goes with its owner`(
      source: any ChangeSource
    ) async throws {
      weak var model: LiveValue<Int>?
      do {
        let models = Models(context)
        #expect(models.events == ["truth"])
        var reader = Screen(models: models).show()
        model = models.count
        try await library.make(source, .delete(3))
        reader = Screen(models: models).show()
        #expect(models.events == ["truth", "view model", "reader 3", "reader 2", "reader 2"])
        #expect(model != nil && models.count === model && reader.runs == 1)
      }
      await library.turn()
      #expect(model == nil)
    }

    @Test(arguments: [1, 50], allSources)
    func `E6: a view model shared by several readers is computed once a commit`(
      readers: Int, source: any ChangeSource
    ) async throws {
      let rows = try context.live(NovelLine.self, sortBy: [SortDescriptor(\.title)])
      let tokens = (0..<readers).map { _ in observe { _ = rows.map(\.isIn) } }
      let before = rows.queriesRun
      for round in 0..<4 { try await library.make(source, .isIn(1, round % 2 == 1)) }
      #expect(tokens.allSatisfy { $0.runs == 5 })
      // Of a commit whose rows are not known, which rows there are is asked too.
      #expect(rows.queriesRun - before == (source is OtherProcess ? 8 : 4))
    }

    @Test(arguments: allSources)
    func `E8: readers made anew around a kept truth find the same objects, and nothing is loaded again`(
      source: any ChangeSource
    ) async throws {
      let list = try context.live(Novel.self, sortBy: [SortDescriptor(\.title)])
      let (eden, last) = (try #require(list.first), list.last)
      eden.draft = "typed"
      _ = eden.writer?.name
      try await library.make(source, .isIn(1, false), .title(2, "Fiasco"))
      let before = context.owner.queriesRun.value
      for _ in 0..<5 {
        var found: Novel?
        let reader = observe {
          found = list.first
          _ = (found?.writer?.name, list.last?.title)
        }
        #expect(found === eden && list.last === last && eden.draft == "typed" && eden.isIn == false && reader.runs == 1)
      }
      #expect(context.owner.queriesRun.value == before)
    }

    // MARK: E7

    private actor Desk {
      private let store: ModelContainer
      init(_ store: ModelContainer) { self.store = store }
      nonisolated var commits: AsyncMapSequence<Commits, Int64> { store.commits.map { $0.number } }
    }

    @Test(arguments: allSources)
    func `E7: a truth inside an actor gives a placeholder at once, then values in commit order`(
      source: any ChangeSource
    ) async throws {
      let latest = LatestElement(Desk(library.store).commits, placeholder: -1)
      var seen: [Int64] = []
      let reader = observe { seen.append(latest.value) }
      #expect(seen == [-1])
      let first = library.store.latestCommit
      for round in 1...5 {
        try source.make([.title(1, "\(round)")], in: library)
        try await library.settle { seen.last == first + Int64(round) }
        try #require(seen.last == first + Int64(round))
      }
      #expect(seen == [-1] + (1...5).map { first + $0 } && reader.runs == 6)
    }

    // MARK: E9 to E11

    @Test(arguments: allSources)
    func `E9: the same reader runs on a model, a live row and a snapshot`(source: any ChangeSource) async throws {
      let eden = library.eden
      let rows = try context.live(NovelLine.self, where: #Predicate { $0.title == "Eden" })
      let snapshot: any Titled = try #require(rows.first)
      func line(_ titled: any Titled) -> String { "\(titled.title) \(titled.isIn)" }
      var seen: [String: [String]] = [:]
      let readers = [
        observe { seen["model", default: []].append(line(eden)) },
        observe { seen["row", default: []].append(rows.first.map { line($0) } ?? "none") },
        observe { seen["snapshot", default: []].append(line(snapshot)) },
      ]
      try await library.make(source, .isIn(1, false))
      #expect(seen["model"] == ["Eden true", "Eden false"] && seen["row"] == seen["model"])
      #expect(seen["snapshot"] == ["Eden true"] && readers.map(\.runs) == [2, 2, 1])
    }

    @Test(arguments: allSources)
    func `E10: one container is the truth of a whole program: at any depth the same objects`(source: any ChangeSource)
      async throws
    {
      func object(_ depth: Int) throws -> Novel? {
        if depth > 0 { return try object(depth - 1) }
        return try environment[ModelContainer.self].mainContext.model(Novel.self, key: 1)
      }
      // Held: what nobody holds is another object when it is asked for again.
      let held = try #require(library.store.mainContext.model(Novel.self, key: 1))
      let later = try await withEnvironment(library.store) {
        #expect(try object(0) === held && object(20) === held)
        try source.make([.title(1, "Eden II")], in: library)
        try await library.settle { held.title == "Eden II" }
        #expect(try object(0) === held && object(20)?.title == "Eden II")
        return try await Task { @MainActor in try object(3).map(ObjectIdentifier.init) }.value
      }
      #expect(later == ObjectIdentifier(held))
    }

    @Test(arguments: [0, 30], allSources)
    func `E11: a side effect hangs on the commit: once for each, however many readers`(
      readers: Int, source: any ChangeSource
    ) async throws {
      // Without a log it is not known which rows another process has changed.
      let library = try QuireLibrary(source, changeLog: source is OtherProcess ? .on() : .asInFile)
      let list = try library.context.live(Novel.self)
      let tokens = (0..<readers).map { _ in observe { _ = list.map(\.title) } }
      var commits = try library.store.commits(of: Novel.self).makeAsyncIterator()
      try library.commit([.title(1, "a"), .title(2, "b"), .title(3, "c")])
      try library.commit([.name(1, "no novel")])
      try library.commit([.title(1, "x")])
      try library.commit([.delete(2)])
      var mails: [Int] = []
      for _ in 0..<3 { mails.append(try #require(try await commits.next()).changes.count) }
      #expect(mails == [3, 1, 1] && tokens.count == readers)
    }
  }
}
