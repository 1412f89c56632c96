import QuireRow
import QuireSQLite

/// One save's statements, in an order in which foreign keys hold and no cascade takes what has moved away: inserts
/// (targets first), pairs, updates, deletes.
///
/// Where an object that is new has the unique value of one that is deleted or edited in the same save, that order is
/// refused. Then what moves away moves first, deletes, other updates and inserts follow, and the foreign keys are
/// looked at when all is written. Where that is refused too, edited rows may be changing places: then each gives its
/// unique values up before any gets its new ones.
final class Writing {
  let owner: ContextCore
  let store: Store
  let order: Order
  /// Row events this save's own statements cause; more than these means triggers or cascades.
  private(set) var expectedEvents = 0
  /// New keys by the place of the object in `inserted`.
  private(set) var newKeys: [Int64]
  /// The object whose row SQLite has refused.
  private(set) var refused: (any PersistentModel)?
  /// Places in `inserted` of each entity's objects.
  private(set) var places: [[Int]] = []

  init(_ owner: ContextCore, _ store: Store, _ order: Order) {
    self.owner = owner
    self.store = store
    self.order = order
    newKeys = Array(repeating: 0, count: owner.pending.inserted.count)
  }

  func run(_ transaction: borrowing Transaction, on connection: Connection) throws {
    let indirect = transaction.indirectEventCount
    do {
      try giveKeys(transaction)
      switch order.steps {
      case .insertsFirst:
        try insert(connection)
        try pairs(connection)
        try update(connection)
        try delete(connection)
      case .deletesFirst, .valuesGivenUpFirst:
        try requireEdited(connection)
        try connection.execute("PRAGMA defer_foreign_keys = ON")
        try pairs(connection) { !$0 }
        if order.steps == .valuesGivenUpFirst { try giveUpValues(connection) }
        try update(connection) { $0.keysMask }
        try delete(connection)
        try update(connection) { ~$0.keysMask }
        try insert(connection)
        try pairs(connection) { $0 }
      }
      if transaction.indirectEventCount > indirect { try requireInserted(connection) }
    } catch {
      restoreTemporaryKeys()
      throw error
    }
    // A commit that fails leaves the objects unsaved: they keep their temporary keys until it has not.
    restoreTemporaryKeys()
  }

  private func restoreTemporaryKeys() {
    for (index, places) in places.enumerated() where store.isTarget[index] {
      for place in places {
        owner.pending.inserted[place]?._quireState.key = owner.pending.firstTemporaryKey &+ Int64(place)
      }
    }
  }

  /// All keys first: a foreign key may point to any object of the save. Objects that none can point to go without until
  /// they are saved: a pass over many objects is a cache miss for each.
  private func giveKeys(_ transaction: borrowing Transaction) throws {
    if owner.pending.inserted.isEmpty { return }
    places = owner.pending.insertedPlaces.map { places in places.filter { owner.pending.inserted[$0] != nil } }
    for index in store.insertOrder where !places[index].isEmpty {
      var key = try store.keys.reserve(places[index].count, for: store.entities[index], in: transaction)
      let isTarget = store.isTarget[index]
      for place in places[index] {
        newKeys[place] = key
        if isTarget { owner.pending.inserted[place]?._quireState.key = key }
        key &+= 1  // After the highest key that there is, which may be the last of them, this one is not used.
      }
    }
  }

  /// Notes row events that statements of this save have caused.
  func expect(_ events: Int) { expectedEvents += events }

  private func insert(_ connection: Connection) throws {
    if places.isEmpty { return }
    if store.hasCircularKeys || order.highestKeys != nil { try connection.execute("PRAGMA defer_foreign_keys = ON") }
    guard let highest = order.highestKeys else {
      for index in store.insertOrder { try insert(places[index], of: store.entities[index], connection) }
      return
    }
    for index in highest == .targetsFirst ? store.insertOrder : store.insertOrder.reversed() {
      try insert(places[index].suffix(1), of: store.entities[index], connection)
    }
    for index in store.insertOrder {
      try insert(places[index].dropLast().reversed(), of: store.entities[index], connection)
    }
  }

  private func insert(_ places: some Collection<Int>, of entity: Entity, _ connection: Connection) throws {
    if places.isEmpty { return }
    let statement = try connection.statement(entity.insert, try Writing.insertSQL(entity))
    defer { statement.reset() }
    let newKeys = newKeys
    for place in places {
      guard let model = owner.pending.inserted[place] else { continue }
      statement.bind(newKeys[place], at: 1)
      do {
        try model._quireBind(entity.storedMask, to: statement, from: 2)
      } catch {
        throw notStorable(model, entity, entity.storedMask, error, statement)
      }
      try write(model, statement)
      if connection.changes == 0 { throw Writing.ignored("a new \(entity.name) was not inserted") }
    }
    expectedEvents += places.count
  }

  private func write(_ model: any PersistentModel, _ statement: Statement) throws {
    do {
      _ = try statement.step()
    } catch {
      refused = model
      throw error
    }
    statement.reset()
  }

  static func insertSQL(_ entity: Entity) throws -> String {
    let columns = [entity.keyColumn] + entity.stored.compactMap { entity.properties[$0].column }
    return "INSERT INTO \(try quoted(identifier: entity.table)) "
      + "(\(try columns.map { try quoted(identifier: $0) }.joined(separator: ", "))) "
      + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
  }

  private func pairs(_ connection: Connection, where included: (Bool) -> Bool = { _ in true }) throws {
    if owner.pending.joinEdits.isEmpty { return }
    for (pair, linked) in owner.pending.joinEdits.sorted where included(linked) {
      let join = store.joins[pair.join]
      if linked, isDeleted(join.first.entity, pair.first) || isDeleted(join.second.entity, pair.second) { continue }
      let table = try quoted(identifier: join.name)
      let first = try quoted(identifier: join.first.name)
      let second = try quoted(identifier: join.second.name)
      // Another writer may have made or removed the same pair: then nothing is left to do.
      let sql =
        linked
        ? "INSERT INTO \(table) (\(first), \(second)) VALUES (?, ?) ON CONFLICT DO NOTHING"
        : "DELETE FROM \(table) WHERE \(first) = ? AND \(second) = ?"
      let statement = try connection.statement(sql)
      statement.bind(saved(pair.first), at: 1)
      statement.bind(saved(pair.second), at: 2)
      _ = try statement.step()
      statement.reset()
      expectedEvents += connection.changes
      if connection.changes == 0, try isThere(pair, in: join, connection) != linked {
        throw Writing.ignored("a row of \(join.name) was not \(linked ? "inserted" : "deleted")")
      }
    }
  }

  private func isDeleted(_ entity: Int, _ key: Int64) -> Bool {
    (owner.registered(entity, key) as? any PersistentModel)?._quireRowState.flags.contains(.deleted) == true
  }

  /// The key an object has after this save.
  func saved(_ key: Int64) -> Int64 {
    if key >= ModelState.firstKey { return key }
    let place = Int(truncatingIfNeeded: key &- owner.pending.firstTemporaryKey)
    return newKeys.indices.contains(place) ? newKeys[place] : key
  }

  private func update(_ connection: Connection, only columns: (Entity) -> PropertyMask = { _ in ~0 }) throws {
    let edits = owner.pending.edits
    var next = 0
    while next < edits.count {
      if let entity = store.entity(for: Swift.type(of: edits[next])) {
        next = try update(edits, from: next, entity, columns(entity), connection)
      } else {
        next += 1
      }
    }
  }

  /// Writes objects of one class in which the same columns are edited, with one statement.
  ///
  /// - Returns: the place of the first that is not one of them.
  private func update(
    _ edits: [any PersistentModel], from start: Int, _ entity: Entity, _ columns: PropertyMask, _ connection: Connection
  ) throws -> Int {
    let stored = entity.storedMask & columns
    let mask = edits[start]._quireRowState.dirty & stored
    if mask == 0 { return start + 1 }
    let statement = try connection.statement(entity.update.of(columns: mask), try Writing.updateSQL(entity, mask))
    let parameter = Int32(mask.nonzeroBitCount) + 1
    var (place, written) = (start, 0)
    defer {
      statement.reset()
      expectedEvents += written
    }
    while place < edits.count {
      let model = edits[place]
      let state = model._quireRowState
      if state.dirty & stored != mask || ObjectIdentifier(Swift.type(of: model)) != entity.typeID { break }
      place += 1
      if state.flags.contains(.deleted) { continue }
      do {
        try model._quireBind(mask, to: statement, from: 1)
      } catch {
        throw notStorable(model, entity, mask, error, statement)
      }
      statement.bind(state.key, at: parameter)
      try write(model, statement)
      if connection.changes == 0 {
        if try isThere(entity, state.key, connection) {
          throw Writing.ignored("\(entity.name) \(state.key) was not updated")
        }
        // In the other orders it was there, and a delete of this save has taken it along.
        if order.steps == .insertsFirst { throw lost(model, entity, mask) }
      }
      written += 1
    }
    return place
  }

  /// Edited rows hold other values for a moment, which no row has; so do those that were edited and then deleted, because what
  /// they have given away is written before they are deleted.
  private func giveUpValues(_ connection: Connection) throws {
    let edits = owner.pending.edits.filter { !$0._quireRowState.flags.contains(.deleted) }
    for model in edits + owner.pending.deleted {
      guard let entity = store.entity(for: Swift.type(of: model)) else { continue }
      let key = model._quireRowState.key
      let edited = owner.pending.edited(of: model)
      for index in Set(entity.uniqueSets.joined()).sorted() where edited & 1 << PropertyMask(index) != 0 {
        let property = entity.properties[index]
        guard let column = property.column else { continue }
        let statement = try connection.statement(
          "UPDATE \(try quoted(identifier: entity.table)) SET \(try quoted(identifier: column)) = ? "
            + "WHERE \(try quoted(identifier: entity.keyColumn)) = ?")
        statement.bind(property.isNullable ? .null : property.spareValue(for: key), at: 1)
        statement.bind(key, at: 2)
        _ = try statement.step()
        statement.reset()
        expectedEvents += connection.changes
      }
    }
  }

  static func updateSQL(_ entity: Entity, _ mask: PropertyMask) throws -> String {
    let columns = entity.stored.filter { mask & 1 << PropertyMask($0) != 0 }.compactMap { entity.properties[$0].column }
    return "UPDATE \(try quoted(identifier: entity.table)) SET "
      + (try columns.map { "\(try quoted(identifier: $0)) = ?" }.joined(separator: ", "))
      + " WHERE \(try quoted(identifier: entity.keyColumn)) = ?"
  }

  private func delete(_ connection: Connection) throws {
    if owner.pending.deleted.isEmpty { return }
    // Children before their parents, so that a parent's rule finds none of those that go with it.
    var deleted: [[any PersistentModel]] = store.entities.map { _ in [] }
    for model in owner.pending.deleted {
      if let entity = store.entity(for: Swift.type(of: model)) { deleted[entity.index].append(model) }
    }
    for index in store.insertOrder.reversed() {
      for model in childrenFirst(deleted[index], store.entities[index]) {
        try delete(model, store.entities[index], connection)
      }
    }
  }

  private func delete(
    _ model: any PersistentModel, _ entity: Entity, _ connection: Connection
  ) throws {
    try refuseDenied(model, entity, connection)
    let statement = try connection.statement(
      entity.delete,
      "DELETE FROM \(try quoted(identifier: entity.table)) WHERE \(try quoted(identifier: entity.keyColumn)) = ?")
    statement.bind(model._quireRowState.key, at: 1)
    _ = try statement.step()
    statement.reset()
    expectedEvents += connection.changes
    if connection.changes == 0, try isThere(entity, model._quireRowState.key, connection) {
      throw Writing.ignored("\(entity.name) \(model._quireRowState.key) was not deleted")
    }
  }

  /// Before deletes, which may take rows of edited objects along: those of a copy may have been deleted elsewhere.
  private func requireEdited(_ connection: Connection) throws {
    guard owner.saver.isSilent else { return }
    for model in owner.pending.edits where !model._quireRowState.flags.contains(.deleted) {
      guard let entity = store.entity(for: Swift.type(of: model)) else { continue }
      let state = model._quireRowState
      if try !isThere(entity, state.key, connection) { throw lost(model, entity, state.dirty) }
    }
  }

  /// The row of an edited object was deleted elsewhere, after a copy of the object was made to be saved.
  private func lost(_ model: any PersistentModel, _ entity: Entity, _ mask: PropertyMask) -> ModelError {
    .ignoredAssignments(
      entity.stored.filter { mask & 1 << PropertyMask($0) != 0 }.map {
        "\(entity.name).\(entity.properties[$0].name) of \(model.persistentModelID)"
      })
  }

  private func notStorable(
    _ model: any PersistentModel, _ entity: Entity, _ mask: PropertyMask, _ error: ValueError, _ statement: Statement
  ) -> ModelError {
    for index in entity.stored where mask & 1 << PropertyMask(index) != 0 {
      do { try model._quireBind(1 << PropertyMask(index), to: statement, from: 1) } catch {
        return .notStorable(model: entity.name, property: entity.properties[index].name, reason: error)
      }
    }
    return .notStorable(model: entity.name, property: "", reason: error)
  }
}

extension Property {
  /// A value of the column that differs for each row and that no other code writes.
  fileprivate func spareValue(for key: Int64) -> Value {
    let type: ColumnType = if case .value(let type, _, _) = kind { type } else { .integer }
    return .spare(type, key)
  }
}
