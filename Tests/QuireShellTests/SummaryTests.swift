import QuireRow
import TestSupport
import Testing

@testable import QuireShell

/// `summary QUERY`: what each column of a query has.
@Suite(.fewAtOnce) struct SummaryTests {
  private let library: Library
  private let session: ShellSession

  init() throws {
    library = try Library()
    session = try library.writing()
  }

  @Test func `a model, some of its rows and a query in SQL have a row for each column`() async throws {
    let all = try await session.answer("summary Book where year > 1900 select title, price, author.name")
    #expect(all.columns == ["column", "type", "values", "nulls", "distinct", "min", "max", "mean", "median"])
    #expect(
      all.rows == [
        ["title", "text", 4, 0, 4, "Eden", "金閣寺", .null, .null],
        ["price", "real", 3, 1, 3, 9.5, 20.0, .real(41.5 / 3), 12.0],
        ["author.name", "text", 4, 0, 2, "Stanisław Lem", "三島由紀夫", .null, .null],
      ])
    let model = try await session.answer("summary Book")
    #expect(model.rows.map { $0[0] } == ["id", "title", "year", "price", "author_id", "translator_id"])
    _ = try await session.replies(".set y 1960")
    let mixed = try await session.answer(
      "summary with m(a) as (values (1), ('x'), (2.5), (null)) select a, a as a from m where :y = 1960; -- both")
    #expect(mixed.rows == Array(repeating: ["a", "integer real text", 3, 1, 3, 1, "x", 1.75, 1.75], count: 2))
    let none = try await session.answer("summary Book where id < 0 select title")
    #expect(none.rows == [["title", .null, 0, 0, 0, .null, .null, .null, .null]])
    #expect(try await session.answer(".last").rows == none.rows)
  }

  @Test func `a table has more columns than one pass measures`() async throws {
    let columns = (0..<250).map { "x\($0)" }.joined(separator: ", ")
    let values = (0..<250).map { "\($0)" }.joined(separator: ", ")
    _ = try await session.replies("create table wide (\(columns)); insert into wide values (\(values));")
    let found = try await session.answer("summary wide")
    #expect(found.rows.map { $0[5] } == (0..<250).map { .integer($0) })
  }

  @Test func `a model of that name is a model, and a column a column`() async throws {
    _ = try await session.replies(
      "create table summary (id integer primary key, summary text); insert into summary (summary) values ('short');")
    #expect(try await session.answer("Summary where summary = 'short'").rows == [[1, "short"]])
    #expect(try await session.answer("Summary select summary").rows == [["short"]])
    #expect(try await session.answer("summary Summary").rows.map { $0[0] } == ["id", "summary"])
  }

  @Test(arguments: [
    ("summary Bok", "there is no model Bok"), ("summary select 1; select 2", "summary is of one query"),
    ("summary Book set price = 1", "this is a write, and a query is wanted here"),
    ("summary with x as (select 1) delete from book", "summary is of a query"),
    ("summary select nope from book", "no such column: nope"), ("summary select :z", "there is no value for :z"),
    ("summary", "summary is of a query"), ("summary pragma table_info(book)", "summary is of a query"),
    ("summary insert into tag values (9, 'x')", "summary is of a query"),
  ])
  func `what is no query is refused, and nothing is written`(input: String, message: String) async throws {
    #expect(await session.failure(input).hasPrefix(message))
    #expect(try library.rows("SELECT count(*), sum(price) FROM book") == [[5, 42.5]])
  }

  @Test func `statistics and regular expressions are a part of the language of models`() async throws {
    let lists = try await session.answer(
      "Author select name, median(books.price) as m where name regexp '^[JS]' order by id")
    #expect(lists.rows == [["Stanisław Lem", 10.75], ["Jane O'Hara", .null]])
    let groups = try await session.answer(
      "Book select author.name, percentile(price, 100) as p group by author.name order by p")
    #expect(groups.rows.map { $0[1] } == [1.0, 12.0, 20.0])
    #expect(
      try await session.answer("Book where title not regexp 'i' select title").rows == [
        ["Eden"], ["金閣寺"], ["Anonymous"],
      ])
    #expect(try await session.answer("Book where regexp('^E', title) select title").rows == [["Eden"]])
    #expect(await session.failure("Book where title regexp '['").hasPrefix("regexp: this is no regular expression: ["))
  }
}
