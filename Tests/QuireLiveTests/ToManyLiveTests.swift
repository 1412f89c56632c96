import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireLive

/// Live queries that ask about to-many relationships, one trap each.
@MainActor @Suite(.fewOnMainActor) struct ToManyLiveTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    for number in 1...30 {
      let author = Author("\(number)")
      context.insert(author)
      if number % 10 == 0 { context.insert(Book("book \(number)", author: author)) }
    }
    try context.save()
  }

  private func live(_ predicate: Predicate<Author>) throws -> LiveQuery<Author> {
    try context.live(Author.self, where: predicate)
  }

  private func run(_ statements: String...) throws {
    try store.writeSQL { transaction in for sql in statements { try transaction.connection.execute(sql) } }
    try context.refresh()
  }

  private func insert(_ title: String, _ author: String, isIn: Int = 1) -> String {
    "INSERT INTO book (title, price, is_in, author_id) VALUES ('\(title)', 0, \(isIn), \(author))"
  }

  private func names(_ list: LiveQuery<Author>) -> [String] { list.map(\.name) }

  @Test func `the first row and the last one flip the answer`() throws {
    let some = try live(#Predicate { !$0.books.isEmpty })
    let none = try live(#Predicate { $0.books.isEmpty && $0.name < "11" })
    #expect(names(some) == ["10", "20", "30"])
    #expect(names(none) == ["1"])
    try run(insert("first", "1"))
    #expect(names(some) == ["1", "10", "20", "30"])
    #expect(names(none) == [])
    try run(insert("second", "1"))
    try run("DELETE FROM book WHERE title = 'first'")
    #expect(names(some) == ["1", "10", "20", "30"])
    try run("DELETE FROM book WHERE title = 'second'")
    #expect(names(some) == ["10", "20", "30"])
    #expect(names(none) == ["1"])
  }

  @Test func `a row that moves leaves the one and comes to the other, in one difference`() throws {
    let list = try live(#Predicate { $0.books.contains { $0.isIn } })
    var told: [String] = []
    let token = list.onDifference { difference in
      for change in difference {
        switch change {
        case .insert(_, let new): told.append("+\(new.name ?? "")")
        case .delete(_, let old): told.append("-\(old.name ?? "")")
        default: told.append("?")
        }
      }
    }
    try run("UPDATE book SET author_id = 7 WHERE title = 'book 20'")
    #expect(told == ["-20", "+7"])
    #expect(names(list) == ["7", "10", "30"])
    try run("UPDATE book SET author_id = NULL WHERE title = 'book 10'")
    #expect(names(list) == ["7", "30"])
    try run("UPDATE book SET author_id = 10, is_in = 0 WHERE title = 'book 10'")
    #expect(names(list) == ["7", "30"])
    try run("UPDATE book SET is_in = 1 WHERE title = 'book 10'")
    #expect(names(list) == ["7", "10", "30"])
    token.cancel()
  }

  @Test func `rows without a parent concern nobody`() throws {
    let list = try live(#Predicate { $0.books.count == 0 })
    let count = list.count
    let queries = list.queriesRun
    try run(insert("orphan", "NULL"))
    try run("UPDATE book SET author_id = NULL WHERE title = 'orphan'", "DELETE FROM book WHERE title = 'orphan'")
    #expect(list.count == count)
    #expect(list.queriesRun == queries)
  }

  @Test func `what the question does not look at costs nothing, what it does costs one statement`() throws {
    let list = try live(#Predicate { $0.books.contains { $0.isIn } })
    let count = try context.liveCount(Author.self, where: #Predicate { $0.books.contains { $0.isIn } })
    try run("UPDATE book SET title = 'other', price = 9", "UPDATE author SET name = 'x' WHERE id > 25")
    #expect(list.queriesRun == 1)
    #expect(count.queriesRun == 1)
    try run(insert("new", "3"))
    #expect(list.queriesRun == 2, "asked for one author by key")
    #expect(count.queriesRun == 2)
    #expect(count.value == 4 && list.count == 4)
  }

  @Test func `numbers, sums and groups over to-many rows read all rows once, and then those concerned`() throws {
    let predicate = #Predicate<Author> { $0.books.contains { $0.isIn } }
    let count = try context.liveCount(Author.self, where: predicate)
    let greatest = try context.liveMax(\Author.name, where: predicate)
    let groups = try context.liveGroups(Author.self, by: \.rank, .count, where: predicate)
    let counted = count
    let measured = greatest
    for number in 1...60 {
      let before = count.queriesRun
      try run(insert("in \(number)", "\(number % 30 + 1)"))
      #expect(count.queriesRun == before + 1, "of all authors one is asked for, by key")
    }
    #expect(count.value == 30)
    for number in 1...29 { try run("DELETE FROM book WHERE author_id = \(number)") }
    #expect(count.value == 1 && greatest.value == "30" && groups.map(\.values) == [1])
    #expect(counted.timesFilled == 1 && measured.timesFilled == 1 && groups.timesFilled == 1)
    try run("UPDATE author SET id = 99 WHERE id = 29", "UPDATE book SET is_in = 0")
    #expect(count.value == 0 && greatest.value == nil && groups.isEmpty && counted.timesFilled == 1)
  }

  @Test func `a number over to-many rows asks something else, and is paused, as any other`() throws {
    let count = try context.liveCount(Author.self)
    try count.update(where: #Predicate<Author> { !$0.books.isEmpty })
    #expect(count.value == 3)
    try run(insert("x", "1"))
    #expect(count.value == 4)
    count.pause()
    try run("DELETE FROM book WHERE title = 'x'", insert("y", "2"), insert("z", "3"))
    #expect(count.value == 4)
    try count.resume()
    #expect(count.value == 5)
    try run("DELETE FROM book WHERE title = 'z'")
    #expect(count.value == 4)
    try count.update(where: Predicate<Author>?.none)
    #expect(count.value == 30)
  }

  @Test func `a row that comes before its parent counts when that comes`() throws {
    let list = try live(#Predicate { $0.books.count == 2 })
    try run(
      "PRAGMA defer_foreign_keys = ON", insert("a", "99"), insert("b", "99"),
      "INSERT INTO author (id, name) VALUES (99, 'late')")
    #expect(names(list) == ["late"])
    try run("DELETE FROM author WHERE id = 99")
    #expect(names(list) == [])
    #expect(try store.query("SELECT count(*) FROM book")[0][0] == 3)
  }

  @Test func `deleting a parent takes its rows along`() throws {
    let list = try live(#Predicate { !$0.books.isEmpty })
    let books = try context.live(Book.self, where: #Predicate { $0.author?.books.isEmpty == false })
    context.delete(try #require(list.first))
    try context.save()
    #expect(names(list) == ["20", "30"])
    #expect(books.titles == ["book 20", "book 30"])
  }

  @Test func `a window over a question is refilled`() throws {
    let list = try context.live(
      Author.self, where: #Predicate { $0.books.isEmpty }, sortBy: [SortDescriptor(\.name)], limit: 2)
    #expect(names(list) == ["1", "11"])
    for key in 1...26 where key != 10 && key != 20 { try run(insert("more", "\(key)")) }
    #expect(names(list) == ["27", "28"])
    try run("DELETE FROM book WHERE author_id = 5")
    #expect(names(list) == ["27", "28"])
    try run("DELETE FROM book WHERE author_id IN (2, 1)")
    #expect(names(list) == ["1", "2"])
  }

  @Test func `a query made while a transaction runs is right after it`() throws {
    var made: LiveQuery<Author>?
    try store.writeSQL { transaction in
      try transaction.connection.execute("UPDATE book SET author_id = 7 WHERE title = 'book 20'")
      made = try live(#Predicate { !$0.books.isEmpty })
    }
    let list = try #require(made)
    try context.refresh()
    #expect(names(list) == ["7", "10", "30"])
    #expect(list.error == nil)
  }

  @Test func `a projection asks the same questions`() throws {
    let lines = try context.live(BookLine.self, where: #Predicate { ($0.author?.books.count ?? 0) > 1 })
    #expect(lines.isEmpty)
    try run(insert("second", "10"))
    #expect(lines.map(\.title) == ["book 10", "second"])
    try run("UPDATE book SET author_id = 20 WHERE title = 'second'")
    #expect(lines.map(\.title) == ["book 20", "second"])
  }
}
