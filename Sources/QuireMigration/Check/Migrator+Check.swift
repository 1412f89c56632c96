import Foundation
package import QuireSQLite

extension Migrator {
  /// What is to be said of the files by themselves: their order, their text, and whether what they make of an empty
  /// database is what `schemaFile` says.
  ///
  /// - Parameters:
  ///   - schemaFile: the path of `schema.sql`; passed over where there is none.
  ///   - linted: the files whose text is looked at.
  /// - Throws: ``MigrationError`` of a file that does not run from empty.
  public func checkFiles(schemaFile: String, linted: [MigrationFile]) throws -> [CheckFinding] {
    var findings = duplicates()
    findings += linted.flatMap { $0.lint() }
    // Files that cannot be put in one order cannot be replayed; and a COMMIT is told of already.
    if findings.contains(where: { $0.code == .number || $0.code == .transaction }) { return findings }
    let made = try replay()
    if let text = FileManager.default.contents(atPath: schemaFile) {
      let written = try Self.schema(of: String(decoding: text, as: UTF8.self), schemaFile)
      for difference in written.differences(to: made) {
        findings.append(
          CheckFinding(.otherSchema, file: schemaFile, "the migrations make another schema: \(difference)"))
      }
    }
    return findings
  }

  /// What is to be said of this database: whether it has the schema that its migrations make, and what running the
  /// pending ones on a copy shows.
  ///
  /// - Throws: ``MigrationError`` of a migration that fails on the copy.
  public func checkDatabase() throws -> [CheckFinding] {
    let plan = try plan()
    var findings: [CheckFinding] = []
    if let current = plan.current, files.contains(where: { $0.version == current }) {
      for difference in try replay(to: current).differences(to: try schema()) {
        findings.append(
          CheckFinding(.otherSchema, "\(database) is not as its migrations made it: \(difference)"))
      }
    }
    guard !plan.pending.isEmpty else { return findings }
    do {
      for entry in try rehearse().entries {
        for loss in entry.losses where !entry.file.allows("M001") {
          findings.append(CheckFinding(.loss, file: entry.file.path, "\(loss)"))
        }
        for object in entry.forgotten where !entry.file.allows("M004") {
          findings.append(CheckFinding(.forgotten, file: entry.file.path, "the rebuild forgets \(object)"))
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

  /// The schema that an SQL script, such as a `schema.sql`, makes of nothing.
  ///
  /// - Throws: ``MigrationError`` with the place where it does not run.
  package static func schema(ofScript path: String) throws -> DatabaseSchema {
    guard let text = FileManager.default.contents(atPath: path) else { throw MigrationError.unreadable(file: path) }
    return try schema(of: String(decoding: text, as: UTF8.self), path)
  }

  private static func schema(of script: String, _ path: String) throws -> DatabaseSchema {
    let connection = try Connection.inMemory()
    // It was written from a schema, with the strings of that.
    connection.takesQuotedStrings = true
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
  /// Values that are there twice and may not be.
  var isUnique: Bool { code == 2067 || code == 1555 || code == 2579 }
}
