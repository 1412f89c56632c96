import QuireMigration

/// Whether a text of SQL could be run as it is: every statement ended by `;`, quotes and comments closed, and a trigger by
/// its `END;`. What begins or ends a transaction needs no `;`, as `undo` needs none.
enum Completeness {
  static func isComplete(sql text: String) -> Bool {
    var tokens = SQLTokens(text)
    var words: [String] = []
    var isEnded = true
    var isTrigger = false
    while let token = tokens.next() {
      switch token.kind {
      case .blank, .lineComment: continue
      case .blockComment:
        if !isClosed(tokens, token, by: "*/", least: 4) { return false }
      case .string, .quotedName:
        if !isQuoteClosed(tokens, token) { return false }
        isEnded = false
        words.append(token.kind == .quotedName ? tokens.text(of: token) : "")
      case .mark where tokens.bytes[token.range.lowerBound] == UInt8(ascii: ";"):
        // Inside a trigger only `END;` ends the statement.
        isEnded = !isTrigger || words.last == "end"
        if isEnded {
          words = []
          isTrigger = false
        }
      default:
        isEnded = false
        if token.kind == .word {
          words.append(tokens.text(of: token).lowercased())
          if words.count <= 4, words.first == "create" || words.first == "explain", words.last == "trigger" {
            isTrigger = true
          }
        } else {
          words.append("")
        }
      }
    }
    return isEnded || isOfTransaction(words[...])
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

  private static func isClosed(_ tokens: SQLTokens, _ token: SQLTokens.Token, by end: String, least: Int) -> Bool {
    token.range.count >= least && tokens.bytes[token.range].suffix(end.utf8.count).elementsEqual(end.utf8)
  }

  private static func isQuoteClosed(_ tokens: SQLTokens, _ token: SQLTokens.Token) -> Bool {
    let bytes = tokens.bytes[token.range]
    guard let first = bytes.first, bytes.count > 1 else { return false }
    let closing = first == UInt8(ascii: "[") ? UInt8(ascii: "]") : first
    if closing != first { return bytes.last == closing }
    // Doubled quotes stand for themselves: an even number of them in all.
    return bytes.count { $0 == first }.isMultiple(of: 2)
  }
}
