import Foundation
import QuireRow
import QuireSQLite

/// The records of a CSV, TSV, JSON or JSONL file, each with the line it begins on, read piece by piece.
struct ImportRecords {
  let sizeInBytes: Int
  private var form: Form

  private enum Form {
    case separated(SeparatedReader, names: [String])
    case objects(FileBytes, line: Int)
    case array(JSONArrayReader)
  }

  init(_ file: String) throws(ShellFailure) {
    let format = AnswerFormat(ofFile: file)
    guard let format, [.csv, .tsv, .json, .jsonl].contains(format) else {
      throw ShellFailure("\(printable(file)) is not a .csv, .tsv, .json or .jsonl file", .usage)
    }
    guard let handle = FileHandle(forReadingAtPath: file), var bytes = FileBytes(handle) else {
      throw ShellFailure("\(printable(file)) cannot be read", .usage)
    }
    sizeInBytes = (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0
    if bytes.isUTF16 { throw ShellFailure("\(printable(file)) is in UTF-16: save it as UTF-8", .usage) }
    try bytes.passMark()
    form =
      switch format {
      case .json: .array(JSONArrayReader(bytes))
      case .jsonl: .objects(bytes, line: 0)
      default: try Self.separated(SeparatedReader(bytes, UInt8(ascii: format == .tsv ? "\t" : ",")))
      }
  }

  private static func separated(_ reader: SeparatedReader) throws(ShellFailure) -> Form {
    var reader = reader
    let names = try reader.next()?.map(\.text) ?? []
    return .separated(reader, names: names)
  }

  /// The names that all records have, which are on the first line; nil if each record has its own.
  var header: [String]? {
    guard case .separated(_, let names) = form, !names.isEmpty else { return nil }
    return names
  }

  /// Nil at the end.
  mutating func next() throws -> (record: [JSONLine.Member], line: Int)? {
    switch form {
    case .separated(var reader, let names):
      form = .objects(FileBytes([]), line: 0)  // so that the reader has one owner while it reads
      defer { form = .separated(reader, names: names) }
      while let fields = try reader.next() {
        // An empty line is a record only if there is one column, whose value is NULL.
        if fields == [.absent], names.count != 1 { continue }
        guard fields.count == names.count else {
          throw ShellFailure(
            "line \(reader.line): \(fields.count) fields, and \(names.count) names. Nothing was added")
        }
        return (zip(names, fields).map { ($0, $1.imported) }, reader.line)
      }
      return nil
    case .objects(var bytes, var line):
      form = .objects(FileBytes([]), line: 0)
      defer { form = .objects(bytes, line: line) }
      while let text = try bytes.line() {
        line += 1
        if !text.allSatisfy({ $0 == 32 || $0 == 13 }) { return (try Self.object(text, line), line) }
      }
      return nil
    case .array(var reader):
      form = .objects(FileBytes([]), line: 0)
      defer { form = .array(reader) }
      guard let text = try reader.next() else { return nil }
      return (try Self.object(text, reader.line), reader.line)
    }
  }

  private static let shownCharacters = 40

  private static func object(_ text: [UInt8], _ line: Int) throws(ShellFailure) -> [JSONLine.Member] {
    do throws(JSONLine.Failure) {
      return try JSONLine.members(text)
    } catch {
      switch error {
      case .notAnObject: throw ShellFailure("line \(line): no JSON object. Nothing was added")
      case .malformed(let name, let value):
        let shown = value.count > Self.shownCharacters ? value.prefix(Self.shownCharacters) + "…" : value
        throw ShellFailure(
          "line \(line): the value of \(printable(name)) is not JSON: \(printable(shown)). Nothing was added")
      case .notAValue(let name):
        throw ShellFailure("line \(line): \(printable(name)) is not a value that a column takes. Nothing was added")
      }
    }
  }
}

/// The bytes of a file in order, a piece of it in memory.
struct FileBytes {
  /// Nil at the end of the file.
  private var handle: FileHandle?
  private var piece: [UInt8] = []
  private var place = 0
  private static let size = 1 << 18

  /// Nil for what cannot be read, such as a folder.
  init?(_ handle: FileHandle) {
    self.handle = handle
    do { try fill() } catch { return nil }
  }

  /// These bytes, of no file.
  init(_ bytes: some Sequence<UInt8>) { piece = Array(bytes) }

  private mutating func fill() throws {
    guard let read = try handle?.read(upToCount: Self.size), !read.isEmpty else {
      handle = nil
      (piece, place) = ([], 0)
      return
    }
    (piece, place) = (Array(read), 0)
  }

  /// The next byte, which stays the next; nil at the end.
  @inline(__always) mutating func peek() throws(ShellFailure) -> UInt8? {
    if place < piece.count { return piece[place] }
    if handle == nil { return nil }
    do {
      try fill()
    } catch {
      throw ShellFailure("the file cannot be read any further: \(error.localizedDescription). Nothing was added")
    }
    return piece.first
  }

  /// To be called after ``peek()`` has found a byte.
  @inline(__always) mutating func pass() { place += 1 }

  /// Whether it begins with the mark of UTF-16, as what spreadsheets call Unicode text does.
  fileprivate var isUTF16: Bool { piece.starts(with: [0xFF, 0xFE]) || piece.starts(with: [0xFE, 0xFF]) }

  /// Passes over the mark that some programs begin a file of text with.
  fileprivate mutating func passMark() throws(ShellFailure) {
    if piece.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
  }

  /// The rest of the line, without its end; nil at the end of the file.
  fileprivate mutating func line() throws(ShellFailure) -> [UInt8]? {
    guard try peek() != nil else { return nil }
    var line: [UInt8] = []
    while try peek() != nil {
      let rest = piece[place...]
      guard let end = rest.firstIndex(of: 10) else {
        line += rest
        place = piece.count
        continue
      }
      line += rest[..<end]
      place = end + 1
      break
    }
    return line
  }
}
