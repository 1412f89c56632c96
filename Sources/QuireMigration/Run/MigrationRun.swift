import Foundation
import QuireRow
import QuireSQLite

/// One migration being run on its connection.
struct MigrationRun {
  let file: MigrationFile
  let sequence: Int
  let by: String
  let connection: MigrationConnection

  /// Runs and commits; the transaction is open already, and on an error still is, unless SQLite ended it.
  func inOpenTransaction() throws -> AppliedMigration {
    for case .step(let name) in file.directives { throw MigrationError.unknownStep(name, file: file.path) }
    let start = ContinuousClock.now
    if file.directives.contains(.noTransaction) {
      try outsideTransaction()
    } else {
      try runScript(inTransaction: true)
      try checkForeignKeys()
    }
    let duration = start.duration(to: .now)
    let applied = AppliedMigration(
      version: file.version, title: file.title, up: file.up, undo: file.undo, sequence: sequence,
      appliedAt: Date.now.formatted(.iso8601), milliseconds: Int((duration / .milliseconds(1)).rounded()), by: by)
    try MigrationHistory.record(applied, on: connection)
    try connection.query("COMMIT")
    return applied
  }

  /// One statement alone, which takes effect whole or not at all; its row follows in a transaction of its own.
  private func outsideTransaction() throws {
    guard SQLTokens.countStatements(in: file.up) == 1 else {
      throw MigrationError.severalStatementsWithoutTransaction(file: file.path)
    }
    try connection.query("ROLLBACK")
    try runScript(inTransaction: false)
    if !connection.isAutocommit { try connection.query("ROLLBACK") }
    try connection.query("BEGIN IMMEDIATE")
  }

  private func runScript(inTransaction: Bool) throws {
    do {
      _ = try connection.run(script: file.up, inTransaction: inTransaction, protected: [MigrationHistory.table])
    } catch {
      // A full disk or a damaged page is not the statement's fault: said of the database.
      if error.error.databaseError(path: "", waited: .zero) != nil { throw error.error }
      throw MigrationFailureFinder(file: file, error: error, connection: connection).explained()
    }
  }

  private func checkForeignKeys() throws {
    let rows = try connection.query("PRAGMA foreign_key_check")
    guard !rows.isEmpty else { return }
    let shown = try rows.prefix(5).map { row in
      let columns = try connection.query(
        "SELECT \"from\" FROM pragma_foreign_key_list(?) WHERE id = ? ORDER BY seq", [row[0], row[3]])
      return ForeignKeyViolation(
        table: row[0].plainText, row: row[1].plainInteger, parent: row[2].plainText,
        columns: columns.map { $0[0].plainText })
    }
    // Were they there before? Taken back, the database can be asked.
    try connection.query("ROLLBACK")
    let before = Set((try? connection.query("PRAGMA foreign_key_check")) ?? [])
    throw MigrationError.foreignKeys(
      shown, total: rows.count, file: file.path, alreadyBefore: rows.allSatisfy { before.contains($0) })
  }
}

extension Value {
  var plainText: String { if case .text(let text) = self { text } else { "" } }
  var plainInteger: Int64? { if case .integer(let number) = self { number } else { nil } }
}
