/// How the rows of an answer are written.
public enum AnswerFormat: String, CaseIterable, Sendable {
  case table, box, csv, tsv, json, jsonl, line, md, html, insert, value

  /// By the extension of a file's name; nil for an unknown one.
  public init?(ofFile name: String) {
    switch name.split(separator: ".").last?.lowercased() {
    case "csv": self = .csv
    case "tsv", "tab": self = .tsv
    case "json": self = .json
    case "jsonl", "ndjson": self = .jsonl
    case "md": self = .md
    case "html", "htm": self = .html
    case "sql": self = .insert
    case "txt": self = .table
    default: return nil
    }
  }

  /// The format of a file to be written; nil if its name has no extension.
  ///
  /// - Parameter otherwise: How another name gets a format, for the message.
  /// - Throws: ``ShellFailure`` for an extension that is not a format's.
  public static func named(byFile path: String, otherwise: String) throws(ShellFailure) -> AnswerFormat? {
    if let format = AnswerFormat(ofFile: path) { return format }
    let name = FileName(path)
    if name.last == name.bare { return nil }
    throw ShellFailure(
      "\(printable(String(name.last.dropFirst(name.bare.count)))) is not the extension of a format; nothing was written",
      hint: ".csv, .tsv, .json, .jsonl, .md, .html, .sql and .txt are; \(otherwise)", .usage)
  }

  /// Whether rows are kept until widths are known.
  public var needsWidths: Bool { self == .table || self == .box }

  func writer(_ columns: [String], _ output: RowOutput) throws -> any AnswerWriter {
    switch self {
    case .table: TableWriter(columns, output, isBox: false)
    case .box: TableWriter(columns, output, isBox: true)
    case .csv: SeparatedWriter(columns, output, UInt8(ascii: ","))
    case .tsv: SeparatedWriter(columns, output, UInt8(ascii: "\t"))
    case .json: JSONWriter(columns, isDocument: true)
    case .jsonl: JSONWriter(columns, isDocument: false)
    case .line: LineWriter(columns, output)
    case .md: MarkdownWriter(columns, output)
    case .html: HTMLWriter(columns, output)
    case .insert: try InsertWriter(columns, output)
    case .value: ValueWriter(output)
    }
  }
}

/// The destination of rows as they are read, and their format.
public struct RowOutput: Sendable {
  public var format: AnswerFormat
  public var hasHeader = true
  /// How many rows are written at most.
  public var limit: Int?
  /// Whether rows are kept too, for `_`, `.as` and `.save`, and a model's bare name means a screenful.
  public var keepsRows = false
  /// The table of `insert` statements; nil for the one whose columns are written, or `answer` if they are not columns of
  /// one table.
  public var table: String?
  /// Its columns, in lower case, that are computed, and into which nothing can be put.
  var computedColumns: Set<String> = []
  public var style: AnswerStyle
  /// Receives the text piece by piece, in order, on the session's thread. Throws if it cannot be written.
  public var write: @Sendable (UnsafeRawBufferPointer) throws -> Void

  public init(
    _ format: AnswerFormat, style: AnswerStyle = AnswerStyle(),
    write: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) {
    self.format = format
    self.style = style
    self.write = write
  }
}

/// The properties of the place where a result is read.
public struct AnswerStyle: Sendable {
  /// Whether a terminal reads it, which no text may steer.
  public var isTerminal = false
  /// Cells in a line; nil for lines as long as they are.
  public var columns: Int?
  /// How many cells a text takes.
  public var width: @Sendable (String) -> Int = { $0.count }
  public var dressed: @Sendable (String, OutputPart) -> String = { text, _ in text }

  public enum OutputPart: Hashable, Sendable { case header, null }

  public init() {}
}

/// Writes rows one by one.
protocol AnswerWriter {
  mutating func write(_ row: some CellRow, to bytes: inout ByteBuffer)
  mutating func end(_ bytes: inout ByteBuffer)
}

extension AnswerWriter {
  mutating func end(_ bytes: inout ByteBuffer) {}
}
