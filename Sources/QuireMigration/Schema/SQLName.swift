import QuireSQLite

/// A name of a table, a column or anything else in a schema: equal to another as SQLite compares names, whatever the case
/// of the letters A to Z.
public struct SQLName: Hashable, Sendable {
  /// As it is written, without quotes.
  public let text: String
  private let key: String

  public init(_ text: String) {
    self.text = text
    key = Self.folded(text)
  }

  public static func == (a: SQLName, b: SQLName) -> Bool { a.key == b.key }
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// With A to Z as a to z, and every other character as it is.
  static func folded(_ text: String) -> String {
    String(decoding: text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}

extension SQLName: Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
  public static func < (a: SQLName, b: SQLName) -> Bool { a.key < b.key }
  public init(stringLiteral value: String) { self.init(value) }

  /// The name, in quotes where SQL needs them.
  public var description: String {
    let isPlain =
      key.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_") }
      && !(48...57).contains(key.utf8.first ?? 48) && !Self.keywords.contains(key)
    return isPlain ? text : "\"" + text.replacing("\"", with: "\"\"") + "\""
  }

  /// The keywords that SQLite takes for a name in no place; the rest may stand as names.
  private static let keywords: Set<String> = [
    "add", "all", "alter", "and", "as", "autoincrement", "between", "case", "check", "collate", "commit", "constraint",
    "create", "default", "deferrable", "delete", "distinct", "drop", "else", "escape", "except", "exists", "foreign",
    "from", "group", "having", "if", "in", "index", "insert", "intersect", "into", "is", "isnull", "join", "limit",
    "not", "nothing", "notnull", "null", "on", "or", "order", "primary", "references", "returning", "select", "set",
    "table", "then", "to", "transaction", "union", "unique", "update", "using", "values", "when", "where",
  ]
}

/// A piece of SQL, equal to another token by token: blanks, comments, the quotes around names and the case of words and
/// names do not count.
public struct SQLText: Hashable, Sendable {
  public let text: String
  /// Words and names in small letters, everything else as it is.
  private let tokens: [String]

  public init(_ text: String) {
    self.text = text
    tokens = Self.tokens(of: text)
  }

  public static func == (a: SQLText, b: SQLText) -> Bool { a.tokens == b.tokens }
  public func hash(into hasher: inout Hasher) { hasher.combine(tokens) }

  private static func tokens(of text: String) -> [String] {
    let sequence = SQLTokens(text)
    return sequence.compactMap { token in
      switch token.kind {
      case .blank, .lineComment, .blockComment: nil
      case .quotedName: SQLName.folded(sequence.name(of: token))
      case .word, .number, .blob: SQLName.folded(sequence.text(of: token))
      case .string, .parameter, .mark: sequence.text(of: token)
      }
    }
  }

  /// Whether the name stands somewhere in it, as a word or in quotes.
  public func mentions(_ name: SQLName) -> Bool { tokens.contains(SQLName.folded(name.text)) }
}

extension SQLText: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral value: String) { self.init(value) }

  /// On one line, without comments.
  public var description: String {
    let sequence = SQLTokens(text)
    var result = ""
    var needsBlank = false
    for token in sequence {
      if token.isSignificant {
        result += (needsBlank ? " " : "") + sequence.text(of: token)
        needsBlank = false
      } else {
        needsBlank = !result.isEmpty
      }
    }
    return result
  }
}
