import QuireRow

/// Inserting and deleting, before anything is saved.
extension Owner {
  /// Registers an object, and what is reachable from it through its relationships.
  func insert(_ model: any PersistentModel) {
    let state = model._quireState
    if let owner = state.owner {
      if owner === self {
        if state.flags.contains(.deleted), !state.flags.contains(.vacant) { undelete(model) }
      } else {
        refusals.append("a \(Swift.type(of: model)) of another context was inserted")
      }
      return
    }
    guard let entity = entity(of: model) else {
      refusals.append("\(Swift.type(of: model)) is not one of this container's models")
      return
    }
    model._quireState.owner = self
    model._quireState.monitor = monitor
    model._quireState.key = firstTemporaryKey &+ Int64(inserted.count)
    model._quireState.flags.insert(.inserted)
    inserted.append(model)
    changed()
    attachRelationships(of: model, entity)
  }

  /// Deletes at the next save. Its children go, or lose their reference, then too: SQLite's foreign keys see to it.
  func delete(_ model: any PersistentModel) {
    let state = model._quireState
    guard state.owner === self, !state.flags.contains(.deleted), let entity = entity(of: model) else { return }
    model._quireState.flags.insert(.deleted)
    model._quireState.dirty = 0
    cascade(from: model, entity)
    leaveLists(model, entity)
    if state.flags.contains(.inserted) {
      let place = Int(truncatingIfNeeded: state.key &- firstTemporaryKey)
      if inserted.indices.contains(place) { inserted[place] = nil }
      joinEdits.removeAll { pair in
        store.map {
          $0.joins[pair.join].first.entity == entity.index && pair.first == state.key
            || $0.joins[pair.join].second.entity == entity.index && pair.second == state.key
        } ?? false
      }
      return
    }
    deleted.append(model)
    changed()
  }

  private func undelete(_ model: any PersistentModel) {
    model._quireState.flags.remove(.deleted)
    deleted.removeAll { $0 === model }
    if model._quireState.flags.contains(.inserted) {
      model._quireState.owner = nil
      model._quireState.flags = model._quireState.flags.subtracting(.inserted)
      insert(model)
    }
  }

  /// Rules that no foreign key expresses: deleting the target of a to-one, and the targets of a many-to-many.
  private func cascade(from model: any PersistentModel, _ entity: Entity) {
    for (index, property) in entity.properties.enumerated() {
      switch property.kind {
      case .toOne(let side) where side.deleteRule == .cascade:
        let link = model._quireLink(index)
        if let target = target(of: link, in: side.target, model: model, property: index) { delete(target) }
      case .toMany(let side) where side.deleteRule == .cascade:
        // Unsaved children have no row for the foreign key's own cascade to find.
        for target in targets(of: model, index) {
          guard let target = target as? any PersistentModel else { continue }
          if case .join = side.via {
            delete(target)
          } else if target._quireState.flags.contains(.inserted) {
            delete(target)
          }
        }
      default: break
      }
    }
  }

  private func target(of link: Link, in entity: Int, model: any PersistentModel, property: Int) -> (
    any PersistentModel
  )? {
    guard link.hasKey else { return nil }
    if let object = link.object as? any PersistentModel { return object }
    return loadToOne(model, property, key: link.key) as? any PersistentModel
  }

  /// Takes a deleted object out of the loaded lists that show it.
  private func leaveLists(_ model: any PersistentModel, _ entity: Entity) {
    let key = model._quireState.key
    for (index, property) in entity.properties.enumerated() {
      switch property.kind {
      case .toOne(let side):
        let link = model._quireLink(index)
        guard let inverse = side.inverse, let parentKey = link.currentKey,
          let parent = registered(side.target, parentKey) as? any PersistentModel
        else { continue }
        edit(inverse, of: parent) { $0.remove(key) }
      case .toMany(let side):
        guard let inverse = side.inverse, case .join = side.via,
          let list = model._quireLink(index).list
        else { continue }
        for other in list.keys {
          if let target = registered(side.target, other) as? any PersistentModel {
            edit(inverse, of: target) { $0.remove(key) }
          }
        }
      case .value: continue
      }
    }
  }

  // MARK: Rolling back

  /// Every object as it is in the file, as of the commit the context stands at. Inserted objects are let go.
  func rollback() throws {
    let store = try requireStore()
    refusals.removeAll()
    for model in deleted { model._quireState.flags.remove(.deleted) }
    deleted.removeAll()
    joinEdits.removeAll()
    let gone = inserted.compactMap { $0 }
    inserted.removeAll()
    for model in gone {
      model._quireState.owner = nil
      model._quireState.monitor = nil
      model._quireState.flags.remove(.inserted)
    }
    let edited = edits.filter { $0._quireState.dirty != 0 }
    edits.removeAll()
    let byEntity = Dictionary(grouping: edited) { entity(of: $0)?.index ?? 0 }
    for (index, models) in byEntity.sorted(by: { $0.key < $1.key }) {
      let entity = store.entities[index]
      let fresh = try position.read { connection in
        try staged(entity, keys: models.map(\._quireState.key), on: connection)
      }
      for model in models {
        let mask = model._quireState.dirty
        model._quireState.dirty = 0
        guard let row = fresh[model._quireState.key] else { continue }
        let differing = model._quireDifference(from: row) & mask
        tell(model, differing, .willSet)
        model._quireAdopt(differing, from: row)
        tell(model, differing, .didSet)
      }
    }
    let lists = editedLists
    editedLists.removeAll()
    for place in lists where place.model._quireState.owner === self { try reload(place) }
    changed()
  }

  func tell(_ model: any PersistentModel, _ properties: UInt64, _ moment: Moment) {
    var left = properties
    while left != 0 {
      model._quireTell(left.trailingZeroBitCount, moment)
      left &= left - 1
    }
  }
}
