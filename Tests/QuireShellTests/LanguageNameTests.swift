import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// Models, relations and functions whose names mean something else in the language, too.
@Suite(.fewAtOnce) struct LanguageNameTests {
  @Test func `functions are called where a model has the name of one`() async throws {
    let library = try Library(
      """
      CREATE TABLE dates (id INTEGER PRIMARY KEY, day TEXT);
      CREATE TABLE counts (id INTEGER PRIMARY KEY, n INTEGER);
      CREATE TABLE casts (id INTEGER PRIMARY KEY);
      CREATE TABLE books (id INTEGER PRIMARY KEY, date_id INTEGER REFERENCES dates(id), printed TEXT);
      INSERT INTO dates VALUES (1, '2026-01-01'), (2, '2026-01-02');
      INSERT INTO books VALUES (1, 1, '2026-02-03 10:00:00'), (2, 2, '2026-02-04');
      """)
    let session = try library.session()
    #expect(try await session.column("Book select date(printed) order by id") == ["2026-02-03", "2026-02-04"])
    #expect(try await session.column("Book where date(printed) = date('2026-02-03') select id") == [1])
    #expect(try await session.column("Date select count(books) order by id") == [1, 1])
    #expect(try await session.column("Book select count(*)") == [2])
    #expect(try await session.column("Book select cast(id as text) order by id") == ["1", "2"])
    #expect(try await session.column("Book where date = Date 2 select id") == [2])
    #expect(try await session.column("Book where date = `Date` (2) select id") == [2])
  }

  @Test(arguments: ["Order 2", "`Order` 2", "`order` 2", "`Order` (2)"])
  func `a row of a model that is called like a keyword`(row: String) async throws {
    let library = try Library(
      """
      CREATE TABLE orders (id INTEGER PRIMARY KEY);
      CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id));
      INSERT INTO orders VALUES (1), (2);
      INSERT INTO items VALUES (1, 1), (2, 2);
      """)
    let session = try library.writing()
    #expect(try await session.column("Item where `order` = \(row) order by id select id") == [2])
    _ = try await session.replies("insert Item { id: 3, order: \(row) }")
    _ = try await session.replies("Item 1 set `order` = \(row)")
    #expect(try library.rows("SELECT order_id FROM items") == [[2], [2], [2]])
    #expect(await session.failure("Item where id = order by id").contains("a value is missing before ‘order’"))
  }

  @Test func `a relation that is called like a keyword is followed behind a point, and stands in backticks elsewhere`()
    async throws
  {
    let library = try Library(
      """
      CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE "order" (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id), "limit" INTEGER);
      CREATE TABLE detail (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES "order"(id), "not" INTEGER);
      INSERT INTO customer VALUES (1, 'Ann'); INSERT INTO "order" VALUES (7, 1, 3); INSERT INTO detail VALUES (1, 7, 0);
      """)
    let session = try library.session()
    #expect(try await session.column("Detail select order.customer.name order by order.customer.name") == ["Ann"])
    #expect(try await session.column("Detail where order.customer.name = 'Ann' and order.limit > 2") == [1])
    #expect(try await session.column("Detail where not order.limit = 2") == [1])
    #expect(try await session.column("Detail 1 .order.customer select name") == ["Ann"])
    #expect(try await session.column("Detail select `order`") == [7])
    #expect(
      await session.failure("Detail select order").hasSuffix(
        "^^^^^ a name that is a keyword stands in backticks: `order`"))
    #expect(try await session.column("Detail where true select id") == [1])
  }

  @Test func `models that are called like words that begin a statement are asked as all others are`() async throws {
    let words = [
      "Select", "Values", "With", "Replace", "Update", "Create", "Pragma", "Commit", "Analyze", "Live", "Explain",
    ]
    let library = try Library(
      words.map { "CREATE TABLE \"\($0)\" (id INTEGER PRIMARY KEY, x); INSERT INTO \"\($0)\" VALUES (1, 'of \($0)');" }
        .joined())
    let session = try library.writing()
    for word in words {
      #expect(try await session.column("\(word) where id = 1 select x") == [.text("of \(word)")])
      #expect(try await session.column("\(word) order by id select x") == [.text("of \(word)")])
      _ = try await session.replies("\(word) set x = 2 where id = 1")
      if word == "Live" || word == "Explain" { continue }
      #expect(try await session.column("\(word) select x") == [2])
      if word == "Commit" || word == "Analyze" { continue }
      #expect(try await session.rows(word) == [[1, 2]])
    }
    // What SQL has so stays SQL.
    #expect(try await session.column("Select 5;") == [5])
    #expect(try await session.column("select x from \"Live\";") == [2])
    #expect(try await !session.rows("explain select x from \"Live\";").isEmpty)
    #expect(!session.isComplete("select"))
    #expect(try await session.column("`Live` select x") == [2])
  }
}
