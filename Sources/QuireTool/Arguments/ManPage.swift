/// A command's manual page in the language of man(7): made from the same table as its help.
///
/// The root has a page, and each of its commands has one, `quire-migrate.1`, in which its subcommands are sections.
struct ManPage {
  /// From the root on: the root alone, or with one of its commands.
  let path: [Command]
  let common: [Option]
  let version: String

  /// The page, without the end of its last line.
  var text: String {
    guard let root = path.first, let command = path.last else { return "" }
    let name = path.map(\.name).joined(separator: "-")
    var lines = [
      ".TH \(name.uppercased()) 1 \"\" \"\(Self.text(root.name)) \(Self.text(version))\" \"\"",
      ".SH NAME", "\(Self.text(name)) \\- \(Self.text(command.summary))",
      ".SH SYNOPSIS",
    ]
    lines += synopsis(path)
    if !command.subcommands.isEmpty {
      lines.append(".SH COMMANDS")
      if let fallback = command.defaultSubcommand { lines.append("Without a command: \(Self.text(fallback)).") }
      for sub in command.subcommands { lines += described(sub) }
    }
    lines += list(".SH ARGUMENTS", command.arguments.map { ("\\fI\(Self.text($0.name))\\fR", $0.help) })
    lines += list(".SH OPTIONS", path.dropFirst().flatMap(\.options).map(Self.row))
    lines += list(".SH GLOBAL OPTIONS", common.map(Self.row))
    lines += environment
    if let notes = command.notes { lines += [".SH NOTES"] + Self.paragraphs(notes) }
    lines += seeAlso
    return lines.joined(separator: "\n")
  }

  // MARK: Sections

  private func synopsis(_ path: [Command]) -> [String] {
    guard let command = path.last else { return [] }
    var line = "\\fB\(Self.text(path.map(\.name).joined(separator: " ")))\\fR"
    if command.subcommands.isEmpty {
      line += command.arguments.map(Self.word).joined()
    } else {
      line += command.defaultSubcommand == nil ? " \\fICOMMAND\\fR ..." : " [\\fICOMMAND\\fR] ..."
    }
    return [path.dropFirst().allSatisfy(\.options.isEmpty) ? line : line + " [\\fIOPTIONS\\fR]"]
  }

  /// A subcommand: in the root's page a line, in a command's own with its options.
  private func described(_ sub: Command) -> [String] {
    let head = "\\fB\(Self.text(sub.name))\\fR" + sub.arguments.map(Self.word).joined()
    var lines = [".TP", head, Self.line(sub.summary)]
    guard path.count > 1, !sub.options.isEmpty else { return lines }
    lines.append(".RS")
    for option in sub.options {
      let (name, help) = Self.row(option)
      lines += [".TP", name, Self.line(help)]
    }
    return lines + [".RE"]
  }

  private func list(_ title: String, _ rows: [(String, String)]) -> [String] {
    rows.isEmpty ? [] : [title] + rows.flatMap { [".TP", $0.0, Self.line($0.1)] }
  }

  private var environment: [String] {
    let options = path.flatMap(\.options) + (path.last?.subcommands.flatMap(\.options) ?? [])
    let rows = options.compactMap { option in
      option.environment.map { ("\\fB\(Self.text($0))\\fR", "the value of \(option.name) if that is not given") }
    }
    return list(".SH ENVIRONMENT", rows)
  }

  private var seeAlso: [String] {
    guard let root = path.first else { return [] }
    let pages =
      path.count > 1 ? [root.name] : Self.pages(of: root).map { "\(root.name)-\($0.name)" }
    if pages.isEmpty { return [] }
    return [".SH SEE ALSO"]
      + pages.enumerated().map { ".BR \(Self.text($1)) (1)\($0 == pages.count - 1 ? "" : ",")" }
  }

  /// The commands that have pages of their own: all but those that every program has.
  private static func pages(of root: Command) -> [Command] {
    root.subcommands.filter { !["help", "completion"].contains($0.name) }
  }

  // MARK: Text

  private static func word(_ argument: Argument) -> String {
    let name = "\\fI\(text(argument.name))\\fR"
    switch argument.kind {
    case .required: return " " + name
    case .optional: return " [\(name)]"
    case .many: return " [\(name)...]"
    }
  }

  private static func row(_ option: Option) -> (String, String) {
    let names = ([option.short, option.name].compactMap { $0 }).map { "\\fB\(text($0))\\fR" }.joined(separator: ", ")
    return (names + (option.value.map { " \\fI\(text($0))\\fR" } ?? ""), option.help)
  }

  private static func paragraphs(_ notes: String) -> [String] {
    notes.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? ".PP" : line(String($0)) }
  }

  /// A line that is not taken for a request.
  private static func line(_ string: String) -> String {
    let shown = text(string)
    return shown.hasPrefix(".") || shown.hasPrefix("'") ? "\\&" + shown : shown
  }

  private static func text(_ string: String) -> String {
    string.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\n", with: " ")
  }
}
