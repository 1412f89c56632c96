import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel
@testable import QuireSQLite

/// The state of a context's commit is gone, as where another process commits before it could be kept: what is read without
/// an error stays in place, and does not move the context.
@MainActor @Suite(.fewOnMainActor) struct GoneStateTests {
  let store: ModelContainer
  let context: ModelContext
  private let keeper: Scratch

  init() throws {
    keeper = try Scratch()
    store = try ModelContainer(for: Author.self, Book.self, url: URL(filePath: keeper.file("library.db")))
    context = ModelContext(store)
    try fill(store, context)
    try store.execute(
      """
      INSERT INTO author (id, name, rank) VALUES (2, 'B', 2);
      WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO book (id, title, year, price, is_in, author_id) SELECT i, 'd' || i, 1, 1, 1, 2 FROM n
      """)
    try context.refresh()
  }

  /// Commits as others do, and the state before it is gone.
  private func others(_ sql: SQL) throws {
    try store.execute(sql)
    store.store.database.positions.giveUpOldSnapshots()
  }

  @Test func `a loop over a live list goes to its end`() async throws {
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    let (count, commit) = (list.count, context.owner.position.number)
    #expect(list[0].title == "a")
    try others("DELETE FROM book WHERE id BETWEEN 2 AND 2990; UPDATE book SET title = 'z' || title WHERE id > 10")
    var (titles, deleted) = ([String](), 0)
    for book in list {
      titles.append(book.title)
      if book.isDeleted { deleted += 1 }
      _ = (book.author?.name, book.author?.books.count)
    }
    #expect(titles.count == count && deleted > 2000 && context.owner.position.number == commit)
    while list.count == count { await Task.yield() }
    #expect(list.titles == ["a"] + (2991...3000).map { "zd\($0)" } && !list.contains { $0.isDeleted })
    #expect(try context.fetch(FetchDescriptor<Author>()).map(\.books.count) == [1, 10])
  }

  /// Does something once, when a save has committed and before the context takes its place.
  private final class Meanwhile: CommitFollower {
    let tables = ["author"]
    private var body: (() throws -> Void)?
    private(set) var error: (any Error)?

    init(_ body: @escaping () throws -> Void) { self.body = body }

    func compute(_ batch: CommitBatch, on connection: Connection) -> Bool {
      do { try body.take()?() } catch { self.error = error }
      return false
    }
    func willChange() {}
    func apply() {}
    func didChange() {}
  }

  @Test(.enabled(if: SQLiteShell.isThere))
  func `where another process commits in the instant after a save, the context goes on to that`() async throws {
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    let author = try #require(try context.get(Author.self, key: 1))
    let shell = try SQLiteShell(keeper.file("library.db"))
    try shell.run("SELECT count(*) FROM book;")
    while !store.store.database.isShared { await Task.yield() }
    let meanwhile = Meanwhile {
      try shell.run("DELETE FROM book WHERE id > 11; UPDATE book SET title = title || '!';")
    }
    context.owner.following.followers.add(meanwhile)
    author.name = "own"
    try context.save()
    #expect(meanwhile.error == nil && author.name == "own" && !context.owner.position.isLost)
    let afresh = try ModelContext(store).fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])).map(\.title)
    #expect(list.titles == afresh && afresh.last == "d11!")
  }

  @Test func `lists that are loaded are those of the newest state, and the context takes the rest in when it moves`()
    throws
  {
    let authors = try context.fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)]))
    let first = try #require(try context.get(Book.self, key: 1))
    let commit = context.owner.position.number
    try others(
      "UPDATE book SET author_id = 2 WHERE id = 1; DELETE FROM book WHERE id > 11; UPDATE author SET name = 'C'")
    // In neither list: the object in memory still refers to the first author, whose row it has left.
    #expect(authors[1].books.bookKeys == [10, 11] && authors[0].books.bookKeys == [2])
    #expect(context.owner.position.number == commit && authors[0].name == "A")
    try context.refresh()
    #expect(authors[1].books.bookKeys == [1, 10, 11] && first.author === authors[1] && authors[0].name == "C")
  }
}
