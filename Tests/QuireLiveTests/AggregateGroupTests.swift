import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Grouped results: what they show, tell and cost.
@MainActor @Suite(.fewOnMainActor) struct AggregateGroupTests {
  typealias Row = GroupRow<Int?, (Int, Double?)>
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    try store.execute("INSERT INTO author (id, name, rank) VALUES (1, 'A', 1), (2, 'B', 2)")
    try store.execute(
      """
      INSERT INTO book (title, year, price, is_in, author_id) VALUES
      ('a', 1990, 1, 1, 1), ('b', 1990, 2, 1, 2), ('c', 2000, 3, 1, 1), ('d', NULL, 4, 0, NULL)
      """)
  }

  private func sql(_ statement: String) throws {
    try store.execute(SQL(verbatim: statement))
    try context.refresh()
  }

  private func years(limit: Int? = nil) throws -> LiveGroups<Int?, (Int, Double?)> {
    try context.liveGroups(Book.self, by: \.year, .count, .average(\.price), limit: limit)
  }

  private func text(_ rows: some Sequence<Row>) -> String {
    rows.map { "\($0.key.map(String.init) ?? "-") \($0.values.0) \($0.values.1 ?? -1)" }.joined(separator: ", ")
  }

  @Test func `groups come, change and go with their rows, and run no statement`() throws {
    let years = try years()
    var told: [String] = []
    let token = years.onDifference { difference in
      for change in difference {
        switch change {
        case .insert(let at, let new): told.append("+\(at) \(text([new]))")
        case .delete(let at, let old): told.append("-\(at) \(text([old]))")
        case .move(let from, let to, let old, let new): told.append("\(from)>\(to) \(text([old])): \(text([new]))")
        case .update(let at, let old, let new): told.append("=\(at) \(text([old])): \(text([new]))")
        }
      }
    }
    #expect(text(years) == "- 1 4.0, 1990 2 1.5, 2000 1 3.0")
    try sql("UPDATE book SET year = 1980 WHERE title = 'c'")
    #expect(text(years) == "- 1 4.0, 1980 1 3.0, 1990 2 1.5")
    #expect(told.sorted() == ["+1 1980 1 3.0", "-2 2000 1 3.0"])
    told.removeAll()
    try sql("UPDATE book SET price = 4 WHERE title = 'b'")
    #expect(told == ["=1 1990 2 1.5: 1990 2 2.5"] || told == ["=2 1990 2 1.5: 1990 2 2.5"])
    told.removeAll()
    try sql("UPDATE book SET title = 'z'; UPDATE book SET year = year")
    #expect(told.isEmpty)
    try sql("DELETE FROM book")
    #expect(years.isEmpty && years.queriesRun == 1)
    token.cancel()
  }

  @Test func `having, order and limit follow the aggregates`() throws {
    let years = try context.liveGroups(
      Book.self, by: \.year, .count, .min(\.title), .sum(\.price), having: { $0.values.0 > 1 },
      sortBy: { $0.values.2 > $1.values.2 }, limit: 1)
    #expect(years.map(\.key) == [1990] && years[0].values.1 == "a")
    try sql("INSERT INTO book (title, year, price, is_in) VALUES ('e', 2000, 10, 1)")
    #expect(years.map(\.key) == [2000] && years[0].values.2 == 13)
    try sql("DELETE FROM book WHERE title = 'c'")
    #expect(years.map(\.key) == [1990])
    let least = years.queriesRun
    try sql("DELETE FROM book WHERE title = 'a'")
    #expect(years.isEmpty && years.queriesRun == least + 1, "the least title had gone")
  }

  @Test func `groups by a path follow the columns on the way, by key`() throws {
    let names = try context.liveGroups(Book.self, by: \.author?.name, .count)
    #expect(names.map(\.key) == [nil, "A", "B"] && names.map(\.values) == [1, 2, 1])
    try sql("UPDATE author SET name = 'B' WHERE id = 1")
    #expect(names.map(\.key) == [nil, "B"] && names.map(\.values) == [1, 3] && names.timesFilled == 1)
    let queries = names.queriesRun
    try sql("UPDATE author SET rank = 7")
    #expect(names.queriesRun == queries)
  }

  @Test func `an overflow keeps the rows as they were, and missed steps are made up for`() throws {
    let sums = try context.liveGroups(Book.self, by: \.isIn, .sum(\.year))
    let before = sums.map(\.values)
    try sql("UPDATE book SET year = 9223372036854775807 WHERE title = 'a'")
    #expect(sums.error as? AggregateError == .overflow(column: "year") && sums.map(\.values) == before)
    try sql("UPDATE book SET year = 1 WHERE title = 'd'")
    #expect(sums.error != nil && sums.map(\.values) == before)
    try sql("UPDATE book SET year = 2 WHERE title = 'a'")
    #expect(sums.error == nil && sums.map(\.values) == [1, 3992] && sums.queriesRun == 1)
  }

  @Test func `groups that came, went and changed while one overflowed are all told when it fits again`() throws {
    let sums = try context.liveGroups(Book.self, by: \.title, .sum(\.year))
    var copy = sums.map { "\($0)" }
    let token = sums.onDifference { copy = Self.applied($0, to: copy) }
    try sql(
      "UPDATE book SET year = 9223372036854775807, title = 'b' WHERE title = 'a'; DELETE FROM book WHERE title = 'd'")
    #expect(sums.error != nil)
    try sql("UPDATE book SET title = 'x', year = 5 WHERE title = 'c'")
    try sql("INSERT INTO book (title, year, price, is_in) VALUES ('d', 4, 1, 1), ('e', 4, 1, 1)")
    #expect(sums.error != nil && sums.map(\.key) == ["a", "b", "c", "d"])
    try sql("UPDATE book SET year = 1 WHERE title = 'b'")
    #expect(sums.error == nil && sums.map(\.key) == ["b", "d", "e", "x"] && sums.map(\.values) == [2, 4, 4, 5])
    #expect(copy == sums.map { "\($0)" })
    token.cancel()
  }

  @Test func `who reads groups is woken once when one changes, and reads the old rows before`() throws {
    let years = try years()
    var before = ""
    var woken = 0
    track {
      _ = years.count
    } before: {
      woken += 1
      before = text(years)
    }
    try sql("UPDATE book SET title = 'q'")
    #expect(woken == 0)
    try sql("UPDATE book SET price = 7")
    #expect(woken == 1 && before == "- 1 4.0, 1990 2 1.5, 2000 1 3.0")
    #expect(text(years) == "- 1 7.0, 1990 2 7.0, 2000 1 7.0" && years.commitNumber == context.commitNumber)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `groups equal GROUP BY afresh, and differences lead from one result to the next`(seed: UInt64) async throws {
    let graph = try RandomGraph(seed: seed)
    try graph.store.execute("CREATE INDEX book_year_title ON book (year, title)")
    let context = graph.context
    let byYear = try context.liveGroups(Book.self, by: \.year, .count, .min(\.title), .max(\.note))
    let byPrice = try context.liveGroups(
      Book.self, by: \.price, .count, .max(\.year), where: #Predicate { $0.isIn }, having: { $0.values.0 > 1 })
    let byName = try context.liveGroups(
      Book.self, by: \.author?.name, .count, .min(\.price), sortBy: { $0.values.0 > $1.values.0 }, limit: 4)
    let byTitle = try context.liveGroups(Book.self, by: \.title, .average(\.price), limit: 5)
    let isNotA: Predicate<Book> = #Predicate { $0.author?.name != "a" }
    let byRank = try context.liveGroups(
      Book.self, by: \Book.author?.rank, .count, .max(\Book.author?.name), where: isNotA)
    var copies: [String: [String]] = [:]
    var tokens: [ChangeToken] = []
    func follow<Key, Values>(_ name: String, _ groups: LiveGroups<Key, Values>) {
      copies[name] = groups.map { "\($0)" }
      tokens.append(groups.onDifference { copies[name] = Self.applied($0, to: copies[name] ?? []) })
    }
    follow("year", byYear)
    follow("price", byPrice)
    follow("name", byName)
    follow("title", byTitle)
    for step in 0..<30 {
      await Task.yield()  // others wait for the main actor
      try graph.step()
      let why = "seed \(seed), step \(step)\n\(graph.done)"
      func rows(_ sql: String) throws -> [String] { try graph.store.query(SQL(verbatim: sql)).map { "\($0.values)" } }
      func value(_ value: some StoredValue) throws -> QuireRow.Value { try .init(storing: value) }
      let years = try byYear.map {
        "\([try value($0.key), .integer(Int64($0.values.0)), try value($0.values.1), try value($0.values.2)])"
      }
      try #require(
        try years == rows("SELECT year, count(*), min(title), max(note) FROM book GROUP BY year ORDER BY year"),
        "\(why)")
      let prices = try byPrice.map { "\([try value($0.key), .integer(Int64($0.values.0)), try value($0.values.1)])" }
      try #require(
        try prices
          == rows(
            "SELECT price, count(*), max(year) FROM book WHERE is_in = 1 GROUP BY price HAVING count(*) > 1 ORDER BY price"
          ),
        "\(why)")
      let names = try byName.map { "\([try value($0.key), .integer(Int64($0.values.0)), try value($0.values.1)])" }
      try #require(
        try names
          == rows(
            """
            SELECT a.name, count(*), min(price) FROM book AS b LEFT JOIN author AS a ON a.id = b.author_id
            GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 4
            """), "\(why)")
      let ranks = try byRank.map { "\([try value($0.key), .integer(Int64($0.values.0)), try value($0.values.1)])" }
      try #require(
        try ranks
          == rows(
            """
            SELECT a.rank, count(*), max(a.name) FROM book AS b LEFT JOIN author AS a ON a.id = b.author_id
            WHERE a.name IS NOT 'a' GROUP BY 1 ORDER BY 1
            """), "\(why)")
      let titles = try rows("SELECT title FROM book GROUP BY title ORDER BY title LIMIT 5")
      try #require(byTitle.map { "\([QuireRow.Value.text($0.key)])" } == titles, "\(why)")
      for group in byTitle {
        let title = group.key
        let fresh = try ModelContext(graph.store, isolation: nil)
          .fetchAverage(\Book.price, where: #Predicate { $0.title == title })
        try #require("\(String(describing: group.values))" == "\(String(describing: fresh))", "\(why)")
      }
      try #require(copies["year"] == byYear.map { "\($0)" }, "\(why)")
      try #require(copies["price"] == byPrice.map { "\($0)" }, "\(why)")
      try #require(copies["name"] == byName.map { "\($0)" }, "\(why)")
      try #require(copies["title"] == byTitle.map { "\($0)" }, "\(why)")
    }
    tokens.removeAll()
  }

  @Test func `groups that look at their own table alone are found out`() throws {
    var found = 0
    for seed in 1...5 as ClosedRange<UInt64> where found == 0 {
      let graph = try RandomGraph(seed: seed)
      let names = try graph.context.liveGroups(Book.self, by: \.author?.name, .count)
      let fault = Distorted(names.node, in: graph.context.owner) { $0.keep(only: "book") }
      defer { withExtendedLifetime(fault) {} }
      for _ in 0..<40 {
        try graph.step()
        let rows = try graph.store.query(
          "SELECT a.name, count(*) FROM book AS b LEFT JOIN author AS a ON a.id = b.author_id GROUP BY 1 ORDER BY 1"
        ).map(\.values)
        let shown = try names.map { [try QuireRow.Value(storing: $0.key), .integer(Int64($0.values))] }
        if shown != rows { found += 1 }
      }
    }
    #expect(found > 0, "the differential test would not notice rows that reach a changed one")
  }

  /// The result before, after a difference, as texts.
  private static func applied<Row>(_ difference: Difference<Row>, to before: [String]) -> [String] {
    var result = before
    var leaving: [Int] = []
    var coming: [(Int, String)] = []
    var updates: [(Int, String)] = []
    for change in difference {
      switch change {
      case .insert(let at, let new): coming.append((at, "\(new)"))
      case .delete(let at, _): leaving.append(at)
      case .move(let from, let to, _, let new):
        leaving.append(from)
        coming.append((to, "\(new)"))
      case .update(let at, _, let new): updates.append((at, "\(new)"))
      }
    }
    for at in leaving.sorted(by: >) { result.remove(at: at) }
    for (at, row) in coming.sorted(by: { $0.0 < $1.0 }) { result.insert(row, at: at) }
    for (at, row) in updates { result[at] = row }
    return result
  }
}
