/// A command: its spellings and its help text.
struct ShellCommand: Sendable {
  let kind: Kind
  /// The name after the period.
  let name: String
  /// Spellings from elsewhere, with their sign: `\dt`, `.mode`.
  let others: [String]
  let argument: String
  let help: String

  enum Kind: Hashable, Sendable {
    case help, models, schema, relations, tables, indexes, params, set, format, wide, all, save, load, dump,
      read, last, history
    case live, write, sql, time, open, quit
  }

  static let all: [ShellCommand] = [
    ShellCommand(
      kind: .help, name: "help", others: ["\\?", "\\h"], argument: "", help: "this list, and the language on a screen"),
    ShellCommand(kind: .models, name: "models", others: [], argument: "", help: "the models and their relations"),
    ShellCommand(
      kind: .schema, name: "schema", others: ["\\d", "?"], argument: "[X]",
      help: "a model, table or index; or all; --diagram: as Mermaid, with --svg a picture"),
    ShellCommand(
      kind: .relations, name: "relations", others: [], argument: "[X]", help: "a model's relations"),
    ShellCommand(
      kind: .tables, name: "tables", others: ["\\dt", "\\dv"], argument: "[PATTERN]", help: "tables and views"),
    ShellCommand(kind: .indexes, name: "indexes", others: ["\\di", ".indices"], argument: "[X]", help: "indexes"),
    ShellCommand(kind: .params, name: "params", others: [".parameter"], argument: "", help: "values of :name"),
    ShellCommand(
      kind: .set, name: "set", others: ["\\set"], argument: "NAME [VALUE]", help: "give :NAME a value, or none"),
    ShellCommand(
      kind: .format, name: "as", others: [".mode", "\\a"], argument: "[FORMAT]",
      help: "the format of answers; shows the last one in it; .as insert TABLE"),
    ShellCommand(kind: .wide, name: "wide", others: ["\\x"], argument: "[on|off]", help: "one value a line"),
    ShellCommand(kind: .all, name: "all", others: [], argument: "[on|off]", help: "all rows, not a screenful"),
    ShellCommand(
      kind: .save, name: "save", others: [".once", ".output", "\\o", "\\g"], argument: "FILE [QUERY]",
      help: "write the last answer, or a query's, into a file"),
    ShellCommand(
      kind: .load, name: "import", others: ["\\copy"], argument: "FILE MODEL",
      help: "add rows from CSV, TSV, JSON or JSONL; --create makes the table; --format, --encoding, --separator ';'"),
    ShellCommand(
      kind: .dump, name: "dump", others: [], argument: "[TABLE …]",
      help: "the file, or some tables, as statements that make it again; .save FILE .dump"),
    ShellCommand(
      kind: .read, name: "read", others: ["\\i"], argument: "FILE", help: "run a file of statements, or of a query"),
    ShellCommand(kind: .last, name: "last", others: [], argument: "", help: "the last answer again"),
    ShellCommand(kind: .history, name: "history", others: ["\\s"], argument: "", help: "what was typed before"),
    ShellCommand(
      kind: .live, name: "live", others: ["\\watch"], argument: "[off [N]]", help: "the live answers, or end them"),
    ShellCommand(kind: .write, name: "write", others: [], argument: "[on|off]", help: "allow writes in this session"),
    ShellCommand(kind: .sql, name: "sql", others: [], argument: "[on|off]", help: "show the SQL below answers"),
    ShellCommand(
      kind: .time, name: "time", others: [".timer", "\\timing"], argument: "[on|off]", help: "show how long it took"),
    ShellCommand(kind: .open, name: "open", others: ["\\c"], argument: "FILE", help: "go on with another file"),
    ShellCommand(kind: .quit, name: "quit", others: [".exit", "\\q"], argument: "", help: "leave (Ctrl-D)"),
  ]

  static func find(_ name: String, _ sign: Character) -> ShellCommand? {
    // psql's `\d+` shows more than `\d`; ours already shows everything.
    let name = sign == "\\" && name.hasSuffix("+") ? String(name.dropLast()) : name
    if sign != "\\", let found = all.first(where: { $0.name == name }) { return found }
    let spelled = "\(sign)\(name)"
    return all.first { $0.others.contains(spelled) }
      ?? all.first { sign == "\\" && $0.name == name }
      ?? all.first { sign == "." && $0.others.contains("\\\(name)") }
  }

  /// Every spelling, for suggestions.
  static var spellings: [String] { all.flatMap { [".\($0.name)"] + $0.others } }
}

extension Completer {
  /// Commands, and the arguments that may follow them.
  static func command(
    _ text: String, _ name: String, _ argument: String, _ sign: Character, _ models: FileModels
  ) -> InputCompletions {
    let end = text.utf8.count
    let isName = !text.contains { $0 == " " } && sign != "?"
    if isName {
      let start = end - name.utf8.count - 1
      return InputCompletions(
        range: start..<end,
        candidates: ShellCommand.spellings.filter { $0.hasPrefix("\(sign)\(name)") }.sorted().map { spelling in
          .init(
            text: spelling,
            detail: ShellCommand.all.first { ".\($0.name)" == spelling || $0.others.contains(spelling) }?.help ?? "")
        })
    }
    let kind = ShellCommand.find(name, sign)?.kind ?? .schema
    if [.load, .read, .save, .open].contains(kind) {
      // As it is typed, with what is behind it.
      let behind: Substring = text.drop { $0.isWhitespace }.drop { !$0.isWhitespace }
      let typed: Substring = behind.drop { $0.isWhitespace }
      if let files = files(typed) {
        return InputCompletions(range: end - typed.utf8.count..<end, candidates: files)
      }
    }
    let word = argument.split(separator: " ", omittingEmptySubsequences: false).last.map(String.init) ?? ""
    let words: [String] =
      switch kind {
      case .format: AnswerFormat.allCases.map(\.rawValue)
      case .wide, .all, .write, .sql, .time: ["on", "off"]
      case .live: ["off"]
      case .schema where word.hasPrefix("-"): ["--diagram", "--svg"]
      case .load where word.hasPrefix("-"): ["--format", "--encoding", "--separator", "--create", "--key"]
      case .load where argument.split(separator: " ").dropLast(word.isEmpty ? 0 : 1).last == "--encoding":
        ImportEncoding.names
      case .load where argument.split(separator: " ").dropLast(word.isEmpty ? 0 : 1).last == "--format":
        ImportRecords.formats.map(\.rawValue)
      case .schema, .relations, .tables, .indexes, .load, .dump: models.all.map(\.name)
      default: []
      }
    return InputCompletions(
      range: end - word.utf8.count..<end,
      candidates: words.filter { $0.lowercased().hasPrefix(word.lowercased()) }.map { .init(text: $0, detail: "") })
  }
}
