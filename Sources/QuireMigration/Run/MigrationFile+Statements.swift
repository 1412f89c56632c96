import QuireSQLite

extension MigrationFile {
  /// Whether it runs without a transaction: it says so, and its statement cannot run in one. Other statements can, and
  /// follow the usual rules.
  var runsAlone: Bool {
    directives.contains(.noTransaction) && SQLWords.needsNoTransaction(up)
  }

  /// Refuses what cannot run on any database, before the first of several files is committed.
  ///
  /// - Throws: ``MigrationError/empty(file:)``, ``MigrationError/refused(statement:_:)``,
  ///   ``MigrationError/unknownStep(_:file:)`` or ``MigrationError/severalStatementsWithoutTransaction(file:)``.
  func checkStatements(steps: [MigrationStep]) throws(MigrationError) {
    if isEmpty { throw .empty(file: path) }
    for case .step(let name) in directives where !steps.contains(where: { $0.name == name }) {
      throw .unknownStep(name, file: path)
    }
    if directives.contains(.noTransaction), SQLTokens.countStatements(in: up) > 1 {
      throw .severalStatementsWithoutTransaction(file: path)
    }
    if runsAlone { return }
    try upText.checkParameters()
    for (statement, range) in SQLWords.statementsAndRanges(of: up) {
      guard let name = statement.transactionWord ?? statement.pragmaInTransaction,
        isOwn || !["BEGIN", "COMMIT", Self.keys].contains(name)
      else { continue }
      throw .refused(statement: name, upText.place(of: range.lowerBound, withColumn: true))
    }
  }

  /// Ignored in others' files, as BEGIN and COMMIT are: it has no effect in a transaction, and keys are off during a
  /// migration.
  static let keys = "PRAGMA foreign_keys"
}

extension AppliedMigration {
  /// As ``MigrationFile/runsAlone``, for its undo.
  var isUndoneAlone: Bool {
    let undo = undo ?? ""
    return SQLWords.needsNoTransaction(undo)
      && (SQLWords.asksForNoTransaction(undo)
        || [up, undo].contains { MigrationText(name: "", sql: $0).directives.contains(.noTransaction) })
  }
}

extension SQLWords {
  /// Whether the script begins with sqlx's line for what `-- migrate: no-transaction` says.
  static func asksForNoTransaction(_ script: String) -> Bool {
    script.prefix { !$0.isNewline }.split(separator: " ").joined(separator: " ") == noTransaction
  }

  static let noTransaction = "-- no-transaction"

  fileprivate static func needsNoTransaction(_ script: String) -> Bool {
    statements(of: script).contains { ["VACUUM", "PRAGMA"].contains($0.verb) }
  }

  /// The name in `PRAGMA name`, if it has no effect in a transaction, or must not have any.
  fileprivate var pragmaInTransaction: String? {
    guard let (name, hasValue) = pragma, hasValue || name == "wal_checkpoint",
      !Connection.migrationPragmas.contains(name)
    else { return nil }
    return "PRAGMA \(name)"
  }
}

extension MigrationError {
  /// Why a statement is not allowed in a migration, and what to do instead.
  static func reason(against statement: String) -> String {
    if statement.hasPrefix("writing") { return "That table is the record of what has run, and is kept by running." }
    if statement.hasSuffix(MigrationScriptError.elsewhere) {
      return "Each of them runs the migration itself. Write the value as a literal."
    }
    switch statement {
    case "BEGIN", "COMMIT", "ROLLBACK":
      return "Each migration runs in one transaction, together with its record. Remove BEGIN and COMMIT."
    case "SAVEPOINT", "RELEASE":
      return "Each migration runs in one transaction, and is rolled back as a whole. Remove the savepoints."
    case "ATTACH", "DETACH":
      return "A migration changes one database, and is rehearsed on a copy of it. Copy before it, or after it."
    case "VACUUM":
      return "It cannot run in a transaction. Give it a file of its own that begins with  -- migrate: no-transaction"
    case "PRAGMA journal_mode":
      return "It has no effect in a transaction. Give it a file of its own that begins with  -- migrate: no-transaction"
    case "PRAGMA auto_vacuum", "PRAGMA page_size", "PRAGMA encoding":
      return "It has no effect in a transaction, and in a database with tables only with VACUUM. Run both by hand."
    case MigrationFile.keys:
      return "It has no effect in a transaction. Keys are off while one runs, and checked before the commit. Remove it."
    case "PRAGMA wal_checkpoint": return "It cannot run in a transaction, and changes nothing that is kept. Remove it."
    case "PRAGMA writable_schema":
      return "The schema's own table cannot be written to. Rebuild the table:  migrate new --rebuild TABLE"
    default:
      return "It is not kept in the database: it would hold for this migration only, or not at all. Remove it."
    }
  }
}
