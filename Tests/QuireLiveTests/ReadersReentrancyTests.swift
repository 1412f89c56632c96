import Foundation
import Quire
import Testing

@testable import QuireLive
@testable import QuireModel

extension ContractTests {
  /// Whatever an observer does, the store and the other observers come to no harm.
  @MainActor @Suite struct ReadersReentrancyTests {
    let library: QuireLibrary
    var context: ModelContext { library.context }

    init() throws { library = try QuireLibrary() }

    @Test(arguments: allSources)
    func `an observer that writes and saves harms nobody`(source: any ChangeSource) async throws {
      let (eden, solaris) = (library.eden, library.volume(2))
      var problems: [any Error] = []
      func count(_ key: Int64) { library.volume(key).edition.number += 1 }
      func save() { do { try context.save() } catch { problems.append(error) } }
      let list = try context.live(Novel.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)])
      var seen: [String] = []
      let tokens = [
        eden.onWillChange { change in
          guard change.contains(\.title) else { return }
          count(2)
          save()
        },
        eden.onDidChange { change in
          guard change.contains(\.title) else { return }
          count(3)
          save()
        },
        eden.onDidChange { seen.append("\($0.old(\.title) ?? "") to \(eden.title)") },
      ]
      let writer = observe {
        _ = eden.title
        count(2)
        save()
      }
      let other = observe { seen.append("\(eden.title) \(list.map(\.title).joined(separator: ","))") }
      try await library.make(source, .title(1, "x"))
      await library.turn()
      #expect(seen == ["Eden Eden,Solaris,The Dispossessed", "Eden to x", "x Solaris,The Dispossessed,x"])
      #expect(problems.isEmpty && writer.runs == 2 && other.runs == 2 && !context.hasChanges)
      let rows = try library.store.query("SELECT title, json_extract(edition, '$.number') FROM novel ORDER BY id").map(
        \.values)
      #expect(rows == [["x", 1], ["Solaris", 4], ["The Dispossessed", 2]])
      #expect(solaris.edition.number == 4)
      _ = tokens
    }

    @Test func `an observer that observes does not depend on what the inner one reads`() async throws {
      let (eden, solaris) = (library.eden, library.volume(2))
      var inner: ObservationToken?
      var changes: ObservationToken?
      let outer = observe {
        _ = eden.title
        inner = observe { _ = solaris.title }
        changes = observe {
          solaris.isIn
        } didChange: { _, _ in
        }
      }
      #expect(inner?.runs == 1 && changes?.runs == 1)
      solaris.title = "x"
      solaris.isIn = false
      await library.turn()
      #expect(outer.runs == 1 && inner?.runs == 2 && changes?.runs == 2)
      eden.title = "x"
      await library.turn()
      #expect(outer.runs == 2 && inner?.runs == 1)
    }

    @Test(arguments: allSources)
    func `an observer that ends itself or another in the middle of the batch is the last to hear, and the rest go on`(
      source: any ChangeSource
    ) async throws {
      let eden = library.eden
      var heard: [String] = []
      var own: ChangeToken?
      var others: [ChangeToken] = []
      var reader: ObservationToken?
      own = eden.onDidChange { _ in
        heard.append("own")
        own = nil
        others.removeAll()
        reader = nil
      }
      others = [eden.onDidChange { _ in heard.append("other") }]
      let last = eden.onDidChange { _ in heard.append("last") }
      reader = observe {
        _ = eden.title
        heard.append("reader")
      }
      heard.removeAll()
      try await library.make(source, .title(1, "x"))
      try await library.make(source, .title(1, "y"))
      #expect(heard == ["own", "last", "last"] && own == nil && reader == nil)
      _ = last
    }

    /// Who hears of a change, and how.
    enum Form: CaseIterable { case willListener, didListener, reader, willReader, didReader, reference, difference }

    private final class Owner {
      var token: AnyObject?
      var reference: Reference<Novel>?
    }

    @Test(arguments: Form.allCases, allSources)
    func `an observer whose owner goes in the middle of its batch hears no more, and the others go on`(
      form: Form, source: any ChangeSource
    ) async throws {
      let eden = library.eden
      let list = try context.live(Novel.self)
      var (heard, isArmed, owner) = (0, false, Optional(Owner()))
      func hear() {
        guard isArmed else { return }
        heard += 1
        owner = nil
      }
      let token: AnyObject
      switch form {
      case .willListener: token = eden.onWillChange { _ in hear() }
      case .didListener: token = eden.onDidChange { _ in hear() }
      case .reader:
        token = observe {
          _ = eden.title
          hear()
        }
      case .willReader:
        token = observe {
          eden.title
        } willChange: { _ in
          hear()
        }
      case .didReader:
        token = observe {
          eden.title
        } didChange: { _, _ in
          hear()
        }
      case .reference:
        let reference = Reference(eden)
        owner?.reference = reference
        token = reference.onDidChange { _ in hear() }
      case .difference: token = list.onDifference { _ in hear() }
      }
      owner?.token = consume token
      isArmed = true
      var others = 0
      let listeners = [eden.onWillChange { _ in others += 1 }, eden.onDidChange { _ in others += 1 }]
      let difference = list.onDifference { _ in others += 1 }
      let reader = observe { _ = (eden.title, list.count) }
      try await library.make(source, .title(1, "x"))
      #expect(heard == 1 && owner == nil && others == 3 && reader.runs == 2)
      try await library.make(source, .title(1, "y"))
      #expect(heard == 1 && others == 6 && reader.runs == 3 && eden.title == "y")
      _ = (listeners, difference)
    }

    @Test(arguments: allSources)
    func `an observer that throws ends alone`(source: any ChangeSource) async throws {
      struct Failed: Error {}
      let eden = library.eden
      let titles = observing { () throws(Failed) -> String in
        if eden.title == "x" { throw Failed() }
        return eden.title
      }
      var (seen, failure): ([String], (any Error)?) = ([], nil)
      let values = Task {
        do { for try await title in titles { seen.append(title) } } catch { failure = error }
      }
      var heard: [String] = []
      let token = eden.onDidChange { _ in heard.append(eden.title) }
      let reader = observe { _ = eden.title }
      await library.turn()
      for title in ["x", "y"] { try await library.make(source, .title(1, title)) }
      await values.value
      #expect(seen == ["Eden"] && failure is Failed)
      #expect(heard == ["x", "y"] && reader.runs == 3 && eden.title == "y" && !context.hasChanges)
      _ = token
    }

    @Test func `an observer that is made while batch are told harms nobody and hears the rest`() async throws {
      let eden = library.eden
      var made: [ChangeToken] = []
      var heard: [String] = []
      let token = eden.onWillChange { _ in
        if made.isEmpty { made = [eden.onDidChange { heard.append($0.new(\.title) ?? "") }] }
      }
      eden.title = "x"
      eden.title = "y"
      #expect(heard == ["x", "y"] && made.count == 1)
      _ = token
    }

    @Test func `an observer that blocks holds up no writer`() async throws {
      let eden = library.eden
      let store = library.store
      let before = store.latestCommit
      let done = DispatchSemaphore(value: 0)
      var waited: [DispatchTimeoutResult] = []
      let token = eden.onDidChange { _ in
        Thread.detachNewThread {
          _ = try? store.execute("UPDATE novel SET title = 'elsewhere' WHERE id = 2")
          done.signal()
        }
        waited.append(done.wait(timeout: .now() + 60))
      }
      try await library.make(RawSQL(), .title(1, "x"))
      #expect(waited == [.success] && store.latestCommit == before + 2)
      try context.refresh()
      #expect(library.volume(2).title == "elsewhere")
      _ = token
    }

    // MARK: An object that is deleted meanwhile

    /// What is assigned.
    enum Assigned: CaseIterable { case title, edition, writer, volumes }

    @Test(arguments: Assigned.allCases, [true, false])
    func `an object that is deleted by who hears before keeps its value, and the next save names the assignment`(
      assigned: Assigned, isReader: Bool
    ) async throws {
      let (eden, lem, guin) = (library.eden, library.writer(1), library.writer(2))
      #expect(lem.volumes.count == 2 && eden.writer === lem && guin.volumes.count == 1)
      var told: [String] = []
      func delete() { if assigned == .volumes { context.delete(lem) } else { context.delete(eden) } }
      let (listeners, reader): ([ChangeToken], ObservationToken?)
      if isReader {
        let reads = observe {
          "\(eden.title) \(eden.edition) \(eden.writer?.name ?? "") \(lem.volumes.count)"
        } willChange: { _ in
          delete()
        }
        (listeners, reader) = ([], reads)
      } else {
        (listeners, reader) = (
          [
            eden.onWillChange { if !$0.vanishes, assigned != .volumes { delete() } },
            lem.onWillChange { if !$0.vanishes, assigned == .volumes { delete() } },
            eden.onDidChange { told.append($0.vanishes ? "gone" : "changed") },
          ], nil
        )
      }
      switch assigned {
      case .title: eden.title = "x"
      case .edition: eden.edition.year = 1
      case .writer: eden.writer = guin
      case .volumes: lem.volumes = [eden, library.volume(3)]
      }
      #expect(eden.title == "Eden" && eden.edition == Imprint() && eden.writer === lem)
      #expect(assigned == .volumes ? lem.isDeleted : eden.isDeleted)
      #expect(guin.volumes.count == 1 && (isReader || assigned == .volumes || told == ["gone"]))
      let error = #expect(throws: ModelError.self) { try context.save() }
      guard case .ignoredAssignments(let names)? = error else { throw try #require(error) }
      #expect(names.count == 1 && names[0].contains(".\(assigned) of "))
      try context.save()
      try #expect(library.store.query("SELECT 1 FROM novel WHERE id = 1").isEmpty)
      await library.turn()
      _ = (listeners, reader)
    }

    // MARK: What changes while a reader runs

    @Test(arguments: allSources.filter { !($0 is SetHere) })
    func `a fetch inside a reader sees the commit the reader began at, and what came meanwhile runs it again`(
      source: any ChangeSource
    ) async throws {
      let eden = library.eden
      var seen: [String] = []
      var isFirst = true
      let reader = observe {
        let before = eden.title
        if isFirst { #expect(throws: Never.self) { try source.make([.title(1, "x")], in: library) } }
        isFirst = false
        let found = try? context.fetch(FetchDescriptor<Novel>(predicate: #Predicate { $0.isIn }))
        seen.append("\(before) \(found?.first?.title ?? "")")
      }
      // What another process has left behind need not be there any more.
      #expect(seen == ["Eden Eden"] || source is OtherProcess)
      try await library.settle { seen.count == 2 }
      #expect(seen.count == 2 && seen.last == "x x" && reader.runs == 2)
    }

    @Test(arguments: allSources.filter { !($0 is SetHere) })
    func `a save inside a reader that takes in what others committed runs it again`(source: any ChangeSource)
      async throws
    {
      let (eden, solaris) = (library.eden, library.volume(2))
      var seen: [String] = []
      var isFirst = true
      let reader = observe {
        seen.append(eden.title)
        if isFirst { #expect(throws: Never.self) { try source.make([.title(1, "x")], in: library) } }
        isFirst = false
        solaris.title = "saved"
        #expect(throws: Never.self) { try context.save() }
      }
      await library.turn()
      #expect(seen == ["Eden", "x"] && reader.runs == 2)
    }
  }
}
