/// What follows `.import`: a file, a model, and perhaps the file's encoding.
struct ImportRequest {
  let file: String
  let model: String
  let encoding: ImportEncoding?

  private static let usage = ".import FILE MODEL [--encoding ENCODING]"

  init(_ argument: String, isModel: (String) -> Bool) throws(ShellFailure) {
    let (file, rest) = ShellSession.file(in: argument)
    (self.file, (model, encoding)) = (file, try Self.encoding(behind: rest))
    if file.isEmpty || model.isEmpty || file.hasPrefix("--") { throw ShellFailure(Self.usage, .usage) }
    let words = model.split(separator: " ")
    if words.count > 1, !"\"'[`".contains(model.prefix(1)), !isModel(model) {
      let meant = printable(([file] + words.dropLast().map(String.init)).joined(separator: " "))
      throw ShellFailure(
        "more than a file and a model",
        hint: "a file's name with spaces is in quotes: .import \"\(meant)\" \(words[words.count - 1])",
        .usage)
    }
  }

  private static func encoding(behind text: String) throws(ShellFailure) -> (model: String, ImportEncoding?) {
    guard let option = text.range(of: "--", options: .backwards),
      option.lowerBound == text.startIndex || text[text.index(before: option.lowerBound)] == " "
    else { return (text, nil) }
    let words = text[option.lowerBound...].split { $0 == " " || $0 == "=" }
    // Not in a name in quotes.
    if words.count > 2 || text.hasSuffix("\"") { return (text, nil) }
    guard words.first == "--encoding" else {
      throw ShellFailure("unknown option \(printable(String(text[option.lowerBound...])))", hint: Self.usage, .usage)
    }
    guard words.count == 2 else {
      throw ShellFailure("which encoding? \(ImportEncoding.names.joined(separator: ", "))", .usage)
    }
    return (text[..<option.lowerBound].trimmed, try ImportEncoding(named: String(words[1])))
  }
}
