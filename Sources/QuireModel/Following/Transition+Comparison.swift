import QuireRow
import QuireSQLite

/// A transition over commits of another process, whose rows are unknown, or of SQL that drops or alters tables: compares what
/// the context holds with the file.
extension Following {
  private static let comparisonBatch = 1000

  /// Finds what differs in the objects and lists in memory. Reads each once, in batches, by key.
  ///
  /// - Parameter isUnknown: Whether the rows of a table may have changed.
  func compare(
    _ store: Store, on connection: Connection, into step: Transition, _ isUnknown: (_ table: String) -> Bool
  ) {
    for entity in store.entities where isUnknown(entity.table) {
      do {
        // Keys used by another process are not allocated again, even after it deletes their rows.
        store.keys.used(try KeyAllocator.maximum(of: entity, on: connection), for: entity.index)
        try compareRows(of: entity, on: connection, into: step)
        uncompared.remove(entity.table)
      } catch {
        notCompared(entity.table, error)
      }
    }
    for entity in store.entities {
      for (index, property) in entity.properties.enumerated() {
        guard let side = property.toMany else { continue }
        let target = store.entities[side.target].table
        let source: String
        switch side.via {
        case .foreignKey:
          if !isUnknown(target) { continue }
          source = "\(entity.table).\(property.name)"
        case .join(let join, _):
          if !isUnknown(join.name), !isUnknown(target) { continue }
          source = join.name
        }
        do {
          try compareLists(of: entity, index, side, store, on: connection, into: step)
          uncompared.remove(source)
        } catch {
          notCompared(source, error)
        }
      }
    }
  }

  /// Warns once, until it can be compared again: others may commit many times before that.
  private func notCompared(_ source: String, _ error: any Error) {
    core.deferError(error, isKnown: !uncompared.insert(source).inserted)
  }

  private func compareRows(of entity: Entity, on connection: Connection, into step: Transition) throws {
    let map = maps[entity.index]
    var keys: [Int64] = []
    map.forEach { key, _ in keys.append(key) }
    for start in stride(from: 0, to: keys.count, by: Following.comparisonBatch) {
      let batch = Array(keys[start..<min(start + Following.comparisonBatch, keys.count)])
      let fresh = try core.loader.staged(entity, keys: batch, on: connection)
      var missing: [Int64] = []
      for key in batch {
        guard let row = fresh[key] else {
          missing.append(key)
          continue
        }
        guard let model = map.find(key) as? any PersistentModel else { continue }
        let properties = model._quireDifference(from: row) & ~pending.edited(of: model)
        if properties != 0 { step.refreshed.append(.init(model: model, row: row, properties: properties)) }
      }
      // A row that no longer decodes is missing here too, but it is not deleted.
      let left = missing.isEmpty ? [] : try present(missing, entity, on: connection)
      for key in missing where !left.contains(key) {
        guard let model = map.find(key) as? any PersistentModel, !model._quireRowState.flags.contains(.vacant) else {
          continue
        }
        step.gone.append(model)
      }
    }
    try core.fetcher.lookAtUnread(
      core.fetcher.unread.undecodable(of: entity.index), entity, on: connection, into: step)
  }

  func present(_ keys: [Int64], _ entity: Entity, on connection: Connection) throws -> Set<Int64> {
    let column = try quoted(identifier: entity.keyColumn)
    let rows = try connection.query(
      "SELECT \(column) FROM \(try quoted(identifier: entity.table)) WHERE \(column) IN (SELECT value FROM json_each(?))",
      [.text("[\(keys.map(String.init).joined(separator: ","))]")]
    ).rows
    return Set(rows.compactMap { if case .integer(let key)? = $0.first { key } else { nil } })
  }

  func compareLists(
    of entity: Entity, _ property: Int, _ side: ToManySide, _ store: Store, on connection: Connection,
    into step: Transition
  ) throws {
    var parents: [(key: Int64, model: any PersistentModel, list: ToManyList)] = []
    maps[entity.index].forEach { key, object in
      guard let model = object as? any PersistentModel, let list = model._quireLink(property).list else { return }
      parents.append((key, model, list))
    }
    for start in stride(from: 0, to: parents.count, by: Following.comparisonBatch) {
      let batch = parents[start..<min(start + Following.comparisonBatch, parents.count)]
      let committed = try core.loader.listKeys(
        property, of: batch.map(\.key), entity, on: connection, bringingObjects: false)
      for (key, model, list) in batch {
        var now = committed[key] ?? []
        switch side.via {
        case .foreignKey(let foreignKey):
          now = withUnsaved(now, list, model, foreignKey, store.entities[side.target])
        case .join:
          now.removeAll { (registered(side.target, $0) as? any PersistentModel)?.isDeleted == true }
          now = ToManyList.sorted(now)
          keepUnsaved(&now, .init(entity: entity.index, property: property), key, store)
        }
        // For a rollback.
        if now != committed[key] ?? [] { pending.edited(ListPlace(model: model, property: property)) }
        if now != list.keys { step.lists.append(.init(model: model, property: property, was: list.keys, keys: now)) }
      }
    }
  }

  /// The file can no longer be followed. Live results that can report an error do so, and keep what they show.
  func fail(_ failure: DatabaseError) {
    deferError(failure)
    let step = Transition(number: position.number)
    let batch = CommitBatch(number: position.number, tables: [], failure: failure)
    do {
      step.followers = try position.read { prepared(batch, on: $0) }
    } catch {
      deferError(error)
    }
    move = step
    finishMove()
  }
}
