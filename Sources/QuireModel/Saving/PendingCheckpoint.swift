import QuireRow
import QuireSQLite

/// What was pending in a context at one moment, with the values that its objects and lists had: what a transaction that
/// throws puts back.
///
/// - Complexity: A copy of each object that is pending.
struct PendingCheckpoint {
  let pending: PendingChanges
  fileprivate let objects: [Kept]
  fileprivate let lists: [(place: ListPlace, keys: [Int64])]

  fileprivate struct Kept {
    let model: any PersistentModel
    let copy: any PersistentModel
    let key: Int64
    let dirty: PropertyMask
    let flags: ModelState.Flags
  }

  init(_ owner: ContextCore) {
    pending = owner.pending
    objects = (pending.edits + pending.inserted.compactMap { $0 } + pending.deleted).compactMap { model in
      guard let entity = owner.entity(of: model) else { return nil }
      let state = model._quireState
      let copy = entity.type.vacant(ModelState())
      copy._quireAdopt(entity.storedMask, from: model)
      return Kept(model: model, copy: copy, key: state.key, dirty: state.dirty, flags: state.flags)
    }
    lists = pending.editedLists.compactMap { place in
      place.model._quireLink(place.property).list.map { (place, $0.keys) }
    }
  }
}

extension Saver {
  /// Puts back what was pending, after what has been written since was undone.
  ///
  /// - Parameters:
  ///   - open: The transaction that failed, or in which one did.
  ///   - mark: Where the one inside began; nil if the whole transaction has ended.
  func restore(_ checkpoint: PendingCheckpoint, _ open: OpenTransaction, since mark: OpenTransaction.Mark?) {
    guard let store else { return }
    if core.following.move != nil { core.following.finishMove() }
    let start = mark ?? OpenTransaction.Mark.beginning
    core.loader.shown.forget()
    let left = pending
    let gone = forgetNew(left.inserted.compactMap { $0 } + open.inserted(since: start), but: checkpoint)
    for model in open.removed(since: start) {
      guard model._quireRowState.isOwned(by: core), let entity = entity(of: model) else { continue }
      model._quireState.flags.remove(.deleted)
      let key = model._quireRowState.key
      if key >= ModelState.firstKey, maps[entity.index].find(key) == nil { maps[entity.index].insert(model, key: key) }
    }
    for model in left.edits + left.deleted {
      model._quireState.dirty = 0
      model._quireState.flags.remove(.deleted)
    }
    for kept in checkpoint.objects { putBack(kept) }
    core.fetcher.forgetUnsavedValues()
    pending = checkpoint.pending
    pending.skipKeys(of: left)

    let step = Transition(number: position.number)
    step.left = gone
    let known = Set(checkpoint.objects.map { ObjectIdentifier($0.model) })
    let keptLists = Set(checkpoint.lists.map { $0.place.name })
    do {
      if !open.hasWritten(since: start) {
        try look(at: (left.edits + left.deleted).filter { !known.contains(ObjectIdentifier($0)) }, store, into: step)
      }
      // What a list shows follows from what unsaved objects refer to: so they hold it while it is computed.
      var shown: [(model: any PersistentModel, values: any PersistentModel)] = []
      func hold(_ targets: [(any PersistentModel, any PersistentModel)]) {
        for (model, values) in targets {
          shown.append((model, copy(of: model)))
          adopt(values, in: model)
        }
      }
      hold(checkpoint.objects.map { ($0.model, $0.copy) } + step.refreshed.map { ($0.model, $0.row) })
      defer { for (model, values) in shown { adopt(values, in: model) } }
      if open.hasWritten(since: start) {
        try readToItsEnd { core.following.compare(store, on: $0, into: step) { _ in true } }
        hold(step.refreshed.filter { !known.contains(ObjectIdentifier($0.model)) }.map { ($0.model, $0.row) })
      }
      let kinds = listKinds(
        of: shown.map(\.model) + left.edits + left.deleted + left.inserted.compactMap { $0 }
          + left.editedLists.map(\.model))
      step.lists.removeAll { step in
        entity(of: step.model).map { kinds.contains(.init(entity: $0.index, property: step.property)) } ?? false
      }
      step.lists += try readToItsEnd { connection in
        try kinds.flatMap { try lists(of: $0, without: keptLists, store, on: connection) }
      }
    } catch {
      deferError(error)
    }
    step.refreshed.removeAll { known.contains(ObjectIdentifier($0.model)) }
    for kept in checkpoint.objects {
      guard let entity = entity(of: kept.model) else { continue }
      let differing = kept.model._quireDifference(from: kept.copy) & entity.storedMask
      if differing == 0 { continue }
      step.refreshed.append(.init(model: kept.model, row: kept.copy, properties: differing, isPutBack: true))
    }
    step.lists.removeAll { keptLists.contains(ListPlace(model: $0.model, property: $0.property).name) }
    var seen: Set<ListPlace.Name> = []
    for (place, keys) in checkpoint.lists where seen.insert(place.name).inserted {
      guard let list = place.model._quireLink(place.property).list, list.keys != keys else { continue }
      step.lists.append(.init(place, was: list.keys, keys: keys))
    }
    for model in checkpoint.pending.inserted.compactMap({ $0 }) { emptyLists(of: model, but: keptLists, step) }
    core.following.move = step
    core.following.finishMove()
    core.following.changed()
  }

  /// The kinds of lists that objects of these classes have or are in, as far as any is loaded.
  private func listKinds(of models: [any PersistentModel]) -> [ListPlace.Kind] {
    var kinds: Set<ListPlace.Kind> = []
    for entity in Dictionary(grouping: models, by: { entity(of: $0)?.index ?? -1 }).keys {
      guard entity >= 0, let properties = store?.entities[entity].properties else { continue }
      for (index, property) in properties.enumerated() {
        if property.toMany != nil { kinds.insert(.init(entity: entity, property: index)) }
        let sides = [
          property.toOne.map { ($0.target, $0.inverse) }, property.toMany.map { ($0.target, $0.inverse) },
        ]
        for case let (target, inverse?)? in sides { kinds.insert(.init(entity: target, property: inverse)) }
      }
    }
    return kinds.intersection(core.loader.loadedLists).sorted { ($0.entity, $0.property) < ($1.entity, $1.property) }
  }

  /// The loaded lists of a kind that show other objects than what is pending now makes of the file. The block may have loaded
  /// them, and deleted what belongs to them: so all are looked at, and those that show unsaved edits are noted as such.
  private func lists(
    of kind: ListPlace.Kind, without kept: Set<ListPlace.Name>, _ store: Store, on connection: Connection
  ) throws -> [Transition.ListStep] {
    let entity = store.entities[kind.entity]
    guard let side = entity.properties[kind.property].toMany else { return [] }
    var places: [(place: ListPlace, list: ToManyList)] = []
    maps[kind.entity].forEach { _, object in
      guard let model = object as? any PersistentModel, !model._quireRowState.flags.contains(.inserted),
        let list = model._quireLink(kind.property).list
      else { return }
      let place = ListPlace(model: model, property: kind.property)
      if !kept.contains(place.name) { places.append((place, list)) }
    }
    if places.isEmpty { return [] }
    let keys = places.map { $0.place.model._quireRowState.key }
    let committed = try core.loader.listKeys(kind.property, of: keys, entity, on: connection, bringingObjects: false)
    let edits = UnsavedLinks(of: side, core)
    return zip(places, keys).compactMap { found, key in
      let (place, list) = found
      let now = edits.list(committed[key] ?? [], of: place.model)
      // For the next save, which replaces keys, and for a rollback.
      if now != committed[key] ?? [] || edits.hidesLinks(of: place.model) { pending.edited(place) }
      return now == list.keys ? nil : Transition.ListStep(place, was: list.keys, keys: now)
    }
  }

  private func copy(of model: any PersistentModel) -> any PersistentModel {
    let copy = Swift.type(of: model).vacant(ModelState())
    adopt(model, in: copy)
    return copy
  }

  private func adopt(_ values: any PersistentModel, in model: any PersistentModel) {
    guard let entity = store?.entity(for: Swift.type(of: model)) else { return }
    model._quireAdopt(entity.storedMask, from: values)
  }

  /// Objects whose edits were never written, as their rows are.
  private func look(at models: [any PersistentModel], _ store: Store, into step: Transition) throws {
    for (index, models) in Dictionary(grouping: models, by: { entity(of: $0)?.index ?? 0 }) {
      let keys = models.map(\._quireRowState.key)
      let rows = try readToItsEnd { try core.loader.staged(store.entities[index], keys: keys, on: $0) }
      for model in models {
        guard let row = rows[model._quireRowState.key] else { continue }
        let differing = model._quireDifference(from: row)
        if differing != 0 { step.refreshed.append(.init(model: model, row: row, properties: differing)) }
      }
    }
  }

  /// Objects that would not be here without the block are in no context any longer.
  ///
  /// - Returns: Those objects, which are still in lists.
  private func forgetNew(_ models: [any PersistentModel], but checkpoint: PendingCheckpoint) -> [RowName: AnyObject] {
    let known = Set(checkpoint.objects.map { ObjectIdentifier($0.model) })
    let new = models.filter { !known.contains(ObjectIdentifier($0)) && $0._quireRowState.isOwned(by: core) }
    let names = core.editing.names(of: new)
    for model in new {
      let key = model._quireRowState.key
      if key >= ModelState.firstKey, let entity = entity(of: model) { maps[entity.index].remove(key) }
      model._quireState.leave()
    }
    return names
  }

  private func putBack(_ kept: PendingCheckpoint.Kept) {
    let state = kept.model._quireState
    if kept.flags.contains(.inserted), state.key >= ModelState.firstKey, let entity = entity(of: kept.model) {
      maps[entity.index].remove(state.key)
    }
    kept.model._quireState.key = kept.key
    kept.model._quireState.dirty = kept.dirty
    for flag in [ModelState.Flags.inserted, .deleted, .unsavable] {
      if kept.flags.contains(flag) {
        kept.model._quireState.flags.insert(flag)
      } else {
        kept.model._quireState.flags.remove(flag)
      }
    }
  }

  /// Lists of unsaved objects that were empty before: no row says what is in them.
  private func emptyLists(of model: any PersistentModel, but known: Set<ListPlace.Name>, _ step: Transition) {
    guard let entity = entity(of: model) else { return }
    for index in entity.relationships where entity.properties[index].toMany != nil {
      let place = ListPlace(model: model, property: index)
      guard !known.contains(place.name), let list = model._quireLink(index).list, !list.keys.isEmpty else {
        continue
      }
      step.lists.append(.init(place, was: list.keys, keys: []))
    }
  }
}
