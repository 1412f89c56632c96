import Foundation
import QuireRow
import QuireSQLite
import QuireShared

/// Migrates a file through the remaining stages of a plan, before a container opens it.
///
/// Each stage changes its tables in one transaction, together with the version recorded in `_quire_version`. Saves of a
/// stage's closures are separate commits: a `willMigrate` that was interrupted runs again, and so does a `didMigrate`,
/// which is noted in `_quire_stage` until it has ended. What a closure leaves unsaved is saved when it returns.
///
/// If the store is shared, a change of the tables is an entry of its log, which other machines run when they are opened.
struct PlannedMigration {
  private struct Version {
    let type: any VersionedSchema.Type
    let entities: [Entity]
    let joins: [JoinTable]
    var number: Schema.Version { type.versionIdentifier }
    var words: String { "\(type), \(number)" }
    var classes: Set<ObjectIdentifier> { Set(entities.map(\.typeID)) }
    /// The statements that make its tables.
    var statements: Set<SQLFragment> { get throws { try PlannedMigration.statements(entities, joins) } }
  }

  private let versions: [Version]
  private let stages: [MigrationStage]
  private let configuration: ModelConfiguration
  /// The version that the container has the models of.
  private let target: Version?
  /// Whether the container's models are those of no version.
  private let isUnplanned: Bool

  /// - Parameters:
  ///   - schema: That of the container, whose version counts only if its models are that version's.
  ///   - entities: The container's.
  init(
    _ plan: any SchemaMigrationPlan.Type, _ configuration: ModelConfiguration, for schema: Schema,
    _ entities: [Entity], _ joins: [JoinTable]
  ) throws {
    let versions = try Self.different(plan.schemas).map { type in
      let (entities, joins) = try SchemaResolution.resolve(type.models)
      return Version(type: type, entities: entities, joins: joins)
    }.sorted { $0.number < $1.number }
    let classes = Set(entities.map(\.typeID))
    var same = versions.filter { $0.classes == classes }
    if same.isEmpty {
      let own = try Self.statements(entities, joins)
      same = try versions.filter { try $0.statements == own }
    }
    if let number = schema.number, same.isEmpty, let newest = versions.last,
      !versions.contains(where: { $0.number == number })
    {
      throw SchemaError(.unplanned(version: "\(number)", stage: nil, newest: newest.words))
    }
    // Models that are no version's are what the newest one has become.
    isUnplanned = same.isEmpty
    target = same.first { $0.number == schema.number } ?? same.last ?? versions.last
    self.versions = versions
    stages = plan.stages
    self.configuration = configuration
  }

  /// The versions that a plan lists, each once.
  private static func different(_ types: [any VersionedSchema.Type]) throws -> [any VersionedSchema.Type] {
    var found: [any VersionedSchema.Type] = []
    for type in types where !found.contains(where: { $0 == type }) {
      if let other = found.first(where: { $0.versionIdentifier == type.versionIdentifier }) {
        throw SchemaError(.sharedVersion("\(type.versionIdentifier)", schemas: ["\(other)", "\(type)"]))
      }
      found.append(type)
    }
    return found
  }

  private static func statements(_ entities: [Entity], _ joins: [JoinTable]) throws -> Set<SQLFragment> {
    Set(try SchemaSQL(entities: entities, joins: joins).statements().map { SQLFragment($0) })
  }

  /// What is recorded in a file that is made for the container; nil if the plan has no versions.
  var number: Schema.Version? { target?.number }

  /// The error of a file that does not fit the models, with what the plan has to do with it: its versions do not have
  /// these models, or the file is at a newer one, where SQL that makes the tables old again would not help.
  func explained(_ error: SchemaError) -> SchemaError {
    guard case .mismatch(let path, let differences, let mending, _, _) = error.problem else { return error }
    if isUnplanned {
      let advice = versions.last.map {
        "No version of the plan has these models, and its newest is \($0.words): add a version that has them, with a "
          + "stage that leads to it."
      }
      return SchemaError(.mismatch(path: path, differences: differences, mending: mending, advice: advice))
    }
    guard let target, let connection = try? configuration.reading(path),
      let present = try? version(of: path, connection), present.number > target.number
    else { return error }
    let advice =
      "The file is at \(present.words), and the container's models are those of \(target.words). A plan leads to newer "
      + "versions only: open the file with models of its version, or a copy that was made before it got there."
    return SchemaError(.mismatch(path: path, differences: differences, mending: [], advice: advice))
  }

  /// The error of a file that does not fit the models of a container without a plan: if a plan has recorded the file's
  /// version, it is the plan that leads on from there.
  static func explained(_ error: SchemaError, _ configuration: ModelConfiguration) -> SchemaError {
    guard case .mismatch(let path, let differences, _, nil, _) = error.problem,
      let connection = try? configuration.reading(path), let version = try? recorded(on: connection)
    else { return error }
    let advice =
      "The file is at version \(version) of a migration plan: open it with the plan (migrationPlan:), or with the models "
      + "of that version."
    return SchemaError(.mismatch(path: path, differences: differences, mending: [], advice: advice))
  }

  /// How far a file is.
  private struct State {
    let version: Version
    /// The version before it, if the `didMigrate` of the stage from there has not ended.
    let unfinished: String?

    func isSame(as other: State) -> Bool {
      version.number == other.version.number && unfinished == other.unfinished
    }
  }

  func run(_ file: String) throws {
    guard let target else { return }
    func state() throws -> State? {
      try configuration.prepareShared()  // another machine may have done it
      guard let connection = try configuration.reading(file), let version = try version(of: file, connection) else {
        return nil
      }
      let unfinished = try PlannedMigration.text("_quire_stage", on: connection)
      // A file that a newer program has written is compared with the models, and refused.
      return version.number < target.number || unfinished != nil
        ? State(version: version, unfinished: unfinished) : nil
    }
    guard let first = try state() else { return }
    if !configuration.allowsSave {
      throw SchemaError(.unmigrated(path: file, present: first.version.words, target: target.words))
    }
    try PlanLock.holding(folderOf: file, timeout: configuration.writeTimeout) {
      while let present = try state() {
        do {
          try advance(file, from: present, to: target)
        } catch {
          // If another machine was first, the store that a closure writes to has stopped.
          let wasFirst = try configuration.shared == nil || state()?.isSame(as: present) == true
          if wasFirst { throw error }
        }
      }
    }
  }

  /// One stage, or what is left of one.
  private func advance(_ file: String, from state: State, to target: Version) throws {
    let present = state.version
    if let before = state.unfinished {
      let stage = stages.first { stage in
        "\(stage.versions.from.versionIdentifier)" == before && stage.versions.to.versionIdentifier == present.number
      }
      guard let stage else { throw SchemaError(.noStage(from: before, to: "\(present.number)")) }
      if case .custom(_, _, _, let didMigrate?) = stage { try call(didMigrate, present) }
      return try committing(file) { connection in
        if try PlannedMigration.text("_quire_stage", on: connection) == nil { return }
        try connection.executeInMigration("DROP TABLE _quire_stage")
      }
    }
    // A plan without stages leaves all of them to the difference of the models.
    if stages.isEmpty, let next = versions.first(where: { $0.number > present.number }) {
      return try change(file, from: present, to: next, hasMore: false)
    }
    let stage = stages.first { $0.versions.from.versionIdentifier == present.number }
    if let to = stage?.versions.to, !versions.contains(where: { $0.number == to.versionIdentifier }) {
      throw SchemaError(
        .unplanned(
          version: "\(to.versionIdentifier)", stage: "\(to)", newest: versions.last?.words ?? present.words))
    }
    guard let stage, let next = versions.first(where: { $0.number == stage.versions.to.versionIdentifier }),
      next.number > present.number
    else { throw SchemaError(.noStage(from: "\(present.number)", to: "\(target.number)")) }
    if case .custom(_, _, let willMigrate?, _) = stage { try call(willMigrate, present) }
    let hasMore = if case .custom(_, _, _, .some) = stage { true } else { false }
    try change(file, from: present, to: next, hasMore: hasMore)
  }

  /// The file's version: the recorded one, otherwise the newest whose exact statements the file has, otherwise the
  /// newest whose models fit its tables. Nil for an empty file.
  ///
  /// Quire once recorded 1.0.0, the version of a schema that is made of types, for whatever models a new file had: that
  /// number counts only if the tables are those of the version.
  private func version(of file: String, _ connection: Connection) throws -> Version? {
    if try StoreOpening.isEmpty(connection) { return nil }
    if let other = try SchemaCheck.otherEncoding(in: connection) {
      throw SchemaError(.mismatch(path: file, differences: [other.sentence], mending: []))
    }
    let recorded = try PlannedMigration.recorded(on: connection)
    let known = versions.first { "\($0.number)" == recorded }
    if let known, known.number == target?.number || recorded != Self.untold { return known }
    if let recorded, recorded != Self.untold { throw SchemaError(.unknownVersion(path: file, version: recorded)) }
    let statements = Set(try SchemaReader(connection).objects().compactMap { $0.sql.map { SQLFragment($0) } })
    func isExact(_ version: Version) throws -> Bool { try version.statements.isSubset(of: statements) }
    if let known, try isExact(known) { return known }
    if let exact = try versions.last(where: isExact) { return exact }
    func fits(_ version: Version) throws -> Bool {
      try SchemaCheck(entities: version.entities, joins: version.joins).differences(in: connection).isEmpty
    }
    if let known, try fits(known) { return known }
    if let fitting = try versions.last(where: fits) { return fitting }
    if let known { return known }
    throw SchemaError(.unknownVersion(path: file, version: recorded))
  }

  /// See ``version(of:_:)``.
  private static let untold = "1.0.0"

  static func recorded(on connection: Connection) throws -> String? { try text("_quire_version", on: connection) }

  /// The version in a table of one row; nil if there is no such table.
  private static func text(_ table: String, on connection: Connection) throws -> String? {
    guard try SchemaReader(connection).hasTable(table) else { return nil }
    if case .text(let version)? = try connection.query("SELECT version FROM \(table)").rows.first?.first {
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

  /// - Parameter hasMore: Whether the stage's `didMigrate` is to follow.
  private func change(_ file: String, from old: Version, to new: Version, hasMore: Bool) throws {
    try committing(file) { connection in
      // Where folders have no locks, another process may have done it.
      if let now = try PlannedMigration.recorded(on: connection), now != "\(old.number)", now != Self.untold { return }
      // Views may name a table that is temporarily missing, and other tables' references must not be rewritten.
      try connection.executeInMigration("PRAGMA legacy_alter_table = ON")
      let before = (try? brokenKeys(connection)) ?? [:]
      do {
        try SchemaRebuild(
          old: (old.entities, old.joins), new: (new.entities, new.joins), connection: connection,
          models: Connection(path: file, access: .readOnly)
        ).run()
      } catch let error as SQLiteError {
        throw explained(error, in: new)
      }
      let after = try brokenKeys(connection)
      // Those that another program left before the stage do not stop it.
      if after.values.reduce(0, +) > before.values.reduce(0, +),
        let (table, _) = after.sorted(by: { $0.key < $1.key }).first(where: { $0.value > before[$0.key] ?? 0 })
      {
        throw SchemaError(.brokenReferences(table: table, to: "\(new.number)"))
      }
      try PlannedMigration.record(new.number) { try connection.executeInMigration($0, $1) }
      if hasMore {
        try connection.executeInMigration("CREATE TABLE _quire_stage (version TEXT NOT NULL) STRICT")
        try connection.executeInMigration("INSERT INTO _quire_stage VALUES (?)", [.text("\(old.number)")])
      }
    }
  }

  /// Runs the body in a transaction, on a connection with the settings of a migration and without foreign keys.
  private func committing(_ file: String, _ body: (Connection) throws -> Void) throws {
    let gate = try configuration.shared.map { try SharedMigrator(file, of: $0, patience: $0.patience) }
    let timeout = configuration.busyTimeout
    do {
      let connection = try Connection(migrating: file, access: .readWrite, busyTimeout: timeout)
      try connection.execute("PRAGMA foreign_keys = OFF")
      func run() throws {
        try connection.execute("BEGIN IMMEDIATE")
        do {
          try SharedMigrator.committing(connection, of: file, through: gate, enforcesKeys: false) {
            try body(connection)
          }
        } catch {
          if !connection.isAutocommit { try connection.execute("ROLLBACK") }
          throw error
        }
      }
      if let gate { try gate.repeating(run) } else { try run() }
    } catch let error as SQLiteError {
      throw DatabaseError(error, path: file, waited: timeout) ?? error
    }
  }

  /// The error in terms of the models, if it is one of their rows.
  private func explained(_ error: SQLiteError, in version: Version) -> any Error {
    if let duplicates = duplicates(error, in: version) { return duplicates }
    if let untargeted = untargeted(error, in: version) { return untargeted }
    return unfit(error, in: version) ?? error
  }

  /// The error in terms of the models, if rows have the same values where the version's models allow them once.
  private func duplicates(_ error: SQLiteError, in version: Version) -> SchemaError? {
    guard let (table, columns) = error.uniqueColumns,
      let entity = version.entities.first(where: {
        [$0.table, SchemaRebuild.scratch(of: $0.table)].contains { SQLName($0) == SQLName(table) }
      })
    else { return nil }
    let properties = columns.compactMap { name in entity.properties.first { $0.column == name }?.name }
    guard properties.count == columns.count else { return nil }
    return SchemaError(.duplicates(model: entity.name, properties: properties, version: "\(version.number)"))
  }

  /// The error in terms of the models, if a row's value is none of the property's new type.
  private func unfit(_ error: SQLiteError, in version: Version) -> SchemaError? {
    guard let refused = error.refusedColumn else { return nil }
    for entity in version.entities where SQLName(SchemaRebuild.scratch(of: entity.table)) == SQLName(refused.table) {
      guard let property = entity.properties.first(where: { $0.column == refused.column }) else { continue }
      return SchemaError(
        .unfitValues(
          property: "\(entity.name).\(property.name)", form: refused.form, value: refused.value,
          version: "\(version.number)"))
    }
    return nil
  }

  /// The error in terms of the models, if a row has no object for a reference that is no longer optional.
  private func untargeted(_ error: SQLiteError, in version: Version) -> SchemaError? {
    let place = error.message.split(separator: ": ").last?.split(separator: ".").map(String.init) ?? []
    guard error.isNotNull, place.count == 2,
      let entity = version.entities.first(where: { SQLName(SchemaRebuild.scratch(of: $0.table)) == SQLName(place[0]) }),
      let property = entity.properties.first(where: { $0.column == place[1] })
    else { return nil }
    return SchemaError(
      .missingTargets(model: entity.name, property: property.name, version: "\(version.number)"))
  }

  /// How many rows of each table refer to rows that are not there.
  private func brokenKeys(_ connection: Connection) throws -> [String: Int64] {
    var counts: [String: Int64] = [:]
    for row in try connection.query("SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1").rows {
      if case .text(let table) = row[0], case .integer(let count) = row[1] { counts[table] = count }
    }
    return counts
  }

  /// Calls a closure of the plan, with a context on the models of that version, and saves what it has left unsaved.
  private func call(_ body: (ModelContext) throws -> Void, _ version: Version) throws {
    let container = try ModelContainer(version.entities, version.joins, configuration)
    defer { try? container.store.database.close() }
    let context = ModelContext(container, isolation: nil)
    try body(context)
    if context.hasChanges { try context.save() }
  }
}
