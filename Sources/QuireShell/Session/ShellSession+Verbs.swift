import QuireMigration
import QuireRow
import QuireSQLite

// live Q   sql Q   explain Q   count Q   summary Q

extension ShellSession {
  func verb(_ verb: Input.Verb, _ text: String, from start: Int, _ run: Run) async throws {
    let rest = text.utf8Suffix(from: start)
    let isModel = if case .model = InputReader(models: models).kind(of: rest) { true } else { false }
    try checkPlace(writing: false)
    switch verb {
    case .live: try await run.each(.live(try livePlan(text, from: start)))
    case .sql where !isModel: try await sql(text, from: start, run)
    case .sql: try await run.each(.lines([try selected(text, from: start).sql.readable + ";"]))
    case .explain: try await explain(text, from: start, run)
    case .summary: try await summary(text, from: start, isModel: isModel, run)
    case .count:
      let found = try selected(text, from: start)
      let sql = try ModelSQL.count(found.query)
      let statement = try prepare(sql)
      try bind(statement, sql.values)
      try await run.each(try rows(of: statement, sql: sql.readable, run).reply)
    }
  }

  /// The query of the model language that begins at `start`, with its SQL.
  func selected(_ text: String, from start: Int) throws -> (query: ResolvedQuery, sql: ModelSQL) {
    guard case .query(let query) = try parse(text, from: start), query.assignments.isEmpty else {
      throw ShellFailure("this is a write, and a query is wanted here", at: start..<text.utf8.count, .usage)
    }
    let resolved = try resolver.query(query)
    return (resolved, try ModelSQL.select(resolved))
  }
}
