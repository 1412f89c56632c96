import QuireSQLite

/// What follows `.import`: a file, a model, and perhaps the file's format, its encoding, what separates its fields, and
/// that a table is to be made for it.
struct ImportRequest {
  private(set) var file: String
  private(set) var model: String
  /// Nil for that of the file's extension.
  private(set) var format: AnswerFormat?
  /// A mark at the file's beginning has precedence.
  private(set) var encoding: ImportEncoding?
  /// If it is not the comma of CSV or the tab of TSV.
  var separator: UInt8?
  /// Whether the table is made first, which must not be there yet.
  private(set) var createsTable = false
  /// The column that is the new table's key; nil for none.
  private(set) var key: String?

  private static let usage =
    ".import FILE MODEL [--format FORMAT] [--encoding ENCODING] [--separator ';'] [--create [--key COLUMN]]"

  init(file: String, model: String, createsTable: Bool = false) {
    (self.file, self.model, self.createsTable) = (file, model, createsTable)
  }

  init(_ argument: String, isModel: (String) -> Bool) throws(ShellFailure) {
    (file, model) = ShellSession.file(in: argument)
    var rest = model
    try takeOptions(&rest)
    model = rest
    if file == "-" { file = "/dev/stdin" }
    if key != nil, !createsTable {
      throw ShellFailure("--key goes with --create: it is of the table that is made", .usage)
    }
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

  /// Takes the options off the end of `text`, which is the model then.
  private mutating func takeOptions(_ text: inout String) throws(ShellFailure) {
    while let option = text.range(of: "--", options: .backwards),
      option.lowerBound == text.startIndex || text[text.index(before: option.lowerBound)] == " "
    {
      let written = text[option.lowerBound...]
      let words = written.split(maxSplits: 1) { $0 == " " || $0 == "=" }.map { String($0[...].trimmed) }
      switch words.first {
      case "--format":
        let named = words.count == 2 ? AnswerFormat(rawValue: words[1].lowercased()) : nil
        guard let named, ImportRecords.formats.contains(named) else {
          let names = ImportRecords.formats.map(\.rawValue).joined(separator: ", ")
          throw ShellFailure("which format? \(names)", .usage)
        }
        format = named
      case "--encoding":
        guard words.count == 2 else {
          throw ShellFailure("which encoding? \(ImportEncoding.names.joined(separator: ", "))", .usage)
        }
        encoding = try ImportEncoding(named: words[1])
      case "--separator": separator = try Self.separator(words.count == 2 ? words[1] : "")
      case "--create" where words.count == 1: createsTable = true
      case "--key":
        guard words.count == 2 else { throw ShellFailure("--key takes the name of a column", .usage) }
        key = "\"'[`".contains(words[1].prefix(1)) ? SQLTokens.name(words[1]) : words[1]
      default:
        // Not in a name in quotes.
        if written.split(whereSeparator: { $0 == " " || $0 == "=" }).count > 2 || text.hasSuffix("\"") { return }
        throw ShellFailure("unknown option \(printable(String(written)))", hint: Self.usage, .usage)
      }
      text = text[..<option.lowerBound].trimmed
    }
  }

  private static func separator(_ word: String) throws(ShellFailure) -> UInt8 {
    var bytes = Array((word == "tab" || word == "\\t" ? "\t" : word).utf8)
    if bytes.count == 3, bytes[0] == bytes[2], bytes[0] == UInt8(ascii: "'") || bytes[0] == UInt8(ascii: "\"") {
      bytes = [bytes[1]]
    }
    guard bytes.count == 1, bytes[0] < 128, bytes[0] != UInt8(ascii: "\""), bytes[0] >= 32 || bytes[0] == 9 else {
      throw ShellFailure("--separator takes one character of ASCII, such as ';', or the word tab", .usage)
    }
    return bytes[0]
  }
}
