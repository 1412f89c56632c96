import Foundation
import QuireRow
import QuireSQLite

/// The statement that makes a table for a file's records, by its names and its first records, or by all.
///
/// For a database it is shown, and run only where that is asked for: whether `1.50` is a number, and which column is the key,
/// only the reader knows.
struct TableProposal {
  private static let examinedRecords = 1000
  private static let mostColumns = 100
  /// As many as SQLite takes in a table.
  private static let mostColumnsOfTable = 2000

  private var columns: [Column] = []
  /// The column of each name.
  private var places: [String: Int] = [:]
  /// What separates the fields, if that is not what the request says.
  private(set) var separator: Character?
  private var recordCount = 0

  private struct Column {
    let name: String
    /// Nil until a record has a value.
    var kind: Kind?
    /// How many records have a value.
    var count = 0
  }

  private enum Kind {
    case integer, wideInteger, real, text

    /// Of a column that has values of both. Real numbers have no room for all wide integers.
    func joined(_ other: Kind) -> Kind {
      switch (self, other) {
      case (_, self): self
      case (.integer, .wideInteger), (.wideInteger, .integer): .wideInteger
      case (.integer, .real), (.real, .integer): .real
      default: .text
      }
    }

    /// That type of column.
    var type: String {
      switch self {
      case .integer, .wideInteger: "INTEGER"
      case .real: "REAL"
      case .text: "TEXT"
      }
    }

    static func integer(_ number: Int64) -> Kind {
      number.magnitude <= UInt64(1) << Double.significandBitCount ? .integer : .wideInteger
    }
  }

  /// By the first records. Nil if the file cannot be read again, such as a pipe, or not at all, or if no table can have its
  /// names.
  init?(for request: ImportRequest) {
    guard FileName.isRegular(request.file), var records = try? ImportRecords(request) else { return nil }
    for name in records.header ?? [] { add(name) }
    for _ in 0..<Self.examinedRecords {
      guard let record = try? records.next()?.record else { break }
      take(record)
      if columns.count > Self.mostColumns { return nil }
    }
    if records.header != nil { findSeparator(of: request) }
    if separator == nil, obstacle != nil { return nil }
  }

  /// By all records.
  ///
  /// - Parameter each: Called with each record.
  /// - Throws: ``ShellFailure`` if the file cannot be read, or if no table can have its names.
  init(forAllOf request: ImportRequest, each: () throws -> Void) throws {
    var records = try ImportRecords(request)
    for name in records.header ?? [] { add(name) }
    if records.header != nil { findSeparator(of: request) }
    if separator != nil { return }
    while let (record, _) = try records.next() {
      take(record)
      try each()
    }
    if let obstacle { throw ShellFailure("\(printable(request.file)) cannot be a table: \(obstacle)") }
  }

  private mutating func take(_ record: [JSONLine.Member]) {
    recordCount += 1
    for (number, (name, field)) in record.enumerated() {
      // Most records have all names, in one order.
      let isInPlace = number < columns.count && columns[number].name == name
      let place = isInPlace ? number : places[name] ?? add(name)
      guard let kind = Self.kind(of: field) else { continue }
      columns[place].count += 1
      columns[place].kind = columns[place].kind?.joined(kind) ?? kind
    }
  }

  @discardableResult private mutating func add(_ name: String) -> Int {
    places[name] = columns.count
    columns.append(Column(name: name))
    return columns.count - 1
  }

  private mutating func findSeparator(of request: ImportRequest) {
    guard columns.count == 1, request.separator == nil else { return }
    let counted = ";|\t".map { sign in (sign, count: columns[0].name.count { $0 == sign }) }
    separator = counted.max { $0.count < $1.count }.flatMap { $0.count > 0 ? $0.0 : nil }
  }

  /// Why no table can have the names.
  private var obstacle: String? {
    let names = columns.map(\.name)
    if names.isEmpty { return "it has no records, and no names" }
    if names.count > Self.mostColumnsOfTable {
      return "it has \(names.count.grouped) columns, and SQLite takes \(Self.mostColumnsOfTable.grouped)"
    }
    if let place = names.firstIndex(of: "") { return "name \(place + 1) of \(names.count) is empty" }
    if let name = names.first(where: { printable($0) != $0 }) {
      return "the name \(printable(name)) has control characters"
    }
    var found: Set<String> = []
    return names.first { !found.insert($0.lowercased()).inserted }.map { "the name \($0) is there twice" }
  }

  /// - Parameter table: Its name as it was typed, perhaps in quotes.
  func hint(for table: String) -> String? {
    if let separator {
      return "--separator \(separator == "\t" ? "tab" : "'\(separator)'") behind the model reads this file"
    }
    return statement(for: table).map { "--create behind it makes this table: \($0)" }
  }

  /// The column of a key that was asked for, whose name may have other cases.
  ///
  /// - Throws: ``ShellFailure`` if there is none, or if a record has no value for it.
  func key(_ asked: String) throws(ShellFailure) -> String {
    let place = places[asked] ?? columns.firstIndex { SQLName($0.name) == SQLName(asked) }
    guard let column = place.map({ columns[$0] }) else {
      throw ShellFailure(
        "there is no column \(printable(asked)) to be the key",
        hint: nearest(to: asked, among: columns.map(\.name)).map { "did you mean \($0)?" }, .usage)
    }
    let missing = recordCount - column.count
    if missing > 0 {
      throw ShellFailure(
        "\(printable(column.name)) cannot be the key: \(missing.grouped) of \(recordCount.grouped) records have no value for it"
      )
    }
    return column.name
  }

  /// - Parameters:
  ///   - table: As of ``hint(for:)``.
  ///   - key: A column's name, as ``key(_:)`` has it.
  func statement(for table: String, key: String? = nil) -> String? {
    let name = "\"'[`".contains(table.prefix(1)) ? SQLTokens.name(table) : table
    guard let table = try? quoted(identifier: name) else { return nil }
    let definitions = columns.compactMap { column in
      (try? quoted(identifier: column.name)).map { quoted in
        let type = (column.kind ?? .text).type
        let isKey = column.name == key
        // An integer key is the row's own number, which is never NULL.
        return "\(quoted) \(type)\(isKey ? " PRIMARY KEY" : "")\(isKey && type != "INTEGER" ? " NOT NULL" : "")"
      }
    }
    if definitions.count < columns.count { return nil }
    return "CREATE TABLE \(table) (\(definitions.joined(separator: ", ")));"
  }

  /// Nil for NULL.
  private static func kind(of field: ImportedField) -> Kind? {
    switch field {
    case .value(.null): nil
    case .value(.integer(let number)): .integer(number)
    case .value: .text
    case .number(let text):
      if let number = Int64(text) {
        .integer(number)
      } else if JSONInfinity(rawValue: text) != nil {
        .real
      } else {
        text.contains(where: { ".eE".contains($0) }) && Double(text)?.isFinite == true ? .real : .text
      }
    case .word(let text):
      if let number = Int64(text) {
        // Zeros in front and a plus would be lost.
        String(number) == text ? .integer(number) : .text
      } else {
        KeptDecimal.isOne(text) || text == "Inf" || text == "-Inf" ? .real : .text
      }
    }
  }
}
