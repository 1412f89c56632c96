import QuireRow
import QuireSQLite

// SQL as it is typed: statement by statement, until one fails.

extension ShellSession {
  func sql(_ text: String, from start: Int = 0, _ run: Run) async throws {
    let text = start == 0 ? text : String(repeating: " ", count: start) + text.utf8Suffix(from: start)
    var script = Script(text)
    var isFirst = true
    var opening: Range<Int>?
    while true {
      let begin = script.position
      self.begin(source.recording == nil ? .reading : .either)
      guard let statement = try source.connection.next(of: &script) else { break }
      isFirst = false
      let words = StatementWords(text, begin..<script.position)
      let wasOpen = !source.connection.isAutocommit
      do {
        try await self.statement(statement, words, run)
      } catch {
        throw begin > 0 || script.hasMore ? placed(explained(error), words) : error
      }
      if !wasOpen { opening = source.connection.isAutocommit ? nil : words.range }
    }
    if let opening, !options.staysOpen, !source.connection.isAutocommit {
      try source.connection.execute("ROLLBACK")
      throw ShellFailure(
        "no transaction stays open after this text: this one was rolled back", at: opening,
        hint: "put its statements and commit behind it")
    }
    if isFirst { throw ShellFailure("there is no statement in the text") }
  }

  /// Of several statements the first word of the one that failed is the place, if the failure has no better one.
  private func placed(_ failure: ShellFailure, _ words: StatementWords) -> ShellFailure {
    guard failure.range == nil, [.failed, .usage, .refused].contains(failure.kind) else { return failure }
    var failure = failure
    failure.range = words.range
    return failure
  }

  private func statement(_ statement: Statement, _ words: StatementWords, _ run: Run) async throws {
    begin(undone.isEnd(words) ? .committing : .reading)
    let writes = !statement.isReadOnly || undone.isEnd(words)
    if words.verb != "rollback" { try checkPlace(writing: writes && source.recording != nil) }
    if statement.isReadOnly || statement.isExplanation {
      try bind(statement)
      if statement.columnCount == 0 {
        if let recording = source.recording, undone.isEnd(words) {
          do {
            try recording.ending { try statement.run() }
          } catch let error as SQLiteError where error.isForeignKey {
            throw brokenKeys(words) ?? ShellFailure(error.message)
          }
        } else {
          try statement.run()
          source.recording?.transactionEnded()
        }
        note(words)
        if let said = words.said(staysOpen: options.staysOpen) { try await run.each(.written(said)) }
        return
      }
      let isOnScreen =
        run.output.map { $0.format == .table } ?? (options.screenRows != nil && settings.format == .table)
      if words.isQueryPlan, isOnScreen {
        return try await run.each(.lines(try Self.planLines(statement)))
      }
      let reply = try rows(of: statement, sql: words.text, run)
      return try await run.each(reply.reply)
    }
    guard source.recording != nil else { throw refusedWrite }
    if try await !mayDestroy(words, run) { throw ShellFailure("nothing was changed", .refused) }
    try bind(statement)
    do {
      try await run.each(try write(statement, words, run))
    } catch let error as SQLiteError where error.isForeignKey {
      if let explained = brokenKeys(words) { throw explained }
      throw error
    }
  }

  static let onlyReads = "it would write, and writing is off (.write, --write): nothing was run"

  /// Why a statement that writes is not run.
  var refusedWrite: ShellFailure {
    let copied = "the records of \(printable(file)) are read, and not written to: nothing was run"
    return ShellFailure(isCopied ? copied : Self.onlyReads, .refused)
  }

  // MARK: Binding

  /// Binds what `.set` and `-p` have given, and `values` to the parameters without a name.
  func bind(_ statement: Statement, _ values: [Value] = []) throws(ShellFailure) {
    let parameters = parameters
    var rest = values[...]
    for index in stride(from: 1, through: statement.parameterCount, by: 1) {
      let name = statement.parameterName(index)
      if name == nil, let value = rest.popFirst() {
        statement.bind(value, at: index)
      } else if let name, !name.hasPrefix("?"), let value = parameters[String(name.dropFirst())] {
        statement.bind(value, at: index)
      } else if let name, !name.hasPrefix("?") {
        throw ShellFailure(missing: name)
      } else {
        throw ShellFailure("a plain ? has no name to give it a value by: write :NAME", .usage)
      }
    }
  }

  // MARK: Rows

  struct Rows {
    let reply: Reply
    let answer: Answer?
  }

  /// Reads a statement's rows: into the output, or kept, or both.
  ///
  /// - Parameter table: Whose columns they have, if it is known.
  func rows(of statement: Statement, sql: String, table: String? = nil, _ run: Run) throws -> Rows {
    defer { statement.reset() }
    let clock = ContinuousClock()
    let begin = clock.now
    var hasRow = try statement.step()
    var answer = Answer(columns: statement.columnNames, rows: [], sql: sql, elapsed: .zero)
    answer.table = table
    if let output = run.output {
      if output.format == .insert { try refresh() }
      var writer = try writer(answer, output)
      let most = output.keepsRows ? options.keptRows : 0
      let (count, isCut) = try stream(statement, &hasRow, &writer, output, keeping: most, in: &answer.rows)
      answer.isWhole = !isCut && count == answer.rows.count
      answer.elapsed = clock.now - begin
      if output.keepsRows { kept = Kept(answer: answer, rows: nil) }
      return Rows(
        reply: .streamed(rows: count, isCut: isCut, elapsed: answer.elapsed), answer: output.keepsRows ? answer : nil)
    }
    while hasRow, answer.rows.count < options.keptRows {
      answer.rows.append(statement.row.values)
      hasRow = try statement.step()
    }
    answer.isWhole = !hasRow
    answer.elapsed = clock.now - begin
    kept = Kept(answer: answer, rows: nil)
    return Rows(reply: .answer(answer), answer: answer)
  }

  /// What writes the rows of an answer.
  nonisolated func writer(_ answer: Answer, _ output: RowOutput) throws -> any AnswerWriter {
    var output = output
    if output.format == .insert {
      output.table = output.table ?? settings.table ?? answer.table
      if let table = output.table, let model = models.all.first(where: { SQLName($0.table) == SQLName(table) }) {
        output.computedColumns = Set(model.columns.filter(\.isGenerated).map { $0.column.lowercased() })
      }
    }
    return try output.format.writer(answer.columns, output)
  }

  /// A function of its own, so that each writer is compiled for itself.
  private func stream(
    _ statement: Statement, _ hasRow: inout Bool, _ writer: inout some AnswerWriter, _ output: RowOutput,
    keeping most: Int, in rows: inout [[Value]]
  ) throws -> (count: Int, isCut: Bool) {
    var bytes = ByteBuffer(output.write)
    let limit = output.limit ?? .max
    var count = 0
    do {
      while hasRow, count < limit {
        writer.write(statement.row, to: &bytes)
        if count < most { rows.append(statement.row.values) }
        try bytes.flushIfLarge()
        count += 1
        hasRow = try statement.step()
      }
    } catch {
      try bytes.flush()
      throw error
    }
    writer.end(&bytes)
    try checkNotPassed()
    try bytes.flush()
    return (count, hasRow)
  }
}

extension ShellFailure {
  init(missing name: String) {
    let bare = name.dropFirst()
    self.init("there is no value for \(name): give -p \(bare)=VALUE, or .set \(bare) VALUE", .usage)
  }
}

extension String {
  func utf8Suffix(from start: Int) -> String { String(decoding: Array(utf8).dropFirst(start), as: UTF8.self) }
}
