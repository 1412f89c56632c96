import Foundation
package import QuireSQLite

extension Migrator {
  /// Findings about the files alone: their order, their text, and whether running them on an empty database results in
  /// the schema of `schemaFile`.
  ///
  /// - Parameters:
  ///   - schemaFile: The path of `schema.sql`; ignored if the file does not exist.
  ///   - linted: The files whose text is checked.
  /// - Throws: The ``MigrationError`` of a file that fails on an empty database.
  public func checkFiles(schemaFile: String, linted: [MigrationFile]) throws -> [CheckFinding] {
    var findings = duplicates()
    findings += linted.flatMap { $0.lint() }
    // Files without a unique order cannot be replayed, and a COMMIT has already been reported.
    if findings.contains(where: { $0.code == .number || $0.code == .transaction }) { return findings }
    let trials = Set(linted.map(\.version))
    let made: DatabaseSchema
    do {
      made = try replay { file, connection, run in
        if trials.contains(file.version) {
          findings += try tryUndo(of: file, on: connection, run)
        } else {
          _ = try run()
        }
      }
    } catch MigrationError.failed(let failure)
      where failure.needsApplication && !linted.contains(where: { $0.path == failure.place.file })
    {
      // It has run where the application was.
      let text = "\(failure.message): only the application has it, so that the files were not run from empty here"
      return findings + [CheckFinding(.notReplayed, file: failure.place.file, line: failure.place.line, text)]
    }
    if let text = FileManager.default.contents(atPath: schemaFile) {
      let written = try Self.schema(ofScript: String(decoding: text, as: UTF8.self), at: schemaFile)
      for difference in written.differences(to: made) {
        findings.append(
          CheckFinding(.otherSchema, file: schemaFile, "the migrations make another schema: \(difference)"))
      }
    }
    return findings
  }

  /// Findings about this database: whether it has the schema that its migrations result in, and the results of running
  /// the pending ones on a copy.
  ///
  /// - Throws: The ``MigrationError`` of a migration that fails on the copy.
  public func checkDatabase() throws -> [CheckFinding] {
    let plan = try plan()
    var findings: [CheckFinding] = []
    if let current = plan.current, files.contains(where: { $0.version == current }) {
      do {
        let (schema, parts) = try schemaHere()
        for difference in try replay(to: current).differences(to: schema) {
          findings.append(
            CheckFinding(.otherSchema, "\(database) is not as its migrations made it: \(difference)"))
        }
        if !parts.names.isEmpty {
          findings.append(CheckFinding(.notReplayed, "not compared: \(parts.description)"))
        }
      } catch MigrationError.failed(let failure) where failure.needsApplication {
        // `checkFiles` has said so.
      }
    }
    guard !plan.pending.isEmpty else { return findings }
    do {
      for entry in try rehearse().entries {
        for loss in entry.losses where !entry.file.allows("M001") {
          findings.append(CheckFinding(.loss, file: entry.file.path, "\(loss)"))
        }
        for sentence in entry.leftBehind where !entry.file.allows("M004") {
          findings.append(CheckFinding(.forgotten, file: entry.file.path, sentence))
        }
      }
    } catch {
      guard case .failed(let failure)? = error as? MigrationError, failure.isUnique else { throw error }
      findings.append(
        CheckFinding(.duplicateValues, file: failure.place.file, line: failure.place.line, failure.message))
    }
    return findings
  }

  private func duplicates() -> [CheckFinding] {
    MigrationPlan(files: files, history: []).problems.compactMap { problem in
      guard case .duplicate(let version, let files) = problem else { return nil }
      return CheckFinding(.number, file: files.last, "\(version) is the number of \(files.joined(separator: " and "))")
    }
  }

  /// The schema that an SQL script, such as a `schema.sql`, results in.
  ///
  /// - Throws: ``MigrationError`` with the place of the failure.
  package static func schema(ofScript script: String, at path: String) throws -> DatabaseSchema {
    let connection = try Connection.inMemory()
    // The script was written from a schema, which may have strings in double quotes.
    connection.takesQuotedStrings = true
    // Or by SQLite's shell, with what is around the schema.
    let script = SQLStatements(script).withoutTransactions()
    do {
      _ = try connection.run(script: script, inTransaction: true)
    } catch {
      throw MigrationFailureFinder(
        text: MigrationText(name: path, sql: script), error: error, connection: connection
      ).explained()
    }
    return try DatabaseSchema(on: connection)
  }
}

extension MigrationFailure {
  /// Values that occur twice and must not.
  var isUnique: Bool { code == 2067 || code == 1555 || code == 2579 }

  /// A function, collation or module that is not SQLite's own.
  package var needsApplication: Bool { suggestion == nil && SQLiteError.isOfApplication(message) }
}
