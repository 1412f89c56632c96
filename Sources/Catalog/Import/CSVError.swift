/// An error after which a CSV file cannot be read further, because the rest of the file is ambiguous.
///
/// A complete record with wrong content is a ``BadRecord`` instead, and reading continues.
public enum CSVError: Error, Hashable, Sendable {
  case missing(file: String)
  case isDirectory(file: String)
  case unreadable(file: String, reason: String)
  /// Not even a header.
  case empty(file: String)
  /// A quote inside a field that does not begin with one.
  case quoteInUnquotedField(file: String, line: Int)
  /// Text between a field's closing quote and the delimiter.
  case textAfterQuote(file: String, line: Int)
  /// The quote opened on `line` is not closed by the end of the file.
  case unclosedQuote(file: String, line: Int)
  /// A carriage return that no line feed follows.
  case strayCarriageReturn(file: String, line: Int)
  /// The record that begins on `line` is longer than the limit.
  case recordTooLong(file: String, line: Int, limitInBytes: Int)
  case headerNotUTF8(file: String)
  /// Columns the nearest known format needs and the header lacks.
  case missingColumns([String], file: String, found: [String], known: [String])
  /// A needed column is there twice.
  case repeatedColumn(String, file: String)
}

extension CSVError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let file): "no file at \(file)"
    case .isDirectory(let file): "\(file) is a folder, not a CSV file"
    case .unreadable(let file, let reason): "\(file) cannot be read: \(reason)"
    case .empty(let file): "\(file) is empty: a CSV file begins with its header"
    case .quoteInUnquotedField(let file, let line):
      "\(file):\(line): broken quotes: a quote inside a field that does not begin with one (quote the field, double the quote)"
    case .textAfterQuote(let file, let line):
      "\(file):\(line): broken quotes: text after a field's closing quote (a quote inside a field is doubled)"
    case .unclosedQuote(let file, let line): "\(file):\(line): broken quotes: the quote opened here is never closed"
    case .strayCarriageReturn(let file, let line):
      "\(file):\(line): a carriage return without line feed (lines end with LF or CR LF)"
    case .recordTooLong(let file, let line, let limit):
      "\(file):\(line): the record that begins here is longer than \(limit) bytes: is a quote missing?"
    case .headerNotUTF8(let file): "\(file):1: the header is not UTF-8"
    case .missingColumns(let missing, let file, let found, let known):
      """
      \(file): wrong header: missing \(missing.joined(separator: ", "))
      found:  \(Self.list(found))
      known:  \(known.joined(separator: "\n        "))
      """
    case .repeatedColumn(let name, let file): "\(file): wrong header: the column ‘\(name)’ is there twice"
    }
  }

  /// A header as text, however long it is: a file of another kind may be one single line.
  private static func list(_ names: [String]) -> String {
    let text = names.map { $0.replacing("\n", with: " ") }.joined(separator: ", ")
    let clean = String(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? "\u{FFFD}" : Character($0) })
    return clean.count > 200 ? clean.prefix(200) + "…" : clean
  }
}
