import QuireRow
import QuireSQLite

/// Edits of objects before they are saved: insertion, assignment, linking, deletion, and undoing all of these. Keeps
/// both sides of relationships consistent.
package final class Editing: ContextPart {
  /// Edits made after the store was closed.
  var closed = ClosedEdits()
  /// Objects whose deletion is being announced: to delete them once more is to wait for that.
  private var leaving: Set<ObjectIdentifier> = []

  /// Keeps the object's values for a rollback, before an edit that can no longer be saved.
  func keepClosed(_ model: any PersistentModel) { closed.keep(model) }

  /// Called when the context is released.
  func close() { closed = ClosedEdits() }

  /// Why an object of a class that is none of the models is refused.
  func unknown(_ model: any PersistentModel) -> String {
    let type = Swift.type(of: model)
    return ModelError.unknownModel(store?.naming(type) ?? "\(type)").problem
  }

  /// Registers an object and everything reachable from it through its relationships.
  func insert(_ model: any PersistentModel) {
    let state = model._quireRowState
    if state.owner != nil {
      let flags = state.flags
      if state.isOwned(by: core) {
        if flags.contains(.vacant) {
          core.refuse(
            "\(Swift.type(of: model)) \(model._quireRowState.key) was inserted, and has no row that can be read")
        } else if flags.contains(.deleted) {
          undelete(model)
        }
      } else if Editing.isOrphan(model), !flags.contains(.vacant) {
        takeIn(model)
      } else {
        core.refuse("a \(Swift.type(of: model)) of another context was inserted")
      }
      return
    }
    guard let entity = entity(of: model) else {
      return core.refuse(unknown(model))
    }
    var waiting: [any PersistentModel] = []
    let first = register(model, entity, &waiting)
    core.following.changed()
    if waiting.isEmpty { return attachRelationships(of: first) }
    var arrivals = [first]
    while let next = waiting.popLast() {
      let state = next._quireRowState
      guard state.owner == nil, !state.flags.contains(.vacant), let entity = self.entity(of: next) else { continue }
      arrivals.append(register(next, entity, &waiting))
    }
    attachRelationships(of: arrivals)
  }

  /// Registers one object, and adds the unregistered objects to which its relationships lead, by either side.
  /// Relationships are attached afterwards.
  private func register(
    _ model: any PersistentModel, _ entity: Entity, _ waiting: inout [any PersistentModel]
  ) -> Arrival {
    // An object that had a key gets another one, which is the value of the references to it.
    if model._quireRowState.key != 0 { core.fetcher.forgetUnsavedValues() }
    model._quireState.join(core, key: pending.insert(model, of: entity.index))
    core.fetcher.note(model)
    addNeighbors(of: model, entity, to: &waiting)
    return Arrival(model: model, entity: entity)
  }

  /// Deletes at the next save. Its children are then deleted, or lose their reference, by SQLite's foreign keys.
  /// - Parameter isCascade: Whether it is deleted because of another object: then changes made elsewhere are no
  ///   conflict.
  func delete(_ model: any PersistentModel, isCascade: Bool = false) {
    var state = model._quireState
    if state.owner != nil, state.owner !== core { return deleteForeign(model) }
    guard state.owner != nil, let entity = entity(of: model) else { return }
    if core.fetcher.unread.standIn(entity.index, state.key) === model {
      return core.refuse("the deletion of \(entity.name) \(state.key), whose row could not be read")
    }
    let name = ObjectIdentifier(model)
    if !isCascade, !pending.cascades.children.isEmpty { pending.cascades.ownDeletions[name] = model }
    if state.flags.contains(.deleted) || leaving.contains(name) { return }
    let announcement = _Announcement.ofVanishing(model)
    announcement?.tell(.willSet)
    var lists = JointChange()
    leaving.insert(name)
    while lists.willChange(listsShowing(model, entity)) {}
    leaving.remove(name)
    // An observer may have deleted or saved it, or taken it out of the context.
    state = model._quireState
    if state.flags.contains(.deleted) || state.owner !== core { return }
    defer { announcement?.tell(.didSet) }
    if state.flags.isSavedAndThere {
      if isClosed { closed.keep(model) } else if core.saver.onConflict == .refuse, !isCascade { keepBase(of: model) }
    }
    model._quireState.flags.insert(.deleted)
    pending.keepEdits(state.dirty, of: model)
    model._quireState.dirty = 0
    remove(state.key, from: listsShowing(model, entity))
    let position = pending.deleted.count
    if state.flags.contains(.inserted) {
      let place = Int(truncatingIfNeeded: state.key &- pending.firstTemporaryKey)
      pending.discard(place)
    } else {
      pending.deleted.append(model)
      core.following.changed()
    }
    lists.didChange()
    cascade(from: model, entity)
    if state.flags.contains(.inserted) {
      pending.keepLinks(links(of: entity, state.key), of: model)
      forgetPairs(of: entity, state.key)
      core.following.keptLists.note(model, core)
    }
    // What goes with it is deleted before it.
    if pending.deleted.count > position + 1, pending.deleted[position] === model {
      pending.deleted.append(pending.deleted.remove(at: position))
    }
  }

  /// Discards unsaved links of an object that will have no row.
  func forgetPairs(of entity: Entity, _ key: Int64) {
    guard let store, !pending.joinEdits.isEmpty else { return }
    for (pair, _) in pending.joinEdits.pairs(with: key) {
      let join = store.joins[pair.join]
      if join.first.entity == entity.index && pair.first == key
        || join.second.entity == entity.index && pair.second == key
      {
        pending.joinEdits.forget(pair)
      }
    }
  }

  /// Rules that no foreign key expresses: deletion of the target of a to-one, and of the targets of a many-to-many.
  private func cascade(from model: any PersistentModel, _ entity: Entity) {
    for (index, property) in entity.properties.enumerated() {
      switch property.kind {
      case .toOne(let side) where side.deleteRule == .cascade:
        let link = model._quireLink(index)
        if let target = target(of: link, in: side.target, model: model, property: index) {
          delete(target, with: model, index)
        }
      case .toMany(let side) where side.deleteRule == .cascade:
        // Unsaved children have no row for the foreign key's own cascade to find.
        switch side.via {
        case .join:
          for target in core.loader.targets(of: model, index) {
            if let target = target as? any PersistentModel { delete(target, with: model, index) }
          }
        case .foreignKey(let foreignKey):
          // If the object itself has no row, the foreign key does not find objects that moved to it either.
          let moved = model._quireRowState.flags.contains(.inserted) ? pending.edits : []
          for child in pending.inserted.compactMap({ $0 }) + moved where self.entity(of: child)?.index == side.target {
            if child._quireLink(foreignKey).currentKey == model._quireRowState.key {
              delete(child, with: model, foreignKey)
            }
          }
        }
      default: break
      }
    }
  }

  func target(of link: Link, in entity: Int, model: any PersistentModel, property: Int) -> (
    any PersistentModel
  )? {
    guard link.hasKey else { return nil }
    if let object = link.object as? any PersistentModel { return object }
    return core.loader.loadToOne(model, property, key: link.key) as? any PersistentModel
  }

  /// Removes an object that is about to be deleted from the loaded lists that show it.
  func leaveLists(_ model: any PersistentModel, _ entity: Entity) {
    var change = JointChange()
    while change.willChange(listsShowing(model, entity)) {}
    remove(model._quireRowState.key, from: listsShowing(model, entity))
    change.didChange()
  }

  private func remove(_ key: Int64, from lists: [ListPlace]) {
    for place in lists {
      if core.following.keptLists.contains(place.model, core) {
        place.model._quireLink(place.property).list?.remove(key)
      } else {
        editInSilence(place) { $0.remove(key) }
      }
    }
  }

  /// The loaded lists that show an object.
  private func listsShowing(_ model: any PersistentModel, _ entity: Entity) -> [ListPlace] {
    let key = model._quireRowState.key
    var places: [ListPlace] = []
    func look(_ parent: AnyObject?, _ inverse: Int) {
      guard let parent = parent as? any PersistentModel, let list = parent._quireLink(inverse).list, list.contains(key)
      else { return }
      places.append(ListPlace(model: parent, property: inverse))
    }
    for index in entity.relationships {
      if let side = entity.properties[index].toOne {
        guard let inverse = side.inverse, let parentKey = model._quireLink(index).currentKey else { continue }
        look(registered(side.target, parentKey), inverse)
      } else if let side = entity.properties[index].toMany {
        guard let inverse = side.inverse, case .join = side.via,
          core.loader.loadedLists.contains(.init(entity: side.target, property: inverse)),
          let list = core.loader.list(of: model, index)
        else { continue }
        for other in list.keys { look(registered(side.target, other), inverse) }
      }
    }
    for (kind, join, own) in core.loader.listsWithoutInverse(of: entity) {
      for other in core.loader.linked(to: key, join, own).sorted() {
        look(registered(kind.entity, other), kind.property)
      }
    }
    if core.following.keptLists.isEmpty { return places }
    for place in core.following.keptLists.places(core) {
      let target = self.entity(of: place.model)?.properties[place.property].toMany?.target
      if target == entity.index { look(place.model, place.property) }
    }
    return places
  }

  // MARK: Rolling back

  /// Returns every object to the commit the context shows, in one step. Inserted objects are released.
  func rollback() throws {
    if isClosed { return try rollbackClosed() }
    let store = try requireStore()
    if core.following.move != nil { core.following.finishMove() }
    let edited = pending.edits.filter { $0._quireRowState.dirty != 0 }
    // What was edited before the deletion is not known any more, so everything is compared.
    let models = edited.map { ($0, $0._quireRowState.dirty) } + pending.deleted.map { ($0, PropertyMask.max) }
    // Everything that may fail comes first.
    var rows: [Int: [Int64: any PersistentModel]] = [:]
    for (index, models) in Dictionary(grouping: models, by: { entity(of: $0.0)?.index ?? 0 }) {
      let keys = models.map(\.0._quireRowState.key)
      rows[index] = try readToItsEnd { try core.loader.staged(store.entities[index], keys: keys, on: $0) }
    }
    let step = Transition(number: position.number)
    step.lists = try committedLists()
    if !step.lists.isEmpty { step.left = names(of: pending.inserted.compactMap { $0 }) }
    forgetPending()
    core.unfitRead = nil  // nothing is left that follows from it
    for (model, mask) in models {
      model._quireState.dirty = 0
      guard let entity = entity(of: model), let row = rows[entity.index]?[model._quireRowState.key] else { continue }
      let differing = model._quireDifference(from: row) & mask
      // Equal values may be stored differently; the next edit must be based on the file's own.
      model._quireAdopt(mask & entity.storedMask & ~entity.keysMask & ~differing, from: row)
      if differing != 0 { step.refreshed.append(.init(model: model, row: row, properties: differing)) }
    }
    core.following.move = step
    core.following.finishMove()
    core.following.changed()
  }

  /// Objects by what lists call them, for those that are about to leave.
  func names(of models: [any PersistentModel]) -> [RowName: AnyObject] {
    var names: [RowName: AnyObject] = [:]
    for model in models {
      if let entity = entity(of: model) { names[RowName(entity: entity.index, key: model._quireRowState.key)] = model }
    }
    return names
  }

  /// Nothing is pending any more, except for the values of edited objects.
  func forgetPending() {
    for model in pending.deleted where isRegistered(model) { model._quireState.flags.remove(.deleted) }
    let gone = pending.inserted.compactMap { $0 }
    core.saver.underWay?.wasRolledBack = true
    core.fetcher.forgetUnsavedValues()
    pending.removeAll()
    for model in gone { model._quireState.leave() }
  }

  /// Whether the object stands for a row that still exists.
  private func isRegistered(_ model: any PersistentModel) -> Bool {
    guard let entity = entity(of: model) else { return false }
    return maps[entity.index].find(model._quireRowState.key) === model
  }

  /// The lists changed by unsaved edits, with the file's content.
  private func committedLists() throws -> [Transition.ListStep] {
    if pending.editedLists.isEmpty { return [] }
    return try readToItsEnd { try committedLists(on: $0) }
  }

  func committedLists(on connection: Connection) throws -> [Transition.ListStep] {
    try places(in: pending.editedLists).compactMap { place in
      guard let list = place.model._quireLink(place.property).list else { return nil }
      let keys = try core.loader.committedKeys(of: place, on: connection)
      if keys == list.keys { return nil }
      return Transition.ListStep(model: place.model, property: place.property, was: list.keys, keys: keys)
    }
  }

  /// Each list once, leaving out those of objects without a row, if not told otherwise.
  func places(in lists: [ListPlace], withNew: Bool = false) -> [ListPlace] {
    var seen: Set<ListPlace.Name> = []
    return lists.filter { place in
      let state = place.model._quireState
      return state.owner === core && (withNew || !state.flags.contains(.inserted))
        && seen.insert(place.name).inserted
    }
  }

  func tell(_ model: any PersistentModel, _ properties: PropertyMask, _ moment: Moment) {
    for property in positions(in: properties) { model._quireTell(property, moment) }
  }
}
