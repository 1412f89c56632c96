import Foundation
public import Quire
import QuireSQLite
import QuireShell

extension Command {
  /// `quire query`: one query of any SQLite file, answered once or kept up to date.
  public static let query = Command.query(models: [])

  /// As `query`, with the names of these classes if a file has their tables.
  public static func query(models: [any PersistentModel.Type]) -> Command {
    var query = Command(
      "query", "ask any SQLite file, or one of records, in SQL or by models, once or live",
      arguments: [
        Argument("FILE", "the database, which is only read. Or a CSV, TSV, JSON or JSONL file"),
        Argument("QUERY", "SQL, or a query of models: ‘Book where year > 1960’; - is standard input, @FILE a file"),
      ],
      options: [
        Option("--live", "keep the result up to date until Ctrl-C, including writes by other programs"),
        Option(
          "--format", short: "-f", choices: AnswerFormat.allCases.map { $0.rawValue },
          "how rows are printed (table on a terminal, csv elsewhere)"),
        Option("--json", "the same as -f json: one array of objects; with --live one object a line"),
        Option("--csv", "the same as -f csv"),
        Option("--param", short: "-p", value: "NAME=VALUE", repeats: true, "the value of :NAME in the query"),
        Option(
          "--key", value: "COLUMN", repeats: true,
          "with --live: rows with the same value here are the same row (default: id, if there is such a column)"),
        Option("--limit", value: "N", "print the first N rows"),
        Option("--timeout", value: "SECONDS", "stop after so long, with exit status 124"),
        Option(
          "--output", short: "-o", value: "FILE",
          "write the answer to a file, which is made or replaced, in the format of its extension"),
        Option(
          "--into", value: "TABLE",
          "with -f insert: the table of the statements (that of the query's columns, or answer)"),
        Option("--no-header", "leave out the names of the columns"),
        Option("--exit-code", "exit with 3 if there is no row"),
        Option("--quiet", short: "-q", "print no rows: for --exit-code"),
        Option("--sql", "print the SQL a query of models is run as, and run nothing"),
        Option("--write", "allow the text to write; without, nothing is ever changed"),
        Option("--create", "with --write: create the database if it does not exist"),
        Option("--yes", "with --write: write to all rows of a table without a question"),
        Option("--explain", "run nothing; say how the query would be run, and what would wake it with --live"),
      ],
      notes: """
        What --param gives is a number where it is exactly the text of one (12, -1.5), else text: 007, 1.50 and 0x10 stay as
        they are, and '1' in quotes is text too. In csv and tsv NULL is an empty field, and empty text is "". In JSON bytes
        are {"base64": …}, and text that is not UTF-8 is {"malformedText": …}. With --live, what changed is printed as lines
        where standard output is no terminal: + came, - left, > moved, ~ changed, with the place it has or had. A query
        that fails or is stopped leaves the file of -o as it was: it is replaced when the answer is complete. With
        --json an error is printed as {"v":1,"error":{"status":1,"message":"…"}}, too, unless rows were printed before; what
        a command such as .schema prints is {"v":1,"lines":["…"]}, of --sql {"v":1,"sql":"…"}, and of writes without an
        answer of their own {"v":1,"changed":2}, the number of rows.
        Exit status: 0 done, 1 the query failed or the file went, 2 usage or no such file, 3 no rows (--exit-code),
        5 a write was refused, 6 busy, 124 timeout, 130 Ctrl-C
        """
    ) { invocation in
      let run = try QueryRun(invocation, models)
      if invocation.flag("--explain") { return try await run.explain() }
      return invocation.flag("--live") ? try await LiveQueryRun(run).run() : try await run.once()
    }
    query.hintOfExtra = { words, program in
      let line = [program, "query", words[0], words.dropFirst().joined(separator: " ")].map(shellQuoted)
      return "a query is one argument, so put it in quotes:  \(line.joined(separator: " "))"
    }
    return query
  }
}

/// One run of `quire query`: the query, the file, and the format of the result.
struct QueryRun: Sendable {
  let invocation: Invocation
  /// Classes compiled into the program.
  let models: [any PersistentModel.Type]
  let file: String
  let text: String
  /// Values of `:name`, by bare name.
  let named: [String: Value]
  /// Nil if no format was given.
  let format: AnswerFormat?
  let limit: Int?
  /// How long the query may run; nil is as long as it takes.
  let timeout: Duration?
  private let answerFile: AnswerFile?
  /// Writes to the named file instead of standard output, if there is one.
  let terminal: Terminal

  init(_ invocation: Invocation, _ models: [any PersistentModel.Type]) throws {
    self.invocation = invocation
    self.models = models
    guard let file = invocation.argument("FILE"), let sql = invocation.argument("QUERY") else {
      throw invocation.usageError("which file, and which query?")
    }
    self.file = file
    limit = try invocation.integer("--limit")
    named = try Self.parameters(invocation)
    if !FileManager.default.fileExists(atPath: file), OtherFile.isDatabase(sql) {
      throw CommandFailure(
        "no database at \(printable(file)). The file comes first, and then the query:  "
          + "\(invocation.command.joined(separator: " ")) \(shellQuoted(sql)) \(shellQuoted(file))", .usage)
    }
    if isURL(sql) { throw CommandFailure("\(printable(sql)) is a URL, and no query. Nothing was run", .usage) }
    text = try Self.text(sql)
    timeout = try Self.timeout(invocation)
    answerFile = try invocation["--output"].map { try AnswerFile($0, from: file) }
    format = try Self.format(invocation) ?? Self.formatOfFile(invocation, text)
    terminal = answerFile?.terminal(invocation.terminal) ?? invocation.terminal
    try checkWords()
  }

  /// Refuses words that mean nothing together.
  private func checkWords() throws {
    if let name = commandName { try checkWords(ofCommand: name) }
    if invocation.flag("--live") {
      if timeout != nil { throw invocation.usageError("--timeout is for an answer given once") }
      if answerFile != nil { throw invocation.usageError("--live has no file to end: use > FILE") }
      if invocation.flag("--quiet") { throw invocation.usageError("--live and --quiet leave nothing to do") }
    } else if invocation.flag("--key") {
      throw invocation.usageError("--key goes with --live")
    }
    for option in ["--yes", "--create"] where invocation.flag(option) && !invocation.flag("--write") {
      throw invocation.usageError("\(option) goes with --write")
    }
    if invocation.flag("--live"), invocation.flag("--write") {
      throw invocation.usageError("--live only reads")
    }
    if invocation["--into"] != nil, format != .insert { throw invocation.usageError("--into goes with -f insert") }
    if invocation.flag("--explain"), let format, ![.table, .json].contains(format) {
      throw invocation.usageError("--explain says it in words or as json, not as \(format.rawValue)")
    }
  }

  /// Refuses what a command would pass over.
  private func checkWords(ofCommand name: String) throws {
    let ofQueries = ["--live", "--explain", "--sql"]
    // What a file that is read answers is that of its queries.
    let ofRows = Self.reads(name) ? [] : ["--limit", "--exit-code", "--into"]
    for option in ofQueries + ofRows where invocation.flag(option) {
      throw invocation.usageError("\(option) is for a query, and \(printable(name)) is a command")
    }
    let isStatements = name == ".dump" && format == .insert
    if !ofRows.isEmpty, !isStatements, let format, format != .json, format != .jsonl {
      throw invocation.usageError(
        "the format \(format.rawValue) is for the rows of a query, and \(printable(name)) is a command")
    }
  }

  private static func timeout(_ invocation: Invocation) throws -> Duration? {
    guard let text = invocation["--timeout"] else { return nil }
    guard let seconds = Double(text), seconds > 0, seconds < 1e9 else {
      throw invocation.usageError("--timeout takes seconds above 0, not ‘\(text)’")
    }
    return .seconds(seconds)
  }

  private static func format(_ invocation: Invocation) throws -> AnswerFormat? {
    var given: [AnswerFormat] = []
    if invocation.flag("--json") { given.append(.json) }
    if invocation.flag("--csv") { given.append(.csv) }
    if let name = invocation["--format"], let format = AnswerFormat(rawValue: name) { given.append(format) }
    if given.count > 1 { throw invocation.usageError("the format was given more than once") }
    return given.first
  }

  /// Whether the text is a command with an answer of its own, such as `.schema`, and not a query or what reads some.
  var isCommand: Bool { commandName.map { !Self.reads($0) } ?? false }

  private var commandName: String? { Self.commandName(of: text) }

  /// `.schema` of `.schema Book`; nil if the text is not a command.
  private static func commandName(of text: String) -> String? {
    guard let first = text.first(where: { !$0.isWhitespace }), ".\\?".contains(first) else { return nil }
    return text.split(whereSeparator: \.isWhitespace).first.map(String.init)
  }

  /// Whether the command answers as the queries of the file that it reads.
  private static func reads(_ name: String) -> Bool { [".read", "\\i"].contains(name) }

  /// By the extension of the file of `-o`; nil if rows are not what is written there.
  private static func formatOfFile(_ invocation: Invocation, _ text: String) throws -> AnswerFormat? {
    guard let path = invocation["--output"] else { return nil }
    if invocation.flag("--sql") || invocation.flag("--explain") { return nil }
    if let name = commandName(of: text), !reads(name) {
      // Lines, which such files can hold whatever they are called.
      return AnswerFormat(ofFile: path).flatMap { [.table, .md, .insert].contains($0) ? nil : $0 }
    }
    do {
      return try AnswerFormat.named(byFile: path, otherwise: "-f FORMAT chooses one for other names")
    } catch {
      throw CommandFailure(error, in: "")
    }
  }

  private static func text(_ argument: String) throws -> String {
    if argument != "-", !argument.hasPrefix("@") { return argument }
    do throws(ShellFailure) {
      if argument != "-" { return try ScriptFile.text(at: String(argument.dropFirst())) }
      guard let data = try? FileHandle.standardInput.readToEnd() ?? Data() else {
        throw ShellFailure("standard input cannot be read", .usage)
      }
      return try ScriptFile.text(of: data, named: "standard input")
    } catch {
      throw CommandFailure(error, in: "")
    }
  }

  /// `NAME=VALUE` words; a sign before the name is left out.
  static func parameters(_ invocation: Invocation) throws -> [String: Value] {
    var named: [String: Value] = [:]
    for word in invocation.values("--param") {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let name = parts.first, !name.isEmpty else {
        throw invocation.usageError("--param takes NAME=VALUE, not ‘\(word)’")
      }
      let bare = ":$@".contains(name.prefix(1)) ? String(name.dropFirst()) : name
      named[bare] = Value(parameter: parts[1])
    }
    return named
  }

  /// To be called when all of the answer has been printed.
  func endFile() throws {
    do throws(ShellFailure) {
      try answerFile?.end()
    } catch {
      throw CommandFailure(error, in: "")
    }
  }
}
