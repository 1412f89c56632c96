import Foundation
import QuireRow
import QuireSQLite

/// Fetches one object for each row, evaluating unsaved edits in memory, and fetches values without making objects.
package final class Fetcher: ContextPart {
  /// Rows that do not decode, or could not be read.
  var unread = UnreadRows()
  /// Collects the errors of such rows during a fetch that skips them.
  var badRows: BadRows?
  /// What finds unsaved objects by their values.
  var unsavedValues = UnsavedValues()

  func close() {
    unread = UnreadRows()
    unsavedValues = UnsavedValues()
  }

  func fetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
    try core.following.catchUp()
    let store = try requireStore()
    if descriptor.fullText != nil {
      let (entity, keys) = try found(descriptor)
      let result: [Model] = try objects(entity, keys: keys)
      for keyPath in descriptor.relationshipKeyPathsForPrefetching { prefetch(keyPath, of: result, entity) }
      core.following.hasRead()
      return result
    }
    let entity = try store.requireEntity(for: Model.self)
    let prefetched = descriptor.relationshipKeyPathsForPrefetching
    let brought = BroughtToOne.all(among: prefetched, of: entity, in: store)
    let result: [Model] =
      switch try answer(
        descriptor, as: .objects(bringing: brought.map(\.property)), { try $0.selectingObjects(bringing: brought) })
      {
      case .statement(let sql): try run(sql, entity, bringing: brought)
      case .objects(let objects): objects
      case .withEdits(let query): try fetchWithEdits(query)
      }
    for keyPath in prefetched { prefetch(keyPath, of: result, entity) }
    core.following.hasRead()
    return result
  }

  /// What answers a fetch: a statement; the objects, if parts without SQL must be evaluated on them; or the query and
  /// unsaved edits.
  private enum Answer<Model> {
    case statement(SQLText), objects([Model]), withEdits(ResolvedQuery)
  }

  /// - Parameter write: writes the statement of a query that SQL answers alone.
  private func answer<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, as answer: QueryForm.Answer, _ write: (ResolvedQuery) throws -> SQLText
  ) throws -> Answer<Model> {
    let store = try requireStore()
    let withEdits = descriptor.includePendingChanges
    if !withEdits || !hasChanges, let known = store.knownFetches.statement(descriptor, for: answer, in: store, write) {
      return .statement(known)
    }
    let query = try ResolvedQuery(descriptor, in: store, evaluating: true, asking: core)
    if query.remaining != nil {  // objects whose relationships cannot be loaded do not tell
      return .objects(try core.throwingDeferred { try fetchByObjects(query, withEdits: withEdits) })
    }
    if withEdits, try hasPendingRows(query) { return .withEdits(query) }
    return .statement(try write(query))
  }

  /// Runs a statement whose rows are objects, with those that they bring.
  func run<Model: PersistentModel>(
    _ sql: SQLText, _ entity: Entity, bringing brought: [BroughtToOne] = []
  ) throws -> [Model] {
    var objects = ObjectBuffer()
    var keys: [Int64] = []
    let map = maps[entity.index]
    let bad = Set(unread.undecodable(of: entity.index))
    try read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      let hasMirrors = !entity.mirrors.isEmpty
      while try statement.step() {
        var row = statement.row
        var key: Int64 = 0
        do {
          key = try row.next(Int64.self)
          if let known = map.find(key) {
            // It has the values of before.
            if !bad.isEmpty, bad.contains(key) { _ = try Model.decoded(&row, ModelState()) }
            objects.append(known)
            for toOne in brought { core.loader.take(toOne, of: unsafeDowncast(known, to: Model.self), from: &row) }
          } else {
            if key < ModelState.firstKey { throw ValueError.notA(type: "key", column: 0, found: "\(key)") }
            let model = try Model.decoded(&row, ModelState(owner: core, key: key))
            if hasMirrors { entity.clearMirrors(of: model) }
            map.insert(model, key: key)
            objects.append(model)
            for toOne in brought { core.loader.take(toOne, of: model, from: &row) }
          }
        } catch let error as ValueError {
          let refusal = core.loader.undecodable(entity, row, start: 0, error)
          guard let badRows else { throw refusal }
          badRows.errors.append(refusal)
          continue
        }
        keys.append(key)
      }
    }
    core.loader.groups.add(keys, entity: entity.index)
    return objects.models()
  }

  func count<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> Int {
    try core.following.catchUp()
    if descriptor.fullText != nil { return try found(descriptor).keys.count }
    let sql: SQLText
    switch try answer(descriptor, as: .count, { try $0.select.count() }) {
    case .objects(let objects): return objects.count
    case .withEdits(let query): return try countWithEdits(Model.self, query)
    case .statement(let statement): sql = statement
    }
    return try number(sql)
  }

  /// The number that a statement counts.
  func number(_ sql: SQLText) throws -> Int { try keys(sql).first.map { Int($0) } ?? 0 }

  func identifiers<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [PersistentIdentifier] {
    try core.following.catchUp()
    if descriptor.fullText != nil {
      let (entity, keys) = try found(descriptor)
      return keys.map { PersistentIdentifier(store: core.storeNumber, entity: UInt32(entity.index), key: $0) }
    }
    let store = try requireStore()
    let entity = try store.requireEntity(for: Model.self)
    switch try answer(descriptor, as: .identifiers, { try $0.select.statement() }) {
    case .objects(let objects): return objects.map(\.persistentModelID)
    case .withEdits(let query):
      let objects: [Model] = try fetchWithEdits(query)
      return objects.map(\.persistentModelID)
    case .statement(let sql):
      return try keys(sql).map {
        PersistentIdentifier(store: core.storeNumber, entity: UInt32(entity.index), key: $0)
      }
    }
  }

  /// One column of keys.
  func keys(_ sql: SQLText) throws -> [Int64] {
    try read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      var result: [Int64] = []
      while try statement.step() { result.append(try statement.row.int64(0)) }
      return result
    }
  }

  /// The object of a row that is not in memory; nil if there is no such row. An error is reported by the next call that
  /// can throw.
  ///
  /// - Parameter atNewest: See ``lookUpAtNewest(_:key:)``; else the context stays at its commit.
  func find(_ entity: Entity, key: Int64, atNewest: Bool = false) -> AnyObject? {
    do {
      if atNewest { return try core.toItsEnd { try lookUpAtNewest(entity, key: key) } }
      return try core.inPlace { try lookUp(entity, key: key) }
    } catch {
      core.deferReadError(error)
      return nil
    }
  }

  /// The object of a row that is not in memory; nil if there is no such row.
  ///
  /// If there is none at the commit that the context shows, it is looked for at the newest, where a fetch would find it:
  /// another context may have inserted it, and handed its identifier on.
  func lookUpAtNewest(_ entity: Entity, key: Int64) throws -> AnyObject? {
    if let object = try lookUp(entity, key: key) { return object }
    if key < ModelState.firstKey || core.following.move != nil { return nil }
    let number = position.number
    try core.following.catchUp()
    if position.number == number { return nil }
    return try registered(entity.index, key) ?? lookUp(entity, key: key)
  }

  /// The object of a row that is not in memory; nil if there is no such row.
  func lookUp(_ entity: Entity, key: Int64) throws -> AnyObject? {
    if key < ModelState.firstKey { return nil }
    return try read { connection in
      let statement = try entity.row(key, on: connection)
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      var row = statement.row
      defer { core.following.hasRead() }
      return try core.loader.object(entity, &row)
    }
  }

  private func prefetch<Model: PersistentModel>(_ keyPath: PartialKeyPath<Model>, of models: [Model], _ entity: Entity)
  {
    guard let index = entity.property(at: keyPath) else { return }
    // A prefetch: all of them in one statement.
    core.loader.batchLimit = max(models.count, RelationshipLoader.batchLimit)
    core.loader.rowLimit = .max
    defer {
      core.loader.batchLimit = RelationshipLoader.batchLimit
      core.loader.rowLimit = RelationshipLoader.rowLimit
    }
    for model in models {
      switch entity.properties[index].kind {
      case .value: return
      case .toOne:
        let link = model._quireLink(index)
        if link.hasKey, link.object == nil { _ = core.loader.loadToOne(model, index, key: link.key) }
      case .toMany: _ = core.loader.list(of: model, index)
      }
    }
  }

  /// The objects with these keys; those that are not in memory are loaded.
  func objects<Model: PersistentModel>(_ entity: Entity, keys: [Int64]) throws -> [Model] {
    try core.throwingDeferred { try loadBatch(Model.self, keys: keys) }
    return keys.compactMap { registered(entity.index, $0) as? Model }
  }

  /// The objects of rows, by key: those in memory with their edits. Keys without a row are left out.
  package func objects<Model: PersistentModel>(withKeys keys: Set<Int64>) throws -> [Int64: Model] {
    let entity = try requireStore().requireEntity(for: Model.self)
    let objects: [Model] = try objects(entity, keys: keys.filter { $0 >= ModelState.firstKey }.sorted())
    core.following.hasRead()
    return Dictionary(uniqueKeysWithValues: objects.map { ($0._quireRowState.key, $0) })
  }

  func loadBatch<Model: PersistentModel>(_ type: Model.Type, keys: [Int64]) throws {
    let entity = try requireStore().requireEntity(for: type)
    let missing = keys.filter { registered(entity.index, $0) == nil }
    try read { try core.loader.load(entity, keys: missing, on: $0) }
  }
}
