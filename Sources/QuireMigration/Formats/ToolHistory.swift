public import QuireRow
package import QuireSQLite

/// What another tool's version table lists as run on a database.
public struct ToolHistory: Hashable, Sendable {
  /// The tool whose table it is.
  public let tool: MigrationFormat
  /// The name of its table in the database.
  public let table: String
  /// The versions that it records one by one.
  public let versions: Set<MigrationVersion>
  /// A version that implies every earlier one: golang-migrate records only the last, Flyway a baseline.
  public let last: MigrationVersion?
  /// The version that it recorded as unfinished.
  public let unfinished: MigrationVersion?
  /// Whether the table is that of Rails, which has the columns of dbmate's and records files in Ruby.
  var isRails = false

  /// For people. The table of Rails has the format of dbmate's.
  package var toolName: String { isRails ? "Rails" : tool.rawValue }

  /// Whether nothing is recorded as run.
  public var isEmpty: Bool { versions.isEmpty && last == nil }

  /// Whether the tool has run this version: it is recorded, or implied by ``last``.
  public func contains(_ version: MigrationVersion) -> Bool {
    versions.contains(version) || (last.map { version <= $0 } ?? false)
  }
}

extension ToolHistory {
  static let tables: Set<String> = [
    "schema_migrations", "goose_db_version", "_sqlx_migrations", "refinery_schema_history", "flyway_schema_history",
  ]

  /// Tables of tools whose history is not read, in lower case.
  private static let unreadTables = [
    "__diesel_schema_migrations": "Diesel", "__drizzle_migrations": "Drizzle", "_prisma_migrations": "Prisma",
    "_yoyo_migration": "yoyo", "alembic_version": "Alembic", "atlas_schema_revisions": "Atlas", "d1_migrations": "D1",
    "databasechangelog": "Liquibase",
    "dbix_class_deploymenthandler_versions": "DBIx::Class", "dbix_class_schema_versions": "DBIx::Class",
    "gorp_migrations": "sql-migrate", "knex_migrations": "Knex",
    "micrate_db_version": "micrate", "pgmigrations": "node-pg-migrate", "play_evolutions": "Play",
    "schema_migration": "Fizz",
  ]

  /// Tables of tools whose migrations are code, in lower case: no file here can be one of theirs.
  private static let codeTables: Set<String> = [
    "__efmigrationshistory", "_fluent_migrations", "ar_internal_metadata", "django_migrations",
    "doctrine_migration_versions", "grdb_migrations", "kysely_migration", "kysely_migration_lock",
    "migratehistory", "mikro_orm_migrations", "phinxlog", "room_master_table", "seaql_migrations", "sequelizemeta",
  ]

  /// All of them, and those that tools and hosts keep beside, in lower case: no migration makes them.
  static let allTables = tables.union(unreadTables.keys).union(codeTables).union([
    "_cf_kv", "_cf_metadata", "_litestream_lock", "_litestream_seq", "_yoyo_log", "_yoyo_version",
    "databasechangeloglock", "knex_migrations_lock", "yoyo_lock",
  ])

  /// The first table with rows of a tool whose history is not read.
  static func unread(from connection: Connection) throws(SQLiteError) -> ToolProblem? {
    for table in try SchemaReader(connection).objects(.table) {
      guard let tool = unreadTables[SQLName.folded(table.name)], let name = try? quoted(identifier: table.name),
        try !connection.rows("SELECT 1 FROM \(name) LIMIT 1").isEmpty
      else { continue }
      return .unread(tool: tool, table: table.name)
    }
    return nil
  }

  /// Nil if the database has no other tool's table. Of several tables, the first that is not empty counts.
  package static func read(from connection: Connection) throws(SQLiteError) -> ToolHistory? {
    let reader = SchemaReader(connection)
    var found: ToolHistory?
    for table in try reader.tableNames(among: tables) {
      let columns = Set(try reader.columns(of: table).map { SQLName.folded($0.name) })
      guard var history = try history(of: table, columns, connection) else { continue }
      if history.tool == .dbmate { history.isRails = try reader.hasTable("ar_internal_metadata") }
      if !history.isEmpty { return history }
      found = found ?? history
    }
    return found
  }

  private static func history(_ tool: MigrationFormat, _ table: String, _ versions: [MigrationVersion]) -> ToolHistory {
    ToolHistory(tool: tool, table: table, versions: Set(versions), last: nil, unfinished: nil)
  }

  private static func history(of table: String, _ columns: Set<String>, _ connection: Connection)
    throws(SQLiteError) -> ToolHistory?
  {
    func has(_ names: String...) -> Bool { columns.isSuperset(of: names) }
    switch table {
    case "schema_migrations" where has("version", "dirty"):
      let row = try connection.rows("SELECT version, dirty FROM schema_migrations LIMIT 1").first
      let version = row.flatMap { number($0[0]) }
      let isDirty = row.map { $0[1] != .integer(0) && $0[1] != .text("false") } ?? false
      return ToolHistory(
        tool: .golangMigrate, table: table, versions: [], last: version, unfinished: isDirty ? version : nil)
    case "schema_migrations" where has("version"):
      return history(
        .dbmate, table, try connection.rows("SELECT version FROM schema_migrations").compactMap { number($0[0]) })
    case "goose_db_version" where has("id", "version_id", "is_applied"):
      // One row for each time it went up or down: the latest counts. Version 0 is the start.
      let rows = try connection.rows(
        """
        SELECT version_id FROM goose_db_version v WHERE is_applied AND version_id > 0
          AND NOT EXISTS (SELECT 1 FROM goose_db_version l WHERE l.version_id = v.version_id AND l.id > v.id)
        """)
      return history(.goose, table, rows.compactMap { number($0[0]) })
    case "_sqlx_migrations" where has("version", "success"):
      let rows = try connection.rows("SELECT version, success FROM _sqlx_migrations")
      let (done, failed) = (rows.filter { $0[1] != .integer(0) }, rows.first { $0[1] == .integer(0) })
      return ToolHistory(
        tool: .sqlx, table: table, versions: Set(done.compactMap { number($0[0]) }), last: nil,
        unfinished: failed.flatMap { number($0[0]) })
    case "refinery_schema_history" where has("version"):
      let rows = try connection.rows("SELECT version FROM refinery_schema_history")
      return history(.refinery, table, rows.compactMap { dotted($0[0]) })
    case "flyway_schema_history" where has("installed_rank", "version", "type", "success"):
      let rows = try connection.rows(
        "SELECT version, type, success FROM flyway_schema_history WHERE version IS NOT NULL ORDER BY installed_rank")
      var versions: Set<MigrationVersion> = []
      var unfinished: MigrationVersion?
      var baseline: MigrationVersion?
      for row in rows {
        guard let version = dotted(row[0]) else { continue }
        if row[2] == .integer(0) || row[2] == .text("false") {
          unfinished = version
        } else if row[1] == .text("BASELINE") {
          baseline = version
        } else if row[1].plainText.hasPrefix("UNDO") {
          versions.remove(version)
        } else {
          versions.insert(version)
          if unfinished == version { unfinished = nil }
        }
      }
      return ToolHistory(tool: .flyway, table: table, versions: versions, last: baseline, unfinished: unfinished)
    default: return nil
    }
  }

  private static func number(_ value: Value) -> MigrationVersion? {
    switch value {
    case .integer(let number): MigrationVersion(number: number)
    case .text(let text): Int64(text).map { MigrationVersion(number: $0) }
    default: nil
    }
  }

  /// The version in a column of the tool's table.
  func version(of value: Value) -> MigrationVersion? {
    [.refinery, .flyway].contains(tool) ? Self.dotted(value) : Self.number(value)
  }

  private static func dotted(_ value: Value) -> MigrationVersion? {
    switch value {
    case .integer(let number): MigrationVersion(dotted: "\(number)")
    case .text(let text): MigrationVersion(dotted: text)
    default: nil
    }
  }
}

/// Why another tool's history cannot be imported, or prevents migrating.
@nonexhaustive
public enum ToolProblem: Error, Hashable, Sendable {
  /// There is no tool's table.
  case none
  /// The tool left a version unfinished: its state in the database must be checked by hand.
  case unfinished(ToolHistory, MigrationVersion)
  /// The table records migrations that the files lack.
  case missing(ToolHistory, [MigrationVersion])
  /// Quire has recorded nothing yet, but the tool has: everything would run again.
  case notAdopted(ToolHistory)
  /// A tool whose history Quire does not read has migrated the database: everything would run again.
  case unread(tool: String, table: String)
  /// The table records migrations that Quire does not: undone through Quire, or run by the tool since.
  case ahead(ToolHistory, [MigrationVersion])
  /// The tool's data about a file, such as a checksum, cannot be computed.
  case cannotGiveBack(ToolHistory, reason: String)
}

extension ToolProblem: QuireError {}

extension ToolProblem: CustomStringConvertible {
  /// What does not fit, the state of the database, and what to do next.
  public var description: String { text { "Nothing was \($0)." } }

  /// The description, with a sentence about what was not done.
  func text(_ nothing: (String) -> String) -> String {
    switch self {
    case .none: "no other tool has recorded migrations in this database"
    case .unfinished(let history, let version):
      """
      \(history.toolName) left \(version) half done, as its table \(history.table) says.
      Nothing was recorded. Put the database in order and that row, with \(history.toolName)'s own means.
      """
    case .missing(let history, let versions):
      """
      \(history.toolName) has run what these files lack: \(versions.map(\.description).joined(separator: ", ")).
      Nothing was recorded. \(history.isRails ? "Its files are in Ruby, which Quire does not run" : "Put the files back: they are not in the database").
      """
    case .notAdopted(let history):
      """
      \(history.toolName) has migrated this database, and its history is not adopted yet: everything would run again.
      \(nothing("run"))
      """
    case .unread(let tool, let table):
      """
      \(tool) has migrated this database, as its table \(table) says, which Quire does not read: everything might run again.
      \(nothing("changed"))
      """
    case .ahead(let history, let versions):
      """
      \(history.toolName)'s table \(history.table) records \(versions.map(\.description).joined(separator: ", ")), \
      which Quire does not. \(nothing("changed"))
      """
    case .cannotGiveBack(let history, let reason):
      """
      \(history.toolName)'s table \(history.table) cannot be written: \(reason).
      \(nothing("changed")) Its own baseline or repair command records what Quire has run.
      """
    }
  }
}
