import QuireRow
import QuireSQLite

/// Allocates keys for new rows, so that no key is used twice.
///
/// A new key is one above the highest key that the table has or ever had. While the store is open, the highest key is
/// remembered here. For later openings it is written to `_quire_keys`, but only when the rows with the highest keys are
/// deleted: otherwise the table itself shows it. This costs inserts nothing; AUTOINCREMENT would cost a third. A table
/// that another program made with AUTOINCREMENT has its highest key in `sqlite_sequence`, which is read as well.
///
/// Every Quire store that has the file open does the same. Before a store allocates its first key after a foreign
/// commit it reads all of them, so no two stores allocate the same key.
final class KeyAllocator: Sendable {
  private struct Known {
    var highest: Int64 = 0
    /// How many foreign commits the writer had met when `_quire_keys` was last looked at.
    var foreignCommits: Int?
  }
  private let known = Locked<[Int: Known]>([:])

  /// The first of `count` new keys.
  func reserve(_ count: Int, for entity: Entity, in transaction: borrowing Transaction) throws -> Int64 {
    let inTable = try KeyAllocator.maximum(of: entity, on: transaction.connection)
    let base = max(inTable, try recorded(for: entity, in: transaction))
    let (_, overflow) = base.addingReportingOverflow(Int64(count))
    if overflow { throw ModelError.keysExhausted(model: entity.name) }
    return base + 1
  }

  /// After the commit of rows with keys up to this one.
  func used(_ key: Int64, for entity: Int) { _ = highest(of: entity, atLeast: key) }

  @discardableResult private func highest(of entity: Int, atLeast key: Int64) -> Int64 {
    known.withLock { known in
      let highest = max(known[entity]?.highest ?? 0, key)
      known[entity, default: Known()].highest = highest
      return highest
    }
  }

  /// The highest key that is remembered here or in `_quire_keys`, which is read after foreign commits only.
  private func recorded(for entity: Entity, in transaction: borrowing Transaction) throws -> Int64 {
    let now = transaction.foreignCommitCount
    if let known = known.withLock({ $0[entity.index] }), known.foreignCommits == now { return known.highest }
    let recorded = try KeyAllocator.recorded(for: entity, on: transaction.connection)
    return known.withLock { known in
      known[entity.index, default: Known()].foreignCommits = now
      let highest = max(known[entity.index]?.highest ?? 0, recorded)
      known[entity.index]?.highest = highest
      return highest
    }
  }

  /// When a file is opened.
  func start(_ store: Store, on connection: Connection) throws {
    for entity in store.entities {
      used(
        max(
          try KeyAllocator.maximum(of: entity, on: connection), try KeyAllocator.recorded(for: entity, on: connection)),
        for: entity.index)
    }
  }

  /// At the end of a transaction: writes down the highest keys of the rows it has deleted, in whatever way, if the
  /// table no longer shows them.
  func remember(
    _ deleted: [(table: String, key: Int64)], of entities: [Entity], in transaction: borrowing Transaction
  ) throws {
    for (table, key) in deleted {
      guard let entity = entities.first(where: { $0.table == table }) else { continue }
      try remember(key, of: entity, on: transaction.connection)
    }
  }

  private func remember(_ deleted: Int64, of entity: Entity, on connection: Connection) throws {
    let highest = highest(of: entity.index, atLeast: deleted)
    if try KeyAllocator.maximum(of: entity, on: connection) >= highest { return }
    if try KeyAllocator.recorded(for: entity, on: connection) >= highest { return }
    if try !SchemaReader(connection).hasTable("_quire_keys") {
      try connection.execute(
        "CREATE TABLE _quire_keys (table_name TEXT PRIMARY KEY, highest INTEGER NOT NULL) STRICT, WITHOUT ROWID")
    }
    try connection.execute(
      "INSERT INTO _quire_keys VALUES (?, ?) ON CONFLICT (table_name) DO UPDATE SET highest = max(highest, excluded.highest)",
      [.text(entity.table), .integer(highest)])
  }

  static func maximum(of entity: Entity, on connection: Connection) throws -> Int64 {
    let statement = try connection.statement(
      entity.maxKey,
      "SELECT max(\(try quoted(identifier: entity.keyColumn))) FROM \(try quoted(identifier: entity.table))")
    defer { statement.reset() }
    guard try statement.step(), !statement.row.isNull(0) else { return 0 }
    return max(0, try statement.row.int64(0))
  }

  /// The highest key in `_quire_keys`, and in `sqlite_sequence` if another program made the table with AUTOINCREMENT.
  private static func recorded(for entity: Entity, on connection: Connection) throws -> Int64 {
    let reader = SchemaReader(connection)
    var highest: Int64 = 0
    for (table, query) in [
      ("_quire_keys", "SELECT highest FROM _quire_keys WHERE table_name = ?"),
      ("sqlite_sequence", "SELECT seq FROM sqlite_sequence WHERE name = ? COLLATE NOCASE"),
    ] where try reader.hasTable(table) {
      for row in try connection.query(query, [.text(entity.table)]).rows {
        if case .integer(let key)? = row.first { highest = max(highest, key) }
      }
    }
    return highest
  }
}
