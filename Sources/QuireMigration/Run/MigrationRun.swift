import Foundation
import QuireRow
import QuireSQLite

/// One migration being run or undone on its connection.
struct MigrationRun {
  let connection: Connection
  /// By name.
  let steps: [String: MigrationStep]
  let by: String
  /// The format of the migrations' folder.
  let format: MigrationFormat
  /// Whether foreign keys to missing rows are also counted before it runs: those are not an error.
  var knowsKeys = false
  /// Whether lost values are looked for, which reads the columns of all tables.
  var findsLosses = true

  /// Runs `file` in the open transaction and records it there; after an error the transaction is still open, unless
  /// SQLite has ended it.
  ///
  /// - Throws: ``MigrationError/destructive(_:file:)`` if values are lost and neither `allowsLosses` nor the file
  ///   allows that.
  func up(_ file: MigrationFile, sequence: Int, allowsLosses: Bool) throws -> AppliedMigration {
    let result = try upAndLosses(file, sequence: sequence)
    if !result.losses.isEmpty, !file.allows("M001"), !allowsLosses {
      throw MigrationError.destructive(result.losses, file: file.path)
    }
    return result.applied
  }

  /// As ``up(_:sequence:allowsLosses:)``, but returns what is lost instead of refusing it, and the foreign keys that
  /// still refer to missing rows as before.
  func upAndLosses(_ file: MigrationFile, sequence: Int) throws
    -> (applied: AppliedMigration, losses: [MigrationLoss], keys: BrokenKeys?)
  {
    connection.takesQuotedStrings = format != .quire || !file.isOwn
    let start = ContinuousClock.now
    let (losses, keys) = try run(file.upText, isAlone: file.runsAlone)
    let duration = start.duration(to: .now)
    let applied = AppliedMigration(
      version: file.version, title: file.title, up: file.up, undo: file.undo, sequence: sequence,
      appliedAt: Date.now.formatted(.iso8601), milliseconds: Int((duration / .milliseconds(1)).rounded()), by: by)
    try MigrationHistory.record(applied, on: connection)
    return (applied, losses, keys)
  }

  /// Undoes `applied` in the open transaction, and removes its row.
  ///
  /// - Returns: What is lost; nothing is refused here.
  func undo(_ applied: AppliedMigration, file: MigrationFile?) throws -> [MigrationLoss] {
    guard let text = applied.undoText(in: file) else { throw MigrationError.noUndo(applied) }
    try text.checkParameters()
    connection.takesQuotedStrings = format != .quire
    let (losses, _) = try run(text, isAlone: applied.isUndoneAlone)
    try MigrationHistory.remove(applied.version, on: connection)
    return losses
  }

  /// As ``checkIsShareable(_:isAlone:)``, for what undoes `applied`.
  func checkIsShareable(undoOf applied: AppliedMigration, in file: MigrationFile?) throws {
    if let text = applied.undoText(in: file) { try checkIsShareable(text, isAlone: applied.isUndoneAlone) }
  }

  /// Refuses what other machines of a shared store cannot repeat.
  func checkIsShareable(_ text: MigrationText, isAlone: Bool) throws {
    try checkIsShareable(text, text.pieces(), isAlone: isAlone)
  }

  private func checkIsShareable(_ text: MigrationText, _ pieces: [MigrationText.Piece], isAlone: Bool) throws {
    let hasStep = pieces.contains { if case .step = $0 { true } else { false } }
    if connection.recorder != nil, isAlone || hasStep { throw MigrationError.notShareable(file: text.name) }
  }

  private func run(_ text: MigrationText, isAlone: Bool) throws -> ([MigrationLoss], keys: BrokenKeys?) {
    let pieces = try text.pieces()
    for case .step(let name) in pieces where steps[name] == nil {
      throw MigrationError.unknownStep(name, file: text.name)
    }
    try checkIsShareable(text, pieces, isAlone: isAlone)
    if isAlone {
      try outsideTransaction(text, pieces)
      return ([], nil)
    }
    let keys = knowsKeys ? try BrokenKeys(connection) : nil
    let renamed = try RenamedKeys(connection)
    let enforcesKeys = try connection.rows("PRAGMA foreign_keys") == [[1]]
    let watch =
      try findsLosses && DataLossDetector.isNeeded(for: pieces, enforcingKeys: enforcesKeys)
      ? DataLossDetector(connection, enforcingKeys: enforcesKeys) : nil
    for piece in pieces {
      switch piece {
      case .sql(let sql, let start):
        try runScript(sql, at: start, of: text, inTransaction: true) { (statement) throws(SQLiteError) in
          try watch?.willRun(statement)
        }
      case .step(let name): try step(name, of: text, watch)
      }
    }
    let present = try checkForeignKeys(after: text, before: keys)
    let losses = try watch?.losses() ?? []
    try renamed?.follow(on: connection)
    try dropTemporary()
    return (losses, present)
  }

  /// Drops what it has made in the connection's temporary schema: the next migration must not find it there if both run
  /// at once, and miss it if they do not.
  private func dropTemporary() throws {
    let objects = try connection.rows(
      """
      SELECT type, name FROM sqlite_temp_schema WHERE type IN ('table', 'view', 'trigger')
        AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY type DESC
      """)
    for object in objects {
      // A virtual table takes its own tables with it.
      try connection.executeInMigration(
        "DROP \(object[0].plainText) IF EXISTS temp.\(try quoted(identifier: object[1].plainText))")
    }
  }

  /// A single statement, which is atomic in itself; its row follows in a separate transaction.
  private func outsideTransaction(_ text: MigrationText, _ pieces: [MigrationText.Piece]) throws {
    guard SQLTokens.countStatements(in: text.sql) <= 1, pieces.count <= 1 else {
      throw MigrationError.severalStatementsWithoutTransaction(file: text.name)
    }
    try connection.execute("ROLLBACK")
    try runScript(text.sql, at: 0, of: text, inTransaction: false)
    if !connection.isAutocommit { try connection.execute("ROLLBACK") }
    try connection.execute("BEGIN IMMEDIATE")
  }

  private func runScript(
    _ sql: String, at start: Int, of text: MigrationText, inTransaction: Bool,
    before: ((ScriptStatement) throws(SQLiteError) -> Void)? = nil
  ) throws {
    do {
      _ = try connection.run(script: sql, inTransaction: inTransaction, protected: MigrationHistory.tables) {
        (statement) throws(SQLiteError) in
        try connection.checkStopped()
        try before?(statement)
      }
    } catch {
      // A full disk, a damaged page or Ctrl-C is not the statement's fault, but an error of the database.
      if error.error.isInterrupted || error.error.databaseError(path: "", waited: .zero) != nil { throw error.error }
      throw MigrationFailureFinder(text: text, error: error.shifted(by: start), connection: connection).explained()
    }
  }

  private func step(_ name: String, of text: MigrationText, _ watch: DataLossDetector?) throws {
    guard let step = steps[name] else { throw MigrationError.unknownStep(name, file: text.name) }
    let database = MigrationDatabase(connection: connection, watch: watch)
    do {
      try connection.underRules(inTransaction: true, protected: MigrationHistory.tables) { () throws(any Error) in
        try step.run(database)
      }
    } catch {
      if let error = error as? SQLiteError, error.isInterrupted || error.databaseError(path: "", waited: .zero) != nil {
        throw error
      }
      throw MigrationError.stepFailed(name, file: text.name, reason: "\(error)")
    }
  }

  /// - Returns: The foreign keys that already referred to missing rows before, and those that cannot be checked.
  private func checkForeignKeys(after text: MigrationText, before: BrokenKeys?) throws -> BrokenKeys {
    let keys = try BrokenKeys(connection)
    guard keys.total > 0 else { return keys }
    guard let before else { throw BrokenKeysFound() }
    let new = try keys.new(since: before, on: connection)
    if new.total > 0 {
      throw MigrationError.foreignKeys(
        try new.violations(5, on: connection), total: new.total, file: text.name,
        mismatches: new.mismatches.sorted { $0.key < $1.key }.map(\.value))
    }
    return keys
  }
}

extension Value {
  var plainText: String { if case .text(let text) = self { text } else { "" } }
  var plainInteger: Int64? { if case .integer(let number) = self { number } else { nil } }
}
