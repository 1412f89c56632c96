import Foundation
import Quire
import TestSupport
import Testing

/// What is interpolated is bound by everything that runs SQL, and never becomes SQL.
@MainActor @Suite(.fewOnMainActor) struct SQLBindingTests {
  private let store: ModelContainer
  private static let hostile = "x' OR 1 = 1; DROP TABLE book --"

  init() throws {
    store = try makeStore()
    try store.execute("INSERT INTO author (name) VALUES ('a'), ('b')")
    try store.execute("INSERT INTO book (title, price, is_in, author_id) VALUES ('x', 1, 1, 1), ('y', 2, 1, 1)")
  }

  private func titles() throws -> [Value] { try store.query("SELECT title FROM book ORDER BY id").map { $0[0] } }

  @Test func `execute binds what is interpolated`() throws {
    let name = Self.hostile
    #expect(try store.execute("UPDATE book SET title = 'z' WHERE title = \(name)") == 0)
    #expect(try titles() == ["x", "y"])
    #expect(try store.execute("UPDATE book SET title = \(name) WHERE id = \(1)", author: "\(name)") == 1)
    #expect(try titles() == [.text(name), "y"])
  }

  @Test func `query binds what is interpolated, and gives records`() throws {
    let name = Self.hostile
    #expect(try store.query("SELECT * FROM book WHERE title = \(name)").isEmpty)
    let record = try #require(try store.query("SELECT \(name) AS said, \(2) AS two").first)
    #expect(record["said"] == .text(name) && record[1] == 2 && record.columns == ["said", "two"])
    #expect(try record.value("two", as: Int.self) == 2)
    for writing: SQL in ["DELETE FROM book", "UPDATE book SET year = 1 RETURNING id", "DROP TABLE book"] {
      #expect(throws: StatementError.writes) { try store.query(writing) }
    }
    #expect(try titles() == ["x", "y"])
  }

  @Test func `a transaction binds what is interpolated`() throws {
    let name = Self.hostile
    try store.writeSQL { transaction in
      #expect(try transaction.execute("DELETE FROM book WHERE title = \(name)") == 0)
      #expect(try transaction.query("SELECT id FROM book WHERE title = \(name)").isEmpty)
      #expect(try transaction.execute("INSERT INTO book (title, price, is_in) VALUES (\(name), 1, 1)") == 1)
      let written = try transaction.query("UPDATE book SET price = \(7.5) WHERE title = \(name) RETURNING id, price")
      #expect(written.map(\.values) == [[3, 7.5]])
      try transaction.savepoint { try transaction.execute("DELETE FROM book WHERE id = \(3)") }
    }
    #expect(try titles() == ["x", "y"])
  }

  @Test func `who looks at a commit binds what is interpolated`() throws {
    let name = Self.hostile
    let rule = store.beforeCommit { commit in
      guard try commit.query("SELECT id FROM book WHERE title = \(name)").isEmpty else { throw CancellationError() }
      guard try commit.query("SELECT \(\Book.title) FROM \(Book.self)").count == 2 else { throw CancellationError() }
    }
    try store.execute("UPDATE book SET year = 1")
    #expect(throws: CancellationError.self) { try store.execute("UPDATE book SET title = \(name) WHERE id = 1") }
    rule.cancel()
  }

  @Test func `every type is bound in its column form`() throws {
    let context = ModelContext(store, isolation: nil)
    let (date, id, data) = (Date(timeIntervalSinceReferenceDate: 0.5), UUID(), Data([1, 0, 2]))
    let (missing, year): (String?, Int?) = (nil, 1961)
    let statement: SQL = """
      SELECT \(date), \(id), \(data), \(missing), \(year), \(true), \(2.5), \(Decimal(string: "12.50")), \
      \(URL(string: "https://example.org")), \(UInt8(3)), \(Value.text("v"))
      """
    let expected: [Value] = [
      "2001-01-01 00:00:00.500000", .text(id.uuidString), .blob(data), nil, 1961, 1, 2.5, "12.5", "https://example.org",
      3,
      "v",
    ]
    #expect(try store.query(statement).map(\.values) == [expected])
    #expect(try store.writeSQL { try $0.query(statement) }.map(\.values) == [expected])
    #expect(try context.fetch(sql: statement).map(\.values) == [expected])
  }

  @Test func `models, properties, objects and predicates stand in every statement`() throws {
    let context = ModelContext(store, isolation: nil)
    let author = try #require(context.model(Author.self, key: 1))
    let wanted = #Predicate<Book> { $0.title == "x" }
    #expect(try store.query("SELECT \(\Book.title) FROM \(Book.self) WHERE author_id = \(author)").count == 2)
    try store.writeSQL { transaction in
      let found = try transaction.query("SELECT id FROM book WHERE id IN \(keysOf: Book.self, where: wanted)")
      #expect(found.map(\.values) == [[1]])
      #expect(try transaction.execute("UPDATE \(Book.self) SET \(\Book.title) = \("w") WHERE id = \(1)") == 1)
    }
    #expect(try titles() == ["w", "y"])
  }

  @Test func `text made at run time is SQL by its label only, with values by place and by name`() throws {
    let (column, limit) = ("title", 1)
    let text = "SELECT \(column) FROM book WHERE id <= ? OR title = :t ORDER BY id"
    let sql = SQL(verbatim: text, [1], named: [":t": "y"])
    #expect(try store.query(sql).map(\.values) == [["x"], ["y"]])
    #expect(try store.execute(SQL(verbatim: "UPDATE book SET year = ? WHERE id = ?", [1961, .integer(1)])) == limit)
    #expect(throws: SQLiteError.self) { try store.execute("UPDATE book SET year = ?") }
    #expect(throws: SQLiteError.self) { try store.execute(SQL(verbatim: "UPDATE book SET year = 1", [1])) }
    #expect(try store.query("SELECT sum(year) FROM book")[0][0] == 1961)
  }

  @Test func `what cannot be bound is an error, and nothing is run`() throws {
    #expect(throws: ValueError.self) { try store.execute("UPDATE book SET price = \(Double.nan)") }
    #expect(throws: ValueError.self) {
      try store.writeSQL { try $0.execute("UPDATE book SET title = \(Date.distantPast - 1e15)") }
    }
    #expect(try store.query("SELECT price FROM book").map(\.values) == [[1.0], [2.0]])
  }
}
