import Foundation
import QuireRow
import TestSupport
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

  static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, extraSeed]

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

  @Test func `aggregates of related rows are selected, filtered and ordered by`() throws {
    let database = try TestDatabase(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT) STRICT;
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, pages INTEGER, author_id INTEGER, next_id INTEGER) STRICT;
      INSERT INTO author VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
      INSERT INTO book VALUES (1, 'x', 5, 1, 3), (2, 'y', NULL, 1, NULL), (3, 'z', 7, 2, 1), (4, 'w', NULL, 4, NULL);
      """)
    let next = ColumnPath.Step("next_id", to: "book")
    func aggregate(_ function: Aggregate.Function, _ value: ColumnPath?, where condition: RowExpression = .true)
      -> RowExpression
    {
      .aggregate(function, RelatedRows(Self.books, where: condition, value: value))
    }
    let all = [
      aggregate(.count, nil), aggregate(.count, "pages"), aggregate(.minimum, "title"), aggregate(.maximum, "pages"),
      aggregate(.maximum, ColumnPath([next], "title")),
      aggregate(.count, nil, where: .compare(.greater, .column("pages"), .literal(5))),
    ]
    var query = SelectQuery(
      from: "author", columns: ["id"], expressions: all,
      orderedBy: [OrderTerm(all[0], ascending: false), OrderTerm(aggregate(.maximum, "id"), ascending: false)])
    #expect(
      try database.rows(query.statement()) == [
        [1, 2, 1, "x", 5, "z", 0], [4, 1, 0, "w", .null, .null, 0], [2, 1, 1, "z", 7, "x", 1],
        [3, 0, 0, .null, .null, .null, 0],
      ])
    #expect(try query.statement().text.contains("ORDER BY 2 DESC, (SELECT max("))
    query.filter = .compare(.equalOrAbsent, aggregate(.maximum, "pages"), .literal(7))
    #expect(try database.rows(query.statement()).map(\.first) == [2])
    #expect(try database.rows(query.statement(forKeys: [1, 2, 3])).map(\.first) == [2])
    #expect(query.tables == ["author", "book"])
    let averaged = aggregate(.average, "pages")
    #expect(averaged.needsRows && averaged.columns == ["id"] && averaged.evaluate { _ in 1 } == .null)
    let looked = RelatedColumns.all(of: aggregate(.maximum, ColumnPath([next], "title")).related)
    #expect(
      looked
        == [
          RelatedColumns(hops: [.many(Self.books)], columns: ["author_id", "next_id"]),
          RelatedColumns(hops: [.many(Self.books), .one(next)], columns: ["id", "title"]),
        ].sorted { "\($0.hops)" < "\($1.hops)" })
    #expect(looked.allSatisfy { $0.tables.allSatisfy { $0 == "book" } })
  }

  @Test func `one row does not tell`() {
    let asked = RowExpression.compare(.equal, .countRows(RelatedRows(Self.books)), .literal(0))
    #expect(asked.needsRows && RowExpression.not(asked).needsRows && !RowExpression.column("id").needsRows)
    #expect(!asked.accepts { _ in 1 })
    #expect(asked.accepts({ _ in 1 }, related: { _ in 0 }))
    #expect(asked.columns == ["id"])
  }
}
