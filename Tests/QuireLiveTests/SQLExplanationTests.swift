import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// What live answers of queries in SQL say of themselves.
@MainActor @Suite(.fewOnMainActor) struct SQLExplanationTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
  }

  @Test func `an answer in SQL is run again, and says what it reads`() throws {
    let live = try context.live(
      sql: "SELECT a.name, count(*) FROM author AS a JOIN book b ON b.author_id = a.id WHERE b.year > 3 GROUP BY a.id")
    let words = """
      the answer of an SQL query: run again
        why        a query in SQL is followed by table and column: it is run again once a move, and compared
        woken by   author: id, name
                   book: author_id, year
        costs      a change of author: one statement, it is run again
                   a change of book: one statement, it is run again
        again      SCAN a · SEARCH b USING INDEX book_author_id (author_id=?)  ← slow
      """
    let explanation = try live.explanation
    #expect(explanation.description == words, "\(explanation)")
    #expect(try live.warnings == ["asking again reads all of author"])
    #expect(
      try context.explainLive(
        sql: "SELECT a.name, count(*) FROM author AS a JOIN book b ON b.author_id = a.id WHERE b.year > 3 GROUP BY a.id"
      ) == live.explanation)
  }

  @Test(
    arguments: [
      ("SELECT title FROM book WHERE id = 3", []), ("SELECT 1", []),
      ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n", []),
      ("SELECT value FROM json_each('[1]')", []), ("SELECT \"title\" FROM [book]", ["book"]),
      ("SELECT x.title FROM Book x", ["book"]),
    ] as [(String, [String])])
  func `of an answer in SQL what is read from end to end is told by its table`(sql: String, scans: [String]) throws {
    let explanation = try context.explainLive(sql: SQL(verbatim: sql))
    #expect(explanation.statements.map(\.scans) == [scans], "\(explanation)")
    #expect(explanation.warnings.isEmpty == scans.isEmpty)
  }

  @Test func `the index that SQLite makes for one run is named, and then used`() throws {
    try store.execute("CREATE TABLE loan (id INTEGER PRIMARY KEY, title TEXT, days INTEGER)")
    try store.execute(
      "INSERT INTO loan (title, days) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, i FROM n"
    )
    try context.refresh()
    let sql = SQL(verbatim: "SELECT a.title FROM loan AS a JOIN loan AS b ON b.title = a.days")
    let advice = try context.explainLive(sql: sql).indexes
    #expect(advice == [#"CREATE INDEX "loan_days" ON "loan" ("days")"#])
    for index in advice { try store.execute(SQL(verbatim: index)) }
    #expect(try context.explainLive(sql: sql).indexes.isEmpty)
  }

  @Test func `what is no query is not explained`() {
    #expect(throws: StatementError.writes) { try context.explainLive(sql: "DELETE FROM book") }
    #expect(throws: SQLiteError.self) { try context.explainLive(sql: "SELECT nosuch FROM book") }
  }
}
