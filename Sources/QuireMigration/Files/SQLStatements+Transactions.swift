import QuireSQLite

extension SQLStatements.Statement {
  /// BEGIN, COMMIT and END.
  var isTransaction: Bool { ["BEGIN", "COMMIT", "END"].contains(words.first) }

  /// The pragma that goes with them.
  var setsKeys: Bool { words.prefix(2) == ["PRAGMA", "FOREIGN_KEYS"] }

  /// CREATE TABLE of a table that SQLite makes itself, as its shell's `.schema` prints it.
  var makesTableOfSQLite: Bool {
    words.prefix(2) == ["CREATE", "TABLE"] && words.dropFirst(2).first?.hasPrefix("SQLITE_") == true
  }

  /// A statement that SQLite refuses or ignores inside a transaction.
  var needsNoTransaction: Bool {
    words.first == "VACUUM" || words.prefix(2) == ["PRAGMA", "JOURNAL_MODE"]
      || words.prefix(2) == ["PRAGMA", "AUTO_VACUUM"] || words.prefix(2) == ["PRAGMA", "PAGE_SIZE"]
  }
}

extension SQLStatements {
  /// The script with transaction statements, tables that SQLite makes itself, and the pragma if it is to go too, replaced
  /// by spaces; line endings stay.
  func withoutTransactions(keepingPragmas: Bool = false) -> String {
    var result = bytes
    for statement in self
    where statement.isTransaction || statement.makesTableOfSQLite || (!keepingPragmas && statement.setsKeys) {
      for place in statement.range where result[place] != 10 { result[place] = 32 }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
