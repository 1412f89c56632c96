import Foundation
import QuireRow
package import QuireSQLite

/// The version table `_quire_migrations`: what has run on one database.
package enum MigrationHistory {
  package static let table = "_quire_migrations"

  /// `seq` counts in the order of execution; `applied_at` is UTC as `2026-11-02T09:00:11Z`, `by` the program.
  package static let create = """
    CREATE TABLE IF NOT EXISTS main._quire_migrations (
      version INTEGER PRIMARY KEY,
      title TEXT NOT NULL,
      up TEXT NOT NULL,
      undo TEXT,
      seq INTEGER NOT NULL UNIQUE,
      applied_at TEXT NOT NULL,
      ms INTEGER NOT NULL,
      "by" TEXT NOT NULL
    ) STRICT
    """

  /// In the order of execution; empty if the table does not exist.
  package static func read(from connection: Connection) throws(SQLiteError)
    -> [AppliedMigration]
  {
    guard try SchemaReader(connection).hasTable(table) else { return [] }
    let rows = try connection.rows(
      #"SELECT version, title, up, undo, seq, applied_at, ms, "by" FROM main._quire_migrations ORDER BY seq"#)
    return rows.map { row in
      AppliedMigration(
        version: MigrationVersion(number: row[0].integer), title: row[1].string, up: row[2].string,
        undo: row[3] == .null ? nil : row[3].string, sequence: Int(row[4].integer), appliedAt: row[5].string,
        milliseconds: Int(row[6].integer), by: row[7].string)
    }
  }

  /// When each ran, the last one first.
  static func runs(on connection: Connection) throws(SQLiteError) -> [Run] {
    guard try SchemaReader(connection).hasTable(table) else { return [] }
    return try connection.rows("SELECT version, applied_at, ms FROM main._quire_migrations ORDER BY seq DESC").map {
      row in
      let end = (try? Date(row[1].string, strategy: .iso8601)) ?? .distantPast
      return Run(
        version: MigrationVersion(number: row[0].integer), start: end - Double(row[2].integer) / 1000, end: end)
    }
  }

  struct Run {
    let version: MigrationVersion
    let start, end: Date
  }

  package static func record(_ applied: AppliedMigration, on connection: Connection)
    throws(SQLiteError)
  {
    try connection.executeInMigration(create)
    try connection.executeInMigration(
      """
      INSERT INTO main._quire_migrations (version, title, up, undo, seq, applied_at, ms, "by")
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(applied.version.number), .text(applied.title), .text(applied.up),
        applied.undo.map { .text($0) } ?? .null, .integer(Int64(applied.sequence)), .text(applied.appliedAt),
        .integer(Int64(applied.milliseconds)), .text(applied.by),
      ])
  }

  package static func remove(_ version: MigrationVersion, on connection: Connection) throws(SQLiteError) {
    try connection.executeInMigration(
      "DELETE FROM main._quire_migrations WHERE version = ?", [.integer(version.number)])
  }

  // MARK: A database that is being made

  /// A table that exists only while migrations make a database that was empty: what later processes see between two of
  /// them, or after a crash, is no database that a program has used.
  package static let creation = "_quire_creation"
  /// Tables that migrations may not write to.
  static let tables: Set<String> = [table, creation]

  /// The last of the migrations that are making the database; nil unless it was empty before the first of them.
  static func lastOfCreation(on connection: Connection) throws(SQLiteError) -> MigrationVersion? {
    guard try SchemaReader(connection).hasTable(creation) else { return nil }
    let rows = try connection.rows("SELECT max(last) FROM main._quire_creation")
    guard case .integer(let number)? = rows.first?.first else { return nil }
    return MigrationVersion(number: number)
  }

  /// Notes, in the transaction of the migration `version`, that those up to `last` are making the database.
  static func creating(_ version: MigrationVersion, upTo last: MigrationVersion, on connection: Connection)
    throws(SQLiteError)
  {
    if version < last {
      try recordCreation(upTo: last, on: connection)
    } else if let last = try lastOfCreation(on: connection), version >= last {
      try connection.executeInMigration("DROP TABLE main._quire_creation")
    }
  }

  static func recordCreation(upTo last: MigrationVersion, on connection: Connection) throws(SQLiteError) {
    if let known = try lastOfCreation(on: connection), known >= last { return }
    try connection.executeInMigration(
      "CREATE TABLE IF NOT EXISTS main._quire_creation (last INTEGER PRIMARY KEY) STRICT")
    try connection.executeInMigration("INSERT INTO main._quire_creation VALUES (?)", [.integer(last.number)])
  }

  /// Replaces the recorded text by that of `file`; time and program stay.
  package static func replace(with file: MigrationFile, on connection: Connection) throws(SQLiteError) {
    try connection.executeInMigration(
      "UPDATE main._quire_migrations SET title = ?, up = ?, undo = ? WHERE version = ?",
      [.text(file.title), .text(file.up), file.undo.map { .text($0) } ?? .null, .integer(file.version.number)])
  }
}

extension Value {
  /// The table is STRICT, so a cell has its column's type, or is text that is not UTF-8.
  fileprivate var integer: Int64 { if case .integer(let number) = self { number } else { 0 } }
  fileprivate var string: String {
    switch self {
    case .text(let text): text
    case .malformedText(let data): String(decoding: data, as: UTF8.self)
    default: ""
    }
  }
}
