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

  init(
    _ entities: [Entity], _ joins: [JoinTable], _ configuration: ModelConfiguration, _ schema: Schema = Schema([]),
    _ plan: (any SchemaMigrationPlan.Type)? = nil, _ version: Schema.Version? = nil
  ) throws {
    self.configuration = configuration
    self.schema = schema
    migrationPlan = plan
    store = try StoreOpening(entities, joins, configuration, version).store()
    use = StoreUse(store)
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
