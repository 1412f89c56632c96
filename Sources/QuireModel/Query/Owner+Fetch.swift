import Foundation
import QuireRow
import QuireSQLite

/// Fetching: one object for each row, unsaved edits included.
extension Owner {
  func fetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
    try settleThrowing()
    let store = try requireStore()
    let query = try ResolvedQuery(descriptor, in: store)
    let result: [Model]
    if descriptor.includePendingChanges, hasPendingRows(query) {
      result = try fetchWithEdits(query, descriptor)
    } else {
      result = try run(try query.selectingObjects(), query.entity)
    }
    for keyPath in descriptor.relationshipKeyPathsForPrefetching { prefetch(keyPath, of: result, query.entity) }
    changed()
    return result
  }

  /// Runs a statement whose rows are objects.
  private func run<Model: PersistentModel>(_ sql: SQLText, _ entity: Entity) throws -> [Model] {
    var result: [Model] = []
    var keys: [Int64] = []
    let map = maps[entity.index]
    try position.read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      let state = ModelState(owner: self, key: 0)
      while try statement.step() {
        var row = statement.row
        var key: Int64 = 0
        do {
          key = try row.next(Int64.self)
          if let known = map.find(key) {
            result.append(unsafeDowncast(known, to: Model.self))
          } else {
            if key < ModelState.firstKey { throw ValueError.notA(type: "key", column: 0, found: "\(key)") }
            var state = state
            state.key = key
            let model = try Model(_quireRow: &row, state)
            map.insert(model, key: key)
            result.append(model)
          }
        } catch let error as ValueError {
          throw undecodable(entity, row, start: 0, error)
        }
        keys.append(key)
      }
    }
    groups.add(keys, entity: entity.index)
    return result
  }

  func count<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> Int {
    try settleThrowing()
    let query = try ResolvedQuery(descriptor, in: try requireStore())
    if descriptor.includePendingChanges, hasPendingRows(query) {
      return try fetchWithEdits(query, descriptor).count
    }
    let sql = try query.select.count()
    return try position.read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      guard try statement.step() else { return 0 }
      return Int(try statement.row.int64(0))
    }
  }

  func identifiers<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [PersistentIdentifier] {
    try settleThrowing()
    let query = try ResolvedQuery(descriptor, in: try requireStore())
    if descriptor.includePendingChanges, hasPendingRows(query) {
      return try fetchWithEdits(query, descriptor).map(\.persistentModelID)
    }
    return try keys(try query.select.statement()).map {
      PersistentIdentifier(store: storeNumber, entity: UInt32(query.entity.index), key: $0)
    }
  }

  /// One column of keys.
  private func keys(_ sql: SQLText) throws -> [Int64] {
    try position.read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      var result: [Int64] = []
      while try statement.step() { result.append(try statement.row.int64(0)) }
      return result
    }
  }

  /// Looks one row up by its key; moves nothing.
  func find(_ entity: Entity, key: Int64) -> AnyObject? {
    if key < ModelState.firstKey { return nil }
    do {
      return try position.read { connection in
        let statement = try connection.statement(
          entity.find,
          "SELECT \(try entity.columnList()) FROM \(try quoted(identifier: entity.table)) WHERE \(try quoted(identifier: entity.keyColumn)) = ?"
        )
        defer { statement.reset() }
        statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        var row = statement.row
        defer { changed() }
        return try object(entity, &row)
      }
    } catch {
      loadErrors.append(error)
      return nil
    }
  }

  private func prefetch<Model: PersistentModel>(_ keyPath: PartialKeyPath<Model>, of models: [Model], _ entity: Entity)
  {
    guard let index = entity.property(at: keyPath) else { return }
    for model in models {
      switch entity.properties[index].kind {
      case .value: return
      case .toOne:
        let link = model._quireLink(index)
        if link.hasKey, link.object == nil { _ = loadToOne(model, index, key: link.key) }
      case .toMany: _ = list(of: model, index)
      }
    }
  }

  // MARK: Unsaved edits

  /// Whether any unsaved edit could show in the query: of its own rows, or of rows its paths reach.
  private func hasPendingRows(_ query: ResolvedQuery) -> Bool {
    guard hasChanges else { return false }
    let tables = query.select.tables
    return pendingModels.contains { model in entity(of: model).map { tables.contains($0.table) } ?? false }
  }

  private var pendingModels: [any PersistentModel] {
    edits.filter { $0._quireState.dirty != 0 } + inserted.compactMap { $0 } + deleted
  }

  /// Rows that no unsaved edit touches come from SQL, the others are judged in memory, by the same predicate.
  private func fetchWithEdits<Model: PersistentModel>(
    _ query: ResolvedQuery, _ descriptor: FetchDescriptor<Model>
  ) throws -> [Model] {
    let pending = pendingModels
    var candidates: [Model] = pending.compactMap { $0 as? Model }
    let saved = Set(candidates.map(\._quireState.key).filter { $0 >= ModelState.firstKey })
    let reached = try rowsReaching(pending, query).subtracting(saved)
    candidates += reached.sorted().compactMap { load(query.entity.index, key: $0) as? Model }
    let affected = saved.union(reached)
    let offset = query.select.offset
    var untouched = query
    untouched.select.offset = 0
    untouched.select.limit = query.select.limit.map { $0 + offset }
    let rows: [Model] = try run(
      try untouched.objectStatement { query throws(QueryError) in try query.statement(excluding: affected) },
      query.entity)
    let matching = try candidates.filter { model in
      try !model.isDeleted && descriptor.predicate?.evaluate(model) ?? true
    }
    var result = rows + matching
    result.sort { precedes($0, $1, descriptor.sortBy, query) }
    let end = query.select.limit.map { min(result.count, offset + $0) } ?? result.count
    return offset < end ? Array(result[offset..<end]) : []
  }

  /// Keys of the query's rows whose paths lead to an object with unsaved edits.
  private func rowsReaching(_ pending: [any PersistentModel], _ query: ResolvedQuery) throws -> Set<Int64> {
    let paths = Set(query.select.decidingColumns.map(\.steps)).filter { !$0.isEmpty }
    var result: Set<Int64> = []
    for path in paths {
      for length in 1...path.count {
        let steps = Array(path.prefix(length))
        let touched = pending.filter { entity(of: $0)?.table == steps[length - 1].table }
          .map(\._quireState.key).filter { $0 >= ModelState.firstKey }
        if touched.isEmpty { continue }
        var all = query.select
        all.filter = nil
        result.formUnion(try keys(try all.statement(forKeys: touched, reachedBy: steps)))
      }
    }
    return result
  }

  /// The query's order on objects: by the descriptors, NULL first, then by key.
  private func precedes<Model: PersistentModel>(
    _ a: Model, _ b: Model, _ sortBy: [SortDescriptor<Model>], _ query: ResolvedQuery
  ) -> Bool {
    for descriptor in sortBy {
      switch descriptor.compare(a, b) {
      case .orderedAscending: return true
      case .orderedDescending: return false
      case .orderedSame: continue
      }
    }
    let ascending = query.select.totalOrder.last?.ascending ?? true
    let before = ToManyList.precedes(a._quireState.key, b._quireState.key)
    return a === b ? false : before == ascending
  }

  // MARK: Deleting by predicate

  func deleteRows<Model: PersistentModel>(of type: Model.Type, where predicate: Predicate<Model>?) throws {
    try settleThrowing()
    let store = try requireStore()
    let query = try ResolvedQuery(type, where: predicate, sortBy: [], limit: nil, offset: 0, in: store)
    let sql = try query.select.statement()
    let table = try quoted(identifier: query.entity.table)
    let key = try quoted(identifier: query.entity.keyColumn)
    try store.database.write(origin: .context(number)) { transaction in
      let before = try KeyAllocator.maximum(of: query.entity, on: transaction.connection)
      try transaction.connection.execute("DELETE FROM \(table) WHERE \(key) IN (\(sql.text))", sql.bindings)
      try store.keys.remember(query.entity, before: before, on: transaction.connection)
    } committed: { _, commit in
      prepareOwn(commit, nil)
    }
    finishMove()
  }
}

extension ModelContext {
  /// The objects that match, one for each row, in order.
  ///
  /// Takes in commits made elsewhere first. Cost: one statement, and decoding of the rows that are not in memory.
  /// - Throws: ``ModelError/undecodable(model:key:property:reason:)`` for a row that is no such object,
  ///   ``ModelError/query(_:)`` for a predicate without SQL.
  public func fetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
    try owner.fetch(descriptor)
  }

  public func fetchCount<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> Int {
    try owner.count(descriptor)
  }

  public func fetchIdentifiers<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws
    -> [PersistentIdentifier]
  {
    try owner.identifiers(descriptor)
  }

  /// Visits the objects that match, holding no more than a batch of them.
  public func enumerate<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, batchSize: Int = 5000, block: (Model) throws -> Void
  ) throws {
    let identifiers = try owner.identifiers(descriptor)
    for start in stride(from: 0, to: identifiers.count, by: max(1, batchSize)) {
      let batch = identifiers[start..<min(identifiers.count, start + max(1, batchSize))]
      try owner.loadBatch(Model.self, keys: batch.map(\.key))
      for identifier in batch {
        if let model: Model = registeredModel(for: identifier) { try block(model) }
      }
      owner.sweep()
    }
  }
}

extension Owner {
  func loadBatch<Model: PersistentModel>(_ type: Model.Type, keys: [Int64]) throws {
    guard let entity = store?.entity(for: type) else { throw ModelError.unknownModel("\(type)") }
    let missing = keys.filter { registered(entity.index, $0) == nil }
    try position.read { try load(entity, keys: missing, on: $0) }
  }
}
