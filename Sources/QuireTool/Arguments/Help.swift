/// A command's help, made from its row of the table.
struct Help {
  /// From the root on.
  let path: [Command]
  let common: [Option]

  var text: String {
    guard let command = path.last else { return "" }
    var parts = [usage + "\n\n" + command.summary]
    if !command.subcommands.isEmpty {
      parts.append(Self.list("Commands", command.subcommands.map { ($0.name + Self.words($0.arguments), $0.summary) }))
    }
    parts.append(Self.list("Arguments", command.arguments.map { ($0.name, $0.help) }))
    parts.append(Self.list("Options", path.dropFirst().flatMap(\.options).map(Self.row)))
    // A command's own subcommands have options too, few enough for its help to list them.
    for sub in command.subcommands where path.count > 1 {
      parts.append(Self.list("Options of \(sub.name)", sub.options.map(Self.row)))
    }
    parts.append(Self.list("Global options", common.map(Self.row)))
    if let notes = command.notes { parts.append(notes) }
    if path.count == 1 { parts.append("Run ‘\(command.name) help COMMAND’ for details.") }
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private var usage: String {
    guard let command = path.last else { return "" }
    var words = "usage: " + path.map(\.name).joined(separator: " ")
    if !command.subcommands.isEmpty {
      words += command.defaultSubcommand.map { " [COMMAND] …    without a command: \($0)" } ?? " COMMAND …"
      return words
    }
    words += Self.words(command.arguments)
    return path.dropFirst().allSatisfy(\.options.isEmpty) ? words : words + " [OPTIONS]"
  }

  private static func words(_ arguments: [Argument]) -> String {
    arguments.map { argument in
      switch argument.kind {
      case .required: " \(argument.name)"
      case .optional: " [\(argument.name)]"
      case .many: " [\(argument.name)…]"
      }
    }.joined()
  }

  private static func row(_ option: Option) -> (String, String) {
    let name = (option.short.map { $0 + ", " } ?? "    ") + option.name + (option.value.map { " " + $0 } ?? "")
    return (name, option.help + (option.environment.map { "  [\($0)]" } ?? ""))
  }

  private static func list(_ title: String, _ rows: [(String, String)]) -> String {
    guard let width = rows.map({ displayWidth($0.0) }).max() else { return "" }
    return title + ":\n"
      + rows.map { "  " + padded($0.0, to: width) + "   " + $0.1 }.joined(separator: "\n")
  }
}
