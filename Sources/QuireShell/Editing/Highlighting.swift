import QuireSQLite

/// A part of an input and its kind, for highlighting.
public struct InputSpan: Hashable, Sendable {
  /// Byte offsets.
  public let range: Range<Int>
  public let kind: Kind

  public enum Kind: Hashable, Sendable { case keyword, model, name, unknown, text, number, parameter, comment, command }
}

extension ShellSession {
  /// What the pieces of an input are; what is nothing special is left out.
  nonisolated public func spans(_ text: String) -> [InputSpan] {
    let models = models
    switch InputReader(models: models).kind(of: text) {
    case .nothing: return []
    case .undo, .redo: return [InputSpan(range: 0..<text.utf8.count, kind: .keyword)]
    case .command:
      let start = text.utf8.prefix { $0 == 32 }.count
      let length = text.utf8.dropFirst(start).prefix { $0 != 32 }.count
      return [InputSpan(range: start..<start + length, kind: .command)]
    case .sql, .foreign: return Self.sqlSpans(text, from: 0)
    case .model(let start): return Self.modelSpans(text, from: start, models)
    case .verb(_, let start):
      let word = text.utf8.prefix { $0 == 32 }.count
      let end = word + text.utf8.dropFirst(word).prefix { $0 != 32 }.count
      let rest = text.utf8Suffix(from: start)
      let isModel = if case .model = InputReader(models: models).kind(of: rest) { true } else { false }
      return [InputSpan(range: word..<end, kind: .keyword)]
        + (isModel ? Self.modelSpans(text, from: start, models) : Self.sqlSpans(text, from: start))
    }
  }

  private static func sqlSpans(_ text: String, from start: Int) -> [InputSpan] {
    var tokens = SQLTokens(text)
    var result: [InputSpan] = []
    while let token = tokens.next() {
      if token.range.lowerBound < start { continue }
      let kind: InputSpan.Kind? =
        switch token.kind {
        case .lineComment, .blockComment: .comment
        case .string, .blob: .text
        case .number: .number
        case .word where sqlKeywords.contains(tokens.text(of: token).uppercased()): .keyword
        default: nil
        }
      if let kind { result.append(InputSpan(range: token.range, kind: kind)) }
    }
    return result
  }

  private static func modelSpans(_ text: String, from start: Int, _ models: FileModels) -> [InputSpan] {
    Tokenizer.tokens(of: text).compactMap { token in
      if token.range.lowerBound < start { return nil }
      let kind: InputSpan.Kind? =
        switch token.kind {
        case .word(let word) where models.place(of: word) != nil: .model
        case .word(let word) where Parser.keywords.contains(word.lowercased()): .keyword
        case .word(let word) where ["any", "none", "all"].contains(word.lowercased()): .keyword
        case .text: .text
        case .integer, .real, .blob: .number
        case .parameter: .parameter
        case .wrong: .unknown
        default: nil
        }
      return kind.map { InputSpan(range: token.range, kind: $0) }
    }
  }
}

/// SQLite's keywords for highlighting and completion.
let sqlKeywords: Set<String> = [
  "ABORT", "ADD", "AFTER", "ALL", "ALTER", "ANALYZE", "AND", "AS", "ASC", "ATTACH", "AUTOINCREMENT", "BEFORE", "BEGIN",
  "BETWEEN", "BY", "CASCADE", "CASE", "CAST", "CHECK", "COLLATE", "COLUMN", "COMMIT", "CONFLICT", "CONSTRAINT",
  "CREATE",
  "CROSS", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "DATABASE", "DEFAULT", "DEFERRED", "DELETE", "DESC",
  "DETACH", "DISTINCT", "DO", "DROP", "EACH", "ELSE", "END", "ESCAPE", "EXCEPT", "EXISTS", "EXPLAIN", "FAIL", "FILTER",
  "FIRST", "FOLLOWING", "FOR", "FOREIGN", "FROM", "FULL", "GENERATED", "GLOB", "GROUP", "HAVING", "IF", "IGNORE",
  "IMMEDIATE", "IN", "INDEX", "INNER", "INSERT", "INSTEAD", "INTERSECT", "INTO", "IS", "ISNULL", "JOIN", "KEY", "LAST",
  "LEFT", "LIKE", "LIMIT", "MATCH", "MATERIALIZED", "NATURAL", "NO", "NOT", "NOTHING", "NOTNULL", "NULL", "NULLS", "OF",
  "OFFSET", "ON", "OR", "ORDER", "OUTER", "OVER", "PARTITION", "PLAN", "PRAGMA", "PRECEDING", "PRIMARY", "QUERY",
  "RAISE", "RANGE", "RECURSIVE", "REFERENCES", "REINDEX", "RELEASE", "RENAME", "REPLACE", "RESTRICT", "RETURNING",
  "RIGHT", "ROLLBACK", "ROW", "ROWS", "SAVEPOINT", "SELECT", "SET", "TABLE", "TEMP", "TEMPORARY", "THEN", "TO",
  "TRANSACTION", "TRIGGER", "UNBOUNDED", "UNION", "UNIQUE", "UPDATE", "USING", "VACUUM", "VALUES", "VIEW", "VIRTUAL",
  "WHEN", "WHERE", "WINDOW", "WITH", "WITHOUT",
]
