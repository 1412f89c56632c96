import QuireRow
package import QuireSQLite

/// Rows that did not decode, or could not be read, but for which an object must be returned, such as elements of a live
/// list: their errors, and a stand-in object for each.
///
/// A stand-in has `isDeleted` set, reads declared defaults or zeros, and is in no identity map: fetches throw the
/// error. The next save refuses edits of it. When its row decodes, the stand-in becomes the row's object.
struct UnreadRows {
  private struct Row {
    let error: any Error
    var standIn: (any PersistentModel)?
    /// Whether the read failed, as in a closed store or on a disk that is gone, and the row may be as it should.
    let isFailedRead: Bool
  }
  private var rows: [Int: [Int64: Row]] = [:]

  /// The rows of an entity that did not decode.
  func undecodable(of entity: Int) -> [Int64] {
    rows[entity]?.compactMap { $0.value.isFailedRead ? nil : $0.key } ?? []
  }
  /// The rows whose read failed, by entity.
  var failedReads: [Int: [Int64]] {
    rows.mapValues { $0.compactMap { $0.value.isFailedRead ? $0.key : nil } }.filter { !$0.value.isEmpty }
  }
  /// The error of the first of these rows, other than one that was read since.
  func error(of entity: Int, among keys: [Int64], isRead: (Int64) -> Bool) -> (any Error)? {
    guard let rows = rows[entity], !rows.isEmpty else { return nil }
    for key in keys {
      if let row = rows[key], !row.isFailedRead || !isRead(key) { return row.error }
    }
    return nil
  }
  func standIn(_ entity: Int, _ key: Int64) -> (any PersistentModel)? { rows[entity]?[key]?.standIn }

  /// Notes a row that does not decode.
  mutating func note(_ error: ModelError, _ entity: Int, _ key: Int64) {
    let known = rows[entity]?[key]
    if known.map(\.isFailedRead) ?? true {
      rows[entity, default: [:]][key] = Row(error: error, standIn: known?.standIn, isFailedRead: false)
    }
  }

  /// Notes a row whose read failed.
  mutating func noteFailedRead(_ error: any Error, _ entity: Int, _ key: Int64) {
    if rows[entity]?[key] == nil { rows[entity, default: [:]][key] = Row(error: error, isFailedRead: true) }
  }

  mutating func keep(_ standIn: any PersistentModel, _ entity: Int, _ key: Int64) {
    rows[entity]?[key]?.standIn = standIn
  }

  mutating func forget(_ entity: Int, _ key: Int64) { rows[entity]?[key] = nil }
}

extension Fetcher {
  /// The stand-in for a row that was not read, always the same object, or for one that is gone.
  func standIn<Model: PersistentModel>(_: Model.Type, _ entity: Entity, _ key: Int64) -> Model {
    if let known = unread.standIn(entity.index, key) as? Model { return known }
    var state = ModelState(owner: core, key: key)
    state.flags = [.deleted, .vacant]
    let model = Model.vacant(state)
    unread.keep(model, entity.index, key)
    return model
  }

  /// The error of the first of these rows that was asked for and did not decode or could not be read.
  package func unreadError(_ entity: Entity, among keys: [Int64]) -> (any Error)? {
    let error = unread.error(of: entity.index, among: keys) { registered(entity.index, $0) != nil }
    return error is ModelError ? error.map(core.explained) : error
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

  /// Reads rows again whose read failed: an error is known already then.
  func readAgain(_ store: Store, on connection: Connection, into step: Transition) {
    for (entity, keys) in unread.failedReads {
      try? lookAtUnread(keys, store.entities[entity], on: connection, into: step)
    }
  }

  /// Finds which of these rows decode now, or are gone.
  func lookAtUnread(_ keys: [Int64], _ entity: Entity, on connection: Connection, into step: Transition)
    throws
  {
    if keys.isEmpty { return }
    let fresh = try core.loader.staged(entity, keys: keys, on: connection)
    let left = try core.following.present(keys, entity, on: connection)
    for key in keys {
      let standIn = unread.standIn(entity.index, key)
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
      unread.forget(row.entity, row.key)
      guard let object = row.object, maps[row.entity].find(row.key) == nil else { continue }
      object._quireState.flags.remove([.deleted, .vacant])
      maps[row.entity].insert(object, key: row.key)
    }
  }
}
