public import Foundation
import QuireRow
public import QuireSQLite
import QuireShared

/// The store: one SQLite file with the models' tables, shared by any number of contexts.
///
///     let store = try ModelContainer(for: Book.self, Author.self, url: URL(filePath: "library.db"))
///
/// Opening checks the models against the file's tables and throws an error with the differences; in a new or empty
/// file, and in memory, it creates the tables. The container is `Sendable`: pass it anywhere, and make a
/// ``ModelContext`` in each isolation that needs one.
public final class ModelContainer: Sendable {
  /// How the store was opened.
  public let configuration: ModelConfiguration
  /// The models it was opened with; those that only a relationship names are not among them.
  public let schema: Schema
  /// The plan it was opened with, if any.
  public let migrationPlan: (any SchemaMigrationPlan.Type)?
  package let store: Store
  private let use: StoreUse
  @MainActor private var main: ModelContext?

  /// Opens a file, or a store in memory, for these models.
  ///
  /// Blocks while the file is opened, checked and, with a plan, migrated.
  ///
  /// - Parameters:
  ///   - models: The classes; the classes that their relationships lead to are included.
  ///   - migrationPlan: Takes a file of an older version to that of the models first: see ``SchemaMigrationPlan``.
  ///   - configurations: One, or none for the default file.
  /// - Throws: ``SchemaError`` if the models do not fit together or the file's tables are not theirs; a
  ///   ``DatabaseError`` if the file cannot be opened; then the file is as it was.
  public convenience init(
    for models: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(Schema(models), migrationPlan, configurations)
  }

  /// Opens a file, or a store in memory, for the models of `schema`; at most one configuration.
  ///
  /// - Throws: ``SchemaError`` if the models do not fit together or the file's tables are not theirs; a
  ///   ``DatabaseError`` if the file cannot be opened; then the file is as it was.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: [ModelConfiguration] = []
  ) throws {
    try self.init(schema, migrationPlan, configurations)
  }

  /// Opens a file, or a store in memory, for the models of `schema`; at most one configuration.
  ///
  /// - Throws: ``SchemaError`` if the models do not fit together or the file's tables are not theirs; a
  ///   ``DatabaseError`` if the file cannot be opened; then the file is as it was.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: ModelConfiguration...
  ) throws {
    try self.init(schema, migrationPlan, configurations)
  }

  /// Opens the file at `url` for these models, or makes it.
  ///
  /// - Throws: ``SchemaError`` if the models do not fit together or the file's tables are not theirs; a
  ///   ``DatabaseError`` if the file cannot be opened; then the file is as it was.
  public convenience init(for models: any PersistentModel.Type..., url: URL) throws {
    try self.init(Schema(models), nil, [ModelConfiguration(url: url)])
  }

  /// A store without models, on any SQLite file, which is only read: for queries in SQL.
  ///
  /// - Parameter trustsSchema: Whether the file's views may use virtual tables: see
  ///   ``ModelConfiguration/trustsSchema``.
  public convenience init(reading file: URL, trustsSchema: Bool = false) throws {
    var configuration = ModelConfiguration(url: file, allowsSave: false)
    configuration.trustsSchema = trustsSchema
    try self.init([], [], configuration)
  }

  private convenience init(
    _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?, _ configurations: [ModelConfiguration]
  ) throws {
    if configurations.count > 1 { throw SchemaError(.severalConfigurations(configurations.map(\.name))) }
    let configuration = configurations.first ?? ModelConfiguration()
    let schema = schema.types.isEmpty ? configuration.schema ?? schema : schema
    let (entities, joins) = try SchemaResolution.resolve(schema.types)
    let footprint = configuration.file.map { SidecarFiles(of: $0.path(percentEncoded: false)) }
    do {
      try self.init(entities, joins, schema, plan, configuration)
    } catch let error as SchemaError {
      footprint?.sweep()  // of what has looked at the file, also to explain the error
      throw error
    }
  }

  private convenience init(
    _ entities: [Entity], _ joins: [JoinTable], _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?,
    _ configuration: ModelConfiguration
  ) throws {
    var version: Schema.Version?
    var planned: PlannedMigration?
    if let plan, let file = configuration.file?.path(percentEncoded: false) {
      try configuration.checkSettings()
      let migration = try PlannedMigration(plan, configuration, for: schema, entities, joins)
      try migration.run(file)
      version = migration.number ?? schema.version
      planned = migration
    }
    do {
      try self.init(entities, joins, configuration, schema, plan, version)
    } catch let error as SchemaError {
      throw planned?.explained(error) ?? PlannedMigration.explained(error, configuration)
    }
  }

  /// The same store for a context whose container has gone.
  init(_ parts: Parts) {
    configuration = parts.configuration
    schema = parts.schema
    migrationPlan = parts.migrationPlan
    store = parts.store
    use = StoreUse(store)
  }

  /// What a container is made of.
  struct Parts {
    let configuration: ModelConfiguration
    let schema: Schema
    let migrationPlan: (any SchemaMigrationPlan.Type)?
    let store: Store
  }

  var parts: Parts {
    Parts(configuration: configuration, schema: schema, migrationPlan: migrationPlan, store: store)
  }

  /// Asked for once: on Linux, in a container, the answer is read from files.
  private static let coreCount = ProcessInfo.processInfo.activeProcessorCount

  init(
    _ entities: [Entity], _ joins: [JoinTable], _ configuration: ModelConfiguration, _ schema: Schema = Schema([]),
    _ plan: (any SchemaMigrationPlan.Type)? = nil, _ version: Schema.Version? = nil
  ) throws {
    try Translation.checkLinked()
    try configuration.checkSettings()
    self.configuration = configuration
    self.schema = schema
    migrationPlan = plan
    let check = SchemaCheck(entities: entities, joins: joins, forWriting: configuration.allowsSave)
    let location: DatabaseConfiguration.Location
    if let url = configuration.file {
      let file = url.path(percentEncoded: false)
      if configuration.allowsSave { try configuration.makeFolder() }
      try configuration.prepareShared()
      try ModelContainer.check(file, check, configuration)
      location = .file(file)
    } else {
      location = .temporary
    }
    var database = DatabaseConfiguration(location, access: configuration.allowsSave ? .create : .readOnly)
    if configuration.file != nil { database.synchronous = configuration.synchronous }
    if configuration.shared != nil { database.synchronous = .normal }  // the log is the durable copy
    database.changeLog = configuration.changeLog
    database.busyTimeout = configuration.busyTimeout
    database.writeTimeout = configuration.writeTimeout
    database.cacheSizeInBytes = configuration.cacheSize
    database.checkpointPages = configuration.checkpointPages
    let readers = configuration.readers ?? Self.coreCount
    database.readers = max(database.readers, readers)
    database.trustsSchema = try configuration.trustsSchema || ModelContainer.trusts(configuration, entities, joins)
    let opened = try Database(database)
    var node: StoreNode?
    let isMade: Bool
    do {
      if let shared = configuration.shared, configuration.allowsSave {
        node = try StoreNode.attach(opened, to: shared.log, named: shared.name, patience: shared.patience)
      }
      isMade = try ModelContainer.prepare(opened, check, configuration, version)
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
    self.store = store
    use = StoreUse(store)
    if let watch { opened.watchSchema(watch) }
    if configuration.allowsSave {
      try opened.read { try store.keys.start(store, on: $0) }
      try opened.keepTriggers(areNeeded: !isMade) { try RuleTriggers(entities: entities, joins: joins).needed(in: $0) }
      opened.atDeletions { [keys = store.keys] in try keys.remember($1, of: entities, in: $0) }
    }
  }

  /// Creates the tables where the file has none, else checks that they are the models'.
  ///
  /// - Returns: Whether it has created them.
  private static func prepare(
    _ database: Database, _ check: SchemaCheck, _ configuration: ModelConfiguration, _ version: Schema.Version?
  ) throws -> Bool {
    let isEmpty = try database.read { try ModelContainer.isEmpty($0) && SchemaCheck.otherEncoding(in: $0) == nil }
    if isEmpty, configuration.allowsSave || configuration.isStoredInMemoryOnly {
      let statements = try SchemaSQL(entities: check.entities, joins: check.joins).statements()
      let isMade = try database.write(origin: .sql) { transaction in
        // Another process may have made them meanwhile; then they are checked like any others.
        guard try ModelContainer.isEmpty(transaction.connection) else { return false }
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

  /// Whether the file's triggers may write to virtual tables, as those that maintain a full-text index must. True only
  /// if all triggers and views belong to the models or to the change log, whose writer recreates any that differ.
  private static func trusts(
    _ configuration: ModelConfiguration, _ entities: [Entity], _ joins: [JoinTable]
  ) throws -> Bool {
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

  static func isEmpty(_ connection: Connection) throws -> Bool {
    try SchemaReader(connection).objects().allSatisfy { object in
      SQLName.folded(object.name).hasPrefix("sqlite_") || ChangeLog.tables.contains(object.table)
    }
  }

  /// Rejects a file with another schema before it is opened for writing. Opening for writing makes a file a WAL
  /// database; a rejected file stays unchanged to the byte.
  private static func check(
    _ file: String, _ check: SchemaCheck, _ configuration: ModelConfiguration
  ) throws {
    if !FileManager.default.fileExists(atPath: file) { return }
    let footprint = SidecarFiles(of: file)
    do {
      // If the file cannot be opened this way, the real opening below reports why.
      guard let connection = try? configuration.reading(file), let isEmpty = try? isEmpty(connection), !isEmpty else {
        return
      }
      try check.require(in: connection, of: file)
    } catch {
      footprint.sweep()
      throw error
    }
  }

  /// The statements that make an empty file these models' file, in order. Touches no file.
  ///
  /// - Throws: ``SchemaError`` if the models do not fit together.
  public static func schemaSQL(for models: any PersistentModel.Type...) throws -> [String] {
    let (entities, joins) = try SchemaResolution.resolve(models)
    return try SchemaSQL(entities: entities, joins: joins).statements()
  }

  /// The main actor's context, the same at every call; it saves by itself at the end of each turn.
  @MainActor public var mainContext: ModelContext {
    if let main { return main }
    let context = ModelContext(main: self)
    main = context
    return context
  }

  /// Closes the file. Contexts and objects of this container keep what they have read and load nothing more.
  ///
  /// Blocks until the writes and saves that are under way have ended. Does nothing if it is closed already.
  ///
  /// - Throws: ``ModelError/unsavedChanges(_:)`` if the main context has unsaved changes, a
  ///   ``QuireSQLite/DatabaseError`` if a write does not end in time or calls this; then the store stays open.
  @MainActor public func close() throws {
    if store.database.isClosed { return }
    if let context = main {
      try context.owner.saver.awaitSaveUnderWay(store)
      let unsaved = context.owner.pending.count
      if unsaved > 0 { throw ModelError.unsavedChanges(unsaved) }
    }
    try store.database.close { main?.owner.close() }
    StoreRegistry.shared.close(store.number)
    store.node?.end()
    store.warnings.end()
  }

  /// Deletes every object of every model, in one commit, which reaches all contexts and observers.
  ///
  /// Blocks the calling thread while others write.
  ///
  /// - Throws: A ``DatabaseError``; then nothing was deleted.
  /// - Complexity: O(rows).
  public func deleteAllData() throws {
    try writeSQL { transaction in
      try transaction.connection.execute("PRAGMA defer_foreign_keys = ON")
      for join in store.joins { try transaction.connection.execute("DELETE FROM \(try quoted(identifier: join.name))") }
      // References that would prevent the deletion are cleared first; then rows are deleted before those they refer to.
      for entity in store.entities {
        let table = try quoted(identifier: entity.table)
        for property in entity.properties {
          guard let side = property.toOne, side.isOptional, let column = property.column,
            side.deleteRule == .deny || side.whenTargetGoes == .deny
          else { continue }
          try transaction.connection.execute("UPDATE \(table) SET \(try quoted(identifier: column)) = NULL")
        }
      }
      for index in store.insertOrder.reversed() {
        try transaction.connection.execute("DELETE FROM \(try quoted(identifier: store.entities[index].table))")
      }
    }
  }

  /// SwiftData's other name for ``deleteAllData()``.
  public func erase() throws { try deleteAllData() }

  /// The configuration, as SwiftData's list of one.
  public var configurations: [ModelConfiguration] { [configuration] }

  /// Runs SQL in a transaction of its own; what it changes reaches every object, live query and subscriber.
  ///
  ///     try store.execute("UPDATE book SET title = \(title) WHERE id = \(id)")
  ///
  /// Interpolated values are bound, as ``QuireSQLite/SQL`` says. Text without values may contain several statements.
  ///
  /// - Parameter author: The author name of its commit.
  /// - Returns: The number of rows it changed, including those changed by triggers and foreign keys.
  /// - Throws: ``QuireSQLite/SQLiteError`` and ``QuireSQLite/DatabaseError``, and the error of a value that cannot be
  ///   bound; then nothing was changed.
  @discardableResult
  public func execute(_ sql: SQL, author: String? = nil) throws -> Int {
    try writeSQL(author: author) { try $0.execute(sql) }
  }

  /// Runs several statements as one commit, with the author's name.
  ///
  ///     try store.writeSQL { transaction in
  ///       let stock = try transaction.query("SELECT stock FROM book WHERE id = \(id)").first?.value("stock", as: Int.self)
  ///       guard let stock, stock > 0 else { throw SoldOut() }
  ///       try transaction.execute("UPDATE book SET stock = stock - 1 WHERE id = \(id)")
  ///     }
  ///
  /// May be called on any thread. Blocks it while others write, and all other writers while the body runs. A task calls
  /// ``write(author:deadline:_:)``, which blocks no thread of Swift's pool.
  ///
  /// - Throws: What the body throws, a ``DatabaseError`` of the commit; then nothing was written. A write inside a write
  ///   is ``DatabaseError/nestedWrite``.
  @discardableResult public func writeSQL<Result>(
    author: String? = nil, _ body: (borrowing SQLTransaction) throws -> Result
  ) throws -> Result {
    try store.database.write(origin: .sql, author: author) { transaction in
      try transaction.connection.endingWithTask { try body(transaction.naming(store)) }
    }
  }

  /// The rows of one query on the latest committed state. Interpolated values are bound, as ``QuireSQLite/SQL`` says.
  ///
  /// May be called on any thread; blocks it while the query runs.
  ///
  /// - Throws: ``StatementError/writes`` for a statement that writes, ``SQLiteError`` for other errors of SQLite, the
  ///   error of a value that cannot be bound, and ``DatabaseError``.
  public func query(_ sql: SQL) throws -> [SQLRecord] {
    try store.database.read { connection in
      do {
        return try connection.endingWithTask { try BoundSQL(sql, in: store).run(on: connection).records }
      } catch let error as SQLiteError where error.isWriteWhileReading {
        throw StatementError.writes
      }
    }
  }
}
