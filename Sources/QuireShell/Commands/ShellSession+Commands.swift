import Foundation
import QuireMigration
public import QuireRow
import QuireSQLite

// .help  \dt  ?Book

extension ShellSession {
  func command(_ name: String, _ argument: String, _ sign: Character, _ run: Run) async throws {
    var argument = argument
    while argument.hasSuffix(";") { argument = argument.dropLast().trimmed }
    let name = name.hasSuffix(";") ? String(name.dropLast()) : name
    guard let command = ShellCommand.find(name, sign) else {
      let near = nearest(to: "\(sign)\(name)", among: ShellCommand.spellings)
      throw ShellFailure(
        "unknown command \(sign)\(name)", at: 0..<name.utf8.count + 1,
        hint: OtherShells.hint(forCommand: name) ?? near.map { "did you mean \($0)?" } ?? ".help lists them",
        .usage)
    }
    switch command.kind {
    case .help: try await run.each(.lines(ShellHelp.lines))
    case .models: try await run.each(.lines(modelLines))
    case .schema where argument.isEmpty && sign == "\\": try await run.each(.lines(try tableLines("")))
    case .schema:
      if let diagram = DiagramRequest(argument) {
        try await run.each(.lines(try diagramLines(diagram, width: run.output?.style.width ?? { $0.count })))
      } else {
        try await run.each(.lines(try schemaLines(argument)))
      }
    case .relations: try await run.each(.lines(try relationLines(argument)))
    case .tables: try await run.each(.lines(try tableLines(argument)))
    case .indexes: try await run.each(.lines(try indexLines(argument)))
    case .params: try await run.each(.lines(parameterLines))
    case .set: try await run.each(.written(try set(argument)))
    case .format: try await format(argument, run)
    case .wide: try await toggle(\.isWide, argument, "one value a line", run)
    case .all: try await toggle(\.showsAll, argument, "all rows", run)
    case .sql: try await toggle(\.showsSQL, argument, "SQL below answers", run)
    case .time: try await toggle(\.showsTime, argument, "times", run)
    case .save: try await save(argument, run)
    case .load: try await run.each(.written(try load(argument)))
    case .dump: try await dump(argument, run)
    case .read: try await read(argument, run)
    case .last: try await last(run)
    case .history: try await run.each(.listHistory)
    case .live: try await live(argument, sign, run)
    case .write: try await run.each(.written(try setWriting(try isOn(argument, now: isWriting))))
    case .open: try await run.each(.opened(try open(argument)))
    case .quit: try await run.each(.quit)
    }
  }

  /// `on`, `off`, or the other one of what it is now.
  private func isOn(_ word: String, now: Bool) throws(ShellFailure) -> Bool {
    switch word.lowercased() {
    case "": return !now
    case "on", "1", "yes": return true
    case "off", "0", "no": return false
    default: throw ShellFailure("on or off, not ‘\(word)’", .usage)
    }
  }

  private func toggle(
    _ setting: WritableKeyPath<ShellSettings, Bool>, _ word: String, _ what: String, _ run: Run
  ) async throws {
    let isOn = try isOn(word, now: settings[keyPath: setting])
    shared.withLock { $0.settings[keyPath: setting] = isOn }
    try await run.each(.written("\(what): \(isOn ? "on" : "off")"))
  }

  private func format(_ argument: String, _ run: Run) async throws {
    if argument.isEmpty {
      let all = AnswerFormat.allCases.map { $0 == settings.format ? "[\($0.rawValue)]" : $0.rawValue }
      return try await run.each(.lines([all.joined(separator: " ")]))
    }
    let (word, table) = Self.file(in: argument)
    let name = ["column": "table", "markdown": "md", "tabs": "tsv", "ndjson": "jsonl", "list": "value"][word] ?? word
    guard let format = AnswerFormat(rawValue: name) else {
      let near = nearest(to: word, among: AnswerFormat.allCases.map(\.rawValue)).map { "did you mean \($0)?" }
      throw ShellFailure("there is no format \(word)", hint: near ?? ".as lists them", .usage)
    }
    if !table.isEmpty, format != .insert { throw ShellFailure(".as insert takes a table, \(word) does not", .usage) }
    let named = table.isEmpty ? nil : Self.file(in: table).file
    shared.withLock { ($0.settings.format, $0.settings.table, $0.settings.isFormatChosen) = (format, named, true) }
    // On a screen the last answer is shown again.
    if kept == nil || options.screenRows == nil {
      return try await run.each(.written("answers as \(format.rawValue)"))
    }
    try await last(run, as: format)
  }

  /// - Parameter format: Another than the one the output was made for.
  private func last(_ run: Run, as format: AnswerFormat? = nil) async throws {
    guard let kept else { throw ShellFailure("there is no answer yet", .usage) }
    guard var output = run.output, format?.needsWidths != true else { return try await run.each(.answer(kept.answer)) }
    if let format { output.format = format }
    let count = try write(kept.answer, to: output)
    try await run.each(.streamed(rows: count, isCut: false, elapsed: .zero))
  }

  private func live(_ argument: String, _ sign: Character, _ run: Run) async throws {
    if sign == "\\" {
      guard let kept, !kept.answer.sql.isEmpty else { throw ShellFailure("there is no query yet to follow", .usage) }
      return try await run.each(.live(try livePlan(kept.answer.sql, from: 0)))
    }
    let words = argument.split(separator: " ")
    guard let first = words.first else { return try await run.each(.listLive) }
    let numbers = words.dropFirst().compactMap { Int($0) }
    guard first == "off", numbers.count == words.count - 1 else {
      throw ShellFailure(".live lists them, .live off [N] ends them; live QUERY begins one", .usage)
    }
    try await run.each(.endLive(numbers.isEmpty ? nil : numbers))
  }

  // MARK: Parameters

  private var parameterLines: [String] {
    let all = parameters.sorted { $0.key < $1.key }
    return all.isEmpty
      ? ["no parameters: .set y 2018 gives :y a value"]
      : all.map { ":\(printable($0.key))  \(printable("\($0.value)"))" }
  }

  private func set(_ argument: String) throws(ShellFailure) -> String {
    let parts = argument.split(maxSplits: 1) { $0 == " " || $0 == "=" }.map { $0[...].trimmed }
    guard var name = parts.first, !name.isEmpty else {
      throw ShellFailure(".set NAME VALUE, or .set NAME for none", .usage)
    }
    if let first = name.first, ":$@".contains(first) { name.removeFirst() }
    guard parts.count > 1 else {
      shared.withLock { $0.parameters[name] = nil }
      return ":\(name) has no value"
    }
    let value = Value(parameter: parts[1])
    shared.withLock { $0.parameters[name] = value }
    return ":\(printable(name)) is \(printable("\(value)"))"
  }

  // MARK: Files

  private func open(_ argument: String) throws -> [String] {
    if argument.isEmpty { throw ShellFailure("which file?", .usage) }
    let quoted = Self.file(in: argument)
    let argument = quoted.rest.isEmpty ? quoted.file : argument
    // Two files of one path share the log and the index beside it.
    if argument == source.path { try checkPlace(writing: false) }
    if !source.connection.isAutocommit { throw ShellFailure("a transaction is open: commit or rollback first", .usage) }
    let opened = try Source(opening: argument, isWriting: isWriting, options)
    let found = try opened.look(options.models)
    source = opened
    kept = nil
    undone = UndoLog(keeping: options.undoableRows)
    let banner = Banner(file: argument, found, opened.facts, isWriting: isWriting).lines
    shared.withLock { shared in
      shared.file = argument
      shared.isCopied = false
      shared.models = found
      shared.banner = banner
      shared.watch = opened.watch
      shared.own = opened.own
    }
    return banner
  }

  private func save(_ argument: String, _ run: Run) async throws {
    let (file, query) = Self.file(in: argument)
    if file.isEmpty { throw ShellFailure(".save FILE, or .save FILE QUERY", .usage) }
    let next = query.prefix { !$0.isWhitespace }
    if AnswerFormat(ofFile: file) == nil, next.contains("."), AnswerFormat(ofFile: String(next)) != nil {
      throw ShellFailure(
        "no query begins with \(printable(String(next)))",
        hint: "a file's name with spaces is in quotes: .save \"\(printable("\(file) \(next)"))\"", .usage)
    }
    if query.hasPrefix(".schema"),
      let diagram = DiagramRequest(
        String(query.dropFirst(".schema".count)), isPicture: file.lowercased().hasSuffix(".svg"))
    {
      let lines = try diagramLines(diagram, width: run.output?.style.width ?? { $0.count })
      let target = try AnswerFile(file, besides: source.path)
      try Array(lines.map { $0 + "\n" }.joined().utf8).withUnsafeBytes { try target.write($0) }
      try target.end()
      return try await run.each(.written("a diagram in \(printable(file))"))
    }
    if next == ".dump" { return try await saveDump(query.dropFirst(next.count).trimmed, in: file, run) }
    let format = try format(ofFile: file)
    let target = try AnswerFile(file, besides: source.path)
    let output = RowOutput(format) { try target.write($0) }
    if query.isEmpty {
      guard let kept else {
        throw ShellFailure("there is no answer yet to save", hint: ".save FILE QUERY writes one", .usage)
      }
      let count = try write(kept.answer, to: output)
      try target.end()
      let rest = kept.answer.isWhole ? "" : "; there are more: .save \(file) QUERY writes all"
      return try await run.each(
        .written("\(count.grouped) \(count == 1 ? "row" : "rows") in \(printable(file))\(rest)"))
    }
    let each = run.each
    let written = Locked<(rows: Int, elapsed: Duration)?>(nil)
    try await answerInto(
      query,
      Run(output: output, confirm: run.confirm) { reply in
        guard case .streamed(let count, _, let elapsed) = reply else { return try await each(reply) }
        written.withLock { $0 = (($0?.rows ?? 0) + count, ($0?.elapsed ?? .zero) + elapsed) }
      })
    guard let (count, elapsed) = written.withLock({ $0 }) else { return }
    try target.end()
    try await each(
      .written("\(count.grouped) \(count == 1 ? "row" : "rows") in \(printable(file)) · \(elapsed.spoken)"))
  }

  /// The format of a file whose name does not imply one: that of `.as`. A name that implies an unknown format is not
  /// written as a table.
  private func format(ofFile file: String) throws(ShellFailure) -> AnswerFormat {
    if settings.isFormatChosen, !settings.format.needsWidths { return AnswerFormat(ofFile: file) ?? settings.format }
    return try AnswerFormat.named(byFile: file, otherwise: ".as FORMAT chooses one for other names") ?? settings.format
  }

  /// - Parameter query: What the input ends with.
  private func answerInto(_ query: String, _ run: Run) async throws {
    // With spaces for what is before it, so that the places of errors are those in the input.
    let start = input.range(of: query, options: [.backwards, .literal])?.lowerBound ?? input.startIndex
    let text = String(repeating: " ", count: input[..<start].utf8.count) + query
    input = text
    switch InputReader(models: models).kind(of: text) {
    case .model(let start): try await model(text, from: start, run)
    case .verb(let verb, let start): try await self.verb(verb, text, from: start, run)
    default: try await sql(text, run)
    }
  }

  /// A file's name, quoted if it contains spaces, and what follows it.
  static func file(in argument: String) -> (file: String, rest: String) {
    if let quote = argument.first, quote == "\"" || quote == "'", let end = argument.dropFirst().firstIndex(of: quote) {
      return (
        String(argument[argument.index(after: argument.startIndex)..<end]),
        argument[argument.index(after: end)...].trimmed
      )
    }
    let file = argument.prefix { !$0.isWhitespace }
    return (String(file), argument.dropFirst(file.count).trimmed)
  }
}

extension Value {
  /// A word given as a parameter: a number if it is spelled exactly as we write that number, otherwise text. So `007`
  /// and `1.50` stay unchanged; `'1'` in quotes is text too, and `'it''s'`.
  public init(parameter word: String) {
    if word.count > 1, let first = word.first, "'\"".contains(first), word.last == first {
      // A quote inside is written twice, as in SQL.
      self = .text(String(word.dropFirst().dropLast()).replacing("\(first)\(first)", with: "\(first)"))
    } else if let number = Value(exactly: word), number != .real(.infinity), number != .real(-.infinity) {
      self = number
    } else {
      self = .text(word)
    }
  }
}
