/// The scripts that let a shell complete a program's commands and options: made from the same table as its help.
///
/// Nothing of the program runs while completing. A script has a list of the words for each command, so it is to be made
/// again with each version of the program.
struct Completion {
  let root: Command
  let common: [Option]

  enum Shell: String, CaseIterable {
    case bash
    case zsh
    case fish

    static let names = "bash, zsh, fish"
  }

  func script(for shell: Shell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  // MARK: The table

  /// A command with the words that lead to it.
  private struct Place {
    let path: [String]
    let command: Command
    let options: [Option]
    var key: String { path.joined(separator: " ") }
    /// A command's default subcommand may be left out, with its words.
    let takesFiles: Bool
  }

  private var places: [Place] {
    func walk(_ path: [String], _ command: Command, _ inherited: [Option]) -> [Place] {
      let own = inherited + command.options
      let fallback = command.subcommands.first { $0.name == command.defaultSubcommand }
      let options = own + (fallback?.options ?? [])
      let takesFiles = (command.arguments + (fallback?.arguments ?? [])).contains { Self.isFile($0.name) }
      let place = Place(path: path, command: command, options: options, takesFiles: takesFiles)
      return [place] + command.subcommands.flatMap { walk(path + [$0.name], $0, own) }
    }
    return walk([root.name], root, common)
  }

  private static func isFile(_ name: String?) -> Bool {
    ["FILE", "DATABASE", "CSV", "BACKUP"].contains(name) || name == "DIR"
  }

  /// Names of options, all spellings.
  private static func names(_ options: [Option]) -> [String] {
    options.flatMap { [$0.name] + ($0.short.map { [$0] } ?? []) }
  }

  private var function: String { "_" + root.name.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined() }

  // MARK: bash

  private var bash: String {
    var lines = [
      "# Completion of \(root.name) for bash:  eval \"$(\(root.name) completion bash)\"",
      "\(function)() {",
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} path=\(root.name) word i",
      "  local words= values= files=",
      "  for ((i = 1; i < COMP_CWORD; i++)); do",
      "    word=${COMP_WORDS[i]}",
      "    case \"$path $word\" in",
    ]
    for place in places.dropFirst() {
      lines.append("      \(Self.quoted(place.key))) path=\(Self.quoted(place.key)) ;;")
    }
    lines += ["    esac", "  done", "  case $path in"]
    for place in places {
      let words = place.command.subcommands.map(\.name) + Self.names(place.options).filter { $0.hasPrefix("--") }
      lines.append("    \(Self.quoted(place.key)))")
      lines.append("      words=\(Self.quoted(words.joined(separator: " ")))\(place.takesFiles ? " files=yes" : "")")
      let valued = place.options.filter { $0.value != nil }
      if !valued.isEmpty {
        lines.append("      case $previous in")
        for option in valued {
          let names = Self.names([option]).joined(separator: "|")
          let answer =
            option.choices.isEmpty
            ? (Self.isFile(option.value) ? "words= files=yes" : "words= files=")
            : "words=\(Self.quoted(option.choices.joined(separator: " "))) files="
          lines.append("        \(names)) \(answer) ;;")
        }
        lines.append("      esac")
      }
      lines.append("      ;;")
    }
    lines += [
      "  esac",
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))",
      "  if [ -n \"$files\" ] && [[ $current != -* ]]; then",
      // A line is one name, whatever spaces and asterisks are in it.
      "    while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen -f -- \"$current\")",
      "  fi",
      "}",
      "complete -o filenames -F \(function) \(root.name)",
    ]
    return lines.joined(separator: "\n")
  }

  // MARK: zsh

  private var zsh: String {
    var lines = [
      "#compdef \(root.name)",
      "# Completion of \(root.name) for zsh:  eval \"$(\(root.name) completion zsh)\"",
      "\(function)() {",
      "  local current=${words[CURRENT]} previous=${words[CURRENT-1]} place=\(root.name) word i",
      "  local -a commands options choices",
      "  local files=",
      "  for ((i = 2; i < CURRENT; i++)); do",
      "    word=${words[i]}",
      "    case \"$place $word\" in",
    ]
    for place in places.dropFirst() {
      lines.append("      (\(Self.quoted(place.key))) place=\(Self.quoted(place.key)) ;;")
    }
    lines += ["    esac", "  done", "  case $place in"]
    for place in places {
      lines.append("    (\(Self.quoted(place.key)))")
      lines.append(
        "      commands=(\(place.command.subcommands.map { Self.described($0.name, $0.summary) }.joined(separator: " ")))"
      )
      let options = place.options.flatMap { option in Self.names([option]).map { Self.described($0, option.help) } }
      lines.append("      options=(\(options.joined(separator: " ")))\(place.takesFiles ? " files=yes" : "")")
      let valued = place.options.filter { $0.value != nil }
      if !valued.isEmpty {
        lines.append("      case $previous in")
        for option in valued {
          let names = Self.names([option]).joined(separator: "|")
          let answer =
            option.choices.isEmpty
            ? (Self.isFile(option.value) ? "_files; return" : "return")
            : "compadd -- \(option.choices.joined(separator: " ")); return"
          lines.append("        (\(names)) \(answer) ;;")
        }
        lines.append("      esac")
      }
      lines.append("      ;;")
    }
    lines += [
      "  esac",
      "  if [[ $current == -* ]]; then _describe option options; return; fi",
      "  (( ${#commands} )) && _describe command commands",
      "  [[ -n $files ]] && _files",
      "}",
      // A file of that name in a folder of $fpath is itself the function at its first call.
      "if [[ ${funcstack[1]} == \(function) ]]; then \(function) \"$@\"; else compdef \(function) \(root.name); fi",
    ]
    return lines.joined(separator: "\n")
  }

  /// `name:what it does`, as zsh's _describe reads it.
  private static func described(_ name: String, _ help: String) -> String {
    quoted(name.replacing(":", with: "\\:") + ":" + help.replacing(":", with: "\\:"))
  }

  // MARK: fish

  private var fish: String {
    var lines = [
      "# Completion of \(root.name) for fish:  \(root.name) completion fish | source",
      "complete -c \(root.name) -f",
    ]
    for place in places {
      let condition = Self.quoted(fishCondition(place))
      for command in place.command.subcommands {
        lines.append("complete -c \(root.name) -n \(condition) -a \(command.name) -d \(Self.quoted(command.summary))")
      }
      for option in place.options {
        var line = "complete -c \(root.name) -n \(condition) -l \(option.name.dropFirst(2))"
        if let short = option.short { line += " -s \(short.dropFirst())" }
        if option.value != nil { line += Self.isFile(option.value) ? " -r -F" : " -x" }
        if !option.choices.isEmpty { line += " -a \(Self.quoted(option.choices.joined(separator: " ")))" }
        lines.append(line + " -d \(Self.quoted(option.help))")
      }
      if place.takesFiles { lines.append("complete -c \(root.name) -n \(condition) -F") }
    }
    return lines.joined(separator: "\n")
  }

  /// True where the words so far name this command and none of its subcommands.
  private func fishCondition(_ place: Place) -> String {
    let seen = place.path.dropFirst().map { "__fish_seen_subcommand_from \($0)" }
    let none = place.command.subcommands.map(\.name)
    let parts = seen + (none.isEmpty ? [] : ["not __fish_seen_subcommand_from \(none.joined(separator: " "))"])
    return parts.joined(separator: "; and ")
  }

  private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
