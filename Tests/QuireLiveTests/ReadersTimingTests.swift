import Foundation
import Quire
import Testing

@testable import QuireLive
@testable import QuireModel

extension ContractTests {
  /// The observation contract, B: when a reader hears of it.
  @MainActor @Suite struct ReadersTimingTests {
    let library: ContractLibrary
    var context: ModelContext { library.context }

    init() throws { library = try ContractLibrary() }

    @Test(arguments: allSources)
    func `B1: whoever asks for it is told before the value changes, and still reads the old value`(
      source: any ChangeSource
    ) async throws {
      let eden = library.eden
      var heard: [String] = []
      let reader = observe {
        eden.title
      } willChange: { old in
        heard.append("reader: \(old), reads \(eden.title)")
      }
      let listener = eden.onWillChange { change in
        heard.append("listener: \(change.old(\.title) ?? "") to \(change.new(\.title) ?? ""), reads \(eden.title)")
      }
      try await library.make(source, .title(2, "x"))
      #expect(heard.isEmpty)
      try await library.make(source, .title(1, "Eden II"))
      #expect(heard == ["listener: Eden to Eden II, reads Eden", "reader: Eden, reads Eden"])
      try await library.make(source, .title(1, "Eden III"))
      #expect(heard.count == 4 && heard.last == "reader: Eden II, reads Eden II")
      _ = (reader, listener)
    }

    @Test(arguments: allSources)
    func `B2: whoever asks for it reads the new value, with the old one alongside`(source: any ChangeSource)
      async throws
    {
      let eden = library.eden
      var heard: [String] = []
      let reader = observe {
        eden.title
      } didChange: { old, new in
        heard.append("reader: \(old) to \(new), reads \(eden.title)")
      }
      let listener = eden.onDidChange { change in
        heard.append("listener: \(change.old(\.title) ?? "") to \(change.new(\.title) ?? ""), reads \(eden.title)")
      }
      try await library.make(source, .title(2, "x"))
      #expect(heard.isEmpty)
      try await library.make(source, .title(1, "Eden II"))
      #expect(heard == ["listener: Eden to Eden II, reads Eden II", "reader: Eden to Eden II, reads Eden II"])
      _ = (reader, listener)
    }

    @Test(arguments: allSources)
    func `B2: the old and new values of relationships are told too`(source: any ChangeSource) async throws {
      let (eden, lem) = (library.eden, library.writer(1))
      #expect(eden.writer === lem && lem.volumes.count == 2 && library.writer(2).volumes.count == 1)
      var heard: [String] = []
      let tokens = [
        eden.onDidChange { change in
          heard.append("\(change.old(\.writer)?.name ?? "") to \(change.new(\.writer)?.name ?? "")")
        }
      ]
      let list = lem.onDidChange { change in
        heard.append("\(change.old(\.volumes)?.count ?? -1) to \(change.new(\.volumes)?.count ?? -1)")
      }
      try await library.make(source, .writer(1, 2))
      #expect(heard.sorted() == ["2 to 1", "Lem to Le Guin"] && tokens.count == 1)
      _ = list
    }

    @Test(arguments: allSources)
    func `B3: many changes in one turn reach a reader as one update`(source: any ChangeSource) async throws {
      let eden = library.eden
      let list = try context.live(Novel.self, sortBy: [SortDescriptor(\.title)])
      var changes: [String] = []
      let reader = observe { _ = (eden.title, list.count) }
      let pairs = observe {
        eden.title
      } didChange: {
        changes.append("\($0) to \($1)")
      }
      for number in 1...3 {
        try source.make([.title(1, "\(number)"), .insert("new \(number)", writer: nil)], in: library)
        try context.refresh()
      }
      #expect(reader.runs == 1)
      await library.turn()
      #expect(reader.runs == 2 && changes == ["Eden to 3"] && list.count == 6)
      for title in ["4", "3"] {
        try source.make([.title(1, title)], in: library)
        try context.refresh()
      }
      await library.turn()
      #expect(changes.count == 1, "there and back: an equal value says nothing")
      _ = pairs
    }

    @Test(arguments: allSources)
    func `B5: a model may replace its announcement; tracking, live results and the exact channel are not affected`(
      source: any ChangeSource
    ) async throws {
      let visits = try #require(context.model(Visits.self, key: 1))
      let degrees = try #require(context.model(Temperature.self, key: 1))
      var heard: [String] = []
      let tokens = [
        visits.onWillChange { heard.append("before \($0.new(\.count) ?? 0), reads \(visits.count)") },
        visits.onDidChange { heard.append("\($0.old(\.count) ?? 0) to \($0.new(\.count) ?? 0)") },
        degrees.onDidChange { heard.append("degrees \($0.new(\.degrees) ?? 0)") },
      ]
      let reader = observe { _ = visits.count }
      let list = try context.live(Visits.self)
      var differences = 0
      let difference = list.onDifference { _ in differences += 1 }
      let before = library.store.latestCommit
      for number in 1...21 { try await library.make(source, .visits(number)) }
      #expect(heard == ["before 10, reads 9", "9 to 10", "before 20, reads 19", "19 to 20"])
      #expect(reader.runs == 22 && differences == 21 && library.store.latestCommit >= before + 21)
      heard.removeAll()
      for number in [50, 120, 130, 99, 40] { try await library.make(source, .degrees(number)) }
      #expect(heard == ["degrees 120", "degrees 99"])
      _ = (tokens, difference)
    }

    @Test(arguments: allSources)
    func `B6: one commit is one instant for whoever is told before, after, or runs again`(source: any ChangeSource)
      async throws
    {
      let eden = library.eden
      let all = try context.live(Novel.self, where: #Predicate { $0.isIn })
      let count = try context.liveCount(Novel.self, where: #Predicate { $0.isIn })
      var seen: [String] = []
      func look(_ who: String) {
        seen.append("\(who) \(all.count) \(count.value)")
      }
      let listeners = [eden.onWillChange { _ in look("will") }, eden.onDidChange { _ in look("did") }]
      let reader = observe {
        _ = eden.title
        look("reader")
      }
      let before = observe {
        all.count
      } willChange: { _ in
        look("before")
      }
      try await library.make(source, .title(1, "x"), .isIn(2, false), .isIn(3, false), .insert("new", writer: nil))
      if source is SetHere {
        // Its own edit shows at once, what follows from the save with the save.
        #expect(seen == ["reader 3 3", "will 3 3", "did 3 3", "before 3 3", "reader 2 2"])
      } else {
        #expect(seen == ["reader 3 3", "will 3 3", "before 3 3", "did 2 2", "reader 2 2"])
      }
      _ = (listeners, reader, before)
    }

    @Test(arguments: allSources)
    func `B7: nothing keeps a reader alive: when its token goes, it never runs again`(source: any ChangeSource)
      async throws
    {
      final class Witness {}
      weak var witness: Witness?
      let eden = library.eden
      var runs = 0
      func make() -> (ObservationToken, ChangeToken, ChangeToken, ObservationToken) {
        let held = Witness()
        witness = held
        return (
          observe {
            _ = (held, eden.title)
            runs += 1
          },
          eden.onWillChange { [held] _ in
            _ = held
            runs += 1
          },
          eden.onDidChange { [held] _ in
            _ = held
            runs += 1
          },
          observe {
            _ = held
            return eden.title
          } willChange: { _ in
            runs += 1
          }
        )
      }
      var tokens: (ObservationToken, ChangeToken, ChangeToken, ObservationToken)? = make()
      try await library.make(source, .title(1, "heard"))
      #expect(runs == 5 && witness != nil && tokens != nil)
      tokens = nil
      try await library.make(source, .title(1, "x"))
      #expect(runs == 5 && witness == nil)
    }

    // MARK: Values as a sequence

    @Test(arguments: allSources)
    func `observing gives the present value, then one for each turn, and the latest to who is slow`(
      source: any ChangeSource
    ) async throws {
      let eden = library.eden
      var values = observing { eden.title }.makeAsyncIterator()
      #expect(await values.next(isolation: MainActor.shared) == "Eden")
      try source.make([.title(1, "a")], in: library)
      try source.make([.title(1, "b")], in: library)
      try context.refresh()
      #expect(await values.next(isolation: MainActor.shared) == "b")
      for title in ["c", "d", "e"] { try await library.make(source, .title(1, title)) }
      #expect(await values.next(isolation: MainActor.shared) == "e")
    }

    @Test func `observing ends with its closure's error, with nil, and with its task; others go on`() async throws {
      struct Gone: Error {}
      let eden = library.eden
      let reader = observe { _ = eden.title }
      let throwing = observing { () throws(Gone) -> String in
        if eden.title == "bad" { throw Gone() }
        return eden.title
      }
      var untilNil = observing(untilNil: { eden.isIn ? eden.title : nil }).makeAsyncIterator()
      #expect(await untilNil.next(isolation: MainActor.shared) == "Eden")
      eden.title = "bad"
      var seen: [String] = []
      await #expect(throws: Gone.self) {
        await library.turn()
        for try await title in throwing { seen.append(title) }
      }
      eden.isIn = false
      await library.turn()
      #expect(await untilNil.next(isolation: MainActor.shared) == "bad")
      #expect(await untilNil.next(isolation: MainActor.shared) == nil)
      eden.title = "good"
      await library.turn()
      #expect(seen.isEmpty && reader.runs == 3)

      var runs = 0
      let task = Task { @MainActor in
        for await _ in observing({
          runs += 1
          return eden.title
        }) {}
      }
      await library.turn()
      task.cancel()
      await task.value
      eden.title = "unheard"
      await library.turn()
      #expect(runs == 1)
    }

    // MARK: On no actor

    @Test func `a reader of contexts on no actor runs at the ends of their turns`() async throws {
      let store = library.store
      try await Task.detached {
        let (a, b) = (ModelContext(store, isolation: nil), ModelContext(store, isolation: nil))
        let eden = try #require(a.model(Novel.self, key: 1))
        let solaris = try #require(b.model(Novel.self, key: 2))
        let list = try a.live(Novel.self)
        var seen: [String] = []
        var changes: [String] = []
        let reader = observe(in: a, b) { seen.append("\(eden.title) \(solaris.title) \(list.count)") }
        let pairs = observe(in: a) {
          eden.title
        } didChange: {
          changes.append("\($0) to \($1)")
        }
        eden.title = "x"
        eden.title = "y"
        #expect(seen.count == 1)
        try a.save()
        #expect(seen.count == 2 && seen.last == "y Solaris 3" && changes == ["Eden to y"])
        try b.transaction { solaris.title = "z" }
        #expect(seen.last == "y z 3" && seen.count == 3)
        try store.execute("DELETE FROM novel WHERE id = 3")
        #expect(seen.count == 3)
        try a.refresh()
        #expect(seen.last == "y z 2" && seen.count == 4)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
          try b.transaction {
            solaris.title = "never"
            throw Stop()
          }
        }
        #expect(seen.last == "y z 2" && seen.count == 5, "a rollback is a turn")
        reader.cancel()
        eden.title = "unheard"
        try a.save()
        #expect(seen.count == 5 && changes.last == "y to unheard")
        _ = pairs
      }.value
    }
  }
}
