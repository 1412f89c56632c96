import QuireRow
import QuireSQLite

/// The part of a transition for objects in memory: rows read again, children that joined or left a loaded list, join
/// pairs.
extension Following {
  /// Finds the changes of objects and lists in memory.
  func objects(in batch: CommitBatch, on connection: Connection, into step: Transition) {
    guard let store else { return }
    if batch.rowsUnknown { return compare(store, on: connection, into: step) { _ in true } }
    let uncompared = batch.altersSchema || !batch.alteredTables.isEmpty ? uncompared : []
    let isCompared = { batch.alters($0) || uncompared.contains($0) }
    if !batch.alteredTables.isEmpty || !uncompared.isEmpty { compare(store, on: connection, into: step, isCompared) }
    for changes in batch.tables where !isCompared(changes.table.name) {
      if let entity = store.entity(ofTable: changes.table.name) {
        do { try rows(of: entity, changes, on: connection, into: step) } catch { deferError(error) }
      } else if let join = store.joins.first(where: { $0.name == changes.table.name }) {
        pairs(of: join, changes, store, into: step)
      }
    }
  }

  private func rows(of entity: Entity, _ changes: TableChanges, on connection: Connection, into step: Transition)
    throws
  {
    let map = maps[entity.index]
    var touched: [Int64] = []
    var gone: Set<Int64> = []
    let bad = Set(core.fetcher.undecodable.keys(of: entity.index))
    if !bad.isEmpty {
      let keys = changes.rows.compactMap { if case .integer(let key) = $0.key, bad.contains(key) { key } else { nil } }
      try core.fetcher.lookAtUndecodable(keys, entity, on: connection, into: step)
    }
    for change in changes.rows {
      guard case .integer(let key) = change.key, let object = map.find(key) else { continue }
      if change.kind == .delete {
        gone.insert(key)
        if let model = object as? any PersistentModel { step.gone.append(model) }
      } else {
        touched.append(key)
      }
    }
    var fresh: [Int64: any PersistentModel] = [:]
    if !touched.isEmpty {
      fresh = try core.loader.staged(entity, keys: touched, on: connection)
      for key in touched {
        guard let model = map.find(key) as? any PersistentModel, let row = fresh[key] else { continue }
        let properties = model._quireDifference(from: row) & ~model._quireRowState.dirty
        if properties != 0 { step.refreshed.append(.init(model: model, row: row, properties: properties)) }
      }
    }
    for (index, property) in entity.properties.enumerated() {
      guard let side = property.toOne, let inverse = side.inverse,
        core.loader.loadedLists.contains(.init(entity: side.target, property: inverse))
      else { continue }
      try children(of: entity, index, side, inverse, changes, on: connection, into: step)
    }
  }

  /// Children that joined, left or changed parents: updates the parents' loaded lists.
  private func children(
    of entity: Entity, _ foreignKey: Int, _ side: ToOneSide, _ inverse: Int, _ changes: TableChanges,
    on connection: Connection, into step: Transition
  ) throws {
    guard let store, let name = entity.properties[foreignKey].column, let column = changes.table.index(of: name) else {
      return
    }
    var parents: Set<Int64> = []
    for change in changes.rows {
      let old = change.old?[column]
      let new = change.new?[column]
      let isKnown = (change.kind == .insert || old != nil) && (change.kind == .delete || new != nil)
      guard isKnown else {
        // The list was loaded after that transaction had begun, so the column was not captured.
        maps[side.target].forEach { key, object in
          if let parent = object as? any PersistentModel, parent._quireLink(inverse).list != nil { parents.insert(key) }
        }
        break
      }
      if change.kind == .update, old == new { continue }
      if case .integer(let key)? = old { parents.insert(key) }
      if case .integer(let key)? = new { parents.insert(key) }
    }
    let loaded = parents.filter {
      (maps[side.target].find($0) as? any PersistentModel)?._quireLink(inverse).list != nil
    }
    if loaded.isEmpty { return }
    let target = store.entities[side.target]
    let keys = try core.loader.listKeys(inverse, of: loaded.sorted(), target, on: connection, bringingObjects: false)
    for key in loaded.sorted() {
      guard let parent = maps[side.target].find(key) as? any PersistentModel,
        let list = parent._quireLink(inverse).list
      else { continue }
      let now = withUnsaved(keys[key] ?? [], list, parent, foreignKey, entity)
      // For a rollback.
      if now != keys[key] ?? [] { pending.editedLists.append(ListPlace(model: parent, property: inverse)) }
      if now != list.keys { step.lists.append(.init(model: parent, property: inverse, was: list.keys, keys: now)) }
    }
  }

  /// A parent's committed children, with this context's unsaved moves.
  func withUnsaved(
    _ keys: [Int64], _ list: ToManyList, _ parent: any PersistentModel, _ foreignKey: Int, _ child: Entity
  ) -> [Int64] {
    let own = parent._quireRowState.key
    let bit: PropertyMask = 1 << PropertyMask(foreignKey)
    var result = keys.filter { key in
      guard let model = registered(child.index, key) as? any PersistentModel else { return true }
      if model.isDeleted { return false }
      return model._quireRowState.dirty & bit == 0 || model._quireLink(foreignKey).currentKey == own
    }
    for key in list.keys where !result.contains(key) {
      if let model = registered(child.index, key) as? any PersistentModel, !model.isDeleted,
        model._quireRowState.flags.contains(.inserted) || model._quireRowState.dirty & bit != 0,
        model._quireLink(foreignKey).currentKey == own
      {
        result.append(key)
      }
    }
    return ToManyList.sorted(result)
  }

  private func pairs(of join: JoinTable, _ changes: TableChanges, _ store: Store, into step: Transition) {
    var lists: [ListPlace.Kind: [Int64: [Int64]]] = [:]
    for change in changes.rows {
      guard case .composite(let values) = change.key, values.count == 2,
        case .integer(let a) = values[0], case .integer(let b) = values[1]
      else { continue }
      let isFirst = changes.table.keyColumns.first.map { changes.table.columns[$0] == join.first.name } ?? true
      let (first, second) = isFirst ? (a, b) : (b, a)
      for (side, own, other) in [(JoinSide.first, first, second), (.second, second, first)] {
        let entity = store.entities[join.own(side).entity]
        for (index, property) in entity.properties.enumerated() {
          guard case .join(join, side)? = property.toMany?.via.asJoin,
            let model = maps[entity.index].find(own) as? any PersistentModel,
            let list = model._quireLink(index).list
          else { continue }
          let kind = ListPlace.Kind(entity: entity.index, property: index)
          var keys = lists[kind]?[own] ?? list.keys
          if change.kind == .delete {
            keys.removeAll { $0 == other }
          } else if !keys.contains(other) {
            keys.append(other)
          }
          lists[kind, default: [:]][own] = keys
        }
      }
    }
    for (kind, models) in lists.sorted(by: { ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property) }) {
      for (own, keys) in models.sorted(by: { $0.key < $1.key }) {
        guard let model = maps[kind.entity].find(own) as? any PersistentModel,
          let list = model._quireLink(kind.property).list
        else { continue }
        let committed = keys
        var keys = keys
        keepUnsaved(&keys, kind, own, store)
        if keys != committed { pending.editedLists.append(ListPlace(model: model, property: kind.property)) }
        let sorted = ToManyList.sorted(keys)
        if sorted != list.keys {
          step.lists.append(.init(model: model, property: kind.property, was: list.keys, keys: sorted))
        }
      }
    }
  }

  /// This context's unsaved links and unlinks take precedence over commits made elsewhere.
  func keepUnsaved(_ keys: inout [Int64], _ kind: ListPlace.Kind, _ own: Int64, _ store: Store) {
    let property = store.entities[kind.entity].properties[kind.property]
    guard !pending.joinEdits.isEmpty, case .join(let join, let side)? = property.toMany?.via else { return }
    for (pair, linked) in pending.joinEdits.changes where pair.join == join.index {
      let (mine, other) = side == .first ? (pair.first, pair.second) : (pair.second, pair.first)
      guard mine == own else { continue }
      if !linked { keys.removeAll { $0 == other } } else if !keys.contains(other) { keys.append(other) }
    }
  }
}

extension ToManySide.Via {
  var asJoin: ToManySide.Via? { if case .join = self { self } else { nil } }
}
