import QuireRow
package import QuireSQLite
import Synchronization

/// What all contexts of one container share: the database, the resolved models, the next free keys.
package final class Store: Sendable {
  package let number: UInt32
  package let database: Database
  package let entities: [Entity]
  package let joins: [JoinTable]
  private let entityNumbers: [ObjectIdentifier: Int]
  private let contexts = Atomic<UInt64>(0)
  let keys = KeyAllocator()
  /// Entity indexes so that every entity comes after those its foreign keys point to; nil where that goes in a circle.
  let insertOrder: [Int]
  let hasCircularKeys: Bool

  init(database: Database, entities: [Entity], joins: [JoinTable], name: String) {
    self.database = database
    self.entities = entities
    self.joins = joins
    entityNumbers = Dictionary(uniqueKeysWithValues: entities.map { (ObjectIdentifier($0.type), $0.index) })
    number = StoreRegistry.shared.add(name: name, entities: entities.map(\.name))
    (insertOrder, hasCircularKeys) = Store.order(entities)
  }

  deinit { StoreRegistry.shared.remove(number) }

  package func entity(for type: any PersistentModel.Type) -> Entity? {
    entityNumbers[ObjectIdentifier(type)].map { entities[$0] }
  }

  package func entity(ofTable table: String) -> Entity? { entities.first { $0.table == table } }

  func nextContextNumber() -> UInt64 { contexts.add(1, ordering: .relaxed).newValue }

  private static func order(_ entities: [Entity]) -> ([Int], Bool) {
    var result: [Int] = []
    var state = [Int](repeating: 0, count: entities.count)  // 1: being visited, 2: placed
    var circular = false
    func visit(_ index: Int) {
      if state[index] != 0 {
        if state[index] == 1 { circular = true }
        return
      }
      state[index] = 1
      for property in entities[index].properties {
        if let side = property.toOne { visit(side.target) }
      }
      state[index] = 2
      result.append(index)
    }
    for index in entities.indices { visit(index) }
    return (result, circular)
  }
}

/// Gives new rows their keys, so that none is used twice.
///
/// A key is one above the highest the table has or ever had. While the process lives the highest is remembered here;
/// for the next one it is written to `_quire_keys`, and only when the rows with the highest keys are deleted, because
/// otherwise the table itself tells. That costs inserts nothing where AUTOINCREMENT costs a third.
final class KeyAllocator: Sendable {
  private let highest = Mutex<[Int: Int64]>([:])

  /// The first of `count` new keys; called with the writer's lock held, so that the table's maximum is exact.
  func reserve(_ count: Int, for entity: Entity, on connection: Connection) throws -> Int64 {
    let inTable = try KeyAllocator.maximum(of: entity, on: connection)
    var known = highest.withLock { $0[entity.index] }
    if known == nil { known = try KeyAllocator.recorded(for: entity, on: connection) }
    let base = max(inTable, known ?? 0)
    let (last, overflow) = base.addingReportingOverflow(Int64(count))
    if overflow { throw ModelError.keysExhausted(model: entity.name) }
    highest.withLock { $0[entity.index] = last }
    return base + 1
  }

  /// After deletes: writes the highest key down where the table no longer shows it.
  func remember(_ entity: Entity, before: Int64, on connection: Connection) throws {
    let known = highest.withLock { highest in
      let value = max(highest[entity.index] ?? 0, before)
      highest[entity.index] = value
      return value
    }
    if known <= (try KeyAllocator.maximum(of: entity, on: connection)) { return }
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS _quire_keys (table_name TEXT PRIMARY KEY, highest INTEGER NOT NULL) STRICT, WITHOUT ROWID"
    )
    try connection.execute(
      "INSERT INTO _quire_keys VALUES (?, ?) ON CONFLICT (table_name) DO UPDATE SET highest = max(highest, excluded.highest)",
      [.text(entity.table), .integer(known)])
  }

  static func maximum(of entity: Entity, on connection: Connection) throws -> Int64 {
    let statement = try connection.statement(
      entity.maxKey,
      "SELECT max(\(try quoted(identifier: entity.keyColumn))) FROM \(try quoted(identifier: entity.table))")
    defer { statement.reset() }
    guard try statement.step(), !statement.row.isNull(0) else { return 0 }
    return max(0, try statement.row.int64(0))
  }

  private static func recorded(for entity: Entity, on connection: Connection) throws -> Int64 {
    let exists = try connection.query(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '_quire_keys'", []
    ).rows
    if exists.isEmpty { return 0 }
    let rows = try connection.query("SELECT highest FROM _quire_keys WHERE table_name = ?", [.text(entity.table)]).rows
    if case .integer(let value)? = rows.first?.first { return value }
    return 0
  }
}
