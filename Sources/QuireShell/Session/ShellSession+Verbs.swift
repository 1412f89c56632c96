import QuireMigration
import QuireRow
import QuireSQLite

// live Q   sql Q   explain Q   count Q   summary Q

extension ShellSession {
  func verb(_ verb: Input.Verb, _ text: String, from start: Int, _ run: Run) async throws {
    let rest = text.utf8Suffix(from: start)
    if let failure = notAQuery(rest, from: start, "\(verb.rawValue) is followed by a query") { throw failure }
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

  /// Nil if the text is not a command.
  ///
  /// - Parameter wanted: What is to be there, and why.
  func notAQuery(_ text: String, from start: Int, _ wanted: String) -> ShellFailure? {
    guard case .command = InputReader(models: models).kind(of: text) else { return nil }
    let name = text.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }
    let place = start + text.utf8.count - text.drop { $0.isWhitespace }.utf8.count
    return ShellFailure(
      "\(wanted), and \(printable(String(name))) is a command", at: place..<place + name.utf8.count, .usage)
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
