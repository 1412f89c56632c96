import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel

/// Readers as sequences, on no actor, and of several kinds of objects at once.
extension ContractTests {
  @MainActor @Suite struct ReaderFormsTests {
    let library: QuireLibrary
    var context: ModelContext { library.context }

    init() throws { library = try QuireLibrary() }

    // MARK: Values as a sequence

    @Test(arguments: allSources)
    func `observing gives the present value, then one for each turn, and the latest to who is slow`(
      source: any ChangeSource
    ) async throws {
      let eden = library.eden
      var values = observing { eden.title }.makeAsyncIterator()
      #expect(await values.next() == "Eden")
      try source.make([.title(1, "a")], in: library)
      try source.make([.title(1, "b")], in: library)
      try context.refresh()
      #expect(await values.next() == "b")
      for title in ["c", "d", "e"] { try await library.make(source, .title(1, title)) }
      #expect(await values.next() == "e")
    }

    @Test func `a closure that returns an optional is observed, and nil is one of its values`() async throws {
      let eden = library.eden
      let titles = observing { eden.isIn ? eden.title : nil }
      var values = titles.makeAsyncIterator()
      #expect(await values.next() == .some("Eden"))
      eden.isIn = false
      await library.turn()
      #expect(await values.next() == .some(nil))
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
      #expect(await untilNil.next() == "Eden")
      eden.title = "bad"
      var seen: [String] = []
      await #expect(throws: Gone.self) {
        await library.turn()
        for try await title in throwing { seen.append(title) }
      }
      eden.isIn = false
      await library.turn()
      #expect(await untilNil.next() == "bad")
      #expect(await untilNil.next() == nil)
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

    // MARK: Of several kinds at once

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
    func `what the sqlite3 program writes reaches readers and references without a call`() async throws {
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
