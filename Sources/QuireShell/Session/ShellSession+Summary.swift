import QuireRow
import QuireSQLite

// summary Q

extension ShellSession {
  /// What each column of a query has: its types, how many values and how many of them differ, the least, the greatest, the
  /// mean and the median. Read in one pass for every ``columnsAtOnce`` columns.
  func summary(_ text: String, from start: Int, isModel: Bool, _ run: Run) async throws {
    begin(.reading)
    let clock = ContinuousClock()
    let begin = clock.now
    let query = isModel ? try selected(text, from: start).sql : try oneQuery(text, from: start)
    let names = try prepare(query).columnNames
    var rows: [[Value]] = []
    for first in stride(from: 0, to: names.count, by: Self.columnsAtOnce) {
      let places = first..<min(first + Self.columnsAtOnce, names.count)
      let statement = try source.connection.prepare(Self.summary(of: query.text, names.count, places))
      try bind(statement, query.values)
      defer { statement.reset() }
      guard try statement.step() else { continue }
      let values = statement.row.values
      for place in places {
        let found = values[((place - first) * Self.measures.count)...].prefix(Self.measures.count)
        rows.append(
          [.text(names[place])] + found.enumerated().map { $0.offset == 0 ? Self.ordered($0.element) : $0.element })
      }
    }
    let answer = Answer(
      columns: ["column"] + Self.measures.map(\.name), rows: rows, sql: query.readable, elapsed: clock.now - begin)
    kept = Kept(answer: answer, rows: nil)
    guard let output = run.output else { return try await run.each(.answer(answer)) }
    let count = try write(answer, to: output)
    try await run.each(.streamed(rows: count, isCut: false, elapsed: answer.elapsed))
  }

  /// A statement has at most 2 000 columns.
  private static let columnsAtOnce = 100

  /// What is measured of a column.
  private static let measures: [(name: String, sql: @Sendable (String) -> String)] = [
    ("type", { "group_concat(DISTINCT CASE WHEN \($0) IS NOT NULL THEN typeof(\($0)) END)" }),
    ("values", { "count(\($0))" }), ("nulls", { "count(*) - count(\($0))" }), ("distinct", { "count(DISTINCT \($0))" }),
    ("min", { "min(\($0))" }), ("max", { "max(\($0))" }), ("mean", { "avg(\(number($0)))" }),
    ("median", { "median(\(number($0)))" }),
  ]

  private static func number(_ column: String) -> String {
    "CASE WHEN typeof(\(column)) IN ('integer', 'real') THEN \(column) END"
  }

  private static func summary(of query: String, _ count: Int, _ places: Range<Int>) -> String {
    let names = (0..<count).map { "c\($0)" }.joined(separator: ", ")
    let measured = places.flatMap { place in measures.map { $0.sql("c\(place)") } }.joined(separator: ", ")
    return "WITH rows_to_measure (\(names)) AS (\n\(query)\n) SELECT \(measured) FROM rows_to_measure"
  }

  /// Types come in the order in which the rows have them.
  private static func ordered(_ types: Value) -> Value {
    guard let names = types.string else { return types }
    return .text(names.split(separator: ",").sorted().joined(separator: " "))
  }

  private static let noQuery = ShellFailure("summary is of a query: summary Book, or summary select …", .usage)

  /// The only statement of a text in SQL.
  private func oneQuery(_ text: String, from start: Int) throws -> ModelSQL {
    var script = Script(String(repeating: " ", count: start) + text.utf8Suffix(from: start))
    guard try source.connection.next(of: &script) != nil else { throw Self.noQuery }
    let words = StatementWords(text, start..<script.position)
    if try source.connection.next(of: &script) != nil {
      throw ShellFailure("summary is of one query, and more follows it", at: script.position..<text.utf8.count, .usage)
    }
    guard ["select", "values"].contains(words.verb) else { throw Self.noQuery }
    let query = words.text.hasSuffix(";") ? String(words.text.dropLast()) : words.text
    return ModelSQL(text: query, readable: query)
  }
}
