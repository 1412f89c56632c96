import Observation
import Quire
import Testing

@testable import QuireLive

extension ContractTests {
  /// The observation contract, A: what a reader depends on.
  @MainActor @Suite struct ReadersDependTests {
    let library: ContractLibrary
    var context: ModelContext { library.context }

    init() throws { library = try ContractLibrary() }

    @Test(arguments: allSources)
    func `A1: a reader of a title runs again when the title changes; other changes leave it alone`(
      source: any ChangeSource
    ) async throws {
      let eden = library.eden
      let reader = observe { _ = eden.title }
      try await library.make(source, .isIn(1, false), .writer(1, 2), .edition(1, Imprint(number: 2)), .title(2, "x"))
      #expect(reader.runs == 1)
      try await library.make(source, .title(1, "Eden II"))
      #expect(reader.runs == 2 && eden.title == "Eden II")
    }

    private final class Holder {
      let volume: Novel
      init(_ volume: Novel) { self.volume = volume }
    }
    private static var shared: [ObjectIdentifier: Novel] = [:]

    @Test(arguments: allSources)
    func `A2: it makes no difference how the model was reached`(source: any ChangeSource) async throws {
      let holder = Holder(library.eden)
      let name = ObjectIdentifier(holder)
      Self.shared[name] = library.eden
      defer { Self.shared[name] = nil }
      func passed(_ volume: Novel) -> ObservationToken { observe { _ = volume.title } }
      let readers = [
        passed(library.eden), observe { _ = holder.volume.title }, observe { _ = Self.shared[name]?.title },
        observe { _ = library.context.model(Novel.self, key: 1)?.title },
      ]
      try await library.make(source, .title(3, "x"))
      #expect(readers.map(\.runs) == [1, 1, 1, 1])
      try await library.make(source, .title(1, "x"))
      #expect(readers.map(\.runs) == [2, 2, 2, 2])
    }

    @Test(arguments: allSources)
    func `A3: a computed property counts as what it reads`(source: any ChangeSource) async throws {
      let lem = library.writer(1)
      var seen: [Int] = []
      let reader = observe { seen.append(lem.availableCount) }
      try await library.make(source, .title(1, "x"), .isIn(3, false), .name(1, "S. Lem"))
      #expect(seen == [2])
      try await library.make(source, .isIn(2, false))
      #expect(seen == [2, 1])
      try await library.make(source, .insert("Fiasco", writer: 1))
      #expect(seen == [2, 1, 2] && reader.runs == 3)
    }

    @Test(arguments: allSources)
    func `A4: a reader of a collection runs again on insert, delete, replace and move, and not when an element changes`(
      source: any ChangeSource
    ) async throws {
      let lem = library.writer(1)
      let list = try context.live(
        Novel.self, where: #Predicate { $0.writer?.name == "Lem" }, sortBy: [SortDescriptor(\.title)])
      let readers = [observe { _ = lem.volumes.count }, observe { _ = list.count }]
      try await library.make(source, .isIn(1, false), .edition(2, Imprint(number: 9)), .isIn(3, false))
      #expect(readers.map(\.runs) == [1, 1])
      try await library.make(source, .insert("Fiasco", writer: 1))
      #expect(readers.map(\.runs) == [2, 2] && list.map(\.title) == ["Eden", "Fiasco", "Solaris"])
      try await library.make(source, .writer(1, 2), .writer(3, 1))
      #expect(readers.map(\.runs) == [3, 3] && lem.volumes.count == 3)
      try await library.make(source, .delete(2))
      #expect(readers.map(\.runs) == [4, 4] && lem.volumes.count == 2)
      try await library.make(source, .title(3, "A"))
      #expect(
        readers.map(\.runs) == [4, 5], "a move: the live result has an order, the relationship has none of titles")
    }

    @Test(arguments: allSources)
    func `A5: one title changes, one row runs again; the list and the other rows do not`(source: any ChangeSource)
      async throws
    {
      try library.store.execute(
        """
        WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        INSERT INTO novel (id, title, is_in, edition) SELECT i, 'v', 1, '{"number":1,"year":1961}' FROM n
        """)
      try context.refresh()
      let list = try context.live(Novel.self)
      var rows: [ObservationToken] = []
      var ran: [String] = []
      let whole = observe {
        _ = list.count
        rows = list.prefix(20).map { row in observe { ran.append(row.title) } }
      }
      #expect(rows.count == 20 && ran.count == 20)
      ran.removeAll()
      try await library.make(source, .title(2, "Solaris II"))
      #expect(ran == ["Solaris II"] && whole.runs == 1 && rows.map(\.runs).reduce(0, +) == 21)
      try await library.make(source, .title(9000, "not shown"))
      #expect(ran == ["Solaris II"] && whole.runs == 1)
    }

    @Test(arguments: allSources)
    func `A6: handing a model through intermediate layers makes no dependency`(source: any ChangeSource) async throws {
      let eden = library.eden
      func layer(_ volume: Novel) -> Novel { volume }
      let reader = observe { _ = layer(layer(eden)) }
      try await library.make(source, .title(1, "x"), .isIn(1, false), .writer(1, 2))
      #expect(reader.runs == 1)
    }

    @Test(arguments: allSources)
    func
      `A7: who read a reference runs again when another object is put there, even if nothing of the old one was read`(
        source: any ChangeSource
      ) async throws
    {
      let eden = library.eden
      var passed: Novelist?
      let reader = observe { passed = eden.writer }
      let other = observe { _ = eden }
      try await library.make(source, .name(1, "S. Lem"))
      #expect(reader.runs == 1)
      try await library.make(source, .writer(1, 2))
      #expect(reader.runs == 2 && passed === library.writer(2) && other.runs == 1)
    }

    @Test(arguments: allSources)
    func `A8: a path depends on each step, and the old one's later changes no longer count`(source: any ChangeSource)
      async throws
    {
      let eden = library.eden
      var seen: [String?] = []
      let reader = observe { seen.append(eden.writer?.name) }
      try await library.make(source, .name(1, "S. Lem"))
      try await library.make(source, .writer(1, 2))
      #expect(seen == ["Lem", "S. Lem", "Le Guin"])
      try await library.make(source, .name(1, "Stanisław"))
      #expect(seen.count == 3 && reader.runs == 3)
      try await library.make(source, .name(2, "Ursula"))
      #expect(seen.last == "Ursula" && seen.count == 4)
    }

    @Test(arguments: allSources)
    func `A9: setting an equal value notifies nobody and writes nothing`(source: any ChangeSource) async throws {
      let eden = library.eden
      let reader = observe { _ = (eden.title, eden.isIn, eden.edition, eden.writer) }
      var heard = 0
      let tokens = [eden.onWillChange { _ in heard += 1 }, eden.onDidChange { _ in heard += 1 }]
      let before = context.commitNumber
      try await library.make(source, .title(1, "Eden"), .isIn(1, true), .edition(1, Imprint()), .writer(1, 1))
      #expect(reader.runs == 1 && heard == 0 && tokens.count == 2 && !context.hasChanges)
      if source is SetHere { #expect(context.commitNumber == before) }
      try await library.make(source, .title(1, "Eden II"))
      #expect(reader.runs == 2 && heard == 2)
    }

    @Test(arguments: allSources)
    func `A10: nested models need nothing special`(source: any ChangeSource) async throws {
      let dispossessed = library.volume(3)
      var seen: [String?] = []
      let reader = observe { seen.append(dispossessed.writer?.volumes.first?.writer?.volumes.last?.title) }
      try await library.make(source, .title(1, "unread"))
      try await library.make(source, .title(3, "x"))
      #expect(seen == ["The Dispossessed", "x"] && reader.runs == 2)
    }

    @Test(arguments: allSources)
    func `A11: changing a field of a struct in a property is one change of that property, old and new value whole`(
      source: any ChangeSource
    ) async throws {
      let eden = library.eden
      var changes: [String] = []
      let token = eden.onDidChange { change in
        let (old, new) = (change.old(\.edition), change.new(\.edition))
        changes.append("\(old?.number ?? 0) of \(old?.year ?? 0), \(new?.number ?? 0) of \(new?.year ?? 0)")
      }
      let reader = observe { _ = eden.edition.number }
      if source is SetHere {
        eden.edition.year = 1968
        await library.turn()
      } else {
        try await library.make(source, .edition(1, Imprint(number: 1, year: 1968)))
      }
      #expect(changes == ["1 of 1961, 1 of 1968"] && reader.runs == 2)
      _ = token
    }

    @Test
    func `A12: what is not observed changes in silence, a transient property is observed, and an object is opaque`()
      async throws
    {
      let eden = library.eden
      eden.box = Novel.Box()
      let ignored = observe { _ = eden.cache }
      let transient = observe { _ = eden.draft }
      let opaque = observe { _ = eden.box?.content }
      eden.cache = 7
      eden.box?.content = 7
      await library.turn()
      #expect([ignored, transient, opaque].map(\.runs) == [1, 1, 1] && !context.hasChanges)
      var old: String?
      let token = eden.onDidChange { old = $0.old(\.draft) }
      eden.draft = "x"
      eden.box = Novel.Box()
      await library.turn()
      #expect([ignored, transient, opaque].map(\.runs) == [1, 2, 2] && !context.hasChanges && old == nil)
      eden.draft = "y"
      #expect(old == "x")
      _ = token
    }

    @Test func `classes that are no models, several contexts and models are read by one reader`() async throws {
      let shelf = Shelf()
      let other = ModelContext(library.store)
      let (mine, theirs) = (library.eden, try #require(other.model(Novel.self, key: 1)))
      var seen: [String] = []
      let reader = observe { seen.append("\(shelf.name) \(mine.title) \(theirs.title)") }
      shelf.name = "upper"
      await library.turn()
      theirs.title = "theirs"
      await library.turn()
      mine.title = "mine"
      shelf.name = "lower"
      await library.turn()
      #expect(
        seen == ["shelf Eden Eden", "upper Eden Eden", "upper Eden theirs", "lower mine theirs"] && reader.runs == 4)
    }

    @Test(.enabled(if: SQLiteShell.isThere))
    func `what the sqlite3 program writes reaches readers and references`() async throws {
      let shell = try SQLiteShell(library.file.path)
      let current = Reference(library.eden)
      var seen: [String?] = []
      let reader = observe { seen.append(current.model?.title) }
      try shell.run(ContractChange.title(1, "by hand").sql + ";")
      try await library.settle { seen.count == 2 }
      try shell.run(ContractChange.delete(1).sql + ";")
      try await library.settle { seen.count == 3 }
      #expect(seen == ["Eden", "by hand", nil] && reader.runs == 3)
    }
  }
}

@Observable private final class Shelf {
  var name = "shelf"
}
