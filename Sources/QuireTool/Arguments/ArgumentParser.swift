import QuireMigration
import QuireSQLite
import QuireShell

/// Words → the command they name and its ``Invocation``. Looks at no file but by `isFile`.
struct ArgumentParser {
  let root: Command
  /// Options every command has.
  let common: [Option]
  let terminal: Terminal
  let environment: Environment
  let isWholeProcess: Bool
  /// Whether there is something at a path: a word that names neither a command nor this is unknown.
  let isFile: (String) -> Bool

  enum Outcome {
    case run(Command, Invocation)
    case help([Command])
    case version
  }

  func parse(_ words: [String]) throws(UsageError) -> Outcome {
    var words = words
    var path = [root]
    while let last = path.last, !last.subcommands.isEmpty {
      guard let next = try subcommand(of: path, in: &words) else {
        if let version = words.first, version == "--version", path.count == 1 { return .version }
        return .help(path)
      }
      path.append(next)
    }
    if Self.asksForHelp(words) { return .help(path) }
    guard let command = path.last else { return .help([root]) }
    return .run(command, try invocation(of: path, words))
  }

  /// Takes the first bare word that names a subcommand, or gives the default one; nil where help is wanted.
  private func subcommand(of path: [Command], in words: inout [String]) throws(UsageError) -> Command? {
    guard let command = path.last else { return nil }
    let names = path.map(\.name)
    let options = common + path.flatMap(\.options) + command.subcommands.flatMap(\.options)
    let named = try firstBareWord(in: words, options: options, command: names)
    let fallback = command.subcommands.first { $0.name == command.defaultSubcommand }
    if let named, let subcommand = command.subcommands.first(where: { $0.name == words[named] }) {
      words.remove(at: named)
      return subcommand
    }
    if Self.asksForHelp(words) { return nil }
    guard let index = named else {
      // A program without a word is asked what it can do.
      if let fallback, path.count > 1 || !words.isEmpty { return fallback }
      guard let option = words.first, option != "--version" else { return nil }
      throw UsageError("a command is missing", command: names)
    }
    let word = words[index]
    // With a default, the word may as well be its argument: one that looks like a path, or is one.
    if let fallback, isFile(word) || !Self.looksLikeCommand(word) { return fallback }
    let all = command.subcommands.map(\.name)
    let near =
      command.hints[word] ?? nearest(to: word, among: all).map { "did you mean \($0)?" }
      ?? all.first { word.count > 2 && $0.hasPrefix(word) }.map { "did you mean \($0)?" }
    throw UsageError(
      "unknown command ‘\(word)’" + (near.map { ": \($0)" } ?? " (there are \(all.joined(separator: ", ")))"),
      command: names)
  }

  private func invocation(of path: [Command], _ words: [String]) throws(UsageError) -> Invocation {
    let options = common + path.flatMap(\.options)
    let names = path.map(\.name)
    var invocation = Invocation(
      command: names, options: options, terminal: terminal, environment: environment, isWholeProcess: isWholeProcess)
    var bare: [String] = []
    let command = path.last
    let hints = path.reduce(into: [:]) { $0.merge($1.hints) { $1 } }
    try scan(words, options: options, command: names, hints: hints) { (word) throws(UsageError) in
      switch word {
      case .bare(_, let text):
        bare.append(text)
        invocation.given.append((nil, text))
      case .option(let option, let value):
        if let value, !option.choices.isEmpty, !option.choices.contains(value) {
          let near = nearest(to: value, among: option.choices).map { ": did you mean \($0)?" } ?? ""
          throw UsageError("\(option.name) takes \(option.value ?? ""), not ‘\(value)’\(near)", command: names)
        }
        if invocation.values[option.name] != nil, !option.repeats, value != nil {
          throw UsageError("\(option.name) was given more than once", command: names)
        }
        invocation.values[option.name, default: []].append(value ?? "")
        invocation.given.append((option.name, value))
      }
      return true
    }
    for argument in path.last?.arguments ?? [] {
      let first = bare.firstIndex { argument.accepts?($0) ?? true }
      switch argument.kind {
      case .many:
        invocation.words[argument.name] = bare
        bare = []
      case .required where first == nil:
        throw UsageError(
          bare.first.map { "‘\($0)’ is not a valid \(argument.name): \(argument.help)" }
            ?? "\(argument.name) is missing\(Self.urlHint(invocation.words.values.joined().first(where: isURL)))",
          command: names)
      case .required, .optional:
        if let first { invocation.words[argument.name] = [bare.remove(at: first)] }
      }
    }
    guard let extra = bare.first else { return invocation }
    let words = invocation.given.filter { $0.option == nil }.compactMap(\.value)
    let reason =
      path.dropLast().last.flatMap { hint(of: extra, in: $0) } ?? command?.hintOfExtra?(words, names.first ?? "quire")
      ?? misplaced(extra, invocation, command)
    throw UsageError("unexpected argument ‘\(extra)’" + (reason.map { ": \($0)" } ?? ""), command: names)
  }

  private func hint(of extra: String, in parent: Command) -> String? {
    parent.subcommands.contains { $0.name == extra } ? "a command stands before its arguments" : nil
  }

  /// A word that fits no other argument is taken for the last one, and then the word that was meant for it is too many.
  private func misplaced(_ extra: String, _ invocation: Invocation, _ command: Command?) -> String? {
    guard let command,
      let wanted = command.arguments.first(where: { $0.accepts != nil && invocation.words[$0.name] == nil }),
      let last = command.arguments.last, let taken = invocation.argument(last.name)
    else { return nil }
    return "‘\(taken)’ is taken for the \(last.name), as \(wanted.name) is \(wanted.help)"
  }

  /// What to do about a URL in the place of a file.
  private static func urlHint(_ url: String?) -> String {
    url.map { ". \($0.prefix(200)) is a URL, and a file is asked: download it first" } ?? ""
  }

  // MARK: Words

  private enum Word {
    case bare(index: Int, String)
    case option(Option, value: String?)
  }

  /// Tells options from bare words, until `body` says no; behind `--` all are bare.
  private func scan(
    _ words: [String], options: [Option], command: [String], hints: [String: String] = [:],
    _ body: (Word) throws(UsageError) -> Bool
  ) throws(UsageError) {
    var index = 0
    var onlyBare = false
    func value(of option: Option, attached: String?) throws(UsageError) -> String? {
      guard option.takesValue else {
        if attached != nil { throw UsageError("\(option.name) takes no value", command: command) }
        return nil
      }
      if let attached { return attached }
      guard index < words.count else {
        throw UsageError("\(option.name) needs its \(option.value ?? "value")", command: command)
      }
      index += 1
      return words[index - 1]
    }
    while index < words.count {
      let word = words[index]
      index += 1
      if onlyBare || !word.hasPrefix("-") || word == "-" {
        guard try body(.bare(index: index - 1, word)) else { return }
      } else if word == "--" {
        onlyBare = true
      } else if word.hasPrefix("--") {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let option = try find(parts[0], in: options, command: command, hints)
        let attached = parts.count > 1 ? parts[1] : nil
        guard try body(.option(option, value: value(of: option, attached: attached))) else { return }
      } else {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
          let option = try find("-\(letter)", in: options, command: command, hints)
          let attached = !option.takesValue || letters.isEmpty ? nil : String(letters)
          if option.takesValue { letters = "" }
          guard try body(.option(option, value: value(of: option, attached: attached))) else { return }
        }
      }
    }
  }

  private func find(_ name: String, in options: [Option], command: [String], _ hints: [String: String])
    throws(UsageError) -> Option
  {
    if let option = options.first(where: { $0.name == name || $0.short == name }) { return option }
    if let hint = hints[name] {
      throw UsageError("\(command.joined(separator: " ")) has no option \(name): \(hint)", command: command)
    }
    let known = options.map(\.name) + ["--help"] + (command.count == 1 ? ["--version"] : [])
    let near = name.hasPrefix("--") ? nearest(to: name, among: known) : nil
    let isOption = name.utf8.allSatisfy { $0 == 45 || (97...122).contains($0 | 32) }
    let hint =
      near.map { ": did you mean \($0)?" } ?? (isOption ? "" : ". What begins with - and is no option stands behind --")
    throw UsageError(
      "\(command.joined(separator: " ")) has no option \(name.prefix { !$0.isNewline }.prefix(40))\(hint)",
      command: command)
  }

  private func firstBareWord(in words: [String], options: [Option], command: [String]) throws(UsageError) -> Int? {
    // Whatever else is wrong, help is given for the commands that are named.
    if Self.asksForHelp(words) { return words.firstIndex { !$0.hasPrefix("-") } }
    var first: Int?
    try scan(words, options: options, command: command) { (word) throws(UsageError) in
      if case .bare(let index, _) = word { first = index }
      return first == nil
    }
    return first
  }

  private static func asksForHelp(_ words: [String]) -> Bool {
    words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
  }

  /// A word of small letters and hyphens, as commands have it, and no path.
  private static func looksLikeCommand(_ word: String) -> Bool {
    word.utf8.allSatisfy { (97...122).contains($0) || $0 == UInt8(ascii: "-") }
  }
}
