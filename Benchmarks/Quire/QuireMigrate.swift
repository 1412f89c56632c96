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

/// `migrate-status` without a process of its own: the files read and compared with the history of a database that all of
/// them ran on.
@MainActor final class QuireMigrateStatus: Variant {
  private let files: MigrationFiles
  private let database: String

  init(_ stage: Stage) throws {
    files = try MigrationFiles(stage)
    database = files.folder + "/status.db"
    var migrator = Migrator(database: database, files: try MigrationFolder.read(files.folder))
    migrator.createsDatabase = true
    try migrator.apply()
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let count = try meter.measure(MigrationFiles.count) {
      let plan = try Migrator(database: database, files: try MigrationFolder.read(files.folder)).plan()
      return plan.entries.count { $0.file != nil && $0.applied != nil }
    }
    var checksum = Checksum()
    checksum.add(Int64(count))
    return checksum
  }

  func close() { files.remove() }
}

/// `migrate-apply` without a process of its own: the files read and run on a new database.
@MainActor final class QuireMigrateApply: Variant {
  private let files: MigrationFiles

  init(_ stage: Stage) throws { files = try MigrationFiles(stage) }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let database = files.folder + "/apply-\(number).db"
    defer { for end in ["", "-journal"] { try? FileManager.default.removeItem(atPath: database + end) } }
    let applied = try meter.measure(MigrationFiles.count) {
      var migrator = Migrator(database: database, files: try MigrationFolder.read(files.folder))
      migrator.createsDatabase = true
      return try migrator.apply()
    }
    var checksum = Checksum()
    checksum.add(Int64(applied.count))
    return checksum
  }

  func close() { files.remove() }
}
