import Foundation
import QuireRow
import QuireSQLite

/// The records of a CSV, TSV, JSON or JSONL file, each with its place, read piece by piece.
struct ImportRecords {
  private let encoding: ImportEncoding
  private var form: Form

  private enum Form {
    case separated(SeparatedReader, names: [String])
    case objects(FileBytes, RecordPlace)
    case array(JSONArrayReader)
  }

  /// What is read.
  static let formats: [AnswerFormat] = [.csv, .tsv, .json, .jsonl]

  /// - Parameter isStopped: Whether no more of it is to be waited for.
  init(_ request: ImportRequest, isStopped: @escaping () -> Bool = { false }) throws(ShellFailure) {
    let (file, separator) = (request.file, request.separator)
    let format = request.format ?? AnswerFormat(ofFile: file)
    guard let format, Self.formats.contains(format) else {
      throw ShellFailure(
        "\(printable(file)) is not a .csv, .tsv, .json or .jsonl file",
        hint: OtherFile(named: file)?.hint ?? "--format csv behind the model reads a file of another name", .usage)
    }
    if separator != nil, format == .json || format == .jsonl {
      throw ShellFailure("fields of \(printable(file)) have no separator: it is JSON", .usage)
    }
    let input = try InputFile(file, isStopped: isStopped)
    let bytes = try FileBytes(input, request.encoding)
    self.encoding = bytes.encoding
    form =
      switch format {
      case .json: .array(JSONArrayReader(bytes))
      case .jsonl: .objects(bytes, RecordPlace(path: file, line: 0))
      default:
        try Self.separated(
          SeparatedReader(bytes, separator ?? UInt8(ascii: format == .tsv ? "\t" : ",")), bytes.encoding,
          isForNewTable: request.createsTable)
      }
  }

  private static func separated(
    _ reader: SeparatedReader, _ encoding: ImportEncoding, isForNewTable: Bool
  ) throws(ShellFailure) -> Form {
    var reader = reader
    var first = try reader.next()
    // A new table takes the separator from the line of names, and not from the one before it that is for Excel.
    if isForNewTable, let fields = first, isForExcel(fields) { first = try reader.next() }
    guard let names = first else {
      throw reader.start.failure("the file is empty, and has no names of columns")
    }
    for (place, name) in names.enumerated() {
      if case .malformed(let data) = name {
        throw encoding.failure(data, of: "name \(place + 1) of \(names.count)", at: reader.start, canBeKept: false)
      }
    }
    let texts = names.map(\.text)
    return .separated(reader, names: isForNewTable ? distinct(texts) : texts)
  }

  /// Whether a line is `sep=;`, read with that separator or with another.
  private static func isForExcel(_ fields: [SeparatedReader.Field]) -> Bool {
    let texts = fields.map(\.text)
    return texts == ["sep=", ""] || texts.count == 1 && texts[0].hasPrefix("sep=") && texts[0].unicodeScalars.count == 5
  }

  /// Names that a table can have: one that was there before gets a number, as `price_2`, and an empty one its place, as
  /// `column3`.
  private static func distinct(_ names: [String]) -> [String] {
    var taken = Set(names.map { $0.lowercased() })
    var found: Set<String> = []
    return names.enumerated().map { place, name in
      if !name.isEmpty, found.insert(name.lowercased()).inserted { return name }
      var number = name.isEmpty ? place + 1 : 2
      func made() -> String { name.isEmpty ? "column\(number)" : "\(name)_\(number)" }
      while !taken.insert(made().lowercased()).inserted { number += 1 }
      return made()
    }
  }

  /// The names that all records have, which are on the first line; nil if each record has its own.
  var header: [String]? {
    guard case .separated(_, let names) = form, !names.isEmpty else { return nil }
    return names
  }

  /// In place of a reader while it reads, so that it has one owner.
  private static var taken: Form { .array(JSONArrayReader(FileBytes([]))) }

  /// Nil at the end.
  mutating func next() throws -> (record: [JSONLine.Member], place: RecordPlace)? {
    switch form {
    case .separated(var reader, let names):
      form = Self.taken
      defer { form = .separated(reader, names: names) }
      while let fields = try reader.next() {
        // An empty line is a record only if there is one column, whose value is NULL.
        if fields == [.absent], names.count != 1 { continue }
        guard fields.count == names.count else {
          throw reader.start.failure(
            "\(fields.count) \(fields.count == 1 ? "field" : "fields"), and \(names.count) "
              + "\(names.count == 1 ? "name" : "names") on the first line",
            hint: fields.count > names.count ? "a field with the separator in it stands in quotes" : nil)
        }
        if encoding != .raw, let place = fields.firstIndex(where: \.isMalformed),
          case .malformed(let data) = fields[place]
        {
          throw encoding.failure(data, of: printable(names[place]), at: reader.start, canBeKept: true)
        }
        return (zip(names, fields).map { ($0, $1.imported) }, reader.start)
      }
      return nil
    case .objects(var bytes, var place):
      form = Self.taken
      defer { form = .objects(bytes, place) }
      while let text = try bytes.line() {
        place = RecordPlace(path: place.path, line: place.line + 1)
        if !text.allSatisfy({ $0 == 32 || $0 == 13 }) { return (try object(text, place), place) }
      }
      return nil
    case .array(var reader):
      form = Self.taken
      defer { form = .array(reader) }
      guard let text = try reader.next() else { return nil }
      return (try object(text, reader.start), reader.start)
    }
  }

  private static let shownCharacters = 40

  private func object(_ text: [UInt8], _ place: RecordPlace) throws(ShellFailure) -> [JSONLine.Member] {
    do throws(JSONLine.Failure) {
      return try JSONLine.members(text)
    } catch {
      if String(validating: text, as: UTF8.self) == nil {
        throw encoding.failure(Data(text), of: "this", at: place, canBeKept: false)
      }
      switch error {
      case .notAnObject:
        throw place.failure(
          "no JSON object",
          hint: text.first == UInt8(ascii: "[") ? "an array of objects is a .json file" : nil)
      case .malformed(let name, let value):
        let shown = value.count > Self.shownCharacters ? value.prefix(Self.shownCharacters) + "…" : value
        throw place.failure("the value of \(printable(name)) is not JSON: \(printable(shown))")
      case .notBytes(let name): throw place.failure("\(printable(name)) is no base64")
      case .tooDeep(let name): throw place.failure("\(printable(name)) is nested too deeply")
      }
    }
  }
}
