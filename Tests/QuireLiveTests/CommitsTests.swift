import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// The exact channel: each commit once, in order, with old and new values.
@MainActor @Suite(.fewOnMainActor) struct CommitsTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
  }

  private func insert(_ titles: String...) throws {
    for title in titles { context.insert(Book(title, year: 1)) }
    try context.save()
  }

  @Test func `each commit comes once, in order, with its origin and typed values`() async throws {
    var commits = store.commits.makeAsyncIterator()
    try insert("a", "b")
    try store.execute("UPDATE book SET title = 'x', year = NULL WHERE id = 1")
    let other = ModelContext(store, isolation: nil)
    let book = try #require(other.model(Book.self, key: 2))
    other.delete(book)
    other.author = "the other"
    try other.save()
    try store.execute("UPDATE book SET title = 'none' WHERE id = 99")  // no row: no commit

    let first = try #require(try await commits.next())
    let inserted = first.changes(of: Book.self)
    #expect(inserted.map(\.kind) == [.insert, .insert])
    #expect(inserted.map { $0.new?.title } == ["a", "b"] && inserted.allSatisfy { $0.old == nil })
    let second = try #require(try await commits.next())
    let updated = try #require(second.changes(of: Book.self).first)
    #expect(second.number == first.number + 1 && updated.kind == .update && updated.id.key == 1)
    #expect(updated.old?.title == "a" && updated.new?.title == "x")
    #expect(updated.old?.year == 1 && updated.new?.year == .some(nil))
    #expect(updated.new?.isIn == true && updated.new?[column: "is_in"] == 1)
    let third = try #require(try await commits.next())
    let deleted = try #require(third.changes(of: Book.self).first)
    #expect(deleted.kind == .delete && deleted.old?.title == "b" && deleted.new == nil)
    #expect(third.changes(of: Author.self).isEmpty)

    guard case .context(let one) = first.origin, case .context(let two) = third.origin else {
      Issue.record("\(first.origin) \(third.origin)")
      return
    }
    #expect(one != two && second.origin == .sql)
    #expect(first.author == nil && second.author == nil && third.author == "the other")
  }

  @Test func `what is committed before the first look is kept`() async throws {
    let commits = store.commits
    try insert("a")
    try insert("b")
    var titles: [String?] = []
    for try await commit in commits {
      titles += commit.changes(of: Book.self).map { $0.new?.title }
      if titles.count == 2 { break }
    }
    #expect(titles == ["a", "b"])
  }

  @Test func `a savepoint undone, a failed statement and a row put back are in no commit`() async throws {
    try insert("a", "b")
    var commits = store.commits.makeAsyncIterator()
    struct Undone: Error {}
    try store.writeSQL { transaction in
      try? transaction.savepoint {
        try transaction.connection.execute("UPDATE book SET title = 'no'")
        throw Undone()
      }
      try transaction.connection.execute("UPDATE book SET title = 'q' WHERE id = 1")
      try transaction.connection.execute("UPDATE book SET title = 'a' WHERE id = 1")
      _ = try? transaction.connection.execute("UPDATE book SET id = 5")
      try transaction.connection.execute("UPDATE book SET year = 3 WHERE id = 2")
    }
    let commit = try #require(try await commits.next())
    #expect(commit.changes(of: Book.self).map(\.id.key) == [2])
  }

  @Test func `a reader that falls behind learns once which commits it missed, and goes on`() async throws {
    var commits = store.commits(buffering: 4).makeAsyncIterator()
    for number in 0..<11 { try insert("\(number)") }
    let last = store.latestCommit
    do {
      _ = try await commits.next()
      Issue.record("nothing was missed")
    } catch let missed as CommitsMissed {
      #expect(missed.range == (last - 10)...(last - 3))
      #expect(missed.description.contains("\(last - 10) to \(last - 3)"))
    }
    for number in (last - 2)...last { #expect(try await commits.next()?.number == number) }
    try insert("more")
    #expect(try await commits.next()?.number == last + 1)
  }

  @Test func `a reader at its bound has missed nothing`() async throws {
    var commits = store.commits(buffering: 4).makeAsyncIterator()
    for number in 0..<4 { try insert("\(number)") }
    let last = store.latestCommit
    for number in (last - 3)...last { #expect(try await commits.next()?.number == number) }
  }

  @Test func `two subscribers are independent`() async throws {
    var one = store.commits.makeAsyncIterator()
    var two = store.commits(buffering: 1).makeAsyncIterator()
    try insert("a")
    try insert("b")
    do {
      _ = try await two.next()
      Issue.record("nothing was missed")
    } catch is CommitsMissed {}
    let last = store.latestCommit
    #expect(try await one.next()?.number == last - 1)
    #expect(try await two.next()?.number == last)
    #expect(try await one.next()?.number == last)
  }

  @Test(.timeLimit(.minutes(60))) func `cancelling its task ends a reader, and no other that follows`() async throws {
    let commits = store.commits
    let (taken, take) = AsyncStream<Void>.makeStream()
    let reader = Task.detached {
      var count = 0
      for try await _ in commits {
        count += 1
        take.finish()
      }
      return count
    }
    try insert("a")
    for await _ in taken {}
    reader.cancel()
    #expect(try await reader.value == 1)
    // The same sequence read on by another task waits as before, and does not spin.
    let next = Task.detached { try await commits.first { _ in true }?.number }
    try await Task.sleep(for: .milliseconds(20))
    try insert("b")
    #expect(try await next.value == store.latestCommit)
  }

  @Test(.timeLimit(.minutes(60))) func `closing the container ends it, after what was committed before`() async throws {
    let commits = store.commits
    let waiting = store.commits
    let waiter = Task.detached {
      var count = 0
      for try await _ in waiting { count += 1 }
      return count
    }
    try insert("a")
    try await Task.sleep(for: .milliseconds(20))
    try store.close()
    #expect(try await waiter.value == 1)
    var count = 0
    for try await _ in commits { count += 1 }
    #expect(count == 1)
    for try await _ in store.commits { Issue.record("a commit of a closed store") }
    for try await _ in try store.commits(of: Author.self) { Issue.record("a commit of a closed store") }
  }

  @Test(.timeLimit(.minutes(60))) func `it does not keep the container open`() async throws {
    var gone: ModelContainer? = try makeStore()
    weak let kept = gone
    let commits = try #require(gone?.commits)
    try gone?.execute("INSERT INTO author (name) VALUES ('a')")
    gone = nil
    #expect(kept == nil)
    var count = 0
    for try await commit in commits { count += commit.changes(of: Author.self).count }
    #expect(count == 1)
  }

  @Test(.timeLimit(.minutes(60))) func `under writes from many threads each commit comes once and in order`()
    async throws
  {
    let (store, commits) = (store, store.commits)
    let first = store.latestCommit
    let writers = (0..<4).map { writer in
      Task.detached {
        for number in 0..<100 {
          try store.execute("INSERT INTO author (name, rank) VALUES (\("\(writer)"), \(number))")
        }
      }
    }
    var numbers: [Int64] = []
    var ranks: [String: [Int]] = [:]
    for try await commit in commits {
      numbers.append(commit.number)
      for change in commit.changes(of: Author.self) {
        if let name = change.new?.name, let rank = change.new?.rank ?? nil { ranks[name, default: []].append(rank) }
      }
      if numbers.count == 400 { break }
    }
    for writer in writers { try await writer.value }
    #expect(numbers == Array(first + 1...first + 400))
    #expect(ranks.count == 4 && ranks.values.allSatisfy { $0 == Array(0..<100) })
  }

  @Test func `a side effect hangs on the commit: once, however many readers`() async throws {
    let context = ModelContext(store)
    let list = try context.live(Book.self)
    let readers = (0..<5).map { _ in observe { _ = list.count } }
    var commits = store.commits.makeAsyncIterator()
    context.insert(Book("a"))
    try context.save()
    var log: [Int64] = []
    if let commit = try await commits.next() { log.append(commit.number) }
    for _ in 0..<10 { await Task.yield() }
    #expect(log.count == 1 && readers.allSatisfy { $0.runs == 2 })
  }
}
