package import QuireRow

/// A write transaction: valid only inside the closure that receives it.
public struct SQLTransaction {
  let writer: Writer
  /// What its statements may name.
  private var models: (any SQLModels)?

  init(writer: Writer) { self.writer = writer }

  /// The writing connection. Transaction control, ATTACH and settings are refused in SQL run on it.
  package var connection: Connection { writer.connection }

  /// This transaction with models that its statements may name.
  package func naming(_ models: any SQLModels) -> SQLTransaction {
    var transaction = self
    transaction.models = models
    return transaction
  }

  /// Runs one statement, or several without values; interpolated values are bound.
  ///
  /// A statement that fails is undone; what was done before it stays part of the transaction. Transaction control,
  /// ATTACH and settings are refused.
  ///
  /// - Returns: The number of rows it changed, including those changed by triggers and foreign keys.
  /// - Throws: ``SQLiteError`` for errors of SQLite, and the error of a value that cannot be bound (``SQL``).
  @discardableResult public func execute(_ sql: SQL) throws -> Int {
    let before = changeCount
    try BoundSQL(sql, in: models).execute(on: connection)
    return changeCount - before
  }

  /// All rows of one statement, as the transaction sees them; with `RETURNING`, the rows it wrote.
  ///
  /// - Throws: As ``execute(_:)``.
  @discardableResult public func query(_ sql: SQL) throws -> [SQLRecord] {
    try BoundSQL(sql, in: models).run(on: connection).records
  }

  /// Runs the body in a savepoint, which may be nested: if it throws, its changes are undone.
  @discardableResult public func savepoint<T>(_ body: () throws -> T) throws -> T { try writer.savepoint(body) }
  /// Runs the body as the first that a savepoint does: if it throws, its changes are undone with that savepoint, which stays.
  package func beginningSavepoint<T>(_ body: () throws -> T) throws -> T { try writer.beginningSavepoint(body) }

  /// How many row events the transaction has so far, without those undone by savepoints and failed statements.
  package var eventCount: Int { writer.capture.eventCount }
  /// How many of them came from a trigger or a foreign key's action.
  package var indirectEventCount: Int { writer.capture.indirectEventCount }
  /// The rows it has changed since it had so many row events, folded.
  package func changes(since events: Int) -> [TableChanges] { ChangeCoalescer(writer.capture).tables(from: events) }
  /// How many rows the connection has changed so far, of our own tables none: as SQLite's `total_changes()` counts.
  package var changeCount: Int { writer.connection.totalChanges - writer.capture.ownCount }
  /// Whether any of them came from a trigger or a foreign key's action.
  package var hasIndirectEvents: Bool { writer.capture.indirectEventCount > 0 }
  /// Whether the schema was altered.
  package var hasSchemaChange: Bool { writer.hasAlteredSchema }
  /// The tables it has dropped or altered, by their folded names.
  package var alteredTables: Set<String> { writer.alteredTables }
  /// Whether another connection has committed since this store's last transaction.
  package var followsForeignCommit: Bool { writer.followsForeignCommit }
  /// Of how many transactions of this store that has been true: what was read of the file is out of date when it grows.
  package var foreignCommitCount: Int { writer.foreignCommitCount }
}

/// Its short name inside the package.
package typealias Transaction = SQLTransaction
