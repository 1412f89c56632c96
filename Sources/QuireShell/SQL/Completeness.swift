import QuireSQLite

/// Whether a text of SQL could be run as it is: every statement ended by `;`, quotes and comments closed, and a trigger
/// by its `END;`. What begins or ends a transaction needs no `;`, as `undo` needs none.
enum Completeness {
  static func isComplete(sql text: String) -> Bool {
    let tokens = SQLTokens(text)
    if tokens.contains(where: \.isOpen) { return false }
    guard let last = Array(SQLStatements(text)).last else { return true }
    return last.isEnded || isOfTransaction(words(of: SQLTokens(bytes: tokens.bytes, in: last.range))[...])
  }

  /// In lower case; a quoted name as it is written, and empty for anything else.
  private static func words(of tokens: SQLTokens) -> [String] {
    tokens.filter(\.isSignificant).map { token in
      switch token.kind {
      case .word: tokens.text(of: token).lowercased()
      case .quotedName: tokens.text(of: token)
      default: ""
      }
    }
  }

  /// Whether the words are a whole `begin`, `commit`, `rollback to x` …
  private static func isOfTransaction(_ words: ArraySlice<String>) -> Bool {
    guard let first = words.first else { return false }
    var rest = words.dropFirst()
    func take(_ known: String...) -> Bool {
      guard let word = rest.first, known.contains(word) else { return false }
      rest.removeFirst()
      return true
    }
    switch first {
    case "begin":
      _ = take("deferred", "immediate", "exclusive")
      _ = take("transaction")
      return rest.isEmpty
    case "commit", "end":
      _ = take("transaction")
      return rest.isEmpty
    case "rollback":
      _ = take("transaction")
      guard take("to") else { return rest.isEmpty }
      if rest.count > 1 { _ = take("savepoint") }
      return isName(rest)
    case "release":
      if rest.count > 1 { _ = take("savepoint") }
      return isName(rest)
    case "savepoint": return isName(rest)
    default: return false
    }
  }

  private static func isName(_ words: ArraySlice<String>) -> Bool { words.count == 1 && words.first != "savepoint" }
}
