import Foundation
import QuireRow
import QuireSQLite

/// Migrates a file through the remaining stages of a plan, before a container opens it.
///
/// Each stage changes its tables in one transaction, together with the version recorded in `_quire_version`. Saves of a
/// stage's closures are separate commits: a `willMigrate` that was interrupted runs again.
struct PlannedMigration {
  private struct Version {
    let type: any VersionedSchema.Type
    let entities: [Entity]
    let joins: [JoinTable]
    var number: Schema.Version { type.versionIdentifier }
  }

  private let versions: [Version]
  private let stages: [MigrationStage]
  private let configuration: ModelConfiguration

  init(_ plan: any SchemaMigrationPlan.Type, _ configuration: ModelConfiguration) throws {
    versions = try plan.schemas.map { type in
      let (entities, joins) = try SchemaResolution.resolve(type.models)
      return Version(type: type, entities: entities, joins: joins)
    }.sorted { $0.number < $1.number }
    stages = plan.stages
    self.configuration = configuration
  }

  func run(_ file: String) throws {
    guard let newest = versions.last, FileManager.default.fileExists(atPath: file),
      var present = try version(of: file), present.number != newest.number
    else { return }
    if !configuration.allowsSave { throw ModelError.readOnly }
    while present.number != newest.number {
      guard let stage = stages.first(where: { $0.versions.from.versionIdentifier == present.number }),
        let next = versions.first(where: { $0.number == stage.versions.to.versionIdentifier }),
        next.number > present.number
      else { throw SchemaError(.noStage(from: "\(present.number)", to: "\(newest.number)")) }
      if case .custom(_, _, let willMigrate?, _) = stage { try call(willMigrate, present) }
      try change(file, from: present, to: next)
      if case .custom(_, _, _, let didMigrate?) = stage { try call(didMigrate, next) }
      present = next
    }
  }

  /// The file's version: the recorded one, otherwise the newest whose exact statements the file has, otherwise the
  /// newest whose models fit its tables. Nil for an empty file.
  private func version(of file: String) throws -> Version? {
    let connection = try Connection(path: file, access: .readOnly)
    if try ModelContainer.isEmpty(connection) { return nil }
    if let recorded = try PlannedMigration.recorded(on: connection) {
      if let known = versions.first(where: { "\($0.number)" == recorded }) { return known }
      throw SchemaError(.unknownVersion(path: file, version: recorded))
    }
    let statements = Set(try SchemaReader(connection).objects().compactMap { $0.sql.map { SQLFragment($0) } })
    let exact = try versions.last { version in
      let made = try SchemaSQL(entities: version.entities, joins: version.joins).statements()
      return made.allSatisfy { statements.contains(SQLFragment($0)) }
    }
    if let exact { return exact }
    let fitting = try versions.last { version in
      try SchemaCheck(entities: version.entities, joins: version.joins).differences(in: connection).isEmpty
    }
    if let fitting { return fitting }
    throw SchemaError(.unknownVersion(path: file, version: nil))
  }

  static func recorded(on connection: Connection) throws -> String? {
    guard try SchemaReader(connection).hasTable("_quire_version") else { return nil }
    if case .text(let version)? = try connection.query("SELECT version FROM _quire_version").rows.first?.first {
      return version
    }
    return nil
  }

  /// The statements that record a file's version.
  static func record(_ version: Schema.Version, _ execute: (String, [Value]) throws -> Void) throws {
    try execute("CREATE TABLE IF NOT EXISTS _quire_version (version TEXT NOT NULL) STRICT", [])
    try execute("DELETE FROM _quire_version", [])
    try execute("INSERT INTO _quire_version VALUES (?)", [.text("\(version)")])
  }

  private func change(_ file: String, from old: Version, to new: Version) throws {
    let connection = try Connection(migrating: file, access: .readWrite, busyTimeout: .seconds(5))
    try connection.execute("PRAGMA foreign_keys = OFF")
    // Views may name a table that is temporarily missing, and other tables' references must not be rewritten.
    try connection.execute("PRAGMA legacy_alter_table = ON")
    try connection.execute("BEGIN IMMEDIATE")
    do {
      try SchemaRebuild(
        old: (old.entities, old.joins), new: (new.entities, new.joins), connection: connection,
        models: Connection(path: file, access: .readOnly)
      ).run()
      if let broken = try connection.query("PRAGMA foreign_key_check").first, case .text(let table) = broken {
        throw SchemaError(.brokenReferences(table: table, to: "\(new.number)"))
      }
      try PlannedMigration.record(new.number) { try connection.execute($0, $1) }
      try connection.execute("COMMIT")
    } catch {
      if !connection.isAutocommit { try connection.execute("ROLLBACK") }
      throw error
    }
  }

  /// Calls a closure of the plan, with a context on the models of that version.
  private func call(_ body: (ModelContext) throws -> Void, _ version: Version) throws {
    let container = try ModelContainer(version.entities, version.joins, configuration)
    defer { try? container.store.database.close() }
    try body(ModelContext(container, isolation: nil))
  }
}
