import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireSQLite

/// Who looks at a commit before it happens, and may refuse it.
@MainActor @Suite(.fewOnMainActor) struct BeforeCommitTests {
  private let store: ModelContainer
  private let context: ModelContext

  private struct Refused: Error, Equatable { var why: String }

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    try store.execute("INSERT INTO author (name) VALUES ('a'), ('b')")
    try store.execute("INSERT INTO book (title, price, is_in, author_id) VALUES ('x', 1, 1, 1), ('y', 2, 1, 1)")
  }

  /// What was shown, as lines, and what is to be thrown.
  private final class Seen: Sendable {
    let lines = Locked<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    func take() -> [String] {
      lines.withLock { lines in
        defer { lines.removeAll() }; return lines
      }
    }
  }

  private func watch(_ seen: Seen) -> ObservationToken {
    store.beforeCommit { commit in
      for table in commit.tables {
        for row in table.rows {
          seen.add("\(table.table.name) \(row.kind) \(row.old?.values.count ?? 0) \(row.new?.values.count ?? 0)")
        }
      }
    }
  }

  @Test func `it sees saves, SQL, cascades and triggers as whole rows, folded, with author and origin`() throws {
    let seen = Seen()
    let token = watch(seen)
    try store.execute("CREATE TRIGGER noted AFTER UPDATE OF title ON book BEGIN UPDATE author SET rank = 7; END")
    #expect(seen.take() == [])  // a change of the schema has no rows
    try store.execute("UPDATE book SET title = 'z' WHERE id = 1", author: "import")
    #expect(seen.take() == ["book update 7 7", "author update 3 3", "author update 3 3"])
    try store.execute("DELETE FROM author WHERE id = 1")
    #expect(Set(seen.take()) == ["author delete 3 0", "book delete 7 0"])
    struct Undone: Error {}
    try store.writeSQL { transaction in
      try? transaction.savepoint {
        try transaction.connection.execute("DELETE FROM author")
        throw Undone()
      }
      try transaction.connection.execute("INSERT INTO author (id, name) VALUES (9, 'i')")
      try transaction.connection.execute("UPDATE author SET name = 'j' WHERE id = 9")
    }
    #expect(seen.take() == ["author insert 0 3"])
    let who = Seen()
    let names = store.beforeCommit { commit in
      who.add(
        "\(commit.author ?? "nobody") \(commit.origin == .sql) \(commit.changes(of: Author.self).map(\.new?.name))")
    }
    context.author = "ada"
    context.insert(Author("k"))
    try context.save()
    try store.execute("UPDATE author SET name = 'l' WHERE id = 10", author: "sql")
    #expect(who.all == ["ada false [Optional(\"k\")]", "sql true [Optional(\"l\")]"])
    try store.execute("UPDATE author SET name = 'm' WHERE id = 99")  // changes nothing: there is nothing to look at
    #expect(who.all.count == 2)
    _ = (token, names)
  }

  @Test func `what it refuses is rolled back, the writer gets its error, and nobody hears of it`() async throws {
    let rule = store.beforeCommit { commit in
      for change in commit.changes(of: Book.self) where change.new?.title == "" { throw Refused(why: "untitled") }
    }
    var commits = store.commits.makeAsyncIterator()
    let list = try context.live(Book.self)
    let number = store.latestCommit
    #expect(throws: Refused(why: "untitled")) { try store.execute("UPDATE book SET title = ''") }
    #expect(throws: Refused(why: "untitled")) {
      try store.writeSQL { transaction in
        try transaction.connection.execute("DELETE FROM author")
        try transaction.connection.execute("INSERT INTO book (title, price, is_in) VALUES ('', 0, 1)")
      }
    }
    let book = try #require(context.model(Book.self, key: 1))
    let new = Book("n")
    context.insert(new)
    book.title = ""
    context.delete(try #require(context.model(Author.self, key: 2)))
    #expect(throws: Refused(why: "untitled")) { try context.save() }
    #expect(context.hasChanges && book.title == "" && context.insertedModelsArray.count == 1)
    #expect(context.deletedModelsArray.count == 1)
    #expect(store.latestCommit == number && list.map(\.persistentModelID.key) == [1, 2])
    try #expect(store.query("SELECT count(*), group_concat(title) FROM book").map(\.values) == [[2, "x,y"]])
    book.title = "good"
    context.author = "second try"
    try context.save()
    #expect(new.persistentModelID.key > 2 && list.titles == ["good", "y", "n"])
    let commit = try #require(try await commits.next())
    #expect(commit.number == number + 1 && commit.author == "second try" && commit.changes(of: Book.self).count == 2)
    rule.cancel()
    try store.execute("UPDATE book SET title = ''")
    #expect(list.titles.count == 3)
  }

  @Test func `an error that looks like SQLite's own comes as it was thrown`() throws {
    let code = SQLiteError(code: 2067, message: "UNIQUE constraint failed: book.title", sql: nil)
    let seen = Seen()
    let rule = store.beforeCommit { _ in
      seen.add("asked")
      throw code
    }
    try context.refresh()
    try #require(context.model(Book.self, key: 1)).title = "q"
    context.delete(try #require(context.model(Book.self, key: 2)))
    #expect(throws: code) { try context.save() }
    #expect(throws: code) { try context.delete(model: Author.self) }
    #expect(throws: SQLiteError(code: 5, message: "busy", sql: nil)) {
      rule.cancel()
      let other = store.beforeCommit { _ in throw SQLiteError(code: 5, message: "busy", sql: nil) }
      defer { other.cancel() }
      try store.execute("DELETE FROM book")
    }
    #expect(seen.all.count == 2)  // a save is not tried in another order
    try #expect(store.query("SELECT count(*) FROM book").map(\.values) == [[2]])
  }

  @Test func `several are asked in order of adding, and the first that throws is the last`() throws {
    let seen = Seen()
    let one = store.beforeCommit { _ in seen.add("one") }
    var two: ObservationToken? = store.beforeCommit { _ in
      seen.add("two")
      throw Refused(why: "two")
    }
    let three = store.beforeCommit { _ in seen.add("three") }
    #expect(throws: Refused(why: "two")) { try store.execute("DELETE FROM book") }
    #expect(seen.take() == ["one", "two"])
    _ = two
    two = nil  // with its token it ends
    try store.execute("DELETE FROM book")
    #expect(seen.take() == ["one", "three"])
    _ = (one, three)
  }

  @Test func `it reads what will be, and cannot write`() throws {
    let seen = Seen()
    let store = store
    let rule = store.beforeCommit { commit in
      seen.add("\(try commit.query("SELECT count(*) FROM book WHERE price > 0").map(\.values)) ")
      seen.add("\(try store.query("SELECT count(*) FROM book").map(\.values))")  // on another connection: as it is
      for sql in ["DELETE FROM book", "CREATE TABLE t (a)", "PRAGMA user_version = 3", "CREATE TEMP TABLE u (a)"] {
        do { _ = try commit.query(SQL(verbatim: sql)) } catch DatabaseError.writeBeforeCommit { seen.add("refused") }
      }
      do { try store.execute("DELETE FROM book") } catch DatabaseError.nestedWrite { seen.add("nested") }
    }
    try store.execute("DELETE FROM book WHERE id = 1")
    #expect(seen.take() == ["[[1]] ", "[[2]]", "refused", "refused", "refused", "refused", "nested"])
    try #expect(store.query("SELECT count(*) FROM book").map(\.values) == [[1]])
    let out = store.beforeCommit { commit in _ = try commit.query("DELETE FROM author").map(\.values) }
    #expect(throws: DatabaseError.writeBeforeCommit(sql: "DELETE FROM author")) {
      try store.execute("DELETE FROM book")
    }
    try #expect(store.query("SELECT count(*) FROM author").map(\.values) == [[2]])
    _ = (rule, out)
  }

  @Test func `a deferred foreign key is looked at after it, and undoes as ever`() throws {
    let seen = Seen()
    let token = watch(seen)
    #expect(throws: (any Error).self) {
      try store.writeSQL { transaction in
        try transaction.connection.execute("PRAGMA defer_foreign_keys = ON")
        try transaction.connection.execute("UPDATE book SET author_id = 77 WHERE id = 1")
      }
    }
    #expect(seen.all == ["book update 7 7"])
    try #expect(store.query("SELECT author_id FROM book WHERE id = 1").map(\.values) == [[1]])
    _ = token
  }

  @Test func `without one nothing is captured for it`() throws {
    let database = store.store.database
    func decoded() throws -> Int {
      var count = 0
      try database.write {
        try $0.connection.execute("UPDATE book SET price = price + 1 WHERE id = 1")
      } committed: {
        count = $1.changes.tables[0].rows[0].new?.values.count ?? 0
      }
      return count
    }
    try #expect(decoded() == 0)
    let token = store.beforeCommit { _ in }
    try #expect(decoded() == 7)
    token.cancel()
    try #expect(decoded() == 0)
  }

  @Test(.timeLimit(.minutes(60))) func `under writes of many threads each commit is asked about once, with its rows`()
    async throws
  {
    let (store, seen) = (store, Seen())
    let commits = store.commits
    let token = store.beforeCommit { commit in
      for change in commit.changes(of: Author.self) {
        if change.new?.name == "bad" { throw Refused(why: "bad") }
        seen.add(change.new?.name ?? "")
      }
    }
    let writers = (0..<4).map { writer in
      Task.detached {
        var refused = 0
        for number in 0..<50 {
          let name = number % 5 == 0 ? "bad" : "\(writer) \(number)"
          do { try store.execute("INSERT INTO author (name) VALUES (\(name))") } catch is Refused {
            refused += 1
          }
          // Others come and go.
          if number % 7 == 0 { store.beforeCommit { _ in }.cancel() }
        }
        return refused
      }
    }
    var refused = 0
    for writer in writers { refused += try await writer.value }
    var names: [String] = []
    for try await commit in commits {
      names += commit.changes(of: Author.self).compactMap { $0.new?.name }
      if names.count == 160 { break }
    }
    #expect(refused == 40 && seen.all == names)
    _ = token
  }
}
