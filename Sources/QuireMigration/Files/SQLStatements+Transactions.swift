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
    var modules: Set<SQLName> = []
    for statement in self {
      if let name = virtualTable(of: statement) { modules.insert(name) }
      guard
        statement.isTransaction || statement.makesTableOfSQLite || (!keepingPragmas && statement.setsKeys)
          || !modules.isEmpty && makesTable(statement, of: modules)
      else { continue }
      for place in statement.range where result[place] != 10 { result[place] = 32 }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The name in CREATE VIRTUAL TABLE.
  private func virtualTable(of statement: Statement) -> SQLName? {
    guard statement.words.prefix(3) == ["CREATE", "VIRTUAL", "TABLE"] else { return nil }
    return name(in: statement, behind: statement.words.dropFirst(3).first == "IF" ? 6 : 3)
  }

  /// Whether a statement makes a table that one of the virtual tables has made already to keep its content in. SQLite's shell
  /// prints those as well, with IF NOT EXISTS, and SQLite refuses their names.
  private func makesTable(_ statement: Statement, of modules: Set<SQLName>) -> Bool {
    guard statement.words.prefix(3) == ["CREATE", "TABLE", "IF"], let name = name(in: statement, behind: 5)?.text,
      let cut = name.lastIndex(of: "_"), Self.parts.contains(name[name.index(after: cut)...].lowercased())
    else { return false }
    return modules.contains(SQLName(String(name[..<cut])))
  }

  /// The tables of FTS3, FTS4, FTS5, R*Tree and Geopoly, behind the name of the virtual table.
  private static let parts: Set<String> = [
    "config", "content", "data", "docsize", "idx", "node", "parent", "rowid", "segdir", "segments", "stat",
  ]

  /// The token behind so many others, as a name.
  private func name(in statement: Statement, behind count: Int) -> SQLName? {
    let tokens = SQLTokens(bytes: bytes, in: statement.range)
    return tokens.lazy.filter(\.isSignificant).dropFirst(count).first { _ in true }.map {
      SQLName(tokens.name(of: $0))
    }
  }
}
