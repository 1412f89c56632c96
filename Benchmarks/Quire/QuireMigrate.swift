import Foundation
import QuireMigration

/// Files of migrations as a long-lived project has them: each makes a table and an index and fills in a row.
@MainActor struct MigrationFiles {
  static let count = 1_000

  let folder: String

  init(_ stage: Stage) throws {
    folder = try stage.file(.authorsOnly) + ".migrations"
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for number in 0..<Self.count {
      let version = 2026_01_01_00_00_00 + Int64(number / 3600 * 10_000 + number / 60 % 60 * 100 + number % 60)
      try Data(Self.text(number).utf8).write(to: URL(filePath: "\(folder)/\(version)_table_\(number).sql"))
    }
  }

  static func text(_ number: Int) -> String {
    """
    -- table \(number)
    CREATE TABLE t\(number) (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER) STRICT;
    CREATE INDEX t\(number)_title ON t\(number)(title);
    INSERT INTO t\(number) (title, year) VALUES ('Solaris', 1961);
    -- migrate: undo
    DROP TABLE t\(number);

    """
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }
}

/// `migrate-status`: the files read and compared with the history of a database that all of them ran on. Raw: the files
/// read, and the versions in the history.
@MainActor final class QuireMigrateStatus: Variant {
  private let files: MigrationFiles
  private let database: String
  private let isRaw: Bool

  init(_ stage: Stage, isRaw: Bool) throws {
    files = try MigrationFiles(stage)
    database = files.folder + "/status.db"
    self.isRaw = isRaw
    var migrator = Migrator(database: database, files: try MigrationFolder.read(files.folder))
    migrator.createsDatabase = true
    try migrator.apply()
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let count = try meter.measure(MigrationFiles.count) {
      if isRaw { return try raw() }
      let plan = try Migrator(database: database, files: try MigrationFolder.read(files.folder)).plan()
      return plan.entries.count { $0.file != nil && $0.applied != nil }
    }
    var checksum = Checksum()
    checksum.add(Int64(count))
    return checksum
  }

  private func raw() throws -> Int {
    let names = try FileManager.default.contentsOfDirectory(atPath: files.folder).filter { $0.hasSuffix(".sql") }
    let texts = names.compactMap { FileManager.default.contents(atPath: files.folder + "/" + $0) }
    let raw = try RawDatabase(database, .sqlite)
    defer { raw.close() }
    try raw.run("SELECT version, up FROM _quire_migrations")
    return texts.count
  }

  func close() { files.remove() }
}

/// `migrate-apply`: a file's SQL run on a new database, in a transaction with its record. Raw: the same SQL and a record
/// of the version, as the sqlite3 shell runs a script.
@MainActor final class QuireMigrateApply: Variant {
  private let files: MigrationFiles
  private let isRaw: Bool

  init(_ stage: Stage, isRaw: Bool) throws {
    files = try MigrationFiles(stage)
    self.isRaw = isRaw
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let database = files.folder + "/apply-\(number).db"
    defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + end) } }
    // Both with a write-ahead log.
    let raw = try RawDatabase(database, .sqlite)
    defer { raw.close() }
    try raw.run("CREATE TABLE applied (version INTEGER PRIMARY KEY, up TEXT)")
    try meter.measure(MigrationFiles.count) {
      if isRaw { return try run(on: raw) }
      try Migrator(database: database, files: try MigrationFolder.read(files.folder)).apply()
    }
    var checksum = Checksum()
    checksum.add(Int64(MigrationFiles.count))
    return checksum
  }

  private func run(on raw: RawDatabase) throws {
    for number in 0..<MigrationFiles.count {
      let text = MigrationFiles.text(number)
      try raw.run("BEGIN IMMEDIATE")
      try raw.run(String(text[..<(text.firstRange(of: "-- migrate")?.lowerBound ?? text.endIndex)]))
      try raw.run("INSERT INTO applied VALUES (\(number), ''); PRAGMA foreign_key_check; COMMIT")
    }
  }

  func close() { files.remove() }
}
