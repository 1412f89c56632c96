import QuireSQLite

extension SQLStatements.Statement {
  /// BEGIN, COMMIT and END.
  var isTransaction: Bool { ["BEGIN", "COMMIT", "END"].contains(words.first) }

  /// The pragma that goes with them.
  var setsKeys: Bool { words.prefix(2) == ["PRAGMA", "FOREIGN_KEYS"] }

  /// A statement that SQLite refuses or ignores inside a transaction.
  var needsNoTransaction: Bool {
    words.first == "VACUUM" || words.prefix(2) == ["PRAGMA", "JOURNAL_MODE"]
      || words.prefix(2) == ["PRAGMA", "AUTO_VACUUM"] || words.prefix(2) == ["PRAGMA", "PAGE_SIZE"]
  }
}

extension SQLStatements {
  /// The script with transaction statements, and the pragma if it is to go too, replaced by spaces; line endings stay.
  func withoutTransactions(keepingPragmas: Bool = false) -> String {
    var result = bytes
    for statement in self where statement.isTransaction || (!keepingPragmas && statement.setsKeys) {
      for place in statement.range where result[place] != 10 { result[place] = 32 }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
