import Foundation
import Observation
import Quire
import Synchronization
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
      let rows = try library.store.query("SELECT title, json_extract(edition, '$.number') FROM novel ORDER BY id")
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
    func `an observer that ends itself or another in the middle of the news is the last to hear, and the rest go on`(
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

    @Test func `an observer that is made while news are told harms nobody and hears the rest`() async throws {
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

    // MARK: Endless loops

    private func waitUntil(_ condition: () -> Bool) async {
      for _ in 0..<5000 where !condition() { await Task.yield() }
    }

    @Test func `readers that set each other off without end are ended and named, and the others go on`() async throws {
      let (eden, solaris) = (library.eden, library.volume(2))
      let reported = Mutex<[ObservationLoop]>([])
      ObservationLoop.onDetection { loop in reported.withLock { $0.append(loop) } }
      let bystander = observe { _ = eden.edition.number }
      let line = #line + 1
      let a = observe { solaris.edition.number = eden.edition.number + 1 }
      let b = observe { eden.edition.number = solaris.edition.number + 1 }
      await waitUntil { a.loop != nil || b.loop != nil }
      let loop = try #require(a.loop ?? b.loop)
      #expect(loop.line == line + (a.loop == nil ? 1 : 0) && loop.file.hasSuffix("ReadersReentrancyTests.swift"))
      #expect(loop.rounds == ObservationLoop.limit && (a.loop == nil) != (b.loop == nil))
      #expect(reported.withLock { $0 }.contains(loop) && "\(loop)".contains(":\(loop.line) "))
      await library.turn()
      let runs = bystander.runs
      eden.edition.number = -7
      await library.turn()
      #expect(bystander.runs == runs + 1 && bystander.loop == nil)
      try context.save()
    }

    @Test func `a didChange that assigns what it reads without end is ended and named`() async throws {
      let eden = library.eden
      let token = observe {
        eden.edition.number
      } didChange: { _, new in
        eden.edition.number = new + 1
      }
      eden.edition.number = 2
      await waitUntil { token.loop != nil }
      #expect(token.loop?.rounds == ObservationLoop.limit && token.runs == ObservationLoop.limit + 1)
    }

    @Test func `a listener that changes its own object without end is ended and named, and the others hear all`() {
      let eden = library.eden
      var heard = 0
      let bystander = eden.onDidChange { _ in heard += 1 }
      let line = #line + 1
      let token = eden.onDidChange { _ in eden.edition.number += 1 }
      eden.edition.number = 2
      #expect(token.loop?.line == line && token.loop?.rounds == ObservationLoop.limit)
      #expect(heard == ObservationLoop.limit + 1 && eden.edition.number == ObservationLoop.limit + 2)
      let current = Reference(eden)
      let own = current.onWillChange { _ in current.model = current.model == nil ? eden : nil }
      current.model = nil
      #expect(own.loop != nil && bystander.loop == nil)
    }

    @Test func `readers of contexts on no actor that set each other off are ended and named`() async throws {
      let store = library.store
      try await Task.detached {
        let context = ModelContext(store, isolation: nil)
        let eden = try #require(context.model(Novel.self, key: 1))
        let solaris = try #require(context.model(Novel.self, key: 2))
        let a = observe(in: context) { solaris.edition.number = eden.edition.number + 1 }
        let b = observe(in: context) { eden.edition.number = solaris.edition.number + 1 }
        try context.save()
        #expect((a.loop ?? b.loop)?.rounds == ObservationLoop.limit)
      }.value
    }

    @Test func `a reader that corrects what it reads until it is right is no loop`() async throws {
      let eden = library.eden
      let clamp = observe {
        eden.edition.number
      } didChange: { _, new in
        if new > 10 { eden.edition.number = new - 1 }
      }
      eden.edition.number = 60
      await waitUntil { eden.edition.number == 10 }
      await library.turn()
      #expect(clamp.loop == nil && eden.edition.number == 10)
      for number in 0..<300 {
        eden.edition.number = number % 2
        await library.turn()
      }
      #expect(clamp.loop == nil && clamp.runs > 300, "changes from outside are no rounds of a loop")
    }
  }
}
