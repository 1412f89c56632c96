import QuireRow
import TestSupport
import Testing

@testable import QuireShell

/// Inputs that are larger or deeper than anybody writes by hand: they end in an answer, or in an error with its place.
@Suite(.fewAtOnce) struct LargeInputTests {
  let library: Library
  let session: ShellSession

  init() throws {
    library = try Library()
    session = try library.session()
  }

  private static func repeated(_ part: String, _ count: Int, by separator: String = "") -> String {
    Array(repeating: part, count: count).joined(separator: separator)
  }

  @Test(arguments: [
    ("Book where " + repeated("id = 2", 8000, by: " or "), [2]),
    ("Book where " + repeated("id = 2", 8000, by: " and "), [2]),
    ("Book where " + repeated("id = 2 and year = 1959", 3000, by: " or "), [2]),
    ("Book where not (" + repeated("id = 2", 91, by: " or ") + ")", [1, 3, 4, 5]),
    ("Book where id = 1 " + repeated("+ 0", 800), [1]),
    ("Book where title = 'Eden' " + repeated("|| ''", 800), [2]),
    ("Book where id = 1 " + repeated("* 1 + 0", 400), [1]),
    ("Book where " + repeated("(", 90) + "id = 2" + repeated(")", 90), [2]),
    ("Book where id in (" + (2...20_000).map { "\($0)" }.joined(separator: ", ") + ")", [2, 3, 4, 5]),
  ]) func `a long query is answered`(query: String, keys: [Int64]) async throws {
    #expect(try await session.column(query + " order by id") == keys.map { .integer($0) })
    // Live, too, in one way or the other.
    _ = try await session.livePlan(query)
  }

  @Test func `values have no names, which SQLite would look through for each new one`() async throws {
    let query = try await session.selected("Book where id in (1, 2, :y) and title <> 'x'", from: 0)
    #expect(query.sql.text.hasSuffix("WHERE (b.\"id\" IN (?, ?, :y)) AND (b.\"title\" <> ?)"), "\(query.sql.text)")
    #expect(query.sql.values == [1, 2, "x"])
    _ = try await session.replies(".set y 3")
    #expect(try await session.column("Book where id in (1, 2, :y) and title <> 'Eden' and id < :y + 1") == [1, 3])
    #expect(try await session.column("Book where id < :y + 0 and title <> 'Eden' and id <> :y - 7") == [1])
  }

  /// So deep that a walk through it would end the program, so deep that SQLite's parser ends, and somewhere between.
  @Test(
    arguments: [10_000, 101, 60],
    [
      ("Book where ", "(", "id = 2", ")"),
      ("Book where ", "not ", "id = 2", ""),
      ("Book select ", "case when ", "1", " then 1 end"),
      ("Book select ", "abs(", "id", ")"),
      ("Book select ", "- ", "id", ""),
      ("Book select ", "-(", "id", ")"),
      ("Book where ", "id in (", "1", ")"),
      ("Book where ", "any(tags where ", "1", ")"),
      ("Book select ", "count(tags where ", "1", ")"),
      ("Book where id", "", "", " = 1"),
      ("Book where id", "", "", " is null"),
      ("Book where id", "", "", " between 1 and 2"),
      ("Book where id", "", "", " like 1"),
      ("Book where id", "", "", " in (1)"),
      ("Book where id = 1", "", "", " + 1"),
      ("Book where id = 1", "", "", " * 1 - 1"),
      ("Book where ", "author.books", "", ""),
      ("Category select parent", "", "", ".parent"),
      ("Category 3 ", "", "", ".parent"),
      ("Book where id = 2", "", "", ";"),
      ("Book {", "[", "", "]"),
      ("Book order by ", "id, ", "id", ""),
      ("insert Book { title: ", "(", "1", ")"),
    ]) func `a deep query is an answer, or an error with its place`(
      count: Int, parts: (start: String, opening: String, middle: String, closing: String)
    ) async throws
  {
    let query =
      parts.start + Self.repeated(parts.opening, count) + parts.middle + Self.repeated(parts.closing, count)
    do {
      for text in [query, "explain " + query, "live " + query, "sql " + query, "count " + query] {
        _ = session.isComplete(text)
        _ = session.spans(text)
        _ = session.completions(text, at: text.utf8.count)
        _ = try await session.replies(text)
      }
    } catch let failure as ShellFailure {
      let isWrite = query.hasPrefix("insert")
      #expect(isWrite && failure.kind == .refused || failure.range != nil, "\(failure)")
      let said = failure.text(in: query, width: { $0.count }, shown: { $0 })
      #expect(said.count < 1500, "\(said)")
    }
  }

  @Test(arguments: [
    ("select ", "(", "1", ")", "1:"), ("select 1", "", "", " + 1", "1:1 │ "), ("select ", "abs(", "1", ")", "1:"),
  ]) func `SQL that SQLite finds too deep is told with its place`(
    start: String, opening: String, middle: String, closing: String, place: String
  ) async {
    let said = await session.failure(
      start + Self.repeated(opening, 2000) + middle + Self.repeated(closing, 2000) + ";")
    #expect(said.contains(place) && said.contains("^") && said.count < 600, "\(said)")
  }

  @Test func `of a long line the part around what is wrong is shown`() async {
    let query =
      "Book where " + Self.repeated("id = 1", 100, by: " or ") + " or titel = 'Łem' or "
      + Self.repeated("id = 1", 90, by: " or ")
    let start = query.utf8.count - "titel = 'Łem' or ".utf8.count - 90 * 6 - 89 * 4 + 1
    #expect(
      await session.failure(query) == """
        Book has no titel
        1:\(start) │ …id = 1 or id = 1 or id = 1 or id = 1 or id = 1 or id = 1 or titel = 'Łem' or id = 1 or id = 1 or id = 1 or id = 1 or id…
        \(String(repeating: " ", count: "1:\(start)".count)) │  \(String(repeating: " ", count: 60))^^^^^ did you mean title?
        """)
  }
}
