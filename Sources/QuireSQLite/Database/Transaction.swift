/// One write at hand: valid inside the body of ``Database/write(origin:author:leaving:_:committed:)`` only.
public struct Transaction {
  let writer: Writer

  /// The writing connection. Transaction control, ATTACH and settings are refused in SQL run on it.
  public var connection: Connection { writer.connection }

  /// Runs the body in a savepoint, which may be nested: if it throws, what it did is undone and forgotten.
  @discardableResult public func savepoint<T>(_ body: () throws -> T) throws -> T { try writer.savepoint(body) }

  /// How many row events the transaction has so far, without those undone by savepoints and failed statements.
  public var eventCount: Int { writer.capture.eventCount }
  /// The highest row id of those that its deletes, or updates of keys, have taken from each table, by the table's name.
  package func highestDeletedKeys() -> [(table: String, key: Int64)] { writer.capture.highestDeletedKeys() }
  /// How many rows the connection has changed so far, of our own tables none: as SQLite's `total_changes()` counts.
  package var changeCount: Int { writer.connection.totalChanges - writer.capture.ownCount }
  /// Whether any of them came from a trigger or a foreign key's action.
  public var hasIndirectEvents: Bool { writer.capture.indirectEventCount > 0 }
  /// Whether the schema was altered.
  public var hasSchemaChange: Bool { writer.hasAlteredSchema }
  /// Whether another connection has committed since this store's last transaction.
  public var followsForeignCommit: Bool { writer.followsForeignCommit }
  /// Of how many transactions of this store that has been true: what was read of the file is out of date when it grows.
  package var foreignCommitCount: Int { writer.foreignCommitCount }
}
