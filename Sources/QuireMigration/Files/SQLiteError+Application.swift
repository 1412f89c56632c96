package import QuireSQLite

/// Errors of files that were made by a program with functions, collations or modules of its own.
extension SQLiteError {
  /// Whether it says that something is missing which a program adds to SQLite.
  package var isOfApplication: Bool { Self.isOfApplication(message) }

  /// Whether SQLite has no way to read a table: its rows are in the order of a collation that is missing, or
  /// `INDEXED BY` names an index that does not help.
  package var isWithoutSolution: Bool { Self.isWithoutSolution(message) }

  /// Whether a table cannot even be counted: it is WITHOUT ROWID, and its key has a collation that is missing.
  package var isOfUnreadableTable: Bool { isOfApplication || isWithoutSolution }

  package static func isWithoutSolution(_ message: String) -> Bool { message == "no query solution" }

  package static func isOfApplication(_ message: String) -> Bool {
    [
      "no such collation sequence", "no such function", "unknown function", "no such module", "no such tokenizer",
      "unknown tokenizer", "error in tokenizer constructor",
    ].contains { message.contains($0) }
  }
}
