import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

/// What other processes commit reaches objects, lists, counts and subscribers: by comparison, or row by row from the
/// change log.
@MainActor @Suite(.timeLimit(.minutes(60))) struct OtherProcessTests {
  private let folder: URL
  private let file: URL
  private let store: ModelContainer

  private let keeper: Scratch

  init() throws {
    keeper = try Scratch()
    folder = URL(filePath: keeper.path)
    file = folder.appending(path: "library.db")
    store = try OtherProcessTests.open(file)
  }

  private static func open(_ file: URL, changeLog: ChangeLog = .asInFile) throws -> ModelContainer {
    var configuration = ModelConfiguration(url: file, changeLog: changeLog)
    configuration.synchronous = .off
    return try ModelContainer(for: Schema(Author.self, Book.self), configurations: configuration)
  }

  /// Waits, far longer than it can take; what is waited for must come by itself.
  private func wait(for what: String, _ isThere: () throws -> Bool) async throws {
    let start = ContinuousClock.now
    var looks = 0
    while try !isThere() {
      looks += 1  // where the machine is busy, time alone does not say that it has had its turn
      if looks > 5000, start.duration(to: .now) > .seconds(120) {
        Issue.record("never came: \(what)")
        throw CancellationError()
      }
      try await Task.sleep(for: .microseconds(200))
    }
  }

  // MARK: One at a time

  @Test func `an object, its lists and what is deleted are as in the file, without a call`() async throws {
    let context = ModelContext(store)
    try store.execute("INSERT INTO author (name) VALUES ('a'), ('b')")
    try store.execute("INSERT INTO book (title, price, is_in, author_id) VALUES ('x', 0, 1, 1), ('y', 0, 1, 1)")
    let authors = try context.fetch(FetchDescriptor<Author>())
    let books = try context.fetch(FetchDescriptor<Book>())
    #expect(authors[0].books.count == 2 && authors[1].books.isEmpty)
    books[1].note = "unsaved"
    var heard: [String] = []
    let title = observe { heard.append(books[0].title) }
    let list = observe { heard.append("\(authors[1].books.count)") }

    let other = try OtherProcessTests.open(file)
    try other.writeSQL { transaction in
      try transaction.connection.execute("UPDATE book SET title = 'z', author_id = 2 WHERE id = 1")
      try transaction.connection.execute("UPDATE book SET title = 'merged', note = 'theirs' WHERE id = 2")
      try transaction.connection.execute("INSERT INTO book (title, price, is_in, author_id) VALUES ('new', 0, 1, 2)")
    }
    try await wait(for: "the commit") { heard.count == 4 }
    #expect(heard.prefix(2) == ["x", "0"] && heard.suffix(2).sorted() == ["2", "z"])
    #expect(books[0].author === authors[1] && authors[0].books.bookKeys == [2] && authors[1].books.bookKeys == [1, 3])
    #expect(books[1].title == "merged" && books[1].note == "unsaved")

    try other.execute("DELETE FROM book WHERE id = 1")
    try await wait(for: "the delete") { books[0].isDeleted }
    #expect(books[0].title == "z" && authors[1].books.bookKeys == [3])
    try context.save()
    try #expect(store.query("SELECT title, note FROM book WHERE id = 2").map(\.values) == [["merged", "unsaved"]])
    _ = (title, list)
  }

  @Test func `a save meets what another process has written meanwhile`() throws {
    let context = ModelContext(store, isolation: nil)
    let book = Book("a", year: 1)
    context.insert(book)
    try context.save()
    let live = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    let other = try OtherProcessTests.open(file)
    try other.execute("UPDATE book SET title = 'theirs', year = 9")
    try other.execute("INSERT INTO book (title, price, is_in) VALUES ('more', 0, 1)")
    book.title = "mine"
    try context.save()
    #expect(book.title == "mine" && book.year == 9 && live.titles == ["mine", "more"])
    #expect(live.commitNumber == store.latestCommit)
    let one = Book("one")
    context.insert(one)
    try context.save()
    #expect(one.persistentModelID.key == 3 && live.titles == ["mine", "more", "one"])
  }

  @Test func `a commit of another process right behind a save is taken in with it`() throws {
    let context = ModelContext(store, isolation: nil)
    let other = try OtherProcessTests.open(file)
    let book = Book("a", year: 1)
    context.insert(book)
    try context.save()
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    let count = try context.liveCount(Book.self)
    store.store.database.share(true)
    let subscription = store.store.database.subscribe { commit in
      guard commit.origin != .otherProcess else { return }
      _ = try? other.execute("INSERT INTO book (title, price, is_in) VALUES ('b', 0, 1)")
      _ = try? other.execute("UPDATE book SET year = 5 WHERE id = 1")
    }
    book.title = "c"
    try context.save()
    subscription.cancel()
    #expect(list.titles == ["b", "c"] && count.value == 2 && book.year == 5)
    #expect(context.commitNumber == store.latestCommit && list.commitNumber == count.commitNumber)
  }

  @Test func `keys that another process used and freed are not given out again`() throws {
    let context = ModelContext(store, isolation: nil)
    context.insert(Book("a"))
    try context.save()
    let other = try OtherProcessTests.open(file)
    try other.execute("INSERT INTO book (title, price, is_in) VALUES ('b', 0, 1)")
    let theirs = try #require(try context.fetch(FetchDescriptor<Book>()).last)
    try other.execute("DELETE FROM book WHERE id = 2")
    let mine = Book("c")
    context.insert(mine)
    try context.save()
    #expect(theirs.isDeleted && theirs.persistentModelID.key == 2 && mine.persistentModelID.key == 3)
  }

  @Test func `a key that one process has given is not given again by another`() throws {
    let url = folder.appending(path: "tickets.db")
    let here = ModelContext(try ModelContainer(for: Ticket.self, url: url), isolation: nil)
    let there = try QuireProgram(url.path)
    func insert() throws -> Int64 {
      let ticket = Ticket()
      here.insert(ticket)
      try here.save()
      return try #require(ticket.persistentModelID.rowKey)
    }
    func insertThere() throws -> Int64 {
      try #require(Int64(there.run("insert").trimmingCharacters(in: .newlines)))
    }
    func delete(_ key: Int64) throws {
      here.delete(try #require(here.model(Ticket.self, key: key)))
      try here.save()
    }
    try #expect(insertThere() == 1 && insert() == 2)
    try delete(2)
    try #expect(insertThere() == 3)
    try there.run("delete 3")
    try #expect(insert() == 4)
    try there.run("delete 4")
    try #expect(insertThere() == 5 && insert() == 6)
    try delete(6)
    there.kill()
    let after = try QuireProgram(url.path)
    try #expect(after.run("insert") == "7\n")
    after.end()
  }

  @Test(.enabled(if: SQLiteShell.isThere)) func `a row that another process made undecodable is an error, and stays`()
    throws
  {
    let context = ModelContext(store, isolation: nil)
    let book = Book("a")
    context.insert(book)
    try context.save()
    let shell = try SQLiteShell(file.path)
    try shell.run("PRAGMA ignore_check_constraints = ON; UPDATE book SET is_in = 7;")
    try context.refresh()
    #expect(!book.isDeleted && book.title == "a")
    #expect(context.drainDeferredErrors().contains { $0 is ModelError })
  }

  @Test func `a feed of one model gets the comparison too`() async throws {
    var commits = try store.commits(of: Book.self, changing: \.title).makeAsyncIterator()
    let other = try OtherProcessTests.open(file)
    try other.execute("INSERT INTO author (name) VALUES ('a')")
    let commit = try #require(try await commits.next())
    #expect(commit.rowsUnknown && commit.origin == .otherProcess && commit.changes.isEmpty)
  }

  // MARK: Real processes

  @Test(.enabled(if: SQLiteShell.isThere), arguments: [false, true])
  func `200 commits of the shell: nothing missed, order kept, both sides equal`(logged: Bool) async throws {
    if logged { try OtherProcessTests.open(file, changeLog: .on()).close() }
    let context = ModelContext(store)
    try store.execute("INSERT INTO author (name) VALUES ('a')")
    let author = try #require(try context.fetch(FetchDescriptor<Author>()).first)
    #expect(author.books.isEmpty)
    let list = try context.live(
      Book.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.year), SortDescriptor(\.title)], limit: 20)
    let count = try context.liveCount(Book.self)
    var atOneInstant = true
    let together = observe {
      _ = (list.count, count.value)
      if list.commitNumber != count.commitNumber { atOneInstant = false }
    }
    let commits = store.commits
    let first = store.latestCommit
    let reader = Task.detached {
      var numbers: [Int64] = []
      var comparisons = 0
      var own = 0
      var untrue = 0
      for try await commit in commits {
        numbers.append(commit.number)
        if commit.rowsUnknown { comparisons += 1 }
        if commit.rowsUnknown != (commit.origin == .otherProcess && commit.tables.isEmpty) { untrue += 1 }
        if commit.origin == .otherProcess { continue }
        own += commit.tables.reduce(0) { $0 + ($1.table.name == "author" ? $1.rows.count : 0) }
      }
      #expect(untrue == 0)
      return (numbers, comparisons, own)
    }

    let shell = try SQLiteShell(file.path)
    var sql = ""
    var random = Random(seed: 17)
    for number in 1...200 {
      let next =
        switch random.below(4) {
        case 0: "UPDATE book SET is_in = 1 - is_in, note = '\(number)' WHERE id % 7 = \(number % 7);\n"
        case 1: "DELETE FROM book WHERE id = \(random.below(number) + 1);\n"
        default:
          "INSERT INTO book (title, year, price, is_in, author_id) VALUES ('t\(random.below(50))', \(random.below(9)), 0, 1, 1);\n"
        }
      sql += next
    }
    shell.send(sql + "UPDATE author SET name = 'end';")
    for number in 0..<20 {
      try store.execute("INSERT INTO author (name) VALUES (\("own \(number)"))")
      try await Task.sleep(for: .microseconds(500))
    }
    _ = try shell.waitForAnswer()
    try await wait(for: "the last commit") { author.name == "end" && context.commitNumber == store.latestCommit }

    let fresh = ModelContext(store, isolation: nil)
    let all = try fresh.fetch(FetchDescriptor<Book>())
    let expected = try fresh.fetch(
      FetchDescriptor<Book>(
        predicate: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.year), SortDescriptor(\.title)], fetchLimit: 20))
    #expect(list.bookKeys == expected.bookKeys && count.value == all.count)
    #expect(list.map(\.note) == expected.map(\.note))
    #expect(author.books.bookKeys.sorted() == all.bookKeys.sorted())
    #expect(atOneInstant && together.runs > 1)
    try store.close()
    let (numbers, comparisons, own) = try await reader.value
    #expect(numbers == Array(first + 1...(numbers.last ?? 0)))
    #expect((comparisons > 0) == !logged && own == 20)
  }

  // MARK: The file itself

  @Test(arguments: ["replaced", "moved", "deleted"])
  func `a file gone from its path is told to contexts, live queries and subscribers, once`(how: String) async throws {
    let context = ModelContext(store)
    let book = Book("a")
    context.insert(book)
    try context.save()
    let list = try context.live(Book.self)
    let count = try context.liveCount(Book.self)
    var commits = store.commits.makeAsyncIterator()
    switch how {
    case "replaced":
      try OtherProcessTests.open(folder.appending(path: "other.db")).close()
      #expect(rename(folder.appending(path: "other.db").path, file.path) == 0)
    case "moved": #expect(rename(file.path, folder.appending(path: "moved.db").path) == 0)
    default: #expect(unlink(file.path) == 0)
    }
    let expected = DatabaseError.fileReplaced(path: store.store.database.path)
    do {
      while let commit = try await commits.next() { #expect(!commit.rowsUnknown) }
      Issue.record("the feed ended")
    } catch let error as DatabaseError {
      #expect(error == expected)
    }
    try await wait(for: "the report") { list.error != nil }
    #expect(list.error as? DatabaseError == expected && count.error as? DatabaseError == expected)
    #expect(list.titles == ["a"] && count.value == 1 && book.title == "a")
    #expect(context.drainDeferredErrors().compactMap { $0 as? DatabaseError } == [expected])
    book.title = "lost"
    #expect(throws: expected) { try context.save() }
    #expect(context.drainDeferredErrors().isEmpty && context.hasChanges)
  }
}

/// What Tests/OtherWriter has too.
@Model final class Ticket {
  var text = ""
  init() {}
}
