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
    let isUsable = names.allSatisfy { !$0.isEmpty && printable($0) == $0 }
    if names.isEmpty || !isUsable || Set(names.map { $0.lowercased() }).count < names.count { return nil }
  }

  /// - Parameter table: Its name as it was typed, perhaps in quotes.
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

  /// `-12.50`, and not `1e3`, `007.5` or a number of more digits than a real one has.
  private static func isDecimal(_ text: String) -> Bool {
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, digits.utf8.count <= 16,
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } })
    else { return false }
    return parts[0] == "0" || parts[0].first != "0"
  }
}
