import QuireSQLite

/// The first words of one statement in a text: what it does, and to which table.
struct StatementWords {
  let text: String
  /// The position of its first word in the whole text.
  let range: Range<Int>
  /// In lower case, without those inside parentheses; names without their quotes.
  private var words: [String] = []
  private var isQuoted: [Bool] = []

  /// Reads only the part of the text that is in `range`, of which a long script has many.
  init(_ whole: String, _ range: Range<Int>) {
    var first: Range<Int>?
    var depth = 0
    let part = whole.utf8.dropFirst(range.lowerBound).prefix(range.count)
    let tokens = SQLTokens(bytes: Array(part))
    for token in tokens {
      switch token.kind {
      case .word, .quotedName:
        first = first ?? token.range
        guard depth == 0 else { continue }
        words.append(token.kind == .word ? tokens.text(of: token).lowercased() : tokens.name(of: token))
        isQuoted.append(token.kind == .quotedName)
      case .mark where tokens.isMark(token, "("): depth += 1
      case .mark where tokens.isMark(token, ")"): depth -= 1
      default: continue
      }
    }
    self.range = first.map { $0.lowerBound + range.lowerBound..<$0.upperBound + range.lowerBound } ?? range
    text = Substring(String(decoding: tokens.bytes[(first?.lowerBound ?? 0)...], as: UTF8.self)).trimmed
  }

  private func isKeyword(_ word: String, at place: Int) -> Bool {
    words.indices.contains(place) && words[place] == word && !isQuoted[place]
  }

  /// The verb of the statement, after any WITH.
  var verb: String {
    guard let first = words.first else { return "" }
    if first != "with" { return first }
    return words.indices.first {
      ["insert", "update", "delete", "replace", "select"].contains(words[$0]) && !isQuoted[$0]
    }
    .map { words[$0] } ?? first
  }

  /// Whether it asks how SQLite would run a statement, in its steps.
  var isQueryPlan: Bool { words.starts(with: ["explain", "query", "plan"]) }

  /// Whether rows are written, which can be recorded and undone; anything else that writes alters the schema or the
  /// file.
  var writesRows: Bool { ["insert", "update", "delete", "replace"].contains(verb) }

  var altersSchema: Bool { ["create", "alter", "drop"].contains(verb) }

  /// A table as a statement names it.
  struct Table: Hashable {
    /// `main`, `temp`, or the name that ATTACH has given; nil if none is named.
    let schema: String?
    let name: String
  }

  /// The table whose rows are written.
  var target: Table? {
    guard writesRows, let start = words.indices.first(where: { isKeyword(verb, at: $0) }) else { return nil }
    return table(
      behind: start + 1, passing: ["into", "from", "or", "rollback", "abort", "replace", "fail", "ignore"])
  }

  /// Whether an INSERT may delete or update rows that are there.
  var mayChangeRows: Bool {
    verb == "replace"
      || words.indices.contains {
        isKeyword("conflict", at: $0) || isKeyword("or", at: $0) && isKeyword("replace", at: $0 + 1)
      }
  }

  /// Whether it runs in no transaction, or is itself one's beginning or end.
  var isOutsideTransaction: Bool {
    ["vacuum", "attach", "detach", "pragma", "begin", "commit", "end", "rollback", "savepoint", "release"].contains(
      verb)
  }

  /// The table of which all rows are deleted or updated, if there is no condition.
  var wholeTable: Table? {
    guard verb == "update" || verb == "delete", !words.indices.contains(where: { isKeyword("where", at: $0) }),
      !words.indices.contains(where: { isKeyword("limit", at: $0) }),
      let start = words.indices.first(where: { isKeyword(verb, at: $0) })
    else { return nil }
    return table(behind: start + 1, passing: ["from", "or", "rollback", "abort", "replace", "fail", "ignore"])
  }

  var droppedTable: Table? {
    guard isKeyword("drop", at: 0), isKeyword("table", at: 1) else { return nil }
    return table(behind: 2, passing: ["if", "exists"])
  }

  private func table(behind start: Int, passing: Set<String>) -> Table? {
    var place = start
    while words.indices.contains(place), !isQuoted[place], passing.contains(words[place]) { place += 1 }
    guard words.indices.contains(place) else { return nil }
    // Without the period between them, two names are a schema's and a table's, as an alias stands behind AS.
    if words.indices.contains(place + 1), isQuoted[place + 1] || !Self.behindTable.contains(words[place + 1]) {
      return Table(schema: words[place].lowercased(), name: words[place + 1])
    }
    return Table(schema: nil, name: words[place])
  }

  /// Keywords that may follow a table's name.
  private static let behindTable: Set<String> = [
    "set", "as", "indexed", "not", "where", "returning", "order", "limit", "values", "select", "with", "default",
    "from",
  ]

  /// The name after a word.
  func name(behind word: String) -> String? {
    guard let place = words.indices.first(where: { isKeyword(word, at: $0) }) else { return nil }
    let next = words[(place + 1)...].first
    return next == "savepoint" ? words[(place + 2)...].first : next
  }

  /// The message after the statement, if it returns no rows.
  ///
  /// - Parameter staysOpen: Whether another input may end a transaction.
  func said(staysOpen: Bool) -> String? {
    switch verb {
    case "begin", "savepoint": "a transaction is open" + (staysOpen ? ": commit or rollback ends it" : "")
    case "commit", "end", "release": "committed"
    case "rollback": "rolled back"
    default: nil
    }
  }
}
