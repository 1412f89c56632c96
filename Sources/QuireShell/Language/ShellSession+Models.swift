import QuireMigration
import QuireRow
import QuireSQLite

// Queries and writes of the model language.

extension ShellSession {
  var resolver: Resolver { Resolver(models, kept: kept?.rows, parameters: parameters) }

  func parse(_ text: String, from start: Int) throws(ShellFailure) -> ModelStatement {
    let models = models
    let found = try Parser.statement(text, from: start) { models.place(of: $0) != nil }
    deepest = found.deepest
    return found.statement
  }

  /// Prepares the SQL of a query of models; if it exceeds SQLite's limits, the error has its place in the query.
  func prepare(_ sql: ModelSQL) throws -> Statement {
    do {
      return try source.connection.prepare(sql.text)
    } catch {
      let said = error.message.lowercased()
      guard Self.limits.contains(where: { said.contains($0) }) else { throw error }
      throw ShellFailure(
        "this is more than SQLite takes in one statement (\(error.message))", at: deepest,
        hint: "split the query, or ask in SQL step by step (with … as)")
    }
  }

  /// How SQLite reports that a statement is too large.
  private static let limits = ["stack overflow", "too large", "too many", "at most", "too big"]

  func model(_ text: String, from start: Int, _ run: Run) async throws {
    let statement = Result { () throws(ShellFailure) in try parse(text, from: start) }
    // Before an error of the text, which would be about another file's models.
    try checkPlace(writing: source.recording != nil && (try? statement.get())?.writes == true)
    switch try statement.get() {
    case .query(let query) where !query.assignments.isEmpty: try await update(query, run)
    case .query(let query): try await ask(query, run)
    case .insert(let name, let values, let end):
      let (statement, place) = try resolver.insert(name, values)
      let failure = WriteFailure(model: models[place], values, end: end)
      try await write(statement, isWhole: false, at: place, failure, run)
    case .delete(let query):
      let (statement, place) = try resolver.delete(query)
      let failure = WriteFailure(model: models[place], [])
      try await write(statement, isWhole: Self.isWhole(query), at: place, failure, run)
    }
  }

  private func update(_ query: ModelQuery, _ run: Run) async throws {
    let (statement, place) = try resolver.update(query)
    let failure = WriteFailure(model: models[place], query.assignments)
    try await write(statement, isWhole: Self.isWhole(query), at: place, failure, run)
  }

  /// Whether it does not restrict the rows.
  private static func isWhole(_ query: ModelQuery) -> Bool {
    guard case .model(_, let key) = query.source else { return false }
    return key.isEmpty && query.filter == nil && query.steps.isEmpty
  }

  private func write(
    _ statement: ResolvedWrite, isWhole: Bool, at place: Int, _ failure: WriteFailure, _ run: Run
  ) async throws {
    let sql = try ModelSQL.write(statement)
    guard source.recording != nil else { throw refusedWrite }
    try checkPlace(writing: true)
    if isWhole,
      try await !mayChangeAll(
        of: StatementWords.Table(schema: nil, name: models[place].table), run, verb: statement.verb)
    {
      throw ShellFailure("nothing was changed", .refused)
    }
    let prepared = try prepare(sql)
    try bind(prepared, sql.values)
    let reply: Reply
    do {
      reply = try write(prepared, StatementWords(sql.text, 0..<sql.text.utf8.count), run)
    } catch let error as SQLiteError {
      if let explained = brokenKey(error, statement, failure) ?? failure.explained(error) { throw explained }
      throw error
    }
    try await run.each(reply)
  }

  // MARK: Asking

  private func ask(_ query: ModelQuery, _ run: Run) async throws {
    begin(.reading)
    if case .kept(let row, _) = query.source, query.steps.isEmpty, query.filter == nil, query.selected.isEmpty,
      let reply = try again(row, run)
    {
      return try await run.each(reply)
    }
    if let output = run.output, output.keepsRows, query.isBare, options.screenRows != nil {
      // A screenful, newest last: it is read before it is written.
      let clock = ContinuousClock()
      let begin = clock.now
      let alone = Run(output: nil, confirm: run.confirm, each: run.each)
      guard case .answer(let answer) = try answer(screenful(of: resolver.query(query), query, alone), query, alone)
      else { return }
      try checkNotPassed()
      let count = try write(answer, to: output)
      return try await run.each(.streamed(rows: count, isCut: false, elapsed: clock.now - begin))
    }
    var resolved = try screenful(of: try resolver.query(query), query, run)
    // If nothing else identifies the row, the row id is shown on a screen.
    if run.output == nil, let place = resolved.model, case .rowID(let name) = models[place].key {
      resolved.rowID = name
    }
    let reply = try answer(resolved, query, run)
    try await run.each(reply)
  }

  /// A model's bare name shows its newest rows, if the result is shown on a screen.
  private func screenful(of resolved: ResolvedQuery, _ query: ModelQuery, _ run: Run) throws -> ResolvedQuery {
    guard run.output == nil, query.isBare, let rows = options.screenRows, let place = resolved.model else {
      return resolved
    }
    var resolved = resolved
    let alias = resolved.rows.tables.alias
    resolved.order = models[place].keyColumns.map {
      ResolvedQuery.Order(value: .column(alias: alias, $0), isDescending: true, nullsFirst: nil)
    }
    resolved.limit = .value(.integer(Int64(rows)))
    return resolved
  }

  private func answer(_ resolved: ResolvedQuery, _ query: ModelQuery, _ run: Run) throws -> Reply {
    let isOne = isOneRow(query)  // uses the result kept so far
    let sql = try ModelSQL.select(resolved)
    let statement = try prepare(sql)
    try bind(statement, sql.values)
    let result = try rows(of: statement, sql: sql.readable, table: resolved.table, run)
    guard var answer = result.answer else { return result.reply }
    if run.output != nil {
      answer.model = resolved.model.map { models[$0].name }
      kept = Kept(answer: answer, rows: resolved.model.flatMap { keptRows($0, answer) })
      return result.reply
    }
    if query.isBare, options.screenRows != nil { answer.rows.reverse() }
    answer.model = resolved.model.map { models[$0].name }
    if resolved.limit != nil, answer.isWhole {
      var whole = resolved
      if query.isBare { whole.limit = nil }
      answer.total = try total(of: whole)
    }
    kept = Kept(answer: answer, rows: resolved.model.flatMap { keptRows($0, answer) })
    if answer.rows.count == 1, let place = resolved.model, isOne, let keys = kept?.rows?.keys.first {
      return .card(try card(place, answer, key: keys))
    }
    return .answer(answer)
  }

  /// Whether it selects one row by its key, or the one that it leads to.
  private func isOneRow(_ query: ModelQuery) -> Bool {
    guard query.order.isEmpty, query.limit == nil, query.filter == nil, query.steps.allSatisfy({ $0.filter == nil })
    else { return false }
    var place: Int?
    switch query.source {
    case .model(let name, let key): place = key.isEmpty ? nil : models.place(of: name.text)
    case .kept(let row, _): place = row == nil ? nil : kept?.rows?.model
    }
    for step in query.steps {
      let relation = place.flatMap { models[$0].relation(named: step.relation.text) }
      place = relation?.isToMany == false ? relation?.target : nil
    }
    return place != nil
  }

  /// Counted up to a number that is quickly reached.
  private static let countedAtMost = 10_000

  private func total(of resolved: ResolvedQuery) throws -> Answer.Total {
    var resolved = resolved
    resolved.limit = nil
    resolved.offset = nil
    return try count(resolved)
  }

  private func count(_ resolved: ResolvedQuery) throws -> Answer.Total {
    let sql = try ModelSQL.count(resolved, atMost: Self.countedAtMost + 1)
    let statement = try prepare(sql)
    try bind(statement, sql.values)
    defer { statement.reset() }
    guard try statement.step(), case .integer(let count) = statement.row.value(0) else {
      return Answer.Total(count: 0, isLeast: true)
    }
    let isLeast = count > Self.countedAtMost
    return Answer.Total(count: isLeast ? Self.countedAtMost : Int(count), isLeast: isLeast)
  }

  /// The keys of a result's rows; nil if its columns do not include them.
  private func keptRows(_ place: Int, _ answer: Answer) -> Resolver.KeptRows? {
    let columns = models[place].keyColumns
    let places = columns.compactMap { answer.columns.firstIndex(of: $0) }
    guard !columns.isEmpty, places.count == columns.count else { return nil }
    return Resolver.KeptRows(model: place, keys: answer.rows.map { row in places.map { row[$0] } })
  }

  // MARK: Kept rows

  /// `_` shows the last result again, `_3` its third row as a card; nil if the file must be queried.
  private func again(_ row: Int?, _ run: Run) throws -> Reply? {
    guard let kept else { return nil }
    guard let row else {
      guard let output = run.output else { return .answer(kept.answer) }
      return .streamed(rows: try write(kept.answer, to: output), isCut: false, elapsed: .zero)
    }
    guard kept.answer.rows.indices.contains(row - 1) else {
      throw ShellFailure("the last answer has no row \(row): it has \(kept.answer.rows.count)", .usage)
    }
    var one = kept.answer
    one.rows = [kept.answer.rows[row - 1]]
    if let output = run.output { return .streamed(rows: try write(one, to: output), isCut: false, elapsed: .zero) }
    if let rows = kept.rows {
      return .card(try card(rows.model, one, key: rows.keys[row - 1]))
    }
    let lines = zip(kept.answer.columns, kept.answer.rows[row - 1]).map { Card.Line(name: $0, value: $1, note: nil) }
    return .card(Card(title: "row \(row)", lines: lines, elapsed: .zero))
  }

  /// Writes kept rows, and reports their number.
  @discardableResult
  nonisolated public func write(_ answer: Answer, to output: RowOutput) throws -> Int {
    var bytes = ByteBuffer(output.write)
    var writer = try writer(answer, output)
    for row in answer.rows {
      writer.write(KeptRow(values: row), to: &bytes)
      try bytes.flushIfLarge()
    }
    writer.end(&bytes)
    try bytes.flush()
    return answer.rows.count
  }

  // MARK: Cards

  /// One row with what it leads to: names of the rows it points to, and how many point to it.
  private func card(_ place: Int, _ answer: Answer, key: [Value]) throws -> Card {
    let clock = ContinuousClock()
    let begin = clock.now
    let model = models[place]
    let row = answer.rows[0]
    var lines: [Card.Line] = []
    for (column, value) in zip(answer.columns, row) where !model.keyColumns.contains(column) {
      let relation = model.relations.first { !$0.isToMany && $0.ownColumns == [column] }
      lines.append(
        Card.Line(name: column, value: value, note: try relation.flatMap { try label(of: $0, value) }))
    }
    for relation in model.relations where relation.isToMany || relation.ownColumns.isEmpty {
      let count = try count(relation, of: place, key)
      lines.append(
        Card.Line(name: relation.name, value: .integer(Int64(count.count)), note: count.isLeast ? "or more →" : "→"))
    }
    let title = "\(model.name) " + key.map { ShownCell($0).text }.joined(separator: ", ")
    return Card(title: title, lines: lines, elapsed: answer.elapsed + (clock.now - begin))
  }

  private func label(of relation: Relation, _ value: Value) throws -> String? {
    let target = models[relation.target]
    guard let label = target.label, case .direct(let pairs) = relation.route, value != .null else { return nil }
    let sql = """
      SELECT \(try quoted(identifier: label.column)) FROM \(try quoted(identifier: target.table))
      WHERE \(try quoted(identifier: pairs[0].other)) = ?
      """
    guard let found = try source.connection.query(sql, [value]).first else { return "none" }
    return "→ \(ShownCell(found).text)"
  }

  /// How many rows it leads to, by the query that shows them.
  private func count(_ relation: Relation, of place: Int, _ key: [Value]) throws -> Answer.Total {
    let rows = Resolver.KeptRows(model: place, keys: [key])
    var query = ModelQuery(source: .kept(row: 1, 0..<0))
    query.steps = [ModelQuery.Step(relation: Name(text: relation.name, range: 0..<0))]
    let resolved = try Resolver(models, kept: rows, parameters: parameters).query(query)
    return try count(resolved)
  }
}
