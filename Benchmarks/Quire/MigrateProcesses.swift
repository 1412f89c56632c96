import Foundation
import QuireMigration
import QuireSQLite

/// `migrate-status` as whole processes: `quire migrate status`, and the sqlite3 shell that reads the same files and
/// compares them with the same history, in SQL.
@MainActor final class MigrateStatusProcess: Variant {
  private let files: MigrationFiles
  private let database: String
  private let command: (program: String, arguments: [String])

  init(_ stage: Stage, isShell: Bool) throws {
    files = try MigrationFiles(stage)
    database = files.folder + "/status.db"
    var migrator = Migrator(database: database, files: try MigrationFolder.read(files.folder))
    migrator.createsDatabase = true
    try migrator.apply()
    let sql = """
      SELECT m.version, m.title, m.applied_at, m.ms
      FROM fsdir('\(files.folder)') f JOIN _quire_migrations m
        ON m.version = CAST(substr(f.name, length('\(files.folder)/') + 1, 14) AS INTEGER)
      WHERE instr(CAST(f.data AS TEXT), m.up) = 1 ORDER BY m.version
      """
    command =
      isShell
      ? (try ChildProcess.path(of: "sqlite3"), [database, sql])
      : (try ChildProcess.path(of: "quire"), ["migrate", "status", "-m", files.folder, database])
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    meter.count(try ChildProcess.run(command.program, command.arguments), over: MigrationFiles.count)
    var checksum = Checksum()
    checksum.add(Int64(MigrationFiles.count))
    return checksum
  }

  func close() { files.remove() }
}

/// `migrate-apply` as whole processes, each on a new database: `quire migrate apply`, and the sqlite3 shell that runs the
/// same SQL, each file in a transaction with a record of its text.
@MainActor final class MigrateApplyProcess: Variant {
  private let files: MigrationFiles
  private let script: String
  private let isShell: Bool

  init(_ stage: Stage, isShell: Bool) throws {
    files = try MigrationFiles(stage)
    self.isShell = isShell
    script = files.folder + "/all.script"
    var sql = "CREATE TABLE applied (version INTEGER PRIMARY KEY, up TEXT);\n"
    for file in try MigrationFolder.read(files.folder) {
      let text = file.up.replacing("'", with: "''")
      sql += "PRAGMA foreign_keys = OFF;\nBEGIN IMMEDIATE;\n\(file.up)\nPRAGMA foreign_key_check;\n"
      sql += "INSERT INTO applied VALUES (\(file.version.number), '\(text)');\nCOMMIT;\n"
    }
    try Data(sql.utf8).write(to: URL(filePath: script))
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let database = files.folder + "/apply-\(number).db"
    defer { for end in ["", "-journal"] { try? FileManager.default.removeItem(atPath: database + end) } }
    let spent =
      isShell
      ? try ChildProcess.run(ChildProcess.path(of: "sqlite3"), ["-bail", database], input: script)
      : try ChildProcess.run(
        ChildProcess.path(of: "quire"), ["migrate", "apply", "--create", "-m", files.folder, database])
    meter.count(spent, over: MigrationFiles.count)
    var checksum = Checksum()
    checksum.add(try tables(of: database))
    return checksum
  }

  /// How many tables the migrations have made.
  private func tables(of database: String) throws -> Int64 {
    let schema = try DatabaseSchema(of: database)
    return Int64(schema.tables.count { $0.name.text.hasPrefix("t") })
  }

  func close() { files.remove() }
}
