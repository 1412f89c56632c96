import Foundation
import QuireRow
import QuireSQLite

/// Fetching: one object for each row, unsaved edits included.
extension Owner {
  func fetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
    try settleThrowing()
    let store = try requireStore()
    if let text = descriptor.fullText {
      let (entity, keys) = try found(descriptor, text)
      let result: [Model] = try objects(entity, keys: keys)
      for keyPath in descriptor.relationshipKeyPathsForPrefetching { prefetch(keyPath, of: result, entity) }
      changed()
      return result
    }
    let query = try ResolvedQuery(descriptor, in: store, evaluating: true)
    let result: [Model]
    if query.remaining != nil {
      result = try fetchByObjects(query, withEdits: descriptor.includePendingChanges)
    } else if descriptor.includePendingChanges, hasPendingRows(query) {
      result = try fetchWithEdits(query)
    } else {
      result = try run(try query.selectingObjects(), query.entity)
    }
    for keyPath in descriptor.relationshipKeyPathsForPrefetching { prefetch(keyPath, of: result, query.entity) }
    changed()
    return result
  }

  /// Runs a statement whose rows are objects.
  func run<Model: PersistentModel>(_ sql: SQLText, _ entity: Entity) throws -> [Model] {
    var objects = ObjectBuffer()
    var keys: [Int64] = []
    let map = maps[entity.index]
    try read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      var state = ModelState(owner: self, key: 0)
      while try statement.step() {
        var row = statement.row
        var key: Int64 = 0
        do {
          key = try row.next(Int64.self)
          if let known = map.find(key) {
            objects.append(known)
          } else {
            if key < ModelState.firstKey { throw ValueError.notA(type: "key", column: 0, found: "\(key)") }
            state.key = key
            let model = try Model(_quireRow: &row, state)
            if !entity.mirrors.isEmpty { entity.clearMirrors(of: model) }
            map.insert(model, key: key)
            objects.append(model)
          }
        } catch let error as ValueError {
          let refusal = undecodable(entity, row, start: 0, error)
          guard let badRows else { throw refusal }
          badRows.errors.append(refusal)
          continue
        }
        keys.append(key)
      }
    }
    groups.add(keys, entity: entity.index)
    return objects.models()
  }

  func count<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> Int {
    try settleThrowing()
    if let text = descriptor.fullText { return try found(descriptor, text).keys.count }
    let query = try ResolvedQuery(descriptor, in: try requireStore(), evaluating: true)
    if query.remaining != nil {
      return try (fetchByObjects(query, withEdits: descriptor.includePendingChanges) as [Model]).count
    }
    if descriptor.includePendingChanges, hasPendingRows(query) {
      return try (fetchWithEdits(query) as [Model]).count
    }
    let sql = try query.select.count()
    return try read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      guard try statement.step() else { return 0 }
      return Int(try statement.row.int64(0))
    }
  }

  func identifiers<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [PersistentIdentifier] {
    try settleThrowing()
    if let text = descriptor.fullText {
      let (entity, keys) = try found(descriptor, text)
      return keys.map { PersistentIdentifier(store: storeNumber, entity: UInt32(entity.index), key: $0) }
    }
    let query = try ResolvedQuery(descriptor, in: try requireStore(), evaluating: true)
    if query.remaining != nil {
      return try (fetchByObjects(query, withEdits: descriptor.includePendingChanges) as [Model])
        .map(\.persistentModelID)
    }
    if descriptor.includePendingChanges, hasPendingRows(query) {
      return try (fetchWithEdits(query) as [Model]).map(\.persistentModelID)
    }
    return try keys(try query.select.statement()).map {
      PersistentIdentifier(store: storeNumber, entity: UInt32(query.entity.index), key: $0)
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

  /// Looks one row up by its key; moves nothing.
  func find(_ entity: Entity, key: Int64) -> AnyObject? {
    if key < ModelState.firstKey { return nil }
    do {
      return try read { connection in
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
    batchLimit = max(models.count, Owner.batchLimit)  // asked for: all of them in one statement
    defer { batchLimit = Owner.batchLimit }
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
  func hasPendingRows(_ query: ResolvedQuery) -> Bool {
    guard hasChanges else { return false }
    if hasPendingPairs(query) { return true }
    let tables = query.select.tables
    return pendingModels.contains { model in entity(of: model).map { tables.contains($0.table) } ?? false }
  }

  var pendingModels: [any PersistentModel] {
    edits.filter { $0._quireState.dirty != 0 } + inserted.compactMap { $0 } + deleted
  }

  /// Rows that no unsaved edit touches come from SQL, the others are judged in memory, by the same condition and order.
  func fetchWithEdits<Model: PersistentModel>(_ query: ResolvedQuery) throws -> [Model] {
    let store = try requireStore()
    let pending = pendingModels
    var candidates: [Model] = pending.compactMap { $0 as? Model }
    let saved = Set(candidates.map(\._quireState.key).filter { $0 >= ModelState.firstKey })
    let reached = try rowsReaching(pending, query).union(rowsRelated(to: pending, query)).subtracting(saved)
    candidates += try objects(query.entity, keys: reached.sorted())
    let (end, overflows) = (query.select.limit ?? .max).addingReportingOverflow(query.select.offset)
    var untouched = query
    untouched.select.offset = 0
    untouched.select.limit = overflows || query.select.limit == nil ? nil : end
    let affected = saved.union(reached)
    let rows: [Model] = try run(
      try untouched.objectStatement { query throws(QueryError) in try query.statement(excluding: affected) },
      query.entity)
    let result = try read { connection in
      let values = try PendingRows(self, store, on: connection)
      let matching = candidates.filter { model in
        !model.isDeleted && query.select.filter.map { values.accepts($0, model, query.entity) } ?? true
      }
      return merged(rows, matching, query, values)
    }
    return Array(result.dropFirst(query.select.offset).prefix(query.select.limit ?? .max))
  }

  /// Ordered rows, with others put in where they belong.
  private func merged<Model: PersistentModel>(
    _ rows: [Model], _ others: [Model], _ query: ResolvedQuery, _ values: PendingRows
  ) -> [Model] {
    var result: [Model] = []
    result.reserveCapacity(rows.count + others.count)
    var start = 0
    for (model, place) in others.map({ ($0, values.place(of: $0, in: query)) }).sorted(by: { $0.1.precedes($1.1) }) {
      var low = start
      var high = rows.count
      while low < high {
        let middle = (low + high) / 2
        if values.place(of: rows[middle], in: query).precedes(place) { low = middle + 1 } else { high = middle }
      }
      result += rows[start..<low]
      result.append(model)
      start = low
    }
    return result + rows[start...]
  }

  /// The objects with these keys; what is not in memory is loaded.
  func objects<Model: PersistentModel>(_ entity: Entity, keys: [Int64]) throws -> [Model] {
    let known = loadErrors.count
    try loadBatch(Model.self, keys: keys)
    if loadErrors.count > known, let error = loadErrors.popLast() { throw error }
    return keys.compactMap { registered(entity.index, $0) as? Model }
  }

  /// Keys of the query's rows whose paths lead to an object with unsaved edits.
  func rowsReaching(_ pending: [any PersistentModel], _ query: ResolvedQuery) throws -> Set<Int64> {
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

  // MARK: Deleting by predicate

  func deleteRows<Model: PersistentModel>(of type: Model.Type, where predicate: Predicate<Model>?) throws {
    try settleThrowing()
    let store = try requireStore()
    let query = try ResolvedQuery(type, where: predicate, sortBy: [], limit: nil, offset: 0, in: store)
    let sql = try query.select.statement()
    let table = try quoted(identifier: query.entity.table)
    let key = try quoted(identifier: query.entity.keyColumn)
    try write(explain: { deniedDelete($0, query, sql, $1) }) { connection, store in
      let highest = try store.keys.highest(of: store.takenWith([query.entity.index]), in: store, on: connection)
      let lists = try countedLists(left: sql, in: query.entity, store, on: connection)
      try connection.execute("DELETE FROM \(table) WHERE \(key) IN (\(sql.text))", sql.bindings)
      for list in lists { try list.check(on: connection) }
      try store.keys.remember(highest, in: store, on: connection)
    }
  }
}

extension ModelContext {
  /// The objects that match, one for each row, in order.
  ///
  /// Takes in commits made elsewhere first. Cost: one statement, and decoding of the rows that are not in memory. Where a
  /// part of the predicate has no SQL, the objects are asked that the rest of it leaves, in batches: their number is the
  /// cost, and ``explain(_:)`` tells the part.
  /// - Throws: ``ModelError/undecodable(model:key:property:reason:)`` for a row that is no such object,
  ///   ``UntranslatablePredicate`` for a predicate that neither SQL nor an object can be asked.
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

  /// The same; the batch size is accepted for SwiftData's sake: an identifier is three numbers.
  public func fetchIdentifiers<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>, batchSize: Int) throws
    -> [PersistentIdentifier]
  {
    try owner.identifiers(descriptor)
  }

  /// Visits the objects that match, holding no more than a batch of them.
  ///
  /// - Parameter allowEscapingMutations: Accepted for SwiftData's sake: what is edited is kept until it is saved.
  public func enumerate<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (Model) throws -> Void
  ) throws {
    let identifiers = try owner.identifiers(descriptor)
    for start in stride(from: 0, to: identifiers.count, by: max(1, batchSize)) {
      let batch = identifiers[start..<min(identifiers.count, start + max(1, batchSize))]
      guard let entity = owner.store?.entity(for: Model.self) else { throw ModelError.closed }
      let models: [Model] = try owner.objects(entity, keys: batch.map(\.key))
      for model in models where !model.isDeleted { try block(model) }
      owner.sweep()
    }
  }
}

extension Owner {
  func loadBatch<Model: PersistentModel>(_ type: Model.Type, keys: [Int64]) throws {
    guard let entity = store?.entity(for: type) else { throw ModelError.unknownModel("\(type)") }
    let missing = keys.filter { registered(entity.index, $0) == nil }
    try read { try load(entity, keys: missing, on: $0) }
  }
}

/// Objects of one class while they come in: an array of them that does not know the class, because an array of a
/// generic parameter looks its own type up at every append.
private struct ObjectBuffer: ~Copyable {
  private var start: UnsafeMutablePointer<AnyObject>?
  private var count = 0
  private var capacity = 0

  init() {}

  mutating func append(_ object: AnyObject) {
    if count == capacity { grow() }
    start.unsafelyUnwrapped.advanced(by: count).initialize(to: object)
    count += 1
  }

  private mutating func grow() {
    capacity = max(16, capacity * 2)
    let larger = UnsafeMutablePointer<AnyObject>.allocate(capacity: capacity)
    if let start {
      larger.moveInitialize(from: start, count: count)
      start.deallocate()
    }
    start = larger
  }

  /// All of them, which are of that class; the references move, none is counted.
  consuming func models<Model: AnyObject>() -> [Model] {
    guard let start else { return [] }
    let count = count
    self.count = 0
    return [Model](unsafeUninitializedCapacity: count) { models, initialized in
      if let place = models.baseAddress {
        start.withMemoryRebound(to: Model.self, capacity: count) { place.moveInitialize(from: $0, count: count) }
      }
      initialized = count
    }
  }

  deinit {
    start?.deinitialize(count: count)
    start?.deallocate()
  }
}
