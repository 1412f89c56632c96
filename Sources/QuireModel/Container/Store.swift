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
  /// By entity, whether a foreign key points to it.
  let isTarget: [Bool]
  /// Whether any relationship says how many objects it may have.
  let limitsCounts: Bool
  /// Entities from which foreign keys lead back to themselves.
  let circular: Set<Int>

  init(database: Database, entities: [Entity], joins: [JoinTable], name: String) {
    self.database = database
    self.entities = entities
    self.joins = joins
    entityNumbers = Dictionary(uniqueKeysWithValues: entities.map { (ObjectIdentifier($0.type), $0.index) })
    number = StoreRegistry.shared.add(name: name, entities: entities.map(\.name))
    (insertOrder, hasCircularKeys) = Store.order(entities)
    let targets = Set(entities.flatMap { $0.properties.compactMap(\.toOne?.target) })
    limitsCounts = entities.contains { $0.properties.contains { $0.counts != nil } }
    isTarget = entities.map { targets.contains($0.index) }
    circular = hasCircularKeys ? Store.circular(entities) : []
  }

  deinit { StoreRegistry.shared.remove(number) }

  package func entity(for type: any PersistentModel.Type) -> Entity? {
    let wanted = ObjectIdentifier(type)
    if entities.count <= 16 {  // a look through a few is a tenth of hashing
      for entity in entities where entity.typeID == wanted { return entity }
      return nil
    }
    return entityNumbers[wanted].map { entities[$0] }
  }

  package func entity(ofTable table: String) -> Entity? { entities.first { $0.table == table } }

  /// The entities whose rows may go when rows of these do: their own, and those a cascade takes.
  func takenWith(_ deleted: some Sequence<Int>) -> Set<Int> {
    var result = Set(deleted)
    var waiting = Array(result)
    while let target = waiting.popLast() {
      for index in entities[target].cascadeTargets where result.insert(index).inserted { waiting.append(index) }
      for entity in entities where !result.contains(entity.index) {
        if entity.goes(with: target) {
          result.insert(entity.index)
          waiting.append(entity.index)
        }
      }
    }
    return result
  }

  func nextContextNumber() -> UInt64 { contexts.add(1, ordering: .relaxed).newValue }

  private static func circular(_ entities: [Entity]) -> Set<Int> {
    Set(
      entities.indices.filter { start in
        var reached: Set<Int> = []
        var waiting = [start]
        while let index = waiting.popLast() {
          for property in entities[index].properties {
            if let side = property.toOne, reached.insert(side.target).inserted { waiting.append(side.target) }
          }
        }
        return reached.contains(start)
      })
  }

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
  private let highest = Locked<[Int: Int64]>([:])

  /// The first of `count` new keys; called with the writer's lock held, so that the table's maximum is exact.
  func reserve(_ count: Int, for entity: Entity, on connection: Connection) throws -> Int64 {
    let inTable = try KeyAllocator.maximum(of: entity, on: connection)
    var known = highest.withLock { $0[entity.index] }
    if known == nil { known = try KeyAllocator.recorded(for: entity, on: connection) }
    let base = max(inTable, known ?? 0)
    let (_, overflow) = base.addingReportingOverflow(Int64(count))
    if overflow { throw ModelError.keysExhausted(model: entity.name) }
    return base + 1
  }

  /// After the commit of rows with keys up to this one.
  func used(_ key: Int64, for entity: Int) {
    highest.withLock { $0[entity] = max($0[entity] ?? 0, key) }
  }

  /// Before deletes: the highest keys of the tables they may take rows from.
  func highest(of entities: Set<Int>, in store: Store, on connection: Connection) throws -> [Int: Int64] {
    var result: [Int: Int64] = [:]
    for index in entities { result[index] = try KeyAllocator.maximum(of: store.entities[index], on: connection) }
    return result
  }

  /// After deletes: what ``highest(of:in:on:)`` gave before them.
  func remember(_ highest: [Int: Int64], in store: Store, on connection: Connection) throws {
    for (index, before) in highest.sorted(by: { $0.key < $1.key }) {
      try remember(store.entities[index], before: before, on: connection)
    }
  }

  /// After SQL of which nobody knows what it deletes: what it left, against what was known.
  func look(_ store: Store, on connection: Connection) throws {
    for entity in store.entities { try remember(entity, before: 0, on: connection) }
  }

  /// When a file is opened.
  func start(_ store: Store, on connection: Connection) throws {
    for entity in store.entities {
      let key = max(
        try KeyAllocator.maximum(of: entity, on: connection), try KeyAllocator.recorded(for: entity, on: connection))
      highest.withLock { $0[entity.index] = key }
    }
  }

  /// Writes the highest key down where the table no longer shows it.
  func remember(_ entity: Entity, before: Int64, on connection: Connection) throws {
    let known = highest.withLock { highest in
      let value = max(highest[entity.index] ?? 0, before)
      highest[entity.index] = value
      return value
    }
    let now = try KeyAllocator.maximum(of: entity, on: connection)
    if known <= now {
      if known < now { highest.withLock { $0[entity.index] = max(now, $0[entity.index] ?? 0) } }
      return
    }
    if try KeyAllocator.recorded(for: entity, on: connection) >= known { return }
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
