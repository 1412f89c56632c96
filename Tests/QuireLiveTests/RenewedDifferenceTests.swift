import Foundation
import Quire
import QuireRow
import TestSupport
import Testing

@testable import QuireModel
@testable import QuireSQLite

/// Differences of results that read everything again instead of taking a step.
@MainActor @Suite struct RenewedDifferenceTests {
  let scratch: Scratch
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    scratch = try Scratch()
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    try store.execute("INSERT INTO author (name) VALUES ('Lem')")
    try store.execute(
      "INSERT INTO book (title, price, is_in, author_id) VALUES ('a', 1, 1, 1), ('b', 2, 1, 1), ('c', 3, 1, 1)")
  }

  private func run(_ statements: String...) throws {
    for sql in statements { try store.execute(SQL(verbatim: sql)) }
  }

  /// What differences make of the values that were shown: a line for each row.
  private final class Copy {
    var lines: [String]
    var old: [String] = []
    init(_ list: LiveQuery<Book>) { lines = list.map { "\($0.title) \($0.price) \($0.note ?? "")" } }

    static func line(_ row: ModelRow<Book>) -> String {
      row.values.isEmpty ? "?" : "\(row.title ?? "") \(row.price ?? 0) \(row.note.flatMap { $0 } ?? "")"
    }

    func apply(_ difference: Difference<ModelRow<Book>>) {
      for case .delete(let at, let row) in difference {
        lines.remove(at: at)
        old.append(Self.line(row))
      }
      for case .insert(let at, let row) in difference { lines.insert(Self.line(row), at: at) }
      for case .update(let at, let before, let row) in difference {
        lines[at] = Self.line(row)
        old.append(Self.line(before))
      }
    }
  }

  private var fresh: [String] {
    get throws {
      try ModelContext(store, isolation: nil).fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
        .map { "\($0.title) \($0.price) \($0.note ?? "")" }
    }
  }

  @Test func `commits before and after an added column are one difference with the first and the last values`() throws {
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    let copy = Copy(list)
    let token = list.onDifference { copy.apply($0) }
    try run(
      "UPDATE book SET note = 'x' WHERE id = 1", "UPDATE book SET price = 5 WHERE id = 2",
      "ALTER TABLE book ADD COLUMN extra TEXT", "UPDATE book SET price = 7 WHERE id = 2",
      "INSERT INTO book (title, price, is_in) VALUES ('d', 4, 1)", "UPDATE book SET note = 'y' WHERE title = 'd'")
    try context.refresh()
    #expect(try copy.lines == fresh)
    #expect(Set(copy.old) == ["a 1.0 ", "b 2.0 "])
    token.cancel()
  }

  @Test(arguments: [false, true])
  func `a list that could not follow for a while tells of all that may have changed`(isReplaced: Bool) throws {
    let list = try context.live(
      Book.self, where: #Predicate { $0.author?.name != "x" }, sortBy: [SortDescriptor(\.title)])
    let copy = Copy(list)
    let token = list.onDifference { copy.apply($0) }
    try run("ALTER TABLE author RENAME COLUMN name TO called", "UPDATE book SET author_id = NULL WHERE id = 1")
    try context.refresh()
    #expect(list.error != nil)
    try run("UPDATE book SET price = 5, note = 'x' WHERE id = 2")
    try context.refresh()
    #expect(list.error != nil)
    try run("ALTER TABLE author RENAME COLUMN called TO name")
    if isReplaced {
      try list.update { $0.fetchLimit = 10 }
    } else {
      try run("UPDATE book SET author_id = 1 WHERE id = 3", "DELETE FROM book WHERE id = 1")
    }
    try context.refresh()
    #expect(list.error == nil)
    #expect(try copy.lines == fresh)
    token.cancel()
  }

  @Test func `another program gives a table a name for a while, and a list that is heard follows again`() throws {
    let store = try ModelContainer(for: Author.self, Book.self, url: URL(filePath: scratch.file()))
    let plain = try Connection(path: scratch.file(), access: .readWrite)
    try store.execute("INSERT INTO book (title, price, is_in) VALUES ('a', 1, 1), ('b', 2, 1)")
    let context = ModelContext(store, isolation: nil)
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    let copy = Copy(list)
    let token = list.onDifference { copy.apply($0) }
    try plain.execute("ALTER TABLE book RENAME TO kept")
    try context.refresh()
    #expect(list.error != nil && list.count == 2)
    try plain.execute("ALTER TABLE kept RENAME TO book; UPDATE book SET price = 5 WHERE id = 2")
    try context.refresh()
    #expect(list.error == nil && copy.lines == ["a 1.0 ", "b 5.0 "])
    token.cancel()
  }

  @Test(arguments: [false, true])
  func `a table that is made again, with other rows, is followed like any change`(byContext: Bool) throws {
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    let (count, sum) = (try context.liveCount(Book.self), try context.liveSum(\Book.price))
    let rows = try context.live(BookLine.self, sortBy: [SortDescriptor(\.title)])
    let object = try #require(try context.get(Book.self, key: 2))
    let copy = Copy(list)
    let token = list.onDifference { copy.apply($0) }
    let told = Locked<[ChangeSet]>([])
    let subscription = store.store.database.subscribe { commit in told.withLock { $0.append(commit) } }
    let rebuild: SQL = """
      CREATE TABLE book_new (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, price REAL NOT NULL,
        is_in INTEGER NOT NULL, note TEXT, author_id INTEGER REFERENCES author(id)) STRICT;
      INSERT INTO book_new (id, title, price, is_in, author_id)
        SELECT id, title || '!', price * 2, is_in, author_id FROM book WHERE id <> 1;
      DROP TABLE book;
      ALTER TABLE book_new RENAME TO book;
      """
    if byContext { try context.execute(rebuild) } else { try store.execute(rebuild) }
    try context.refresh()
    #expect(list.titles == ["b!", "c!"] && count.value == 2 && sum.value == 10 && object.title == "b!")
    #expect(rows.map(\.title) == ["b!", "c!"])
    #expect(try copy.lines == fresh)
    #expect(told.withLock { $0.map(\.rowsUnknown) } == [true])
    try run("UPDATE book SET price = 1 WHERE id = 2")
    try context.refresh()
    #expect(sum.value == 7 && object.price == 1)
    #expect(told.withLock { $0.last?.rowsUnknown } == false)
    _ = subscription
    token.cancel()
  }
}
