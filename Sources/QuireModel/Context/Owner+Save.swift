import QuireRow
import QuireSQLite

/// Unsaved edits → one transaction → one step of the context.
extension Owner {
  /// Writes everything that is unsaved as one commit. When this returns it is there for good; when it throws, nothing
  /// of it is, and the edits are still here.
  func save() throws {
    guard hasChanges else { return }
    let store = try requireStore()
    if !refusals.isEmpty {
      let places = refusals
      refusals.removeAll()
      throw ModelError.ignoredAssignments(places)
    }
    try settleThrowing()
    while true {
      var writing = Writing(self, store)
      do {
        try store.database.write(origin: .context(number)) { transaction in
          // Between settling and the lock somebody may have committed: then settle again, so that edits meet what they change.
          if store.database.commitNumber != position.number { throw MovedOn() }
          try writing.run(transaction)
        } committed: { _, commit in
          prepareOwn(commit, writing)
        }
        break
      } catch is MovedOn {
        try settleThrowing()
      } catch let error as SQLiteError {
        throw explained(error, store)
      }
    }
    finishMove()
  }

  private struct MovedOn: Error {}

  /// In the models' words where a constraint refused.
  private func explained(_ error: SQLiteError, _ store: Store) -> any Error {
    guard error.isUnique else { return error }
    // "UNIQUE constraint failed: book.isbn, book.year"
    let places =
      error.message.split(separator: ": ").last?.split(separator: ", ").map { $0.split(separator: ".") } ?? []
    guard let table = places.first?.first, let entity = store.entity(ofTable: String(table)) else { return error }
    let columns = places.compactMap { $0.last.map(String.init) }
    let properties = columns.compactMap { column in entity.properties.first { $0.column == column }?.name }
    guard properties.count == columns.count else { return error }
    return ModelError.notUnique(model: entity.name, properties: properties, values: clashing(entity, columns, store))
  }

  /// The values of the first unsaved object that clashes with a row or with another unsaved object.
  private func clashing(_ entity: Entity, _ columns: [String], _ store: Store) -> [String] {
    let mask = entity.properties.enumerated().reduce(into: UInt64(0)) { mask, entry in
      if let column = entry.element.column, columns.contains(column) { mask |= 1 << UInt64(entry.offset) }
    }
    let models = (inserted.compactMap { $0 } + edits).filter { self.entity(of: $0)?.index == entity.index }
    let list = columns.compactMap { try? quoted(identifier: $0) }
    guard let table = try? quoted(identifier: entity.table) else { return [] }
    var seen: Set<[Value]> = []
    for model in models {
      let found: [Value]? = try? store.database.read { connection in
        let statement = try connection.statement("SELECT \(list.map { _ in "?" }.joined(separator: ", "))")
        defer { statement.reset() }
        try model._quireBind(mask, to: statement, from: 1)
        guard try statement.step() else { return nil }
        let values = list.indices.map { statement.row.value(Int32($0)) }
        let others = try connection.query(
          "SELECT \(try quoted(identifier: entity.keyColumn)) FROM \(table) WHERE "
            + list.map { "\($0) = ?" }.joined(separator: " AND "), values
        ).rows
        let isOther = others.contains { $0.first != .integer(model._quireState.key) }
        return isOther || seen.contains(values)
          ? values
          : {
            seen.insert(values); return nil
          }()
      }
      if let found { return found.map(\.description) }
    }
    return []
  }
}

/// One save's statements, in an order in which foreign keys hold and no cascade takes what has moved away: inserts
/// (targets first), pairs, updates, deletes.
struct Writing {
  private let owner: Owner
  private let store: Store
  /// Row events this save's own statements cause; more than these means triggers or cascades.
  private(set) var expectedEvents = 0
  /// New keys by the place of the object in `inserted`.
  private(set) var newKeys: [Int64]

  init(_ owner: Owner, _ store: Store) {
    self.owner = owner
    self.store = store
    newKeys = Array(repeating: 0, count: owner.inserted.count)
  }

  mutating func run(_ transaction: borrowing Transaction) throws {
    let connection = transaction.connection
    do {
      try insert(connection)
      try pairs(connection)
      try update(connection)
      try delete(connection)
    } catch {
      restoreTemporaryKeys()
      throw error
    }
    // A commit that fails leaves the objects unsaved: they keep their temporary keys until it has not.
    restoreTemporaryKeys()
  }

  private func restoreTemporaryKeys() {
    for (place, model) in owner.inserted.enumerated() where model != nil {
      model?._quireState.key = owner.firstTemporaryKey &+ Int64(place)
    }
  }

  private mutating func insert(_ connection: Connection) throws {
    if owner.inserted.isEmpty { return }
    var places: [[Int]] = store.entities.map { _ in [] }
    for (place, model) in owner.inserted.enumerated() {
      if let model, let entity = store.entity(for: Swift.type(of: model)) { places[entity.index].append(place) }
    }
    // All keys first: a foreign key may point to any object of the save.
    for index in store.insertOrder where !places[index].isEmpty {
      var key = try store.keys.reserve(places[index].count, for: store.entities[index], on: connection)
      for place in places[index] {
        newKeys[place] = key
        owner.inserted[place]?._quireState.key = key
        key += 1
      }
    }
    if store.hasCircularKeys { try connection.execute("PRAGMA defer_foreign_keys = ON") }
    for index in store.insertOrder where !places[index].isEmpty {
      let entity = store.entities[index]
      let statement = try connection.statement(entity.insert, try Writing.insertSQL(entity))
      defer { statement.reset() }
      for place in places[index] {
        guard let model = owner.inserted[place] else { continue }
        statement.bind(newKeys[place], at: 1)
        do {
          try model._quireBind(entity.storedMask, to: statement, from: 2)
        } catch {
          throw notStorable(model, entity, entity.storedMask, error, statement)
        }
        _ = try statement.step()
        statement.reset()
      }
      expectedEvents += places[index].count
    }
  }

  private static func insertSQL(_ entity: Entity) throws -> String {
    let columns = [entity.keyColumn] + entity.stored.compactMap { entity.properties[$0].column }
    return "INSERT INTO \(try quoted(identifier: entity.table)) "
      + "(\(try columns.map { try quoted(identifier: $0) }.joined(separator: ", "))) "
      + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
  }

  private mutating func pairs(_ connection: Connection) throws {
    if owner.joinEdits.isEmpty { return }
    for (pair, linked) in owner.joinEdits.sorted {
      let join = store.joins[pair.join]
      if isDeleted(join.first.entity, pair.first) || isDeleted(join.second.entity, pair.second) { continue }
      let table = try quoted(identifier: join.name)
      let first = try quoted(identifier: join.first.name)
      let second = try quoted(identifier: join.second.name)
      // Somebody else may have made or dropped the same pair: then there is nothing left to do.
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
    }
  }

  private func isDeleted(_ entity: Int, _ key: Int64) -> Bool {
    (owner.registered(entity, key) as? any PersistentModel)?._quireState.flags.contains(.deleted) == true
  }

  /// The key an object has after this save.
  func saved(_ key: Int64) -> Int64 {
    if key >= ModelState.firstKey { return key }
    let place = Int(truncatingIfNeeded: key &- owner.firstTemporaryKey)
    return newKeys.indices.contains(place) ? newKeys[place] : key
  }

  private mutating func update(_ connection: Connection) throws {
    var current: (entity: Int, mask: UInt64, parameters: Int32, statement: Statement)?
    defer { current?.statement.reset() }
    for model in owner.edits {
      let state = model._quireState
      if state.dirty == 0 || state.flags.contains(.deleted) { continue }
      guard let entity = store.entity(for: Swift.type(of: model)) else { continue }
      let mask = state.dirty & entity.storedMask
      if mask == 0 { continue }
      let statement: Statement
      if let current, current.entity == entity.index, current.mask == mask {
        statement = current.statement
      } else {
        current?.statement.reset()
        statement = try connection.statement(owner.updateID(entity, mask), try Writing.updateSQL(entity, mask))
        current = (entity.index, mask, Int32(mask.nonzeroBitCount), statement)
      }
      do {
        try model._quireBind(mask, to: statement, from: 1)
      } catch {
        throw notStorable(model, entity, mask, error, statement)
      }
      statement.bind(state.key, at: Int32(mask.nonzeroBitCount) + 1)
      _ = try statement.step()
      statement.reset()
      expectedEvents += 1
    }
  }

  private static func updateSQL(_ entity: Entity, _ mask: UInt64) throws -> String {
    let columns = entity.stored.filter { mask & 1 << UInt64($0) != 0 }.compactMap { entity.properties[$0].column }
    return "UPDATE \(try quoted(identifier: entity.table)) SET "
      + (try columns.map { "\(try quoted(identifier: $0)) = ?" }.joined(separator: ", "))
      + " WHERE \(try quoted(identifier: entity.keyColumn)) = ?"
  }

  private mutating func delete(_ connection: Connection) throws {
    var highest: [Int: Int64] = [:]
    for model in owner.deleted {
      guard let entity = store.entity(for: Swift.type(of: model)) else { continue }
      if highest[entity.index] == nil { highest[entity.index] = try KeyAllocator.maximum(of: entity, on: connection) }
      try refuseDenied(model, entity, connection)
      let statement = try connection.statement(
        entity.delete,
        "DELETE FROM \(try quoted(identifier: entity.table)) WHERE \(try quoted(identifier: entity.keyColumn)) = ?")
      statement.bind(model._quireState.key, at: 1)
      _ = try statement.step()
      statement.reset()
      expectedEvents += 1
    }
    for (index, before) in highest.sorted(by: { $0.key < $1.key }) {
      try store.keys.remember(store.entities[index], before: before, on: connection)
    }
  }

  /// `.deny` on a many-to-many: no foreign key says it.
  private func refuseDenied(_ model: any PersistentModel, _ entity: Entity, _ connection: Connection) throws {
    for property in entity.properties {
      guard let side = property.toMany, side.deleteRule == .deny, case .join(let join, let own) = side.via else {
        continue
      }
      let rows = try connection.query(
        "SELECT count(*) FROM \(try quoted(identifier: join.name)) WHERE \(try quoted(identifier: join.own(own).name)) = ?",
        [.integer(model._quireState.key)]
      ).rows
      if case .integer(let count)? = rows.first?.first, count > 0 {
        throw ModelError.relationshipRefused(
          "\(model.persistentModelID) was not deleted: its \(property.name) has \(count), and its delete rule is .deny")
      }
    }
  }

  private func notStorable(
    _ model: any PersistentModel, _ entity: Entity, _ mask: UInt64, _ error: ValueError, _ statement: Statement
  ) -> ModelError {
    for index in entity.stored where mask & 1 << UInt64(index) != 0 {
      do { try model._quireBind(1 << UInt64(index), to: statement, from: 1) } catch {
        return .notStorable(model: entity.name, property: entity.properties[index].name, reason: error)
      }
    }
    return .notStorable(model: entity.name, property: "", reason: error)
  }
}

extension Owner {
  func updateID(_ entity: Entity, _ mask: UInt64) -> StatementID {
    if let id = updates[entity.index][mask] { return id }
    let id = StatementID.make()
    updates[entity.index][mask] = id
    return id
  }
}
