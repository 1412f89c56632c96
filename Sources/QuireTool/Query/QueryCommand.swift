import Foundation
import Quire

extension Command {
  /// `quire query`: one question to any SQLite file, answered once or kept up to date.
  public static let query = Command(
    "query", "ask any SQLite file in SQL, once or live",
    arguments: [
      Argument("FILE", "the database; it is only read, and never created"),
      Argument("SQL", "one query; - reads it from standard input, @FILE from a file"),
    ],
    options: [
      Option("--live", "keep the answer up to date until Ctrl-C, whoever writes to the file"),
      Option(
        "--format", short: "-f", choices: QueryFormat.allCases.map(\.rawValue),
        "how rows are printed (table on a terminal, csv elsewhere)"),
      Option("--json", "the same as -f json: one array of objects; with --live one object a line"),
      Option("--csv", "the same as -f csv"),
      Option("--param", short: "-p", value: "NAME=VALUE", repeats: true, "the value of :NAME in the query"),
      Option(
        "--key", value: "COLUMN", repeats: true,
        "with --live: a row with the same value here is the same row (id, where there is such a column)"),
      Option("--limit", value: "N", "print the first N rows"),
      Option("--timeout", value: "SECONDS", "stop after so long, with exit status 124"),
      Option("--output", short: "-o", value: "FILE", "write the answer to a file, which is made or replaced"),
      Option("--into", value: "TABLE", "with -f insert: the table of the statements (answer)"),
      Option("--no-header", "leave out the names of the columns"),
      Option("--exit-code", "exit with 3 where there is no row"),
      Option("--quiet", short: "-q", "print no rows: for --exit-code"),
      Option("--explain", "run nothing; say how the query would be run, and what would wake it with --live"),
    ],
    notes: """
      A number given to --param is a number, anything else is text, and '1' in quotes is text too. In csv and tsv NULL is
      an empty field, and empty text is "". Bytes are {"base64": …} in JSON. With --live, what changed is printed as lines
      where standard output is no terminal: + came, - left, > moved, ~ changed, with the place it has or had. A query
      that cannot be run leaves the file of -o as it was; one that fails in the middle leaves there what had come.
      Exit status: 0 done, 1 the query failed or the file went, 2 usage or no such file, 3 no rows (--exit-code),
      5 the statement would write, 6 busy, 124 timeout, 130 Ctrl-C
      """
  ) { invocation in
    let run = try QueryRun(invocation)
    if invocation.flag("--explain") { return try await run.explain() }
    return invocation.flag("--live") ? try await LiveQueryRun(run).run() : try run.once()
  }
}

/// One call of `quire query`: what is asked of which file, and how the answer is wanted.
struct QueryRun: Sendable {
  let invocation: Invocation
  let file: String
  let text: String
  let named: [String: Value]
  /// Nil where nobody said.
  let format: QueryFormat?
  let limit: Int?
  /// How long the query may run; nil is as long as it takes.
  let timeout: Duration?
  private let answerFile: AnswerFile?
  /// With the file in place of standard output, where one was named.
  let terminal: Terminal

  init(_ invocation: Invocation) throws {
    self.invocation = invocation
    guard let file = invocation.argument("FILE"), let sql = invocation.argument("SQL") else {
      throw invocation.usageError("which file, and which query?")
    }
    self.file = file
    limit = try invocation.integer("--limit")
    named = try Self.parameters(invocation)
    format = try Self.format(invocation)
    text = try Self.text(sql)
    timeout = try Self.timeout(invocation)
    answerFile = try invocation["--output"].map { try AnswerFile($0, from: file) }
    terminal = answerFile?.terminal(invocation.terminal) ?? invocation.terminal
    try checkWords()
  }

  /// Refuses words that mean nothing together.
  private func checkWords() throws {
    if invocation.flag("--live") {
      if timeout != nil { throw invocation.usageError("--timeout is for an answer given once") }
      if answerFile != nil { throw invocation.usageError("--live has no file to end: use > FILE") }
      if invocation.flag("--quiet") { throw invocation.usageError("--live and --quiet leave nothing to do") }
    } else if invocation.flag("--key") {
      throw invocation.usageError("--key goes with --live")
    }
    if invocation["--into"] != nil, format != .insert { throw invocation.usageError("--into goes with -f insert") }
    if invocation.flag("--explain"), let format, ![.table, .json].contains(format) {
      throw invocation.usageError("--explain says it in words or as json, not as \(format.rawValue)")
    }
  }

  private static func timeout(_ invocation: Invocation) throws -> Duration? {
    guard let text = invocation["--timeout"] else { return nil }
    guard let seconds = Double(text), seconds > 0, seconds < 1e9 else {
      throw invocation.usageError("--timeout takes seconds above 0, not ‘\(text)’")
    }
    return .seconds(seconds)
  }

  private static func format(_ invocation: Invocation) throws -> QueryFormat? {
    var given: [QueryFormat] = []
    if invocation.flag("--json") { given.append(.json) }
    if invocation.flag("--csv") { given.append(.csv) }
    if let name = invocation["--format"], let format = QueryFormat(rawValue: name) { given.append(format) }
    if given.count > 1 { throw invocation.usageError("the format is given twice") }
    return given.first
  }

  private static func text(_ argument: String) throws -> String {
    if argument == "-" {
      return String(decoding: try FileHandle.standardInput.readToEnd() ?? Data(), as: UTF8.self)
    }
    guard argument.hasPrefix("@") else { return argument }
    let path = String(argument.dropFirst())
    guard let data = FileManager.default.contents(atPath: path) else {
      throw CommandFailure("\(path) cannot be read", .usage)
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// `NAME=VALUE` words, by every way a parameter can be written.
  private static func parameters(_ invocation: Invocation) throws -> [String: Value] {
    var named: [String: Value] = [:]
    for word in invocation.values("--param") {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let name = parts.first, !name.isEmpty else {
        throw invocation.usageError("--param takes NAME=VALUE, not ‘\(word)’")
      }
      let bare = ":$@".contains(name.prefix(1)) ? String(name.dropFirst()) : name
      for sigil in [":", "$", "@"] { named[sigil + bare] = Self.value(of: parts[1]) }
    }
    return named
  }

  private static func value(of word: String) -> Value {
    if word.count > 1, word.hasPrefix("'"), word.hasSuffix("'") { return .text(String(word.dropFirst().dropLast())) }
    if let number = Int64(word) { return .integer(number) }
    let looksLikeNumber = word.first.map { "-.0123456789".contains($0) } ?? false
    if looksLikeNumber, let number = Double(word), number.isFinite { return .real(number) }
    return .text(word)
  }

  // MARK: Once

  /// Prints the answer as it comes, a row at a time where the format lets it.
  func once() throws -> ExitStatus {
    do {
      var options = ConnectionOptions()
      if let timeout { options.busyTimeout = min(options.busyTimeout, timeout) }
      let connection = try Connection(path: file, access: .readOnly, options: options)
      let statement = try connection.prepare(text)
      if !statement.isReadOnly { throw StatementError.writes }
      if statement.columnCount == 0 { throw StatementError.notAQuery(reason: nil) }
      try bind(to: statement)
      let count = try timed(connection) { try print(statement) }
      try endFile()
      return count == 0 && invocation.flag("--exit-code") ? .noRows : .done
    } catch {
      throw QueryFailure(self).explained(error)
    }
  }

  /// To be called when all of the answer has been printed.
  func endFile() throws { try answerFile?.end() }

  /// Runs the body no longer than was said.
  private func timed(_ connection: Connection, _ body: () throws -> Int) throws -> Int {
    guard let timeout else { return try body() }
    let end = ContinuousClock.now + timeout
    do {
      return try connection.interrupted(when: { ContinuousClock.now > end }, body)
    } catch let error as SQLiteError {
      guard error.isInterrupted else { throw error }
      let seconds = invocation["--timeout"] ?? ""
      throw CommandFailure("stopped after \(seconds) s (--timeout): the answer is not whole", .timedOut)
    }
  }

  private func print(_ statement: Statement) throws -> Int {
    var hasRow = try statement.step()
    if invocation.flag("--quiet") { return hasRow ? 1 : 0 }
    let format = format ?? (terminal.output.isTerminal ? .table : .csv)
    var writer = try format.writer(
      columns: statement.columnNames, hasHeader: !invocation.flag("--no-header"),
      into: invocation["--into"] ?? "answer", on: terminal)
    var count = 0
    while hasRow, count < limit ?? .max {
      let row = statement.row
      writer.write((0..<row.count).map(row.value))
      count += 1
      hasRow = try statement.step()
    }
    writer.end()
    if hasRow { terminal.note("the first \(count) \(count == 1 ? "row" : "rows"); there are more (--limit)") }
    return count
  }

  private func bind(to statement: Statement) throws {
    for index in stride(from: 1, through: statement.parameterCount, by: 1) {
      let name = statement.parameterName(index)
      guard let value = name.flatMap({ named[$0] }) else {
        throw CommandFailure(
          name.map { "there is no value for \($0): give -p \($0.dropFirst())=VALUE" }
            ?? "a plain ? has no name to give it a value by: write :NAME, and give -p NAME=VALUE", .usage)
      }
      statement.bind(value, at: index)
    }
  }
}
