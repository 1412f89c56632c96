import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireLive

/// What incremental views are known to get wrong, one test each.
@MainActor @Suite(.fewOnMainActor) struct PitfallTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
  }

  private func fill(_ titles: String...) throws {
    for title in titles { context.insert(Book(title)) }
    try context.save()
  }

  private func byTitle(limit: Int? = nil, offset: Int = 0) throws -> LiveQuery<Book> {
    try context.live(Book.self, sortBy: [SortDescriptor(\.title)], limit: limit, offset: offset)
  }

  private func run(_ statements: String...) throws {
    try store.writeSQL { transaction in for sql in statements { try transaction.connection.execute(sql) } }
    try context.refresh()
  }

  @Test func `1: ties are in the order of their keys, in the window and at its end`() throws {
    try fill("a", "a", "a", "a")
    let list = try byTitle(limit: 2)
    try run("UPDATE book SET title = 'b' WHERE id = 1")
    #expect(list.bookKeys == [2, 3])
    try run("UPDATE book SET title = 'a' WHERE id = 1")
    #expect(list.bookKeys == [1, 2])
  }

  @Test func `2: a window that runs short is refilled, and knows when there is no more`() throws {
    for number in 0..<60 { context.insert(Book(String(format: "%02d", number))) }
    try context.save()
    let list = try byTitle(limit: 3)
    try run("INSERT INTO book (title, price, is_in) VALUES ('99', 0, 1)")
    #expect(list.queriesRun == 1)
    try run("DELETE FROM book WHERE title < '30'")
    #expect(list.titles == ["30", "31", "32"])
    #expect(list.queriesRun > 1)
    try run("DELETE FROM book WHERE title < '59'")
    #expect(list.titles == ["59", "99"])
    let queries = list.queriesRun
    try run("INSERT INTO book (title, price, is_in) VALUES ('98', 0, 1)")
    #expect(list.titles == ["59", "98", "99"])
    #expect(list.queriesRun == queries, "the whole result is held: nothing to ask for")
  }

  @Test func `3: removals and additions of one transaction count together`() throws {
    for number in 0..<40 { context.insert(Book(String(format: "%02d", number))) }
    try context.save()
    let list = try byTitle(limit: 2)
    try run(
      "DELETE FROM book WHERE title < '17'",
      "INSERT INTO book (title, price, is_in) VALUES ('005', 0, 1), ('006', 0, 1)")
    #expect(list.titles == ["005", "006"])
    #expect(list.queriesRun == 1)
  }

  @Test func `4: out of the window and back, the row at its bound, and limits of nothing and one`() throws {
    try fill("a", "b", "c", "d")
    let (none, one, two) = (try byTitle(limit: 0), try byTitle(limit: 1), try byTitle(limit: 2))
    try run("UPDATE book SET title = 'z' WHERE id = 2")
    #expect(two.titles == ["a", "c"] && one.titles == ["a"] && none.isEmpty)
    try run("UPDATE book SET title = 'b' WHERE id = 2")
    #expect(two.titles == ["a", "b"])
    try run("UPDATE book SET title = 'bb' WHERE id = 2")
    #expect(two.titles == ["a", "bb"])
    try run("DELETE FROM book WHERE id = 1")
    #expect(one.titles == ["bb"] && two.titles == ["bb", "c"] && none.isEmpty)
  }

  @Test func `5: a changed key is a row that goes and one that comes`() throws {
    try fill("a", "b")
    let list = try byTitle()
    var told: [Difference<ModelRow<Book>>.Change] = []
    let token = list.onDifference { told += $0.changes }
    try run("UPDATE book SET id = 7 WHERE id = 1")
    #expect(list.bookKeys == [7, 2])
    guard told.count == 2, case .delete(0, let old) = told[0], case .insert(0, let new) = told[1] else {
      Issue.record("told \(told)")
      return
    }
    #expect(old.id.key == 1 && new.id.key == 7 && old.title == "a" && new.title == "a")
    token.cancel()
  }

  @Test func `6: a row that changes its parent leaves one list and enters another`() throws {
    let (lem, dick) = (Author("Lem"), Author("Dick"))
    let book = Book("Solaris", author: lem)
    context.insert(book)
    context.insert(dick)
    try context.save()
    let his = try context.live(Book.self, where: #Predicate { $0.author?.name == "Lem" })
    let other = try context.live(Book.self, where: #Predicate { $0.author?.name == "Dick" })
    book.author = dick
    try context.save()
    #expect(his.isEmpty && other.titles == ["Solaris"])
    // Both sides at once: the name goes to the other author, and the book comes back.
    try run("UPDATE author SET name = 'Lem' WHERE name = 'Dick'", "UPDATE author SET name = 'Dick' WHERE id = 1")
    #expect(his.titles == ["Solaris"] && other.isEmpty)
  }

  @Test func `8: the other side of a path comes and goes`() throws {
    try fill("a", "b")
    let named = try context.live(
      Book.self, where: #Predicate { $0.author?.name != "X" },
      sortBy: [SortDescriptor(\.author?.name), SortDescriptor(\.title)])
    let count = try context.liveCount(Book.self, where: #Predicate { $0.author?.rank == nil })
    #expect(named.titles == ["a", "b"] && count.value == 2)
    try run("INSERT INTO author (id, name, rank) VALUES (5, 'A', 1)", "UPDATE book SET author_id = 5 WHERE id = 1")
    #expect(named.titles == ["b", "a"] && count.value == 1)
    try run("UPDATE author SET name = 'X', rank = NULL")
    #expect(named.titles == ["b"] && count.value == 2)
    try run("UPDATE book SET author_id = NULL", "DELETE FROM author")
    #expect(named.titles == ["a", "b"] && count.value == 2)
  }

  @Test func `13: a column added with a default, and one that is computed, change nothing`() throws {
    try fill("a", "b", "c")
    let list = try context.live(Book.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)])
    let count = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
    var told: [[String: Value]] = []
    let token = list.onDifference { for case .update(_, let old, _) in $0 { told.append(old.values) } }
    try run("ALTER TABLE book ADD COLUMN extra INTEGER DEFAULT 42")
    try run("ALTER TABLE book ADD COLUMN twice REAL AS (price * 2) VIRTUAL")
    try run("UPDATE book SET extra = 7 WHERE id = 1")
    #expect(told.last?["extra"] == 42)
    try run("UPDATE book SET is_in = 0 WHERE id = 2", "UPDATE book SET title = '0' WHERE id = 3")
    #expect(list.titles == ["0", "a"] && count.value == 2)
    try store.execute("UPDATE book SET is_in = 1, title = 'zz'")
    try store.execute("ALTER TABLE book RENAME COLUMN extra TO other")
    try run("UPDATE book SET title = id, is_in = id <> 1")
    #expect(list.titles == ["2", "3"] && count.value == 2)
    token.cancel()
  }

  @Test func `14: text is ordered and compared by its bytes, numbers exactly`() throws {
    try fill("é", "e\u{301}", "z", "\u{FFFD}", "😀", "E")
    let list = try byTitle()
    try run("UPDATE book SET title = title || '!'", "UPDATE book SET title = replace(title, '!', '')")
    try run("UPDATE book SET note = id")
    #expect(list.map { Array($0.title.utf8) } == ["E", "e\u{301}", "z", "é", "\u{FFFD}", "😀"].map { Array($0.utf8) })
    let exact = try context.live(Book.self, where: #Predicate { $0.title == "é" })
    try run("UPDATE book SET title = 'e\u{301}' WHERE id = 1")
    #expect(exact.isEmpty)
    try run("UPDATE book SET title = 'é' WHERE id = 2")
    #expect(exact.bookKeys == [2])
    let large = try context.live(Book.self, where: #Predicate { $0.year == 9007199254740993 })
    try run("UPDATE book SET year = 9007199254740992 + (id > 3), price = -0.0")
    #expect(large.bookKeys == [4, 5, 6])
    let zero = try context.liveCount(Book.self, where: #Predicate { $0.price == 0 })
    #expect(zero.value == 6)
    try run("UPDATE book SET price = 0.0 WHERE id = 1", "UPDATE book SET price = 1e-320 WHERE id = 2")
    #expect(zero.value == 5)
  }

  @Test func `15: a query made while a transaction runs gets its commit, once and whole`() async throws {
    try fill("a", "b")
    let (store, context) = (store, context)
    let (begun, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let writer = Thread {
      try? store.writeSQL { transaction in
        try transaction.connection.execute("UPDATE book SET is_in = 0 WHERE id = 1")
        begun.signal()
        go.wait()
        try transaction.connection.execute("INSERT INTO book (title, price, is_in) VALUES ('c', 0, 1)")
      }
      begun.signal()
    }
    writer.start()
    wait(begun)
    let list = try context.live(Book.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)])
    let count = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
    #expect(list.titles == ["a", "b"] && count.value == 2)
    go.signal()
    wait(begun)
    #expect(list.titles == ["a", "b"])
    try context.refresh()
    #expect(list.titles == ["b", "c"] && count.value == 2)
  }

  @Test func `16: who does not move for long gets all that happened as one difference`() throws {
    try fill("a", "b", "c")
    let list = try byTitle(limit: 2)
    let count = try context.liveCount(Book.self, where: #Predicate { ($0.year ?? 0) > 0 })
    var told: [Difference<ModelRow<Book>>] = []
    let token = list.onDifference { told.append($0) }
    for number in 0..<3000 { try store.execute("UPDATE book SET year = \(number) WHERE id = 1") }
    try store.execute("UPDATE book SET title = 'z' WHERE id = 2")
    try context.refresh()
    #expect(told.count == 1 && count.value == 1 && list.bookKeys == [1, 3])
    guard case .update(_, let old, let new)? = told.first?.changes.last else {
      Issue.record("told \(told)")
      return
    }
    #expect(old.year == .some(nil) && new.year == 2999)
    #expect(told.first?.commit == store.latestCommit && list.commitNumber == store.latestCommit)
    token.cancel()
  }

  @Test func `17: of many lists that differ in a value only those of the old and the new one are woken`() throws {
    try fill("a")
    let lists = try (0..<200).map { year in try context.live(Book.self, where: #Predicate { $0.year == year }) }
    var woken: [Int] = []
    let tokens = lists.enumerated().map { index, list in list.onDifference { _ in woken.append(index) } }
    try run("UPDATE book SET year = 7")
    try run("UPDATE book SET year = 150")
    #expect(woken == [7, 7, 150])
    #expect(lists.allSatisfy { $0.queriesRun == 1 })
    tokens.forEach { $0.cancel() }
  }

  @Test(arguments: [-1, Int.min, Int.max, Int.max - 1]) func `limits and offsets beyond reason do not trap`(limit: Int)
    throws
  {
    try fill("a", "b")
    let list = try byTitle(limit: limit, offset: limit)
    let fresh = try context.fetch(
      FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)], fetchLimit: limit, fetchOffset: limit))
    #expect(list.titles == fresh.titles)
    try run("INSERT INTO book (title, price, is_in) VALUES ('c', 0, 1)")
    #expect(list.isEmpty)
  }
}

extension ModelContainer {
  /// The number of the latest commit, as a context that begins now sees it.
  @MainActor var latestCommit: Int64 { ModelContext(self, isolation: nil).commitNumber }
}

/// Waits off the books of the compiler: the other side is a thread that does not need ours.
func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }
