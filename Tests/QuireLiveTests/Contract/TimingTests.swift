import Foundation
import Quire
import Testing

@testable import QuireLive
@testable import QuireModel

extension ContractTests {
  /// The observation contract, B: when a reader hears of it.
  @MainActor @Suite struct ReadersTimingTests {
    let library: QuireLibrary
    var context: ModelContext { library.context }

    init() throws { library = try QuireLibrary() }

    @Test(arguments: Subject.all)
    func `B1: whoever asks for it is told before the value changes, and still reads the old value`(subject: Subject)
      async throws
    {
      let library = try subject.open()
      let eden = library.novel(1)
      var heard: [String] = []
      let reader = observe {
        eden.title
      } willChange: { old in
        heard.append("reader: \(old), reads \(eden.title)")
      }
      let listener = (eden as? Novel)?.onWillChange { change in
        heard.append("listener: \(change.old(\.title) ?? "") to \(change.new(\.title) ?? ""), reads \(eden.title)")
      }
      try await library.make(.title(2, "x"))
      #expect(heard.isEmpty)
      try await library.make(.title(1, "Eden II"))
      let told = listener == nil ? [] : ["listener: Eden to Eden II, reads Eden"]
      #expect(heard == told + ["reader: Eden, reads Eden"])
      heard.removeAll()
      try await library.make(.title(1, "Eden III"))
      #expect(heard.last == "reader: Eden II, reads Eden II" && heard.count == told.count + 1)
      _ = reader
    }

    @Test(arguments: Subject.all)
    func `B2: whoever asks for it reads the new value, with the old one alongside`(subject: Subject) async throws {
      let library = try subject.open()
      let eden = library.novel(1)
      var heard: [String] = []
      let reader = observe {
        eden.title
      } didChange: { old, new in
        heard.append("reader: \(old) to \(new), reads \(eden.title)")
      }
      let listener = (eden as? Novel)?.onDidChange { change in
        heard.append("listener: \(change.old(\.title) ?? "") to \(change.new(\.title) ?? ""), reads \(eden.title)")
      }
      try await library.make(.title(2, "x"))
      #expect(heard.isEmpty)
      try await library.make(.title(1, "Eden II"))
      let told = listener == nil ? [] : ["listener: Eden to Eden II, reads Eden II"]
      #expect(heard == told + ["reader: Eden to Eden II, reads Eden II"])
      _ = reader
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
      heard = []
      let last = try #require(lem.volumes.first)
      try await library.make(source, .delete(try #require(last.persistentModelID.rowKey)))
      #expect(heard == ["1 to 0"] && last.isDeleted)
      _ = list
    }

    @Test(arguments: Subject.all)
    func `B3: many changes in one turn reach a reader as one update`(subject: Subject) async throws {
      let library = try subject.open()
      let (eden, lem) = (library.novel(1), library.novelist(1))
      let list = try library.all()
      var changes: [String] = []
      let reader = observe { _ = (eden.title, lem.novels.count, list.count) }
      let pairs = observe {
        eden.title
      } didChange: {
        changes.append("\($0) to \($1)")
      }
      for number in 1...3 { try library.commit([.title(1, "\(number)"), .insert("new \(number)", writer: 1)]) }
      #expect(reader.runs == 1)
      await library.turn()
      #expect(reader.runs == 2 && changes == ["Eden to 3"] && list.count == 6 && lem.novels.count == 5)
      for title in ["4", "3"] { try library.commit([.title(1, title)]) }
      await library.turn()
      #expect(changes.count == 1, "there and back: an equal value says nothing")
      _ = pairs
    }

    @Test(arguments: allSources)
    func `B4: the exact channel drops and merges nothing: each commit once, in order, with all old and new values`(
      source: any ChangeSource
    ) async throws {
      let library = try QuireLibrary(source, changeLog: source is OtherProcess ? .on() : .asInFile)
      var commits = library.store.commits.makeAsyncIterator()
      let eden = library.eden
      let reader = observe { _ = eden.title }
      for number in 1...5 { try source.make([.title(1, "\(number)"), .title(2, "\(number)!")], in: library) }
      try source.make([.insert("Fiasco", writer: 1), .delete(3)], in: library)
      try library.store.execute("UPDATE novelist SET name = 'the end'")
      var told: [StoreCommit] = []
      while told.last?.changes(of: Novelist.self).isEmpty != false {
        told.append(try #require(try await commits.next()))
      }
      try #require(told.count == 7)
      #expect(told.map(\.number) == told.map(\.number).sorted() && !told.contains(where: \.rowsUnknown))
      var titles: [String?] = ["Eden", "Solaris"]
      for (commit, number) in zip(told, 1...5) {
        let changes = commit.changes(of: Novel.self).sorted { $0.id.key < $1.id.key }
        #expect(changes.map(\.id.key) == [1, 2] && changes.allSatisfy { $0.old?.isIn == true })
        #expect(changes.map { $0.old?.title } == titles)
        titles = ["\(number)", "\(number)!"]
        #expect(changes.map { $0.new?.title } == titles)
      }
      let ends = told[5].changes(of: Novel.self).sorted { $0.id.key < $1.id.key }
      #expect(
        ends.map { $0.old?.title } == ["The Dispossessed", nil] && ends.map { $0.new?.title } == [nil, "Fiasco"])
      #expect(told[6].changes(of: Novel.self).isEmpty && told[6].changes(of: Novelist.self).count == 2)
      try library.context.refresh()
      await library.turn()
      #expect(reader.runs == 2, "the coalesced channel has merged them")
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

    @Test(arguments: Subject.all)
    func `B7: nothing keeps a reader alive: when its token goes, it never runs again`(subject: Subject) async throws {
      final class Witness {}
      weak var witness: Witness?
      let library = try subject.open()
      let eden = library.novel(1)
      var runs = 0
      func make() -> (ObservationToken, ObservationToken, [ChangeToken?]) {
        let held = Witness()
        witness = held
        let hear: (ObjectChange<Novel>) -> Void = { [held] _ in
          _ = held
          runs += 1
        }
        let reader = observe {
          _ = (held, eden.title)
          runs += 1
        }
        let before = observe {
          _ = held
          return eden.title
        } willChange: { _ in
          runs += 1
        }
        let novel = eden as? Novel
        return (reader, before, [novel?.onWillChange(hear), novel?.onDidChange(hear)])
      }
      var tokens: (ObservationToken, ObservationToken, [ChangeToken?])? = make()
      try await library.make(.title(1, "heard"))
      let expected = eden is Novel ? 5 : 3
      #expect(runs == expected && witness != nil && tokens != nil)
      tokens = nil
      try await library.make(.title(1, "x"))
      #expect(runs == expected && witness == nil)
    }
  }
}
