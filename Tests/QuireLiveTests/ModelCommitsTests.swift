import Foundation
import Quire
import TestSupport
import Testing

/// The exact channel, filtered by model and by property.
@MainActor @Suite(.fewOnMainActor) struct ModelCommitsTests {
  private let store: ModelContainer

  init() throws {
    store = try makeStore()
    try store.execute("INSERT INTO author (id, name) VALUES (1, 'Lem'), (2, 'Woolf')")
    try store.execute("INSERT INTO book (id, title, year, price, is_in, author_id) VALUES (1, 'Eden', 1959, 0, 1, 1)")
  }

  @Test func `commits of one model come without those of others`() async throws {
    var commits = try store.commits(of: Book.self).makeAsyncIterator()
    try store.execute("UPDATE author SET name = 'S. Lem' WHERE id = 1")
    try store.execute("UPDATE book SET year = 1960")
    try store.execute("UPDATE author SET name = 'V. Woolf' WHERE id = 2; UPDATE book SET title = 'Fiasko'")
    let first = try #require(try await commits.next())
    #expect(first.changes.map { $0.old?.year } == [1959] && first.changes.map { $0.new?.year } == [1960])
    let second = try #require(try await commits.next())
    #expect(second.number == first.number + 1 && second.origin == .sql)
    #expect(second.changes.map { $0.new?.title } == ["Fiasko"])
  }

  @Test func `commits of a property come for its updates, and for inserts and deletes`() async throws {
    var commits = try store.commits(of: Book.self, changing: \.year).makeAsyncIterator()
    try store.execute("UPDATE book SET title = 'A'")
    try store.execute("INSERT INTO book (id, title, year, price, is_in) VALUES (2, 'B', NULL, 0, 1)")
    try store.execute("UPDATE book SET title = 'C', year = CASE id WHEN 1 THEN 1961 ELSE year END")
    try store.execute("DELETE FROM book WHERE id = 2")
    #expect(try await commits.next()?.changes.map(\.kind) == [.insert])
    let updated = try #require(try await commits.next())
    #expect(updated.changes.map(\.id.rowKey) == [1], "book 2 changed its title alone")
    #expect(try await commits.next()?.changes.map(\.kind) == [.delete])
  }

  @Test func `a relationship is followed by its foreign key, and refused where another table holds it`() async throws {
    var commits = try store.commits(of: Book.self, changing: \.author).makeAsyncIterator()
    try store.execute("UPDATE book SET title = 'A'")
    try store.execute("UPDATE book SET author_id = 2")
    #expect(try await commits.next()?.changes.first?.new?[column: "author_id"] == 2)
    #expect(throws: ModelError.self) { try store.commits(of: Author.self, changing: \.books) }
  }

  @Test func `commits that do not concern it take none of its room`() async throws {
    var commits = try store.commits(of: Book.self, buffering: 1).makeAsyncIterator()
    try store.execute("UPDATE book SET title = 'A'")
    for number in 0..<10 { try store.execute("UPDATE author SET name = \("\(number)")") }
    #expect(try await commits.next()?.changes.map { $0.new?.title } == ["A"])
  }

  @Test func `who falls behind in one model learns which of its commits he missed, and goes on`() async throws {
    var commits = try store.commits(of: Book.self, changing: \.year, buffering: 2).makeAsyncIterator()
    let first = store.latestCommit + 1
    for year in 1...5 {
      try store.execute("UPDATE book SET year = \(year)", author: "ada")
      try store.execute("UPDATE book SET title = title || '.'; UPDATE author SET rank = 1")
    }
    do {
      _ = try await commits.next()
      Issue.record("nothing was missed")
    } catch { #expect((error as? CommitsMissed)?.range == first...first + 6) }
    let last = try #require(try await commits.next())
    #expect(last.number == first + 8 && last.author == "ada" && last.changes.map { $0.new?.year } == [5])
    try store.execute("UPDATE book SET year = 6")
    #expect(try await commits.next()?.changes.map { $0.old?.year } == [5])
  }
}
