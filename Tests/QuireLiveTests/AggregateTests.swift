import Foundation
import Observation
import Quire
import QuireModel
import QuireRow
import TestSupport
import Testing

@testable import QuireLive

/// What aggregates give, what they cost and whom they wake.
@MainActor @Suite(.fewOnMainActor) struct AggregateTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    try store.execute("INSERT INTO author (id, name, rank) VALUES (1, 'A', 1), (2, 'B', 2)")
    try store.execute(
      """
      INSERT INTO book (id, title, year, price, is_in, author_id)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      SELECT i, printf('%05d', i), 1000 + i, 0.1, 1, 1 + i % 2 FROM n
      """)
  }

  private func sql(_ statement: String) throws {
    try store.execute(SQL(verbatim: statement))
    try context.refresh()
  }

  @Test func `of nothing a sum is zero, the others nil`() throws {
    try sql("DELETE FROM book")
    #expect(try context.fetchSum(\Book.year) == 0 && context.fetchSum(\Book.price) == 0)
    #expect(try context.fetchAverage(\Book.year) == nil && context.fetchMin(\Book.title) == nil)
    let sum = try context.liveSum(\Book.price)
    let average = try context.liveAverage(\Book.year)
    let least = try context.liveMin(\Book.year)
    #expect(sum.value == 0 && average.value == nil && least.value == nil)
    try sql("INSERT INTO book (title, year, price, is_in) VALUES ('', NULL, 2.5, 1)")
    #expect(sum.value == 2.5 && average.value == nil && least.value == nil)
    try sql("INSERT INTO book (title, year, price, is_in) VALUES ('', 0, 2.5, 1)")
    #expect(sum.value == 5 && average.value == 0 && least.value == 0)
    try sql("DELETE FROM book")
    #expect(sum.value == 0 && average.value == nil && least.value == nil && sum.queriesRun == 1)
  }

  @Test func `a thousand tenths are a hundred, also after a large number came and went`() throws {
    let sum = try context.liveSum(\Book.price)
    let average = try context.liveAverage(\Book.price)
    #expect(sum.value == 100 && average.value == 0.1)
    try sql("UPDATE book SET price = 1e300 WHERE id = 7")
    #expect(sum.value == 1e300)
    try sql("UPDATE book SET price = 9e999 WHERE id = 8")
    #expect(sum.value == .infinity)
    try sql("UPDATE book SET price = 0.1 WHERE id IN (7, 8)")
    #expect(sum.value == 100 && average.value == 0.1 && sum.queriesRun == 1)
  }

  @Test func `a sum beyond Int64 is an error until it fits again, and its value stays`() throws {
    let sum = try context.liveSum(\Book.year)
    let average = try context.liveAverage(\Book.year)
    let value = sum.value
    let commit = context.commitNumber
    try sql("UPDATE book SET year = 9223372036854775807 WHERE id = 1")
    #expect(sum.error as? AggregateError == .overflow(column: "year") && sum.value == value)
    #expect(sum.commitNumber == commit && average.error == nil && average.value ?? 0 > 9e15)
    #expect(throws: AggregateError.overflow(column: "year")) { try context.fetchSum(\Book.year) }
    #expect(throws: AggregateError.self) { try context.liveSum(\Book.year) }
    try sql("UPDATE book SET year = -9223372036854775807 WHERE id = 2")
    #expect(sum.error == nil && sum.commitNumber == context.commitNumber)
    #expect(try sum.value == context.fetchSum(\Book.year) && sum.queriesRun == 1)
  }

  @Test func `an extreme costs a look-up when it goes, and nothing else`() throws {
    let least = try context.liveMin(\Book.year)
    let greatest = try context.liveMax(\Book.year, where: #Predicate { $0.isIn })
    #expect(least.value == 1001 && greatest.value == 2000)
    try sql("INSERT INTO book (title, year, price, is_in) VALUES ('x', 1001, 1, 1), ('y', 5, 1, 1), ('z', 3000, 1, 0)")
    #expect(least.value == 5 && greatest.value == 2000)
    try sql("UPDATE book SET year = 4 WHERE year = 5")
    #expect(least.value == 4 && least.queriesRun == 1 && greatest.queriesRun == 1)
    try sql("DELETE FROM book WHERE year = 4")
    #expect(least.value == 1001 && least.queriesRun == 2)
    try sql("DELETE FROM book WHERE id = 1")
    #expect(least.value == 1001 && least.queriesRun == 3, "another row has the same value")
    try sql("UPDATE book SET is_in = 0 WHERE year = 2000")
    #expect(greatest.value == 1999 && greatest.queriesRun == 2)
    try sql("DELETE FROM book WHERE year BETWEEN 1500 AND 1600")
    #expect(least.queriesRun == 3 && greatest.queriesRun == 2)
  }

  @Test func `who reads an aggregate is woken when it changes, once, and by nothing else`() throws {
    let sum = try context.liveSum(\Book.year, where: #Predicate { $0.isIn })
    var woken = 0
    func watch() {
      track {
        _ = sum.value
      } before: {
        woken += 1
      }
    }
    watch()
    try sql("UPDATE book SET title = 'x', price = 9")
    try sql("UPDATE author SET name = 'x'")
    try sql("UPDATE book SET year = year + CASE id WHEN 1 THEN 1 WHEN 2 THEN -1 ELSE 0 END")
    #expect(woken == 0)
    var before = 0
    track {
      _ = sum.value
    } before: {
      before = sum.value
    }
    let old = sum.value
    let book = try #require(context.model(Book.self, key: 3))
    book.isIn = false
    #expect(sum.value == old, "an unsaved edit")
    try context.save()
    #expect(woken == 1 && before == old && sum.value == old - 1003 && sum.queriesRun == 1)
  }

  @Test func `through a path half of the rows are read by reading all, and other columns read nothing`() throws {
    let sum = try context.liveSum(\Book.author?.rank)
    #expect(sum.value == 1500)
    try sql("UPDATE book SET title = 'x'")
    try sql("UPDATE author SET name = 'x'")
    #expect(sum.queriesRun == 1)
    try sql("UPDATE author SET rank = 3 WHERE id = 2")
    #expect(sum.value == 2000 && sum.queriesRun == 4, "one for the rows concerned, one for how many there are")
    try sql("DELETE FROM author WHERE id = 1")
    #expect(sum.value == 1500 && sum.queriesRun == 7)
  }

  @Test func `a few that match among many are followed by key, however many of them a commit concerns`() throws {
    let few: Predicate<Book> = #Predicate { $0.author?.rank == 7 }
    let count = try context.liveCount(Book.self, where: few)
    let measure = count
    try store.execute("INSERT INTO author (id, name, rank) VALUES (7, 'G', 7)")
    try sql("UPDATE book SET author_id = 7 WHERE id <= 100")
    #expect(count.value == 100 && measure.timesFilled == 1)
    try sql("UPDATE book SET author_id = 2 WHERE author_id = 7")
    #expect(count.value == 0 && measure.timesFilled == 1)
    try sql("UPDATE book SET author_id = 7 WHERE id <= 400")
    #expect(count.value == 400 && measure.timesFilled == 2, "of 1 000 they are too many")
  }

  @Test(arguments: [
    // One author's two books; a book between authors; both at once; a book that comes, one that goes; an author that
    // comes, one that goes with all.
    "UPDATE author SET rank = 9 WHERE id = 3", "UPDATE book SET author_id = 3 WHERE id = 1",
    "UPDATE author SET rank = 9 WHERE id = 3; UPDATE book SET author_id = 3 WHERE id IN (1, 2)",
    "UPDATE book SET author_id = 1 WHERE id = 2001; UPDATE author SET rank = NULL WHERE id = 3",
    "INSERT INTO book (title, year, price, is_in, author_id) VALUES ('', 1, 1, 1, 3)",
    "DELETE FROM book WHERE id = 2001",
    "INSERT INTO author (id, name, rank) VALUES (4, 'D', 50); UPDATE book SET author_id = 4 WHERE id = 2002",
    "DELETE FROM author WHERE id = 3", "UPDATE book SET author_id = NULL WHERE id > 2000",
  ])
  func `through a path a commit costs the rows it concerns and not all there are`(
    statements: String
  ) throws {
    try store.execute(
      """
      INSERT INTO author (id, name, rank) VALUES (3, 'C', 4);
      INSERT INTO book (id, title, year, price, is_in, author_id) VALUES (2001, '', 1, 1, 1, 3), (2002, '', 1, 1, 1, 3)
      """)
    try context.refresh()
    let terms: [(Aggregate.Function, PartialKeyPath<Book>?)] = [(.sum, \Book.author?.rank)]
    let query = try AggregateQuery(terms, where: Predicate<Book>?.none, in: try context.owner.requireStore())
    let measure = try LiveValue(context, query.select, query.aggregates[0]) { try $0.integerSum() }
    let isNotFirst: Predicate<Book> = #Predicate { $0.author?.rank != 1 }
    let named = try context.liveGroups(
      Book.self, by: \Book.author?.name, .count, .max(\Book.author?.rank), where: isNotFirst)
    #expect(measure.value == 1508 && named.map(\.values.0) == [500, 2])
    try store.writeSQL { transaction in
      for statement in statements.split(separator: "; ") { try transaction.connection.execute(String(statement)) }
    }
    try context.refresh()
    let sum = try store.query("SELECT sum(a.rank) FROM book AS b JOIN author AS a ON a.id = b.author_id")[0][0]
    #expect(.integer(measure.value) == sum && measure.value != 1508)
    #expect(measure.timesFilled == 1 && measure.error == nil)
    let rows = try store.query(
      """
      SELECT a.name, count(*), max(a.rank) FROM book AS b LEFT JOIN author AS a ON a.id = b.author_id
      WHERE a.rank IS NOT 1 GROUP BY 1 ORDER BY 1
      """
    ).map(\.values)
    let shown = try named.map { group -> [QuireRow.Value] in
      [try .init(storing: group.key), .integer(Int64(group.values.0)), try .init(storing: group.values.1)]
    }
    #expect(shown == rows && named.timesFilled == 1)
  }

  @Test func `fetched aggregates count unsaved edits as if they were saved`() throws {
    for (number, book) in try context.fetch(FetchDescriptor<Book>(fetchLimit: 6)).enumerated() {
      switch number % 3 {
      case 0: book.year = -number
      case 1: context.delete(book)
      default: book.isIn = false
      }
    }
    context.insert(Book("0", year: 7, price: 0.25))
    try #require(context.model(Author.self, key: 2)).rank = 50
    func all() throws -> [String] {
      let isIn = #Predicate<Book> { $0.isIn }
      return [
        "\(try context.fetchSum(\Book.year))", "\(try context.fetchSum(\Book.year, where: isIn))",
        "\(try context.fetchAverage(\Book.price, where: isIn) ?? -1)", "\(try context.fetchMin(\Book.year) ?? -1)",
        "\(try context.fetchMin(\Book.title) ?? "")", "\(try context.fetchMax(\Book.year, where: isIn) ?? -1)",
        "\(try context.fetchSum(\Book.author?.rank))", "\(try context.fetchMax(\Book.author?.rank) ?? -1)",
      ]
    }
    let saved = try ModelContext(store, isolation: nil).fetchSum(\Book.author?.rank)
    let edited = try all()
    try context.save()
    let now = try all()
    #expect(now == edited)
    #expect(edited[6] != "\(saved)" && edited[4] == "0" && edited[3] == "-3" && edited[7] == "50")
  }

  @Test func `what has no number or no order in SQL is refused when asked`() throws {
    #expect(throws: ModelError.self) { try context.fetchMin(\Book.title.count) }
    let sum = try context.liveSum(\Book.year)
    try store.execute("ALTER TABLE book ADD COLUMN extra TEXT")
    try sql("UPDATE book SET year = 0")
    #expect(sum.value == 0 && sum.error == nil)
  }
}
