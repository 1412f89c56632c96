import Foundation
import QuireRow
import QuireSQLite

/// Another tool's version table, written as that tool writes it, in the open transaction.
struct ToolTable {
  let history: ToolHistory
  let connection: Connection
  private let isWide: Bool

  init(_ history: ToolHistory, _ connection: Connection) throws(SQLiteError) {
    self.history = history
    self.connection = connection
    let columns = try SchemaReader(connection).columns(of: history.table)
    isWide = columns.first { $0.name == "version" }.map { SQLName.folded($0.type) == "int8" } ?? false
  }

  /// What the table records and `applied` does not: undone through Quire, or run by the tool since.
  func surplus(over applied: [AppliedMigration]) -> [MigrationVersion] {
    let versions = Set(applied.map(\.version))
    if history.tool == .golangMigrate {
      return history.last.map { last in last > (versions.max() ?? last.before) ? [last] : [] } ?? []
    }
    return history.versions.subtracting(versions).sorted()
  }

  /// Checks that the table's checksums are those of the files: only then will new ones be right, too.
  ///
  /// - Throws: ``ToolProblem/cannotGiveBack(_:reason:)`` if one differs.
  func checkChecksums(_ files: [MigrationFile]) throws {
    guard keepsChecksums else { return }
    let rows = try connection.rows(
      "SELECT version, checksum FROM \(try quoted(identifier: history.table)) WHERE checksum IS NOT NULL")
    for row in rows {
      guard let version = history.version(of: row[0]), let file = files.first(where: { $0.version == version }) else {
        continue
      }
      guard try checksum(of: file) != row[1] else { continue }
      throw cannot(
        "what it records of \(version) is not of \(file.path) as that is: edited since, or its reading is set up")
    }
  }

  func add(_ applied: AppliedMigration, _ files: [MigrationFile]) throws {
    let file = files.first { $0.version == applied.version }
    let number = Value.integer(applied.version.number)
    switch history.tool {
    case .dbmate:
      let digits = file?.name.prefix { ("0"..."9").contains($0) } ?? ""
      try insert(["version": .text(digits.isEmpty ? "\(applied.version)" : String(digits))])
    case .goose: try insert(["version_id": number, "is_applied": 1])
    case .golangMigrate:
      try connection.execute("DELETE FROM schema_migrations")
      try insert(["version": number, "dirty": 0])
    case .sqlx:
      let (file, name) = try known(file, applied)
      try insert([
        "version": number, "description": .text(name.replacing("_", with: " ")),
        "installed_on": .text(moment(applied, "")), "success": 1, "checksum": try checksum(of: file),
        "execution_time": .integer(Int64(applied.milliseconds) * 1_000_000),
      ])
    case .refinery:
      let (file, name) = try known(file, applied)
      try insert([
        "version": .integer(try single(applied.version)), "name": .text(name), "applied_on": .text(applied.appliedAt),
        "checksum": try checksum(of: file),
      ])
    case .flyway:
      let (file, _) = try known(file, applied)
      let ranks = try connection.rows("SELECT coalesce(max(installed_rank), 0) + 1 FROM flyway_schema_history")
      try insert([
        "installed_rank": ranks[0][0], "version": .text("\(applied.version)"), "description": .text(file.title),
        "type": "SQL", "script": .text(file.name), "checksum": try checksum(of: file),
        "installed_by": .text(applied.by), "installed_on": .text(moment(applied, ".000")),
        "execution_time": .integer(Int64(applied.milliseconds)), "success": 1,
      ])
    case .plain, .quire: break
    }
  }

  /// Removes the rows of `versions`; golang-migrate's single row is changed to the last version of `applied`.
  func remove(_ versions: [MigrationVersion], leaving applied: [AppliedMigration]) throws {
    if history.tool == .golangMigrate {
      try connection.executeInMigration("DELETE FROM schema_migrations")
      if let last = applied.map(\.version).max() { try insert(["version": .integer(last.number), "dirty": 0]) }
      return
    }
    let table = try quoted(identifier: history.table)
    let column = history.tool == .goose ? "version_id" : "version"
    for row in try connection.rows("SELECT rowid, \(column) FROM \(table)") {
      guard let version = history.version(of: row[1]), versions.contains(version) else { continue }
      try connection.executeInMigration("DELETE FROM \(table) WHERE rowid = ?", [row[0]])
    }
  }

  // MARK: Rows

  private var keepsChecksums: Bool { [.sqlx, .refinery, .flyway].contains(history.tool) }

  private func insert(_ row: KeyValuePairs<String, Value>) throws {
    let table = try quoted(identifier: history.table)
    let places = row.map { _ in "?" }.joined(separator: ", ")
    try connection.executeInMigration(
      "INSERT INTO \(table) (\(row.map(\.key).joined(separator: ", "))) VALUES (\(places))", row.map(\.value))
  }

  private func checksum(of file: MigrationFile) throws -> Value {
    switch history.tool {
    case .sqlx: .blob(ToolChecksum.sqlx(file))
    case .flyway: .integer(Int64(ToolChecksum.flyway(file)))
    default:
      .text(
        "\(ToolChecksum.refinery(name: Self.words(file), version: try single(file.version), file, isWide: isWide))")
    }
  }

  /// The file to compute a checksum of, which must contain what ran, and its name after the version.
  private func known(_ file: MigrationFile?, _ applied: AppliedMigration) throws -> (MigrationFile, name: String) {
    guard let file else { throw cannot("it keeps a checksum of each file, and that of \(applied.version) is not here") }
    guard SQLTokens.equal(file.up, applied.up) else { throw MigrationError.history(.edited(file, applied)) }
    return (file, Self.words(file))
  }

  /// `create_books` of `1_create_books.up.sql` and of `V1__create_books.sql`.
  private static func words(_ file: MigrationFile) -> String {
    var stem = file.name.dropLast(".sql".count)
    if stem.hasSuffix(".up") { stem.removeLast(".up".count) }
    let rest = stem.drop { $0 != "_" }.dropFirst()
    return String(rest.first == "_" ? rest.dropFirst() : rest)
  }

  /// refinery's versions have one part.
  private func single(_ version: MigrationVersion) throws -> Int64 {
    guard let number = Int64("\(version)") else { throw cannot("it has no versions such as \(version)") }
    return number
  }

  private func moment(_ applied: AppliedMigration, _ fraction: String) -> String {
    applied.appliedAt.replacing("T", with: " ").replacing("Z", with: fraction)
  }

  func cannot(_ reason: String) -> MigrationError {
    .tool(.cannotGiveBack(history, reason: reason))
  }
}

extension MigrationVersion {
  fileprivate var before: MigrationVersion { MigrationVersion(number: number &- 1) }
}
