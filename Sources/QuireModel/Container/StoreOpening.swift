import Foundation
import QuireRow
import QuireSQLite
import QuireShared

/// How a container comes to its store: the file is looked at before it is opened for writing, opened, given its tables if it
/// has none, and checked against the models.
struct StoreOpening {
  private let configuration: ModelConfiguration
  private let check: SchemaCheck
  /// What a file whose tables are made here records, for a plan.
  private let version: Schema.Version?

  private var entities: [Entity] { check.entities }
  private var joins: [JoinTable] { check.joins }

  /// Asked for once: on Linux, in a container, the answer is read from files.
  private static let coreCount = ProcessInfo.processInfo.activeProcessorCount

  /// - Throws: what is wrong with the configuration.
  init(
    _ entities: [Entity], _ joins: [JoinTable], _ configuration: ModelConfiguration, _ version: Schema.Version?
  ) throws {
    try Translation.checkLinked()
    try configuration.checkSettings()
    self.configuration = configuration
    self.version = version
    check = SchemaCheck(entities: entities, joins: joins, forWriting: configuration.allowsSave)
  }

  /// - Throws: ``SchemaError`` if the file's tables are not the models'; then the file is as it was, but for files that
  ///   SQLite has made beside it to read it. A ``DatabaseError`` if the file cannot be opened.
  func store() throws -> Store {
    let location: DatabaseConfiguration.Location
    if let url = configuration.file {
      let file = url.path(percentEncoded: false)
      if configuration.allowsSave { try configuration.makeFolder() }
      try configuration.prepareShared()
      try look(at: file)
      location = .file(file)
    } else {
      location = .temporary
    }
    let readers = configuration.readers ?? Self.coreCount
    let opened = try Database(settings(location, readers))
    var node: StoreNode?
    let isMade: Bool
    do {
      if let shared = configuration.shared, configuration.allowsSave {
        node = try StoreNode.attach(opened, to: shared.log, named: shared.name, patience: shared.patience)
      }
      isMade = try prepare(opened)
      if !configuration.allowsSave { opened.seal() }
    } catch {
      try? opened.close()
      throw error
    }
    let watch = entities.isEmpty ? nil : OpenSchemaCheck(path: opened.path, check)
    let store = Store(
      database: opened, readers: readers, entities: entities, joins: joins,
      name: configuration.file == nil ? "memory:\(UUID().uuidString)" : opened.path, node: node, schemaCheck: watch
    )
    if let watch { opened.watchSchema(watch) }
    if configuration.allowsSave {
      try opened.read { try store.keys.start(store, on: $0) }
      try opened.keepTriggers(areNeeded: !isMade) { try RuleTriggers(entities: entities, joins: joins).needed(in: $0) }
      opened.atDeletions { [keys = store.keys, entities] in try keys.remember($1, of: entities, in: $0) }
    }
    return store
  }

  private func settings(_ location: DatabaseConfiguration.Location, _ readers: Int) throws -> DatabaseConfiguration {
    var database = DatabaseConfiguration(location, access: configuration.allowsSave ? .create : .readOnly)
    if configuration.file != nil { database.synchronous = configuration.synchronous }
    if configuration.shared != nil { database.synchronous = .normal }  // the log is the durable copy
    database.changeLog = configuration.changeLog
    database.busyTimeout = configuration.busyTimeout
    database.writeTimeout = configuration.writeTimeout
    database.cacheSizeInBytes = configuration.cacheSize
    database.checkpointPages = configuration.checkpointPages
    database.readers = max(database.readers, readers)
    database.trustsSchema = try configuration.trustsSchema || trusts()
    return database
  }

  // MARK: Before the file is opened

  /// Rejects a file with another schema before it is opened for writing. Opening for writing makes a file a WAL
  /// database; a rejected file stays unchanged to the byte.
  private func look(at file: String) throws {
    if !FileManager.default.fileExists(atPath: file) { return }
    // If the file cannot be opened this way, the real opening below reports why.
    guard let connection = try? configuration.reading(file), let isEmpty = try? Self.isEmpty(connection), !isEmpty
    else { return }
    try check.require(in: connection, of: file)
  }

  /// Whether the file's triggers may write to virtual tables, as those that maintain a full-text index must. True only
  /// if all triggers and views belong to the models or to the change log, whose writer recreates any that differ.
  private func trusts() throws -> Bool {
    guard entities.contains(where: { $0.fullText != nil }) else { return false }
    guard let file = configuration.file?.path(percentEncoded: false), let connection = try configuration.reading(file)
    else { return true }
    let known = Set(try SchemaSQL(entities: entities, joins: joins).triggers().map { SQLFragment(try $0.sql) })
    let others = try SchemaReader(connection).objects().compactMap { object -> String? in
      guard object.kind == .trigger || object.kind == .view, let sql = object.sql else { return nil }
      return known.contains(SQLFragment(sql)) || ChangeLog.isTrigger(object.name) || NodeTables.isGuard(object)
        ? nil : object.name
    }
    if others.isEmpty { return true }
    throw SchemaError(.untrusted(path: file, objects: others))
  }

  // MARK: Its tables

  /// Creates the tables where the file has none, else checks that they are the models'.
  ///
  /// - Returns: Whether it has created them.
  private func prepare(_ database: Database) throws -> Bool {
    let isEmpty = try database.read { try Self.isEmpty($0) && SchemaCheck.otherEncoding(in: $0) == nil }
    if isEmpty, configuration.allowsSave || configuration.isStoredInMemoryOnly {
      let statements = try SchemaSQL(entities: entities, joins: joins).statements()
      let isMade = try database.write(origin: .sql) { transaction in
        // Another process may have made them meanwhile; then they are checked like any others.
        guard try Self.isEmpty(transaction.connection) else { return false }
        for statement in statements { try transaction.connection.execute(statement) }
        if let version {
          try PlannedMigration.record(version) { _ = try transaction.connection.execute($0, $1) }
        }
        return true
      }
      if isMade { return true }
    }
    try database.read { try check.require(in: $0, of: configuration.file?.path ?? configuration.name) }
    return false
  }

  static func isEmpty(_ connection: Connection) throws -> Bool {
    try SchemaReader(connection).objects().allSatisfy { object in
      SQLName.folded(object.name).hasPrefix("sqlite_") || ChangeLog.tables.contains(object.table)
    }
  }
}
