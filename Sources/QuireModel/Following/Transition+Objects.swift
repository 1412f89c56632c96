import QuireRow
import QuireSQLite

/// The part of a transition for objects in memory: rows read again, children that joined or left a loaded list, join
/// pairs.
extension Following {
  /// Finds the changes of objects and lists in memory.
  func objects(in batch: CommitBatch, on connection: Connection, into step: Transition) {
    guard let store else { return }
    defer { leaveLists(step) }
    core.fetcher.readAgain(store, on: connection, into: step)
    defer { references(in: batch, on: connection, into: step) }
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

  /// Objects whose rows are gone leave the lists of deleted objects, and those into which unsaved edits have put them, as no
  /// change of a row says that they were there: if the row comes back, it is not in these lists.
  private func leaveLists(_ step: Transition) {
    if step.gone.isEmpty || pending.editedLists.isEmpty && keptLists.isEmpty { return }
    let gone = Set(
      step.gone.compactMap { model in
        entity(of: model).map { RowName(entity: $0.index, key: model._quireRowState.key) }
      })
    var seen: Set<ListPlace.Name> = []
    for place in pending.editedLists + keptLists.places(core) where seen.insert(place.name).inserted {
      guard let list = place.model._quireLink(place.property).list,
        let target = entity(of: place.model)?.properties[place.property].toMany?.target
      else { continue }
      let keys = list.keys.filter { !gone.contains(RowName(entity: target, key: $0)) }
      if keys.count < list.keys.count { step.lists.append(.init(place, was: list.keys, keys: keys)) }
    }
  }

  private func rows(of entity: Entity, _ changes: TableChanges, on connection: Connection, into step: Transition)
    throws
  {
    let map = maps[entity.index]
    var touched: [Int64] = []
    var gone: Set<Int64> = []
    let bad = Set(core.fetcher.unread.undecodable(of: entity.index))
    if !bad.isEmpty {
      let keys = changes.rows.compactMap { if case .integer(let key) = $0.key, bad.contains(key) { key } else { nil } }
      try core.fetcher.lookAtUnread(keys, entity, on: connection, into: step)
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
        let properties = model._quireDifference(from: row) & ~pending.edited(of: model)
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
    var moves: [Int64: [(child: Int64, isHere: Bool)]] = [:]
    for change in changes.rows {
      let old = change.old?[column]
      let new = change.new?[column]
      let isKnown = (change.kind == .insert || old != nil) && (change.kind == .delete || new != nil)
      guard isKnown, case .integer(let child) = change.key else {
        // The list was loaded after that transaction had begun, so the column was not captured.
        let target = store.entities[side.target]
        guard let toMany = target.properties[inverse].toMany else { return }
        return try compareLists(of: target, inverse, toMany, store, on: connection, into: step)
      }
      if change.kind == .update, old == new { continue }
      if case .integer(let key)? = old { moves[key, default: []].append((child, false)) }
      if case .integer(let key)? = new { moves[key, default: []].append((child, true)) }
    }
    for (key, moves) in moves.sorted(by: { $0.key < $1.key }) {
      guard let parent = maps[side.target].find(key) as? any PersistentModel,
        let list = parent._quireLink(inverse).list
      else { continue }
      var (joined, left): ([Int64], Set<Int64>) = ([], [])
      var isEdited = false
      for (child, isHere) in moves {
        let unsaved = unsavedParent(ofChild: child, foreignKey, entity)
        let shows = unsaved.map { $0.key == key } ?? isHere
        if shows { joined.append(child) } else { left.insert(child) }
        if shows != isHere { isEdited = true }
      }
      // For a rollback.
      if isEdited { pending.edited(ListPlace(model: parent, property: inverse)) }
      let now = ToManyList.keys(list.keys, adding: joined, removing: left)
      if now != list.keys { step.lists.append(.init(model: parent, property: inverse, was: list.keys, keys: now)) }
    }
  }

  private struct UnsavedParent {
    /// Nil if it refers to nothing.
    let key: Int64?
  }

  /// What a child refers to by an unsaved edit of this context, if there is one.
  private func unsavedParent(ofChild key: Int64, _ foreignKey: Int, _ child: Entity) -> UnsavedParent? {
    guard let model = registered(child.index, key) as? any PersistentModel else { return nil }
    if model.isDeleted { return UnsavedParent(key: nil) }
    let state = model._quireRowState
    let isEdited = state.flags.contains(.inserted) || state.dirty & (1 << PropertyMask(foreignKey)) != 0
    return isEdited ? UnsavedParent(key: model._quireLink(foreignKey).currentKey) : nil
  }

  /// A parent's committed children, with this context's unsaved moves.
  func withUnsaved(
    _ keys: [Int64], _ list: ToManyList, _ parent: any PersistentModel, _ foreignKey: Int, _ child: Entity
  ) -> [Int64] {
    let own = parent._quireRowState.key
    var result = keys.filter { key in
      unsavedParent(ofChild: key, foreignKey, child).map { $0.key == own } ?? true
    }
    if result == list.keys { return result }
    let present = Set(result)
    for key in list.keys where !present.contains(key) {
      if let parent = unsavedParent(ofChild: key, foreignKey, child), parent.key == own { result.append(key) }
    }
    return ToManyList.sorted(result)
  }

  private func pairs(of join: JoinTable, _ changes: TableChanges, _ store: Store, into step: Transition) {
    var lists: [ListPlace.Kind: [Int64: [(other: Int64, isLinked: Bool)]]] = [:]
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
            let model = maps[entity.index].find(own) as? any PersistentModel, model._quireLink(index).list != nil
          else { continue }
          let kind = ListPlace.Kind(entity: entity.index, property: index)
          lists[kind, default: [:]][own, default: []].append((other, change.kind != .delete))
        }
      }
    }
    for (kind, models) in lists.sorted(by: { ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property) }) {
      guard let toMany = store.entities[kind.entity].properties[kind.property].toMany,
        case .join(let join, let side) = toMany.via
      else { continue }
      for (own, changed) in models.sorted(by: { $0.key < $1.key }) {
        guard let model = maps[kind.entity].find(own) as? any PersistentModel,
          let list = model._quireLink(kind.property).list
        else { continue }
        var (joined, left): ([Int64], Set<Int64>) = ([], [])
        var isEdited = false
        for (other, isLinked) in changed {
          // This context's unsaved edits take precedence over commits made elsewhere.
          let isDeleted = (registered(toMany.target, other) as? any PersistentModel)?.isDeleted == true
          let shows = !isDeleted && pending.joinEdits.changes[core.editing.pair(join, side, own, other)] ?? isLinked
          if shows { joined.append(other) } else { left.insert(other) }
          if shows != isLinked { isEdited = true }
        }
        if isEdited { pending.edited(ListPlace(model: model, property: kind.property)) }
        let now = ToManyList.keys(list.keys, adding: joined, removing: left)
        if now != list.keys {
          step.lists.append(.init(model: model, property: kind.property, was: list.keys, keys: now))
        }
      }
    }
  }

  /// This context's unsaved links and unlinks take precedence over commits made elsewhere.
  func keepUnsaved(_ keys: inout [Int64], _ kind: ListPlace.Kind, _ own: Int64, _ store: Store) {
    let property = store.entities[kind.entity].properties[kind.property]
    guard !pending.joinEdits.isEmpty, let toMany = property.toMany, case .join(let join, let side) = toMany.via
    else { return }
    var (linked, unlinked): ([Int64], Set<Int64>) = ([], [])
    for (pair, isLinked) in pending.joinEdits.pairs(with: own) where pair.join == join.index {
      let (mine, other) = side == .first ? (pair.first, pair.second) : (pair.second, pair.first)
      if mine != own { continue }
      let isDeleted = (registered(toMany.target, other) as? any PersistentModel)?.isDeleted == true
      if !isLinked { unlinked.insert(other) } else if !isDeleted { linked.append(other) }
    }
    keys = ToManyList.keys(keys, adding: linked, removing: unlinked)
  }
}

extension ToManySide.Via {
  var asJoin: ToManySide.Via? { if case .join = self { self } else { nil } }
}
