import QuireRow
import QuireSQLite

/// Objects that are inserted again after their deletion, which is canceled if it was not saved.
extension Editing {
  func undelete(_ model: any PersistentModel) {
    pending.edits.removeAll { $0 === model }  // otherwise its next edit would be a second entry
    if !pending.cascades.ownDeletions.isEmpty { pending.cascades.ownDeletions[ObjectIdentifier(model)] = nil }
    let isPending = pending.isDeletionUnsaved(of: model)
    if !isPending, !model._quireRowState.flags.contains(.inserted) {
      takeBackCascades(of: model)
      return insertWithoutRow(model)
    }
    let edited = pending.edited(of: model)
    model._quireState.flags.remove(.deleted)
    pending.forgetDeleted([model])
    takeBackCascades(of: model)
    if model._quireRowState.flags.contains(.inserted) {
      let links = pending.takeLinks(of: model)
      model._quireState.owner = nil
      model._quireState.flags.remove(.inserted)
      insert(model)
      reconnect(model)
      for link in links { relink(model, link) }
      return
    }
    guard let entity = entity(of: model) else { return }
    do {
      let key = model._quireRowState.key
      guard let row = try readToItsEnd({ try core.loader.staged(entity, keys: [key], on: $0) })[key] else {
        return insertWithoutRow(model)  // it was deleted elsewhere, too
      }
      // What was edited before the deletion is an edit again.
      if edited != 0 {
        core.edited(model)
        model._quireState.dirty = edited
      }
      if !pending.conflicts.isEmpty {
        if edited == 0 { forgetBase(of: model) } else { followBase(of: model, ~edited & entity.storedMask, from: row) }
      }
      for place in places(in: pending.editedLists, withNew: true) where !place.model.isDeleted {
        let keys = try core.loader.currentKeys(of: place)
        edit(place.property, of: place.model) { $0.keys = keys }
      }
    } catch {
      deferError(error)
    }
  }

  /// Gives unsaved references to an object that has become new its key, and its lists, which begin empty, these objects.
  func reconnect(_ model: any PersistentModel) {
    for referrer in pending.edits + pending.inserted.compactMap({ $0 }) where !referrer.isDeleted {
      renewKeys(of: referrer, to: model)
    }
  }

  /// The unsaved links of an object that has no row.
  func links(of entity: Entity, _ key: Int64) -> [PendingChanges.KeptLink] {
    guard let store, !pending.joinEdits.isEmpty else { return [] }
    return pending.joinEdits.pairs(with: key).compactMap { pair, isLinked in
      let join = store.joins[pair.join]
      guard isLinked else { return nil }
      if join.first.entity == entity.index, pair.first == key {
        let other = pair.second == key && join.second.entity == entity.index ? nil : pair.second
        return .init(join: join, side: .first, object: other.flatMap { registered(join.second.entity, $0) }, key: other)
      }
      guard join.second.entity == entity.index, pair.second == key else { return nil }
      return .init(join: join, side: .second, object: registered(join.first.entity, pair.first), key: pair.first)
    }
  }

  /// Links an object that is new again as it was before its deletion; if the other one is deleted, when that is inserted again.
  private func relink(_ model: any PersistentModel, _ link: PendingChanges.KeptLink) {
    guard let store, let entity = entity(of: model) else { return }
    let otherSide: JoinSide = link.side == .first ? .second : .first
    let otherEntity = store.entities[link.join.own(otherSide).entity]
    var other: (any PersistentModel)? = link.key == nil ? model : link.object.map(otherEntity.model)
    if other == nil, let key = link.key { other = core.loader.load(otherEntity.index, key: key) }
    guard let other else { return }
    if other.isDeleted {
      return pending.keepLinks(
        [.init(join: link.join, side: otherSide, object: model, key: 0)], of: other, adding: true)
    }
    func add(_ target: any PersistentModel, to model: any PersistentModel, _ entity: Entity, _ side: JoinSide) -> Bool {
      let property = entity.properties.firstIndex { property in
        guard case .join(let join, let own)? = property.toMany?.via else { return false }
        return join.index == link.join.index && own == side
      }
      guard let property else { return false }
      let targets = core.loader.targets(of: model, property).compactMap { $0 as? any PersistentModel }
      if !targets.contains(where: { $0 === target }) { assign(targets + [target], toList: property, of: model) }
      return true
    }
    if !add(other, to: model, entity, link.side) { _ = add(model, to: other, otherEntity, otherSide) }
  }
}

extension PendingChanges {
  /// An unsaved link of an object that was deleted before it was saved.
  struct KeptLink {
    let join: JoinTable
    let side: JoinSide
    /// The other object, if it was in memory.
    let object: AnyObject?
    /// The other object's key; nil for the object itself.
    let key: Int64?
  }
}
