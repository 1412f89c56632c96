import Foundation
import QuireRow
import Testing

@Suite struct RelatedRowsTests {
  private static let books = RowRelation(to: "book", via: .foreignKey("author_id"))
  private static let liked = RowRelation(
    to: "book", via: .pairs(table: "author_liked", own: "author_id", other: "book_id"))
  private static let pairs = """
    CREATE TABLE author_liked (author_id INTEGER NOT NULL, book_id INTEGER NOT NULL, PRIMARY KEY (author_id, book_id))
      STRICT, WITHOUT ROWID;
    CREATE INDEX author_liked_book_id ON author_liked (book_id);
    CREATE INDEX book_author_id ON book (author_id);
    """

  static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, UInt64.random(in: 100...UInt64.max)]

  @Test(arguments: seeds) func `a question about related rows counts what the condition accepts`(seed: UInt64) throws {
    var generator = RandomExpression(random: SeededGenerator(seed))
    let database = try ExpressionTests.fill(&generator)
    try database.run(Self.pairs)
    // One pair of a book that is not there.
    for _ in 0..<40 {
      try database.rows(
        "INSERT OR IGNORE INTO author_liked VALUES (?, ?)",
        [
          .integer(Int64.random(in: 1...6, using: &generator.random)),
          generator.random.pick([1, 2, 3, 4, 5, 9, 12, 99]),
        ])
    }
    let all =
      RandomExpression.numbers + RandomExpression.texts + RandomExpression.flags + RandomExpression.blobs
      + RandomExpression.anything
    let rows = try database.rows(SelectQuery(from: "book", columns: all + ["author_id"]).statement())
    let places = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1, $0) })
    let liked = try database.rows("SELECT author_id, book_id FROM author_liked")
    for _ in 0..<150 {
      let condition = generator.condition(Int.random(in: 0...3, using: &generator.random))
      for relation in [Self.books, Self.liked] {
        let related = RelatedRows(relation, where: condition)
        func count(_ author: Value, _ accepts: Bool = true) -> Int {
          rows.count { row in
            let belongs =
              relation == Self.books ? row[all.count] == author : liked.contains { $0 == [author, row[0]] }
            return belongs && condition.accepts { row[places[$0] ?? 0] } == accepts
          }
        }
        let found = try database.rows(
          SelectQuery(from: "author", columns: ["id"], where: .compare(.greater, .countRows(related), .literal(1)))
            .statement())
        let some = try database.rows(SelectQuery(from: "author", columns: ["id"], where: .exists(related)).statement())
        let none = try database.rows(SelectQuery(from: "author", columns: ["id"], where: !.exists(related)).statement())
        let every = try database.rows(
          SelectQuery(from: "author", columns: ["id"], where: .each(of: RelatedRows(relation), condition)).statement())
        for author in (1...6).map({ Value.integer($0) }) {
          let number = count(author)
          #expect(found.contains([author]) == (number > 1), "seed \(seed): \(condition)")
          #expect(some.contains([author]) == (number > 0), "seed \(seed): \(condition)")
          #expect(none.contains([author]) == (number == 0), "seed \(seed): \(condition)")
          #expect(every.contains([author]) == (count(author, false) == 0), "seed \(seed): all \(condition)")
        }
      }
    }
  }

  @Test func `a question is a search by the foreign key's index, from a joined row too`() throws {
    let database = try TestDatabase(ExpressionTests.schema + Self.pairs)
    let query = SelectQuery(
      from: "author", columns: ["id"],
      where: .all([
        .exists(RelatedRows(Self.books, where: .column("done"))),
        .compare(.less, .countRows(RelatedRows(Self.liked)), .literal(3)),
      ]))
    let statement = try query.statement()
    #expect(
      statement.text == """
        SELECT t0."id" FROM "author" AS t0 WHERE (EXISTS (SELECT 1 FROM "book" AS r1t0 \
        WHERE r1t0."author_id" = t0."id" AND (r1t0."done" = 1)) AND ((SELECT count(*) FROM "author_liked" AS r2t0p \
        CROSS JOIN "book" AS r2t0 ON r2t0."id" = r2t0p."book_id" WHERE r2t0p."author_id" = t0."id") < ?)) \
        ORDER BY t0."id"
        """)
    let plan = try database.plan(statement)
    #expect(plan.contains("SEARCH r1t0 USING INDEX book_author_id (author_id=?)"))
    #expect(plan.contains("SEARCH r2t0p USING PRIMARY KEY (author_id=?)"))
    let step = ColumnPath.Step("author_id", to: "author")
    let siblings = RelatedRows(
      Self.books, behind: [step], where: .compare(.equal, .column(ColumnPath([step], "name")), .literal("x")))
    let ofBooks = SelectQuery(from: "book", columns: ["id"], where: .exists(siblings))
    #expect(
      try ofBooks.statement().text == """
        SELECT t0."id" FROM "book" AS t0 LEFT JOIN "author" AS t1 ON t1."id" = t0."author_id" \
        WHERE EXISTS (SELECT 1 FROM "book" AS r1t0 LEFT JOIN "author" AS r1t1 ON r1t1."id" = r1t0."author_id" \
        WHERE r1t0."author_id" = t1."id" AND (r1t1."name" = ?)) ORDER BY t0."id"
        """)
    #expect(ofBooks.tables == ["author", "book"])
    #expect(query.tables == ["author", "book", "author_liked"])
  }

  @Test func `questions inside questions have their own names`() throws {
    let database = try TestDatabase(
      """
      CREATE TABLE node (id INTEGER PRIMARY KEY, parent_id INTEGER, name TEXT) STRICT;
      INSERT INTO node VALUES (1, NULL, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 1, 'd'), (5, NULL, 'e'), (6, 5, 'c');
      """)
    let children = RowRelation(to: "node", via: .foreignKey("parent_id"))
    let named = RowExpression.exists(
      RelatedRows(children, where: .compare(.equal, .column("name"), .literal("c"))))
    let grandparents = SelectQuery(
      from: "node", columns: ["id"],
      where: .all([.exists(RelatedRows(children, where: named)), .exists(RelatedRows(children))]))
    #expect(try database.rows(grandparents.statement()) == [[1]])
    #expect(
      RelatedColumns.all(of: grandparents.related)
        == [
          RelatedColumns(hops: [.many(children), .many(children)], columns: ["parent_id", "name"]),
          RelatedColumns(hops: [.many(children)], columns: ["parent_id", "id"]),
        ].sorted { "\($0.hops)" < "\($1.hops)" })
  }

  @Test func `one row does not tell`() {
    let asked = RowExpression.compare(.equal, .countRows(RelatedRows(Self.books)), .literal(0))
    #expect(asked.needsRows && RowExpression.not(asked).needsRows && !RowExpression.column("id").needsRows)
    #expect(!asked.accepts { _ in 1 })
    #expect(asked.accepts({ _ in 1 }, related: { _ in 0 }))
    #expect(asked.columns == ["id"])
  }
}
