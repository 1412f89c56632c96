/// One record with its columns by name: what an importer reads from.
struct Fields {
  let record: CSVRecord
  let file: String
  let columns: [String: Int]

  func bad(_ reason: String, column: String? = nil) -> BadRecord {
    let line = column.flatMap { columns[$0] }.map(record.line(ofField:)) ?? record.line
    return BadRecord(file: file, line: line, reason: reason)
  }

  /// The text of a column, trimmed; empty if the file does not have the column.
  func text(_ column: String) throws(BadRecord) -> String {
    guard let index = columns[column] else { return "" }
    guard let text = record.text(index) else { throw bad("\(column) is not UTF-8", column: column) }
    if text.utf8.contains(0) { throw bad("\(column) contains a NUL byte", column: column) }
    return text.trimmed
  }

  func required(_ column: String) throws(BadRecord) -> String {
    let text = try text(column)
    if text.isEmpty { throw bad("\(column) is empty", column: column) }
    return text
  }

  /// A whole number, also written as `2008.0`; nil if the field is empty.
  func integer(_ column: String) throws(BadRecord) -> Int? {
    let text = try text(column)
    if text.isEmpty { return nil }
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let number = Int(parts[0]), parts.count == 1 || parts[1].allSatisfy({ $0 == "0" }), parts[0].first != "+"
    else { throw bad("\(column) ‘\(text.shortened)’ is not a whole number", column: column) }
    return number
  }

  /// A year between -9999 and 9999; nil if the field is empty.
  func year(_ column: String) throws(BadRecord) -> Int? {
    guard let year = try integer(column) else { return nil }
    guard (-9999...9999).contains(year) else { throw bad("\(column) ‘\(year)’ is not a year", column: column) }
    return year
  }

  /// A mean from 0 to 5; 0 if the field is empty.
  func rating(_ column: String) throws(BadRecord) -> Double {
    let text = try text(column)
    if text.isEmpty { return 0 }
    guard let rating = Double(text), (0...5).contains(rating) else {
      throw bad("\(column) ‘\(text.shortened)’ is not a rating from 0 to 5", column: column)
    }
    return rating
  }

  /// An ISBN of ten characters (digits, the last may be X) or thirteen digits; nil if the field is empty.
  ///
  /// Spreadsheets read ISBNs as numbers and remove their leading zeros: seven to nine characters are padded to ten. (Of
  /// the 6 601 shortened ones in goodbooks-10k, nearly all have a valid check digit again when padded.)
  func isbn(_ column: String) throws(BadRecord) -> String? {
    let text = try text(column).filter { $0 != "-" }
    if text.isEmpty { return nil }
    let digits = text.utf8.dropLast(text.utf8.last == UInt8(ascii: "X") && text.utf8.count <= 10 ? 1 : 0)
    let count = text.utf8.count
    guard digits.allSatisfy({ (48...57).contains($0) }), (7...10).contains(count) || count == 13 else {
      throw bad("\(column) ‘\(text.shortened)’ is not an ISBN", column: column)
    }
    return String(repeating: "0", count: max(0, 10 - count)) + text
  }

  /// Names separated by commas; each once, the first of equal ones stays.
  func names(_ column: String) throws(BadRecord) -> [String] {
    var names: [String] = []
    for part in try text(column).split(separator: ",") {
      let name = part.collapsed
      if !name.isEmpty, !names.contains(name) { names.append(name) }
    }
    return names
  }
}

extension StringProtocol {
  /// Without white space at either end.
  var trimmed: String {
    guard let start = firstIndex(where: { !$0.isWhitespace }), let end = lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(self[start...end])
  }

  /// Without white space at either end, and with one space for each run of white space inside.
  var collapsed: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}

extension String {
  /// Short enough for a message.
  fileprivate var shortened: String { count > 40 ? prefix(40) + "…" : self }
}
