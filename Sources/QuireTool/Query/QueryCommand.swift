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
      Option("--no-header", "leave out the names of the columns"),
      Option("--exit-code", "exit with 3 where there is no row"),
    ],
    notes: """
      A number given to --param is a number, anything else is text, and '1' in quotes is text too. In csv and tsv NULL is
      an empty field, and empty text is "". Bytes are {"base64": …} in JSON. With --live, what changed is printed as lines
      where standard output is no terminal: + came, - left, > moved, ~ changed, with the place it has or had.
      Exit status: 0 done, 1 the query failed or the file went, 2 usage or no such file, 3 no rows (--exit-code),
      5 the statement would write, 6 busy, 130 Ctrl-C
      """
  ) { invocation in
    let run = try QueryRun(invocation)
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

  var terminal: Terminal { invocation.terminal }

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
    if !invocation.flag("--live"), invocation.flag("--key") { throw invocation.usageError("--key goes with --live") }
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
      let connection = try Connection(path: file, access: .readOnly)
      let statement = try connection.prepare(text)
      if !statement.isReadOnly { throw StatementError.writes }
      if statement.columnCount == 0 { throw StatementError.notAQuery(reason: nil) }
      try bind(to: statement)
      let count = try print(statement)
      return count == 0 && invocation.flag("--exit-code") ? .noRows : .done
    } catch {
      throw QueryFailure(self).explained(error)
    }
  }

  private func print(_ statement: Statement) throws -> Int {
    var hasRow = try statement.step()
    let format = format ?? (terminal.output.isTerminal ? .table : .csv)
    var writer = format.writer(
      columns: statement.columnNames, hasHeader: !invocation.flag("--no-header"), on: terminal)
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
