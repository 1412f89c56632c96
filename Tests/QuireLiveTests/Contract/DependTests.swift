import Observation
import Quire
import Testing

@testable import QuireLive

/// The observation contract, A: what a reader depends on.
extension ContractTests {
  @MainActor @Suite struct DependTests {
    @Test(arguments: Subject.all)
    func `A1: a reader of a title runs again when the title changes; other changes leave it alone`(subject: Subject)
      async throws
    {
      let library = try subject.open()
      let eden = library.novel(1)
      let reader = observe { _ = eden.title }
      try await library.make(.isIn(1, false), .writer(1, 2), .edition(1, Imprint(number: 2)), .title(2, "x"))
      #expect(reader.runs == 1)
      try await library.make(.title(1, "Eden II"))
      #expect(reader.runs == 2 && eden.title == "Eden II")
    }

    private final class Holder {
      let novel: any ContractNovel
      init(_ novel: any ContractNovel) { self.novel = novel }
    }
    private static var shared: (any ContractNovel)?

    @Test(arguments: Subject.all)
    func `A2: it makes no difference how the model was reached`(subject: Subject) async throws {
      let library = try subject.open()
      let holder = Holder(library.novel(1))
      Self.shared = library.novel(1)
      defer { Self.shared = nil }
      func passed(_ novel: any ContractNovel) -> ObservationToken { observe { _ = novel.title } }
      let readers = withEnvironment(holder) {
        [
          passed(library.novel(1)), observe { _ = holder.novel.title }, observe { _ = Self.shared?.title },
          observe { _ = library.novel(1).title }, observe { _ = environment[Holder?.self]?.novel.title },
        ]
      }
      try await library.make(.title(3, "x"))
      #expect(readers.map(\.runs) == [1, 1, 1, 1, 1])
      try await library.make(.title(1, "x"))
      #expect(readers.map(\.runs) == [2, 2, 2, 2, 2])
    }

    @Test(arguments: Subject.all)
    func `A3: a computed property counts as what it reads`(subject: Subject) async throws {
      let library = try subject.open()
      let lem = library.novelist(1)
      var seen: [Int] = []
      let reader = observe { seen.append(lem.availableCount) }
      try await library.make(.title(1, "x"), .isIn(3, false), .name(1, "S. Lem"))
      #expect(seen == [2])
      try await library.make(.isIn(2, false))
      #expect(seen == [2, 1])
      try await library.make(.insert("Fiasco", writer: 1))
      #expect(seen == [2, 1, 2] && reader.runs == 3)
    }

    @Test(arguments: Subject.all)
    func `A4: a reader of a collection runs again on insert, delete, replace and move, and not when an element changes`(
      subject: Subject
    ) async throws {
      let library = try subject.open()
      let lem = library.novelist(1)
      let list = try library.listOfLem()
      let own = observe { _ = lem.novels.count }
      let ordered = list.map { list in observe { _ = list.count } }
      try await library.make(.isIn(1, false), .edition(2, Imprint(number: 9)), .isIn(3, false))
      #expect(own.runs == 1 && ordered?.runs ?? 1 == 1)
      try await library.make(.insert("Fiasco", writer: 1))
      #expect(own.runs == 2 && ordered?.runs ?? 2 == 2)
      #expect(list?.first(9).map(\.title) ?? ["Eden", "Fiasco", "Solaris"] == ["Eden", "Fiasco", "Solaris"])
      try await library.make(.writer(1, 2), .writer(3, 1))
      #expect(own.runs == 3 && ordered?.runs ?? 3 == 3 && lem.novels.count == 3)
      try await library.make(.delete(2))
      #expect(own.runs == 4 && ordered?.runs ?? 4 == 4 && lem.novels.count == 2)
      try await library.make(.title(3, "A"))
      #expect(own.runs == 4, "the author's novels have no order of titles")
      #expect(ordered?.runs ?? 5 == 5, "a move in what is ordered by title")
    }

    @Test(arguments: Subject.all)
    func `A5: one title changes, one row runs again; the list and the other rows do not`(subject: Subject) async throws
    {
      let library = try subject.open()
      try library.commit([.insertMany(9997)])
      let list = try library.all()
      var rows: [ObservationToken] = []
      var ran: [String] = []
      let whole = observe {
        #expect(list.count == 10_000)
        rows = list.first(20).map { row in observe { ran.append(row.title) } }
      }
      #expect(rows.count == 20 && ran.count == 20)
      ran.removeAll()
      try await library.make(.title(2, "Solaris II"))
      #expect(ran == ["Solaris II"] && whole.runs == 1 && rows.map(\.runs).reduce(0, +) == 21)
      try await library.make(.title(9000, "not shown"))
      #expect(ran == ["Solaris II"] && whole.runs == 1)
    }

    @Test(arguments: Subject.all)
    func `A6: handing a model through intermediate layers makes no dependency`(subject: Subject) async throws {
      let library = try subject.open()
      let eden = library.novel(1)
      func layer(_ novel: any ContractNovel) -> any ContractNovel { novel }
      let reader = observe { _ = layer(layer(eden)) }
      let reads = observe { _ = layer(layer(eden)).title }
      try await library.make(.title(1, "x"), .isIn(1, false), .writer(1, 2))
      #expect(reader.runs == 1 && reads.runs == 2)
    }

    @Test(arguments: Subject.all)
    func `A7: who read a reference runs again when another object is put there, though nothing of the old one was read`(
      subject: Subject
    ) async throws {
      let library = try subject.open()
      let eden = library.novel(1)
      var passed: (any ContractNovelist)?
      let reader = observe { passed = eden.author }
      let other = observe { _ = eden }
      try await library.make(.name(1, "S. Lem"))
      #expect(reader.runs == 1)
      try await library.make(.writer(1, 2))
      #expect(reader.runs == 2 && passed === library.novelist(2) && other.runs == 1)
    }

    @Test(arguments: Subject.all)
    func `A8: a path depends on each step, and the old one's later changes no longer count`(subject: Subject)
      async throws
    {
      let library = try subject.open()
      let eden = library.novel(1)
      var seen: [String?] = []
      let reader = observe { seen.append(eden.author?.name) }
      try await library.make(.name(1, "S. Lem"))
      try await library.make(.writer(1, 2))
      #expect(seen == ["Lem", "S. Lem", "Le Guin"])
      try await library.make(.name(1, "Stanisław"))
      #expect(seen.count == 3 && reader.runs == 3)
      try await library.make(.name(2, "Ursula"))
      #expect(seen.last == "Ursula" && seen.count == 4)
    }

    @Test(arguments: Subject.all)
    func `A9: setting an equal value notifies nobody and writes nothing`(subject: Subject) async throws {
      let library = try subject.open()
      let eden = library.novel(1)
      let reader = observe { _ = (eden.title, eden.isIn, eden.edition, eden.author) }
      var heard = 0
      let novel = eden as? Novel
      let tokens = [novel?.onWillChange { _ in heard += 1 }, novel?.onDidChange { _ in heard += 1 }]
      let before = library.latestCommit
      try await library.make(.title(1, "Eden"), .isIn(1, true), .edition(1, Imprint()), .writer(1, 1))
      #expect(reader.runs == 1 && heard == 0 && !library.isEdited)
      if subject.testDescription == SetHere().testDescription { #expect(library.latestCommit == before) }
      try await library.make(.title(1, "Eden II"))
      #expect(reader.runs == 2 && heard == (novel == nil ? 0 : tokens.count))
    }

    @Test(arguments: Subject.all)
    func `A10: nested models need nothing special: tracking follows reads, not containers`(subject: Subject)
      async throws
    {
      let library = try subject.open()
      let eden = library.novel(1)
      var seen: [String] = []
      let reader = observe {
        let last = eden.author?.novels.last
        seen.append("\(last?.title ?? "") by \(last?.author?.name ?? "")")
      }
      try await library.make(.title(1, "unread"), .title(3, "unread"), .name(2, "unread"))
      #expect(seen == ["Solaris by Lem"])
      try await library.make(.title(2, "Solaris II"))
      try await library.make(.name(1, "S. Lem"))
      #expect(seen == ["Solaris by Lem", "Solaris II by Lem", "Solaris II by S. Lem"] && reader.runs == 3)
    }

    @Test(arguments: Subject.all)
    func `A11: changing a field of a struct in a property is one change of that property, old and new value whole`(
      subject: Subject
    ) async throws {
      let library = try subject.open()
      let eden = library.novel(1)
      var heard: [String] = []
      func hear(_ old: Imprint?, _ new: Imprint?) {
        heard.append("\(old?.number ?? 0) of \(old?.year ?? 0), \(new?.number ?? 0) of \(new?.year ?? 0)")
      }
      let token = (eden as? Novel)?.onDidChange { hear($0.old(\.edition), $0.new(\.edition)) }
      let pair = observe {
        eden.edition
      } didChange: {
        hear($0, $1)
      }
      let reader = observe { _ = eden.edition.number }
      if subject.testDescription == SetHere().testDescription {
        eden.edition.year = 1968
        await library.turn()
      } else {
        try await library.make(.edition(1, Imprint(number: 1, year: 1968)))
      }
      let change = "1 of 1961, 1 of 1968"
      #expect(heard == (token == nil ? [change] : [change, change]) && reader.runs == 2)
      _ = pair
    }

    @Test(arguments: Subject.all)
    func `A12: what is not observed changes in silence, a transient property is observed, and an object is opaque`(
      subject: Subject
    ) async throws {
      let library = try subject.open()
      let eden = library.novel(1)
      eden.box = Box()
      let ignored = observe { _ = eden.cache }
      let transient = observe { _ = eden.draft }
      let opaque = observe { _ = eden.box?.content }
      eden.cache = 7
      eden.box?.content = 7
      try await library.make(.title(1, "x"), .isIn(1, false))
      #expect([ignored, transient, opaque].map(\.runs) == [1, 1, 1])
      #expect(eden.cache == 7 && eden.box?.content == 7 && !library.isEdited, "what is not stored stays")
      eden.draft = "x"
      eden.box = Box()
      await library.turn()
      #expect([ignored, transient, opaque].map(\.runs) == [1, 2, 2] && !library.isEdited)
    }
  }
}
