import Quire
import Testing

@testable import QuireLive
@testable import QuireModel

extension ContractTests {
  /// Readers and listeners that set themselves off without end are ended and named, and nobody else is.
  @MainActor @Suite struct ReaderLoopTests {
    let library: QuireLibrary
    var context: ModelContext { library.context }

    init() throws { library = try QuireLibrary() }

    private func waitUntil(_ condition: () -> Bool) async {
      for _ in 0..<5000 where !condition() { await Task.yield() }
    }

    @Test func `readers that set each other off without end are ended and named, and the others go on`() async throws {
      let (eden, solaris) = (library.eden, library.volume(2))
      let reported = Locked<[ObservationLoop]>([])
      ObservationLoop.onDetection { loop in reported.withLock { $0.append(loop) } }
      let bystander = observe { _ = eden.edition.number }
      let line = #line + 1
      let a = observe { solaris.edition.number = eden.edition.number + 1 }
      let b = observe { eden.edition.number = solaris.edition.number + 1 }
      await waitUntil { a.loop != nil || b.loop != nil }
      let loop = try #require(a.loop ?? b.loop)
      #expect(loop.line == line + (a.loop == nil ? 1 : 0) && loop.file.hasSuffix("ReaderLoopTests.swift"))
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

    @Test func `a willChange that assigns what it reads is called once a turn`() async throws {
      let eden = library.eden
      var told: [Int] = []
      let token = observe {
        eden.edition.number
      } willChange: { old in
        told.append(old)
        eden.edition.number = old + 100
      } didChange: { _, _ in
      }
      let first = eden.edition.number
      eden.edition.number = 7
      await library.turn()
      #expect(told == [first] && eden.edition.number == 7 && token.runs == 2)
      eden.edition.number = 8
      await library.turn()
      #expect(told == [first, 7] && eden.edition.number == 8 && token.runs == 3 && token.loop == nil)
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
