/// A name in a schema, such as a table's or a column's: compared as SQLite compares names, ignoring the case of the
/// letters A to Z. An accent that is a character of its own makes another name than a letter that has it.
package struct SQLName: Hashable, Sendable {
  /// As written, without quotes.
  package let text: String
  private let key: String

  package init(_ text: String) {
    self.text = text
    key = Self.folded(text)
  }

  package static func == (a: SQLName, b: SQLName) -> Bool { a.key.utf8.elementsEqual(b.key.utf8) }
  package func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// Maps A to Z to a to z, and keeps every other character.
  package static func folded(_ text: String) -> String {
    if !text.utf8.contains(where: { (65...90).contains($0) }) { return text }
    return String(decoding: text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}

extension SQLName: Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
  package static func < (a: SQLName, b: SQLName) -> Bool { a.key.utf8.lexicographicallyPrecedes(b.key.utf8) }
  package init(stringLiteral value: String) { self.init(value) }

  /// The name, in quotes if SQL needs them.
  package var description: String {
    let isPlain =
      key.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_") }
      && !(48...57).contains(key.utf8.first ?? 48) && !Self.keywords.contains(key)
    return isPlain ? text : "\"" + text.replacing("\"", with: "\"\"") + "\""
  }

  /// The keywords that SQLite never accepts as names; all others may be names.
  private static let keywords: Set<String> = [
    "add", "all", "alter", "and", "as", "autoincrement", "between", "case", "check", "collate", "commit", "constraint",
    "create", "default", "deferrable", "delete", "distinct", "drop", "else", "escape", "except", "exists", "foreign",
    "from", "group", "having", "if", "in", "index", "insert", "intersect", "into", "is", "isnull", "join", "limit",
    "not", "nothing", "notnull", "null", "on", "or", "order", "primary", "references", "returning", "select", "set",
    "table", "then", "to", "transaction", "union", "unique", "update", "using", "values", "when", "where",
  ]
}
