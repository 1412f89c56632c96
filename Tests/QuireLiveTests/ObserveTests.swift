import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel

/// `observe { … }`, and what it and live queries cost when they are gone.
@MainActor @Suite(.fewOnMainActor) struct ObserveTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store)
    for title in ["a", "b", "c"] { context.insert(Book(title, year: 1)) }
    try context.save()
  }

  /// Until the jobs that are waiting on the main actor have run.
  private func turn() async { for _ in 0..<20 { await Task.yield() } }

  private func settle(_ condition: () -> Bool) async throws {
    for _ in 0..<20_000 where !condition() { try await Task.sleep(for: .milliseconds(1)) }
    await turn()
  }

  @Test func `a reader runs at once, and again after what it read has changed`() async throws {
    let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
    var seen: [String] = []
    let token = observe { seen.append(book.title) }
    #expect(seen == ["a"])
    book.title = "x"
    #expect(seen == ["a"])
    await turn()
    #expect(seen == ["a", "x"] && token.runs == 2)
    book.year = 7
    book.title = "x"
    await turn()
    #expect(seen == ["a", "x"], "what it did not read, and an equal value")
    try store.execute("UPDATE book SET title = 'y' WHERE id = 1")
    try context.refresh()
    await turn()
    #expect(seen == ["a", "x"], "its own unsaved edit wins")
  }

  @Test func `who asks to hear before still reads the old value`() throws {
    let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
    let list = try context.live(Book.self, where: #Predicate { $0.isIn })
    let count = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
    var before: [Int] = []
    for part in 0..<2 {
      track {
        _ = part == 0 ? list.count : count.value
      } before: {
        before += [list.count, count.value, Int(context.commitNumber)]
      }
    }
    let commit = Int(context.commitNumber)
    book.isIn = false
    try context.save()
    #expect(before == [3, 3, commit, 3, 3, commit])
    #expect(list.count == 2 && count.value == 2 && context.commitNumber == Int64(commit) + 1)
  }

  @Test func `many changes of one turn reach a reader as one`() async throws {
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    let count = try context.liveCount(Book.self)
    var seen: [String] = []
    let token = observe { seen.append(list.titles.joined() + "\(count.value)") }
    for title in ["d", "e", "f"] {
      context.insert(Book(title))
      try context.save()
    }
    list[0].title = "A"
    try context.save()
    await turn()
    #expect(seen == ["abc3", "Abcdef6"] && token.runs == 2)
  }

  @Test(arguments: ["model", "another context", "SQL"])
  func `one title changes: its row's reader runs again, the list's and the others' do not`(how: String) async throws {
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.year)])
    var runs: [String] = []
    let whole = observe { runs.append("list of \(list.count)") }
    let rows = list.map { book in observe { runs.append(book.title) } }
    runs.removeAll()
    switch how {
    case "model":
      list[1].title = "x"
      try context.save()
    case "SQL": try store.execute("UPDATE book SET title = 'x' WHERE id = 2")
    default:
      let other = ModelContext(store, isolation: nil)
      other.model(Book.self, key: 2)?.title = "x"
      try other.save()
    }
    try await settle { !runs.isEmpty }
    #expect(runs == ["x"])
    runs.removeAll()
    // A move of rows concerns the list alone.
    try store.execute("UPDATE book SET year = 9 WHERE id = 1")
    try await settle { !runs.isEmpty }
    #expect(runs == ["list of 3"])
    #expect(whole.runs == 2 && rows.map(\.runs) == [1, 2, 1])
  }

  @Test func `when its token goes a reader never runs again, and is freed`() async throws {
    final class Witness {}
    let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
    weak var witness: Witness?
    var runs = 0
    do {
      let held = Witness()
      witness = held
      let token = observe {
        _ = held
        _ = book.title
        runs += 1
      }
      book.title = "waits"  // the run is asked for, and comes too late
      _ = token
    }
    await turn()
    #expect(runs == 1 && witness == nil)
    book.title = "y"
    await turn()
    #expect(runs == 1)
  }

  @Test func `cancelled inside itself a reader does not run again`() async throws {
    let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
    var token: ObservationToken?
    var runs = 0
    token = observe {
      _ = book.title
      runs += 1
      token?.cancel()
    }
    book.title = "x"
    await turn()
    book.title = "y"
    await turn()
    #expect(runs == 2, "the second run cancelled it")
  }

  @Test func `a dropped live query is freed, on whatever thread, and costs nothing from then on`() async throws {
    let context = ModelContext(store, isolation: nil)
    weak var list: LiveQuery<Book>?
    weak var inner: WindowOperator?
    weak var count: LiveValue<Int>?
    do {
      let made = try context.live(Book.self, where: #Predicate { $0.isIn })
      let number = try context.liveCount(Book.self)
      let token = made.onDifference { _ in }
      (list, inner, count) = (made, made.list, number)
      #expect(!context.owner.following.followers.isEmpty)
      nonisolated(unsafe) let handed = (made, number, token)
      await Task.detached { _ = handed }.value
    }
    #expect(list == nil && inner == nil && count == nil)
    #expect(context.owner.following.followers.isEmpty)
    try store.execute("UPDATE book SET is_in = 0")
    try context.refresh()
    #expect(context.owner.following.followers.count == 0, "forgotten with the first commit of its table")
  }

  @Test func `queries made and dropped are not heaped up`() throws {
    for _ in 0..<1000 { _ = try context.live(Author.self) }
    #expect(context.owner.following.followers.count < 200)
  }
}
