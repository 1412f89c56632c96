import Foundation
import QuireMigration
import QuireRow
import QuireSQLite

// .import FILE MODEL

extension ShellSession {
  /// Adds a file's rows to a model's table, all or none; as one write, which can be undone.
  func load(_ argument: String) throws -> String {
    let (file, name) = Self.file(in: argument)
    if file.isEmpty || name.isEmpty { throw ShellFailure(".import FILE MODEL", .usage) }
    let model = try find(name)
    guard let recording = source.recording else { throw ShellFailure(Self.onlyReads, .refused) }
    if !model.isWritable { throw ShellFailure("\(model.name) is a view, and can only be read", .refused) }
    guard let data = FileManager.default.contents(atPath: file) else {
      throw ShellFailure("\(printable(file)) cannot be read", .usage)
    }
    let clock = ContinuousClock()
    let begin = clock.now
    let records = try ImportRecords(data, file: file)
    var count = 0
    let (_, tables) = try recording.record {
      try records.forEach { (record, line) in
        if source.watch.wasStopped { throw ShellFailure("stopped; nothing was added", .stopped) }
        try insert(record, line, into: model)
        count += 1
      }
    }
    let entry = UndoLog.Entry(
      tables: tables.filter { !$0.table.isInternal },
      obstacle: tables.first { $0.table.isInternal }.map { "it changed the index in \($0.table.name) too" })
    if !tables.isEmpty { undone.add(entry) }
    let rows = "\(count.grouped) \(count == 1 ? "row" : "rows") added to \(model.name)"
    let end = entry.obstacle.map { "cannot be undone: \($0)" } ?? "undo to take it back"
    return "\(rows) · \((clock.now - begin).spoken) · \(end)"
  }

  private func insert(_ record: [(name: String, value: Value)], _ line: Int, into model: FileModel) throws {
    var columns: [String] = []
    for (name, _) in record {
      guard let column = model.column(named: name), !column.isGenerated else {
        let near = nearest(to: name, among: model.columns.map(\.name)).map { "did you mean \($0)?" }
        throw ShellFailure("line \(line): \(model.name) has no \(printable(name)). Nothing was added", hint: near)
      }
      columns.append(try quoted(identifier: column.column))
    }
    let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    do {
      try source.connection.execute(
        "INSERT INTO \(try quoted(identifier: model.table)) (\(columns.joined(separator: ", "))) VALUES (\(marks))",
        record.map(\.value))
    } catch let error as SQLiteError {
      throw ShellFailure("line \(line): \(error.message). Nothing was added")
    }
  }
}

/// The records of a CSV, TSV or JSONL file, each with the line it begins on.
struct ImportRecords {
  private let data: Data
  private let separator: UInt8?

  init(_ data: Data, file: String) throws(ShellFailure) {
    self.data = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
    switch AnswerFormat(ofFile: file) {
    case .csv: separator = UInt8(ascii: ",")
    case .tsv: separator = UInt8(ascii: "\t")
    case .jsonl: separator = nil
    default: throw ShellFailure("\(printable(file)) is none of .csv, .tsv and .jsonl", .usage)
    }
  }

  func forEach(_ body: ([(name: String, value: Value)], _ line: Int) throws -> Void) throws {
    guard let separator else { return try forEachObject(body) }
    var reader = SeparatedReader(data, separator)
    guard let names = try reader.next() else { return }
    while let fields = try reader.next() {
      if fields.count == 1, fields[0] == .absent { continue }
      guard fields.count == names.count else {
        throw ShellFailure("line \(reader.line): \(fields.count) fields, and \(names.count) names. Nothing was added")
      }
      try body(zip(names, fields).map { ($0.text, $1.value) }, reader.line)
    }
  }

  private func forEachObject(_ body: ([(name: String, value: Value)], _ line: Int) throws -> Void) throws {
    for (place, line) in data.split(separator: 10, omittingEmptySubsequences: false).enumerated() where !line.isEmpty {
      guard let object = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
        throw ShellFailure("line \(place + 1): no JSON object. Nothing was added")
      }
      try body(
        try object.sorted { $0.key < $1.key }.map { name, value in (name, try Self.value(value, name, place + 1)) },
        place + 1)
    }
  }

  private static func value(_ value: Any, _ name: String, _ line: Int) throws(ShellFailure) -> Value {
    switch value {
    case is NSNull: return .null
    case let text as String: return .text(text)
    case let number as NSNumber:
      let isReal = ["d", "f"].contains(String(cString: number.objCType))
      return isReal ? .real(number.doubleValue) : .integer(number.int64Value)
    case let object as [String: String]:
      if let data = object["base64"].flatMap({ Data(base64Encoded: $0) }) { return .blob(data) }
      if let data = object["malformedText"].flatMap({ Data(base64Encoded: $0) }) { return .malformedText(data) }
      fallthrough
    default: throw ShellFailure("line \(line): \(name) is no value a column takes. Nothing was added")
    }
  }
}

/// Reads separated fields as they are written by the formats csv and tsv: an empty field is NULL, `""` is empty text.
struct SeparatedReader {
  enum Field: Hashable {
    case absent
    case bare(String)
    case quoted(String)

    var text: String {
      switch self {
      case .absent: ""
      case .bare(let text), .quoted(let text): text
      }
    }

    /// Numbers stay text, which a column's affinity makes numbers of; bytes are as SQL writes them.
    var value: Value {
      switch self {
      case .absent: return .null
      case .quoted(let text): return .text(text)
      case .bare(let text):
        if text.hasPrefix("x'"), case .blob(let bytes)? = Tokenizer.tokens(of: text).first?.kind {
          return .blob(Data(bytes))
        }
        return .text(text)
      }
    }
  }

  private let bytes: [UInt8]
  private let separator: UInt8
  private var place = 0
  /// Where the last record began, from 1.
  private(set) var line = 0
  private var nextLine = 1

  init(_ data: Data, _ separator: UInt8) {
    bytes = Array(data)
    self.separator = separator
  }

  /// Nil at the end.
  mutating func next() throws(ShellFailure) -> [Field]? {
    guard place < bytes.count else { return nil }
    line = nextLine
    var fields: [Field] = []
    while true {
      fields.append(try field())
      guard place < bytes.count else { return fields }
      let byte = bytes[place]
      place += 1
      if byte == separator { continue }
      if byte == 13, place < bytes.count, bytes[place] == 10 { place += 1 }
      nextLine += 1
      return fields
    }
  }

  private mutating func field() throws(ShellFailure) -> Field {
    guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else {
      let start = place
      while place < bytes.count, bytes[place] != separator, bytes[place] != 10, bytes[place] != 13 { place += 1 }
      return start == place ? .absent : .bare(String(decoding: bytes[start..<place], as: UTF8.self))
    }
    place += 1
    var content: [UInt8] = []
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == UInt8(ascii: "\"") {
        guard place < bytes.count, bytes[place] == byte else {
          return .quoted(String(decoding: content, as: UTF8.self))
        }
        place += 1
      } else if byte == 10 {
        nextLine += 1
      }
      content.append(byte)
    }
    throw ShellFailure("line \(line): a quote that is not closed. Nothing was added")
  }
}
