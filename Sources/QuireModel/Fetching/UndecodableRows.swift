import QuireRow
package import QuireSQLite

/// Rows that did not decode but for which an object must be returned, such as elements of a live list: their errors,
/// and a stand-in object for each.
///
/// A stand-in has `isDeleted` set, reads declared defaults or zeros, and is in no identity map: fetches throw the
/// error. The next save refuses edits of it. When its row decodes, the stand-in becomes the row's object.
struct UndecodableRows {
  private struct Row {
    let error: ModelError
    var standIn: (any PersistentModel)?
  }
  private var rows: [Int: [Int64: Row]] = [:]

  func keys(of entity: Int) -> [Int64] { rows[entity].map { Array($0.keys) } ?? [] }
  func error(_ entity: Int, _ key: Int64) -> ModelError? { rows[entity]?[key]?.error }
  func standIn(_ entity: Int, _ key: Int64) -> (any PersistentModel)? { rows[entity]?[key]?.standIn }

  mutating func note(_ error: ModelError, _ entity: Int, _ key: Int64) {
    if rows[entity]?[key] == nil { rows[entity, default: [:]][key] = Row(error: error) }
  }

  mutating func keep(_ standIn: any PersistentModel, _ entity: Int, _ key: Int64) {
    rows[entity]?[key]?.standIn = standIn
  }

  mutating func forget(_ entity: Int, _ key: Int64) { rows[entity]?[key] = nil }
}

extension Fetcher {
  /// The stand-in for a row that does not decode, always the same object, or for one that is gone.
  func standIn<Model: PersistentModel>(_: Model.Type, _ entity: Entity, _ key: Int64) -> Model {
    if let known = undecodable.standIn(entity.index, key) as? Model { return known }
    var state = ModelState(owner: core, key: key)
    state.flags = [.deleted, .vacant]
    let model = Model.vacant(state)
    undecodable.keep(model, entity.index, key)
    return model
  }

  /// The error of the first of these rows that was read and did not decode.
  package func undecodable(_ entity: Entity, among keys: [Int64]) -> (any Error)? {
    let known = Set(undecodable.keys(of: entity.index))
    if known.isEmpty { return nil }
    return keys.first(where: known.contains).flatMap { undecodable.error(entity.index, $0) }
  }

  /// - Throws: The error of a row among these that does not decode.
  package func requireDecodable(_ keys: some Sequence<Int64>, _ entity: Entity, on connection: Connection) throws {
    _ = try core.throwingDeferred { try core.loader.staged(entity, keys: Array(keys), on: connection) }
  }

  /// - Throws: An error of SQLite if the table, or a column of it, is not there.
  package func requireColumns(of entity: Entity, on connection: Connection) throws {
    let statement = try entity.row(0, on: connection)
    defer { statement.reset() }
    _ = try statement.step()
  }

  // MARK: In a transition

  /// Finds which of these rows decode now, or are gone.
  func lookAtUndecodable(_ keys: [Int64], _ entity: Entity, on connection: Connection, into step: Transition)
    throws
  {
    if keys.isEmpty { return }
    let fresh = try core.loader.staged(entity, keys: keys, on: connection)
    let left = try core.following.present(keys, entity, on: connection)
    for key in keys {
      let standIn = undecodable.standIn(entity.index, key)
      if let row = fresh[key] {
        if let standIn { step.refreshed.append(.init(model: standIn, row: row, properties: entity.storedMask)) }
      } else if left.contains(key) {
        continue
      }
      step.readable.append(.init(entity: entity.index, key: key, object: fresh[key] == nil ? nil : standIn))
    }
  }

  /// Turns stand-ins whose rows decode into their objects.
  func apply(_ readable: [Transition.Readable]) {
    for row in readable {
      undecodable.forget(row.entity, row.key)
      guard let object = row.object, maps[row.entity].find(row.key) == nil else { continue }
      object._quireState.flags.remove([.deleted, .vacant])
      maps[row.entity].insert(object, key: row.key)
    }
  }
}
