import QuireSQLite

extension Migrator {
  /// Runs a migration and then its undo, which is rolled back: whether it fails, and whether it leads back.
  ///
  /// What an undo does with rows is not tried, because there are none.
  func tryUndo(of file: MigrationFile, on connection: Connection, _ run: () throws -> AppliedMigration) throws
    -> [CheckFinding]
  {
    let isTried = file.undo != nil && !file.allows(CheckFinding.Code.undoFails.rawValue)
    let before = try isTried ? translating { try Self.statements(of: connection) } : ""
    let applied = try run()
    guard isTried, !applied.isUndoneAlone else { return [] }
    do {
      try inTransaction(on: connection, keys: file.directives.contains(.foreignKeysOn)) { () throws -> Void in
        var run = self.run(on: connection, knowsKeys: true)
        run.findsLosses = false
        _ = try run.undo(applied, file: file)
        let differences = try Self.differences(from: before, to: connection)
        throw UndoTried(differences: differences)
      }
    } catch let tried as UndoTried {
      if tried.differences.isEmpty || file.allows(CheckFinding.Code.noUndo.rawValue) { return [] }
      let text = tried.differences.prefix(3).map { "\($0)" }.joined(separator: ", ")
      let more = tried.differences.count > 3 ? " …" : ""
      return [CheckFinding(.noUndo, file: file.undoPath, "its undo leaves another schema than before: \(text)\(more)")]
    } catch MigrationError.failed(let failure) {
      return [finding(failure.message, failure.place)]
    } catch MigrationError.refused(let statement, let place) {
      return [finding("\(statement): \(MigrationError.reason(against: statement))", place)]
    } catch MigrationError.unknownStep {
      return []  // which only the program has that carries it
    }
    return []
  }

  private func finding(_ text: String, _ place: SourcePlace) -> CheckFinding {
    CheckFinding(.undoFails, file: place.file, line: place.line, "its undo fails: \(text)")
  }

  /// The statements of the schema, as an array of JSON: one value, because there may be thousands of files and tables.
  private static func statements(of connection: Connection) throws(SQLiteError) -> String {
    try connection.rows(
      """
      SELECT json_group_array(sql) FROM
        (SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE '~_quire~_%' ESCAPE '~'
        ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 WHEN 'view' THEN 2 ELSE 3 END, sql)
      """)[0][0].plainText
  }

  /// Of schemas whose statements are the same nothing more is read.
  private static func differences(from before: String, to connection: Connection) throws -> [SchemaDifference] {
    if try before == statements(of: connection) { return [] }
    let before = try connection.rows("SELECT value FROM json_each(?)", [.text(before)]).map { $0[0].plainText }
    let former = try Connection.inMemory()
    former.takesQuotedStrings = true
    // A virtual table makes its own tables, whose statements then fail.
    func isVirtual(_ sql: String) -> Bool { sql.hasPrefix("CREATE VIRTUAL TABLE") }
    for sql in before.filter(isVirtual) + before.filter({ !isVirtual($0) }) { _ = try? former.execute(sql) }
    return try DatabaseSchema(on: former).differences(to: DatabaseSchema(on: connection))
  }
}

/// Ends the transaction of an undo that was only to be tried.
private struct UndoTried: Error {
  let differences: [SchemaDifference]
}
