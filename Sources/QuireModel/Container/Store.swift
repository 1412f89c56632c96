import QuireRow
package import QuireSQLite
import QuireShared
import Synchronization

/// What all contexts of one container share: the database, the resolved models, the next free keys.
package final class Store: Sendable {
  package let number: UInt32
  package let database: Database
  package let entities: [Entity]
  package let joins: [JoinTable]
  let entityNumbers: [ObjectIdentifier: Int]
  /// An empty list for each entity, which all new contexts share.
  let noPlaces: [[Int]]
  private let contexts = Atomic<UInt64>(0)
  let keys = KeyAllocator()
  package let reads: ReadQueue
  package let knownFetches = KnownFetches()
  /// The foreign keys whose old values are captured, by the list that they make.
  private let listInterests = Locked<[ListPlace.Kind: CaptureToken]>([:])
  package let warnings = Broadcast<StoreWarning>()
  /// The warnings of slow results that observers have been told.
  package let slowResults = Locked<Set<String>>([])
  /// What the file follows, if it is shared.
  let node: StoreNode?
  /// Nil if there are no models.
  let schemaCheck: OpenSchemaCheck?
  private let upkeep: ObservationToken?
  /// Entity indexes so that every entity comes after those its foreign keys point to; nil where that goes in a circle.
  let insertOrder: [Int]
  let hasCircularKeys: Bool
  /// By entity, whether a foreign key points to it.
  let isTarget: [Bool]
  /// By entity, whether references keep the keys of its rows that are gone.
  let isKept: [Bool]
  /// The file's path without symbolic links, by which identifiers know it whatever it was opened by.
  private let name: String
  /// Whether any relationship says how many objects it may have.
  let limitsCounts: Bool
  /// Entities from which foreign keys lead back to themselves.
  let circular: Set<Int>

  init(
    database: Database, readers: Int, entities: [Entity], joins: [JoinTable], name: String, node: StoreNode?,
    schemaCheck: OpenSchemaCheck?
  ) {
    self.database = database
    self.name = name
    self.node = node
    self.schemaCheck = schemaCheck
    upkeep = node?.upkeepFailures.add { [warnings] in warnings.emit(StoreWarning(.sharing, $0)) }
    self.entities = entities
    self.joins = joins
    reads = ReadQueue(limit: readers)
    entityNumbers = Dictionary(uniqueKeysWithValues: entities.map { (ObjectIdentifier($0.type), $0.index) })
    noPlaces = entities.map { _ in [] }
    number = StoreRegistry.shared.add(name: name, entities: entities.map(\.name))
    (insertOrder, hasCircularKeys) = Store.order(entities)
    let targets = Set(entities.flatMap { $0.properties.compactMap(\.toOne?.target) })
    limitsCounts = entities.contains { $0.properties.contains { $0.counts != nil } }
    isTarget = entities.map { targets.contains($0.index) }
    let kept = entities.flatMap {
      $0.properties.compactMap(\.toOne).filter { $0.whenTargetGoes == .noAction }.map(\.target)
    }
    isKept = entities.map { kept.contains($0.index) }
    circular = hasCircularKeys ? Store.circular(entities) : []
  }

  deinit { StoreRegistry.shared.release(number) }

  package func entity(for type: any PersistentModel.Type) -> Entity? {
    let wanted = ObjectIdentifier(type)
    if entities.count <= 16 {  // a look through a few is a tenth of hashing
      for entity in entities where entity.typeID == wanted { return entity }
      return nil
    }
    return entityNumbers[wanted].map { entities[$0] }
  }

  package func requireEntity(for type: any PersistentModel.Type) throws(ModelError) -> Entity {
    guard let entity = entity(for: type) else { throw .unknownModel(naming(type)) }
    return entity
  }

  /// The name of a class that is none of the models; beside it that of the model which is only called the same, such as
  /// another version's.
  func naming(_ type: any PersistentModel.Type) -> String {
    guard let other = entities.first(where: { $0.name == "\(type)" && $0.typeID != ObjectIdentifier(type) }) else {
      return "\(type)"
    }
    let (name, known) = (String(reflecting: type), String(reflecting: other.type))
    func own(_ name: String) -> String { name.split(separator: ".").dropFirst().joined(separator: ".") }
    let isAlike = own(name) == own(known)
    return "\(isAlike ? name : own(name)), unlike \(isAlike ? known : own(known)),"
  }

  /// The identifier as one of this store, also of a row that another container of the same file names; nil for one of
  /// another file, or of a model that is not there.
  package func resolve(_ identifier: PersistentIdentifier) -> PersistentIdentifier? {
    if identifier.store == number { return identifier }
    let registry = StoreRegistry.shared
    if identifier.store != 0 {
      guard identifier.rowKey != nil, registry.names(of: identifier)?.store == name else { return nil }
    }
    guard let model = registry.entityName(of: identifier), let entity = entities.first(where: { $0.name == model })
    else { return nil }
    return PersistentIdentifier(store: number, entity: UInt32(entity.index), key: identifier.key)
  }

  package func entity(ofTable table: String) -> Entity? { entities.first { $0.table == table } }

  /// Captures the old value of a list's foreign key with each commit: it names the parent that a child has left.
  ///
  /// The store captures it for the rest of its life, because contexts come and go with each request. Whenever the captured
  /// columns change, the next transaction reads the schema of its tables again, and that costs more than one number of
  /// each changed row.
  func captureForeignKey(of list: ListPlace.Kind) {
    guard case .foreignKey(let property) = entities[list.entity].properties[list.property].toMany?.via,
      let target = entities[list.entity].properties[list.property].toMany?.target,
      let column = entities[target].properties[property].column
    else { return }
    listInterests.withLock { known in
      if known[list] != nil { return }
      known[list] = database.addCapture(CapturedColumns(table: entities[target].table, columns: [column]))
    }
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
