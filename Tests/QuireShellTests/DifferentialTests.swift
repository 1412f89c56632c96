import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// Random queries of the model language against SQL that was written for them by hand, part by part.
@Suite(.fewAtOnce) struct DifferentialTests {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a query of models gives the rows of the SQL it means`(seed: UInt64) async throws {
    #expect(try await differences(seed, isWrong: false).prefix(3) == [], "seed \(seed)")
  }

  @Test func `a question that means something else is found out`() async throws {
    #expect(try await !differences(7, isWrong: true).isEmpty)
  }

  private func differences(_ seed: UInt64, isWrong: Bool) async throws -> [String] {
    var random = PairMaker(seed: seed, isWrong: isWrong)
    let library = try Library(Library.schema + random.rows())
    let session = try library.session()
    let connection = try Connection(path: library.file.path, access: .readOnly)
    var result: [String] = []
    for _ in 0..<40 {
      let condition = random.condition(depth: 3)
      let (order, sqlOrder) = random.order()
      let text = "Book where \(condition.model) select id order by \(order)"
      let sql = "SELECT b.id FROM book b WHERE \(condition.sql) ORDER BY \(sqlOrder)"
      let expected = try connection.query(sql).rows
      if try await session.rows(text) != expected { result.append("\(text)\n\(sql)") }
      // Followed to the authors.
      let followed = "Book where \(condition.model) .author order by id"
      let authors =
        "SELECT * FROM author WHERE id IN (SELECT b.author_id FROM book b WHERE \(condition.sql)) ORDER BY id"
      if try await session.rows(followed) != connection.query(authors).rows { result.append("\(followed)\n\(authors)") }
    }
    return result
  }
}

/// Makes conditions on a book twice: in the model language, and in SQL.
struct PairMaker {
  private var state: UInt64
  private let isWrong: Bool

  struct Pair {
    let model: String
    let sql: String
  }

  init(seed: UInt64, isWrong: Bool) {
    state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    self.isWrong = isWrong
  }

  mutating func below(_ limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(limit))
  }

  mutating func one<T>(of list: [T]) -> T { list[below(list.count)] }

  // MARK: Data

  mutating func rows() -> String {
    var sql = "DELETE FROM profile; DELETE FROM copy; DELETE FROM book_tag; DELETE FROM book; DELETE FROM author;"
    for key in 1...8 { sql += "INSERT INTO author VALUES (\(key), 'name \(below(4))', \(nullable(1900 + below(8))));" }
    for key in 1...50 {
      sql += """
        INSERT INTO book VALUES (\(key), 'title \(below(9))', \(nullable(1950 + below(20))), \(nullable(below(30))), \
        \(nullable(1 + below(8))), \(nullable(1 + below(8))));
        """
      for tag in 1...3 where below(3) == 0 { sql += "INSERT INTO book_tag VALUES (\(key), \(tag));" }
    }
    for key in 1...60 {
      let shelf = one(of: ["'north', 1", "'north', 2", "'south', 1", "NULL, NULL", "NULL, 1"])
      sql += "INSERT INTO copy VALUES (\(key), \(1 + below(50)), \(shelf));"
    }
    return sql
  }

  mutating func nullable(_ value: Int) -> String { below(6) == 0 ? "NULL" : "\(value)" }

  mutating func order() -> (String, String) {
    one(of: [
      ("id", "b.id"), ("year desc, id", "b.year DESC, b.id"), ("title, id desc", "b.title, b.id DESC"),
      ("author.name nulls last, id", "(SELECT name FROM author WHERE id = b.author_id) NULLS LAST, b.id"),
      ("count(tags) desc, id", "(SELECT count(*) FROM book_tag WHERE book_id = b.id) DESC, b.id"),
    ])
  }

  // MARK: Conditions

  mutating func condition(depth: Int) -> Pair {
    if depth > 0 {
      switch below(5) {
      case 0: return joined(" and ", " AND ", depth)
      case 1: return joined(" or ", " OR ", depth)
      case 2:
        let inner = condition(depth: depth - 1)
        return Pair(model: "not (\(inner.model))", sql: "NOT (\(inner.sql))")
      default: break
      }
    }
    return one()
  }

  private mutating func joined(_ word: String, _ sql: String, _ depth: Int) -> Pair {
    let (a, b) = (condition(depth: depth - 1), condition(depth: depth - 1))
    return Pair(model: "(\(a.model)\(word)\(b.model))", sql: "(\(a.sql)\(sql)\(b.sql))")
  }

  private mutating func one() -> Pair {
    let sign = one(of: ["=", "<>", "<", "<=", ">", ">="])
    let year = 1950 + below(20)
    let name = "name \(below(5))"
    let tag = one(of: ["novel", "space", "unused", "none"])
    let author = "SELECT 1 FROM author a WHERE a.id = b.author_id"
    let tags = "SELECT 1 FROM book_tag x JOIN tag t ON t.id = x.tag_id WHERE x.book_id = b.id"
    let copies = "FROM copy c WHERE c.book_id = b.id"
    switch below(16) {
    case 0: return Pair(model: "year \(sign) \(year)", sql: "b.year \(sign) \(year)")
    case 1:
      let low = below(20)
      return Pair(model: "price between \(low) and 20", sql: "b.price BETWEEN \(low) AND 20")
    case 2:
      return Pair(
        model: "author.name \(sign) \"\(name)\"",
        sql: "(SELECT name FROM author WHERE id = b.author_id) \(sign) '\(name)'")
    case 3: return Pair(model: "author is null", sql: "b.author_id IS NULL")
    case 4: return Pair(model: "author.born is not null", sql: "EXISTS (\(author) AND a.born IS NOT NULL)")
    case 5: return Pair(model: "any(tags where name = '\(tag)')", sql: "EXISTS (\(tags) AND t.name = '\(tag)')")
    case 6:
      return Pair(
        model: "none(tags where name = '\(tag)')",
        sql: "\(isWrong ? "" : "NOT ")EXISTS (\(tags) AND t.name = '\(tag)')")
    case 7:
      return Pair(
        model: "all(copies where room = 'north')",
        sql: "NOT EXISTS (SELECT 1 \(copies) AND coalesce(c.room <> 'north', 1))")
    case 8:
      let count = below(3)
      return Pair(model: "count(copies) \(sign) \(count)", sql: "(SELECT count(*) \(copies)) \(sign) \(count)")
    case 9:
      let count = below(3)
      return Pair(
        model: "count(copies where shelf.label = 'A') \(sign) \(count)",
        sql: "(SELECT count(*) \(copies) AND c.room = 'north' AND c.number = 1) \(sign) \(count)")
    case 10: return Pair(model: "sum(copies.number) > 1", sql: "(SELECT sum(c.number) \(copies)) > 1")
    case 11: return Pair(model: "title in (\"title 1\", \"title 2\")", sql: "b.title IN ('title 1', 'title 2')")
    case 12:
      let digit = below(9)
      return Pair(model: "title not like \"%\(digit)\"", sql: "b.title NOT LIKE '%\(digit)'")
    case 13: return Pair(model: "author = Author \(1 + year % 8)", sql: "b.author_id = \(1 + year % 8)")
    case 14:
      return Pair(
        model: "any(author.books where year \(sign) \(year))",
        sql: """
          EXISTS (SELECT 1 FROM author a JOIN book o ON o.author_id = a.id WHERE a.id = b.author_id \
          AND o.year \(sign) \(year))
          """)
    default:
      return Pair(
        model: "year + 1 \(sign) author.born + \(year - 1900)",
        sql: "b.year + 1 \(sign) (SELECT born FROM author WHERE id = b.author_id) + \(year - 1900)")
    }
  }
}
