import Foundation
import QuireMigration
import QuireSQLite
import TestSupport

/// A folder of its own for one test, removed with the value.
final class Fixture {
  let path: String
  var database: String { path + "/library.db" }
  var migrations: String { path + "/Migrations" }

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/quire-migration-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: migrations, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ sql: String, as name: String) throws {
    try Data(sql.utf8).write(to: URL(filePath: migrations + "/" + name))
  }

  func migrator(creating: Bool = false, losing: Bool = false, backingUp: Bool = false) throws -> Migrator {
    var migrator = Migrator(database: database, files: try MigrationFolder.read(migrations))
    migrator.createsDatabase = creating
    migrator.allowsLosses = losing
    migrator.backsUp = backingUp
    migrator.wait = .milliseconds(200)
    return migrator
  }

  /// A database with one empty table.
  func makeDatabase(_ sql: String = "CREATE TABLE old (a)") throws {
    try sqlite { _ = try $0.run(script: sql, inTransaction: false) }
  }

  func sqlite<T>(_ body: (Connection) throws -> T) throws -> T {
    try body(try Connection(migrating: database, access: .create, busyTimeout: .zero))
  }

  /// Runs a script with the sqlite3 shell, which lets the schema's own table be written to.
  func shell(_ sql: String, on database: String? = nil) throws {
    let process = Process()
    process.executableURL = URL(filePath: SQLiteShell.path ?? "")
    process.arguments = ["-bail", database ?? self.database, sql]
    try process.run()
    process.waitUntilExit()
  }

  func bytes() throws -> Data { try Data(contentsOf: URL(filePath: database)) }

  /// The repository's own migrations.
  static let shipped = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Migrations").path
}
