import Foundation
import QuireRow
import QuireSQLite

/// The statement that makes a table for a file that is to be imported, by its names and its first records.
///
/// It is shown, and not run: whether `1.50` is a number, and which column is the key, only the reader knows.
struct TableProposal {
  private static let examinedRecords = 1000
  private static let mostColumns = 100

  private var names: [String]
  /// What separates the fields, if that is not what the request says.
  private var separator: Character?
  private var kinds: [String: Kind] = [:]

  private enum Kind: String {
    case integer = "INTEGER"
    case real = "REAL"
    case text = "TEXT"

    /// Of a column that has values of both.
    func joined(_ other: Kind) -> Kind {
      self == other ? self : self == .text || other == .text ? .text : .real
    }
  }

  /// Nil if the file cannot be read again, such as a pipe, or not at all, or if no table can have its names.
  init?(for request: ImportRequest) {
    var status = stat()
    guard stat(request.file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      var records = try? ImportRecords(
        request.file, request.encoding, format: request.format, separator: request.separator)
    else { return nil }
    names = records.header ?? []
    for _ in 0..<Self.examinedRecords {
      guard let record = try? records.next()?.record else { break }
      for (name, field) in record {
        if kinds[name] == nil, !names.contains(name) { names.append(name) }
        guard let kind = Self.kind(of: field) else { continue }
        kinds[name] = kinds[name]?.joined(kind) ?? kind
      }
      if names.count > Self.mostColumns { return nil }
    }
    if names.count == 1, request.separator == nil, let sign = ";|\t".first(where: names[0].contains) {
      separator = sign
      return
    }
    let isUsable = names.allSatisfy { !$0.isEmpty && printable($0) == $0 }
    if names.isEmpty || !isUsable || Set(names.map { $0.lowercased() }).count < names.count { return nil }
  }

  /// - Parameter table: Its name as it was typed, perhaps in quotes.
  func hint(for table: String) -> String? {
    if let separator {
      return "--separator \(separator == "\t" ? "tab" : "'\(separator)'") behind the model reads this file"
    }
    return statement(for: table).map { "this makes a table for it: \($0)" }
  }

  /// - Parameter table: As of ``hint(for:)``.
  func statement(for table: String) -> String? {
    let name = "\"'[`".contains(table.prefix(1)) ? SQLTokens.name(table) : table
    guard let table = try? quoted(identifier: name) else { return nil }
    let columns = names.compactMap { name in
      (try? quoted(identifier: name)).map { "\($0) \((kinds[name] ?? .text).rawValue)" }
    }
    if columns.count < names.count { return nil }
    return "CREATE TABLE \(table) (\(columns.joined(separator: ", ")));"
  }

  /// Nil for NULL.
  private static func kind(of field: ImportedField) -> Kind? {
    switch field {
    case .value(.null): nil
    case .value(.integer): .integer
    case .value: .text
    case .number(let text): Int64(text) == nil ? Double(text)?.isFinite == true ? .real : .text : .integer
    case .word(let text):
      if let number = Int64(text) {
        // Zeros in front and a plus would be lost.
        String(number) == text ? .integer : .text
      } else {
        isDecimal(text) ? .real : .text
      }
    }
  }

  /// `-12.50` and `9.78e+12`, and not `1e3`, `007.5` or a number of more digits than a real one has.
  private static func isDecimal(_ text: String) -> Bool {
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
    let halves = digits.split(omittingEmptySubsequences: false) { "eE".contains($0) }
    let parts = halves[0].split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy(isDigits), parts[0] == "0" || parts[0].first != "0",
      parts.joined().drop(while: { $0 == "0" }).count <= mostDigits
    else { return false }
    switch halves.count {
    case 1: return true
    case 2: return isDigits(halves[1].first.map { "+-".contains($0) } == true ? halves[1].dropFirst() : halves[1])
    default: return false
    }
  }

  /// More than these do not tell numbers apart.
  private static let mostDigits = 17

  private static func isDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
  }
}
