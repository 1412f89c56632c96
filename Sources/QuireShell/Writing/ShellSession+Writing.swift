import QuireRow
import QuireSQLite

// Writes, and taking them back.

extension ShellSession {
  /// Runs a statement that writes: rows it changes are recorded, so that it can be undone.
  func write(_ statement: Statement, _ words: StatementWords, _ run: Run) throws -> Reply {
    guard let recording = source.recording else { throw refusedWrite }
    begin(.writing)
    let clock = ContinuousClock()
    let begin = clock.now
    guard words.writesRows else { return try alter(statement, words, run) }
    let connection = source.connection
    let version = try dataVersion
    // A session that ends with this run undoes nothing: it says only how many rows changed.
    let limit = options.staysOpen ? 0 : options.undoableSizeInBytes
    let (done, recorded) = try recording.record(limitInBytes: limit) {
      let before = connection.totalChanges
      let rows = statement.columnCount > 0 ? try self.rows(of: statement, sql: words.text, run) : nil
      if rows == nil { try statement.run() }
      return (rows: rows, count: connection.totalChanges == before ? 0 : connection.changes)
    }
    statement.reset()
    let tables = recorded ?? []
    var obstacle = options.staysOpen ? try obstacle(tables) : nil
    if tables.isEmpty, done.count > 0, try isElsewhere(words) { obstacle = "its rows are temporary or in another file" }
    if !tables.isEmpty || obstacle != nil {
      undone.add(UndoLog.Entry(tables: tables.filter { !$0.table.isInternal }, version: version, obstacle: obstacle))
    }
    if let rows = done.rows { return rows.reply }
    return .written(
      [
        "\(done.count.grouped) \(done.count == 1 ? "row" : "rows") \(Self.past[words.verb] ?? "changed")",
        besides(tables, words, done.count),
        (clock.now - begin).spoken,
        obstacle.map { "cannot be undone: \($0)" }
          ?? (tables.isEmpty || !options.staysOpen ? nil : "undo to take it back"),
      ].compactMap { $0 }.joined(separator: " · "), rows: done.count)
  }

  /// What triggers and keys' actions have changed besides the rows that the statement is about:
  /// `with it 80 rows of Book deleted`.
  private func besides(_ tables: [TableChanges], _ words: StatementWords, _ count: Int) -> String? {
    let target = words.target?.name.lowercased()
    var parts: [String] = []
    for changes in tables where !changes.table.isInternal {
      var counts: [RowChange.Kind: Int] = [:]
      for row in changes.rows { counts[row.kind, default: 0] += 1 }
      if changes.table.name.lowercased() == target {
        // Its own are of the statement's kind first: an INSERT may have put a row in another's place.
        var own = count
        let kind: RowChange.Kind = words.verb == "delete" ? .delete : words.verb == "update" ? .update : .insert
        if kind == .update {
          // A row whose key is changed goes from one place and comes to another.
          let moved = min(own - min(own, counts[.update] ?? 0), counts[.insert] ?? 0, counts[.delete] ?? 0)
          for part in [RowChange.Kind.insert, .delete] { counts[part]? -= moved }
          own -= moved
        }
        for kind in [kind, .update, .insert, .delete] {
          let taken = min(own, counts[kind] ?? 0)
          counts[kind]? -= taken
          own -= taken
        }
      }
      let name = models.all.first { $0.table == changes.table.name }?.name ?? changes.table.name
      for (kind, word) in [(RowChange.Kind.delete, "deleted"), (.update, "changed"), (.insert, "added")] {
        guard let count = counts[kind], count > 0 else { continue }
        parts.append("\(count.grouped) \(count == 1 ? "row" : "rows") of \(name) \(word)")
      }
    }
    return parts.isEmpty ? nil : "with it " + parts.joined(separator: ", ")
  }

  private static let past = ["insert": "added", "replace": "put in", "update": "changed", "delete": "deleted"]

  /// What a statement does besides rows: the schema, settings, the file.
  private func alter(_ statement: Statement, _ words: StatementWords, _ run: Run) throws -> Reply {
    if statement.columnCount > 0 { return try rows(of: statement, sql: words.text, run).reply }
    let clock = ContinuousClock()
    let begin = clock.now
    if let recording = source.recording, !words.isOutsideTransaction {
      try recording.alter(table: words.verb == "alter") { try statement.run() }
    } else {
      try statement.run()
    }
    if let said = words.said(staysOpen: options.staysOpen) {
      note(words)
      return .written(said)
    }
    try refresh()
    let end = words.altersSchema ? " · a change of the schema cannot be undone" : ""
    return .written("done · \((clock.now - begin).spoken)\(end)", rows: 0)
  }

  /// Keeps the log in step with transactions.
  func note(_ words: StatementWords) {
    switch words.verb {
    case "begin": undone.begin("")
    case "savepoint": undone.begin(words.name(behind: "savepoint") ?? "")
    case "rollback": undone.rollBack(to: words.name(behind: "to"))
    default: break
    }
  }

  /// Whether a statement writes to another file than this, or to a temporary table.
  private func isElsewhere(_ words: StatementWords) throws -> Bool {
    guard let table = words.target else { return false }
    if let schema = table.schema { return schema != "main" }
    return try SchemaReader(source.connection).objects(of: table.name).isEmpty
      || source.connection.query(
        "SELECT 1 FROM sqlite_temp_schema WHERE name = ? COLLATE NOCASE", [.text(table.name)]
      ).first != nil
  }

  private func obstacle(_ tables: [TableChanges]) throws -> String? {
    try refresh()
    if let hidden = tables.first(where: \.table.isInternal) {
      return "it changed the index in \(hidden.table.name) too"
    }
    for changes in tables {
      guard let model = models.all.first(where: { $0.table == changes.table.name }), !model.keyColumns.isEmpty else {
        return "\(changes.table.name) has no key to find its rows by"
      }
    }
    return nil
  }

  // MARK: Questions before a write

  /// Whether to go on with a statement that has no condition.
  func mayDestroy(_ words: StatementWords, _ run: Run) async throws -> Bool {
    if options.answersYes { return true }
    if let table = words.wholeTable { return try await mayChangeAll(of: table, run, verb: words.verb) }
    guard let table = words.droppedTable, let count = try count(table) else { return true }
    if count == 0 { return true }
    return try await asks(
      "this drops the table \(table.name) with \(count.grouped) \(count == 1 ? "row" : "rows"), and cannot be undone",
      orElse: "quire query with --write --yes does it", run)
  }

  func mayChangeAll(of table: StatementWords.Table, _ run: Run, verb: String = "update") async throws -> Bool {
    // SQLite's own, such as sqlite_sequence, are emptied and filled by the dumps of its shell.
    if options.answersYes || table.name.lowercased().hasPrefix("sqlite_") { return true }
    guard let count = try count(table), count > 0 else { return true }
    try refresh()
    let isOfFile = table.schema == nil || table.schema == "main"
    let model = isOfFile ? models.all.first { $0.table.lowercased() == table.name.lowercased() } : nil
    let name = model?.name ?? table.name
    let what = verb == "delete" ? "delete" : "change"
    let rows = count == 1 ? "the only row" : "all \(count.grouped) rows"
    return try await asks(
      "this has no WHERE: it would \(what) \(rows) of \(name)",
      orElse: "where true says that they are meant, and so does quire query with --write --yes", run)
  }

  /// - Parameter remedy: What to write instead, for a script: there nobody can be asked.
  private func asks(_ question: String, orElse remedy: String, _ run: Run) async throws -> Bool {
    if await run.confirm?(question) == true { return true }
    throw ShellFailure(
      question, state: "Nothing was changed", hint: run.confirm == nil ? remedy : nil, .refused)
  }

  private func count(_ table: StatementWords.Table) throws -> Int? {
    let names = [table.schema, table.name].compactMap { $0 }
    guard let name = try? names.map({ try quoted(identifier: $0) }).joined(separator: "."),
      case .integer(let count)? = try? source.connection.query("SELECT count(*) FROM \(name)").first
    else { return nil }
    return Int(count)
  }

  // MARK: Undo

  func undo() throws -> String {
    let recording = try requireRecording()
    begin(.writing)
    guard let entry = undone.done.last else { throw ShellFailure("there is nothing to undo", .usage) }
    if let obstacle = entry.obstacle { throw ShellFailure("cannot undo: \(obstacle)", .refused) }
    try reversal(entry, recording).apply(entry.tables, isForward: false)
    undone.didUndo()
    return "undone: \(Self.spoken(entry, models)) as before"
  }

  func redo() throws -> String {
    let recording = try requireRecording()
    begin(.writing)
    guard let entry = undone.undone.last else { throw ShellFailure("there is nothing to redo", .usage) }
    try reversal(entry, recording).apply(entry.tables, isForward: true)
    undone.didRedo()
    return "done again: \(Self.spoken(entry, models))"
  }

  /// The rows of a session that alone has written become what they were, keys that pointed nowhere among them. Where keys
  /// are off, nothing is refused that the write itself was not.
  private func reversal(_ entry: UndoLog.Entry, _ recording: RecordingConnection) throws -> Reversal {
    let isAlone = try entry.version == dataVersion
    let areKeysOn = try source.connection.query("PRAGMA foreign_keys").first == 1
    return Reversal(recording: recording, models: models, checksKeys: !isAlone && areKeysOn)
  }

  var dataVersion: Value? { get throws { try source.connection.query("PRAGMA data_version").first } }

  private func requireRecording() throws(ShellFailure) -> RecordingConnection {
    try checkPlace(writing: true)
    if let recording = source.recording { return recording }
    throw ShellFailure("nothing was written in this session", .usage)
  }

  private static func spoken(_ entry: UndoLog.Entry, _ models: FileModels) -> String {
    entry.tables.map { changes in
      let name = models.all.first { $0.table == changes.table.name }?.name ?? changes.table.name
      return "\(changes.rows.count.grouped) \(changes.rows.count == 1 ? "row" : "rows") of \(name)"
    }.joined(separator: ", ")
  }

  /// Switches writing. What was written before can no longer be undone.
  func setWriting(_ isOn: Bool) throws -> String {
    if isCopied { throw refusedWrite }
    try checkPlace(writing: true)
    if isOn == (source.recording != nil) { return isOn ? "writing is on already" : "writing is off already" }
    if !source.connection.isAutocommit { throw ShellFailure("a transaction is open: commit or rollback first", .usage) }
    use(try Source(opening: source.path, isWriting: isOn, own: source.own, options), isWriting: isOn)
    return isOn ? "writing is on for this session; every write of rows can be undone (undo)" : "writing is off"
  }

  /// Goes on with the same file, opened for writing, or no longer so.
  func use(_ opened: Source, isWriting isOn: Bool) {
    source = opened
    undone = UndoLog(keeping: options.undoableRows)
    shared.withLock { shared in
      shared.isWriting = isOn
      shared.watch = opened.watch
    }
  }
}
