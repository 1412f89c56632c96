import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

/// A live result that is paused: it costs nothing, stays what it was, and goes on with one difference.
@MainActor @Suite(.fewOnMainActor) struct PauseTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    for (number, title) in ["a", "b", "c", "d", "e", "f"].enumerated() { context.insert(Book(title, year: number)) }
    try context.save()
  }

  private func shelf(limit: Int? = 3) throws -> LiveQuery<Book> {
    try context.live(Book.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: limit)
  }

  private func run(_ statements: String...) throws {
    for sql in statements {
      try store.execute(SQL(verbatim: sql))
      try context.refresh()
    }
  }

  @Test func `paused, all of them are no followers, want no columns and run nothing; they stay at their commit`()
    throws
  {
    let list = try shelf()
    let rows = try context.live(BookLine.self, sortBy: [SortDescriptor(\.title)], limit: 3)
    let count = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
    let sum = try context.liveSum(\Book.year)
    let groups = try context.liveGroups(Book.self, by: \.isIn, .count)
    let token = list.onDifference { _ in }
    let commit = context.commitNumber
    func columns() -> [Bool] {
      store.store.database.interests.wants(table: "book", columns: ["title", "is_in", "year", "price", "note"])
    }
    #expect(columns() == [true, true, true, true, true] && !context.owner.following.followers.isEmpty)
    func all(_ isPaused: Bool) -> Bool {
      [list.isPaused, rows.isPaused, count.isPaused, sum.isPaused, groups.isPaused].allSatisfy { $0 == isPaused }
    }
    #expect(all(false))
    list.pause()
    rows.pause()
    count.pause()
    sum.pause()
    groups.pause()
    #expect(all(true) && columns() == [false, false, false, false, false])
    #expect(context.owner.following.followers.isEmpty)
    let queries = [list.queriesRun, rows.queriesRun, count.queriesRun, sum.queriesRun, groups.queriesRun]
    try run("UPDATE book SET is_in = 0, title = 'z' || title WHERE year < 4", "DELETE FROM book WHERE year = 4")
    #expect(queries == [list.queriesRun, rows.queriesRun, count.queriesRun, sum.queriesRun, groups.queriesRun])
    #expect(list.bookKeys == [1, 2, 3] && rows.map(\.title) == ["a", "b", "c"] && count.value == 6 && sum.value == 15)
    #expect(groups.map(\.values) == [6])
    let commits = [list.commitNumber, rows.commitNumber, count.commitNumber, sum.commitNumber, groups.commitNumber]
    #expect(Set(commits) == [commit] && context.commitNumber == commit + 2)

    try list.resume()
    try rows.resume()
    try count.resume()
    try sum.resume()
    try groups.resume()
    #expect(all(false) && columns() == [true, true, true, true, true])
    #expect(list.titles == ["f"] && rows.map(\.title) == ["f", "za", "zb"] && count.value == 1 && sum.value == 11)
    #expect(groups.map(\.values) == [4, 1] && groups.commitNumber == context.commitNumber)
    try run("UPDATE book SET is_in = 1, year = 1")
    #expect(list.titles == ["f", "za", "zb"] && count.value == 5 && sum.value == 5 && groups.map(\.values) == [5])
    try list.resume()  // follows already
    token.cancel()
  }

  @Test func `one difference leads from what was shown to the present, with the values of then`() throws {
    let list = try shelf()
    var told: [Difference<ModelRow<Book>>] = []
    let token = list.onDifference { told.append($0) }
    list.pause()
    try run(
      "UPDATE book SET note = 'x' WHERE title = 'a'", "DELETE FROM book WHERE title = 'b'",
      "UPDATE book SET title = 'cc', note = 'y' WHERE title = 'c'", "UPDATE book SET note = 'z' WHERE title = 'a'")
    #expect(told.isEmpty)
    try list.resume()
    #expect(told.count == 1 && told.first?.commit == context.commitNumber)
    var text: [String] = []
    for change in told.first?.changes ?? [] {
      switch change {
      case .delete(let at, let old): text.append("delete \(at) \(old.title ?? "")")
      case .insert(let at, let new): text.append("insert \(at) \(new.title ?? "")")
      case .update(let at, let old, let new):
        text.append("update \(at) \(old.title ?? "") → \(new.title ?? "") \(new.note.flatMap { $0 } ?? "")")
      case .move: text.append("move")
      }
    }
    #expect(text == ["delete 1 b", "insert 2 d", "update 0 a → a z", "update 1 c → cc y"])
    list.pause()
    try list.resume()
    #expect(told.count == 1, "nothing happened in between")
    token.cancel()
  }

  @Test func `a listener that comes late in a pause is told of what may have changed, without old values`() throws {
    let list = try shelf()
    list.pause()
    var told: [Difference<ModelRow<Book>>.Change] = []
    let early = list.onDifference { told += $0.changes }  // in time: nothing has happened yet
    try run("UPDATE book SET note = 'x' WHERE title = 'a'")
    try list.resume()
    guard told.count == 1, case .update(0, let old, _) = told[0] else {
      Issue.record("told \(told)")
      return
    }
    #expect(old.title == "a")
    early.cancel()
    list.pause()
    try run("UPDATE book SET note = 'y' WHERE title = 'a'")
    told = []
    let late = list.onDifference { told += $0.changes }
    try list.resume()
    #expect(told.count == 3)
    for case .update(_, let old, let new) in told { #expect(old.values.isEmpty && new.isIn == true) }
    late.cancel()
  }

  @Test func `who read properties through a paused list is woken when it goes on`() throws {
    let list = try shelf()
    list.pause()
    var woken = 0
    track {
      _ = list.titles
    } before: {
      woken += 1
    }
    context.owner.sweeper.sweepAll()
    try run("UPDATE book SET note = 'x'")
    try list.resume()
    #expect(woken == 1)
  }

  @Test func `asked something else in a pause, it shows that when it goes on`() throws {
    let list = try shelf()
    let rows = try context.live(BookLine.self, sortBy: [SortDescriptor(\.title)], limit: 2)
    let count = try context.liveCount(Book.self)
    let groups = try context.liveGroups(Book.self, by: \.isIn, .count)
    for pause in [list.pause, rows.pause, count.pause, groups.pause] { pause() }
    let queries = list.queriesRun
    try list.update { $0.fetchLimit = 1 }
    try rows.update { $0.fetchOffset = 1 }
    try count.update(where: #Predicate<Book> { $0.title > "d" })
    try groups.update(where: #Predicate<Book> { $0.title > "d" })
    #expect(list.count == 3 && rows.map(\.title) == ["a", "b"] && count.value == 6 && groups.map(\.values) == [6])
    #expect(list.queriesRun == queries && list.isPaused)
    for resume in [list.resume, rows.resume, count.resume, groups.resume] { try resume() }
    #expect(list.titles == ["a"] && rows.map(\.title) == ["b", "c"] && count.value == 2 && groups.map(\.values) == [2])
    try run("DELETE FROM book WHERE title IN ('a', 'f')")
    #expect(list.titles == ["b"] && rows.map(\.title) == ["c", "d"] && count.value == 1 && groups.map(\.values) == [1])
  }

  @Test func `paused out of an announcement, it has taken that step; others hear theirs`() throws {
    let (list, other) = (try shelf(), try shelf(limit: nil))
    var told: [String] = []
    track {
      _ = list.count
    } before: {
      #expect(list.titles == ["a", "b", "c"])
      list.pause()
      #expect(list.titles == ["b", "c", "d"] && other.count == 5)
    }
    let tokens = [
      list.onDifference { _ in told.append("list") }, other.onDifference { _ in told.append("other") },
    ]
    try run("DELETE FROM book WHERE title = 'a'", "DELETE FROM book WHERE title = 'b'")
    #expect(told == ["list", "other", "other"] && list.count == 3 && list.commitNumber == context.commitNumber - 1)
    // Resumed out of an announcement: it stands where the others do.
    track {
      _ = other.count
    } before: {
      do { try list.resume() } catch { Issue.record(error) }
      #expect(list.titles == ["d", "e", "f"] && other.count == 3)
    }
    try run("DELETE FROM book WHERE title = 'c'")
    #expect(list.titles == ["d", "e", "f"] && told == ["list", "other", "other", "other", "list"])
    tokens.forEach { $0.cancel() }
  }

  @Test func `dropped while paused, nothing is left; a resume that fails leaves it paused`() throws {
    var list: LiveQuery<Book>? = try shelf()
    weak let gone = list
    list?.pause()
    list = nil
    #expect(gone == nil && context.owner.following.followers.isEmpty)
    let (other, count) = (try shelf(), try context.liveCount(Book.self))
    other.pause()
    count.pause()
    try store.close()
    #expect(throws: (any Error).self) { try other.resume() }
    #expect(throws: (any Error).self) { try count.resume() }
    #expect(other.isPaused && count.isPaused && other.count == 3 && count.value == 6)
  }

  @Test func `what could not follow can be paused, and goes on without its error`() throws {
    try run("UPDATE book SET year = \(Int.max) WHERE title = 'a'", "UPDATE book SET year = 0 WHERE title <> 'a'")
    let sum = try context.liveSum(\Book.year)
    let commit = context.commitNumber
    try run("UPDATE book SET year = 1 WHERE title = 'b'")
    #expect(sum.error != nil && sum.commitNumber == commit)
    sum.pause()
    #expect(throws: AggregateError.self) { try sum.resume() }
    #expect(sum.isPaused && sum.error != nil)
    try run("UPDATE book SET year = 2 WHERE title = 'a'")
    try sum.resume()
    #expect(sum.error == nil && sum.value == 3 && sum.commitNumber == context.commitNumber)
  }
}
