import QuireRow

/// Objects that have outlived their context: it was released, or its container was closed.
extension Editing {
  /// Whether the object's context is gone, so that the object's own values are all that is left.
  static func isOrphan(_ model: any PersistentModel) -> Bool {
    guard let owner = model._quireState.owner else { return false }
    return owner.store == nil
  }

  /// Adopts an object whose context is gone. If it was never saved, or its row is gone or belongs to another store, it
  /// becomes a new row. Otherwise it becomes its row's object, with its values as edits; if that row already has an
  /// object here, that object takes the values, and the other one stays outside.
  func takeIn(_ model: any PersistentModel) {
    guard let gone = model._quireState.owner, let store, let entity = entity(of: model) else {
      return core.refuse(unknown(model))
    }
    let key = model._quireRowState.key
    let hasRow = key >= ModelState.firstKey && gone.storeNumber == core.storeNumber
    do {
      if hasRow, let present = registered(entity.index, key).map(entity.model) {
        return give(present, valuesOf: model, entity, store)
      }
      let row = hasRow ? try readToItsEnd({ try core.loader.staged(entity, keys: [key], on: $0) })[key] : nil
      guard let row else { return becomeNew(model) }
      model._quireState.leave()
      model._quireState.dirty = 0
      model._quireState.flags.remove(.deleted)
      become(rowOf: key, row, model, entity, store)
    } catch {
      core.refuse("\(entity.name) \(key) was inserted, and its row cannot be read: \(error)")
    }
  }

  /// Deletes the row of an object whose context is gone. An object of a context that is there is left to that context,
  /// and the next save says so.
  func deleteForeign(_ model: any PersistentModel) {
    guard let owner = model._quireState.owner, let entity = entity(of: model) else { return }
    guard Editing.isOrphan(model), owner.storeNumber == core.storeNumber else {
      return core.refuse("a \(Swift.type(of: model)) of another context was deleted")
    }
    let key = model._quireRowState.key
    if key < ModelState.firstKey { return }  // it was never saved
    do {
      guard let present = try registered(entity.index, key) ?? core.fetcher.lookUp(entity, key: key) else { return }
      delete(entity.model(present))
    } catch {
      core.refuse("\(entity.name) \(key) was deleted, and its row cannot be read: \(error)")
    }
  }

  private func become(
    rowOf key: Int64, _ row: any PersistentModel, _ model: any PersistentModel, _ entity: Entity, _ store: Store
  ) {
    model._quireState.join(core, key: key)
    model._quireState.saved(as: key)
    maps[entity.index].insert(model, key: key)
    for index in entity.relationships {
      guard let side = entity.properties[index].toOne else {
        model._quireSetLink(index, Link())  // its list is read again, with what is edited here
        continue
      }
      model._quireSetLink(index, linkHere(model._quireLink(index), store.entities[side.target]))
    }
    let differing = model._quireDifference(from: row) & entity.storedMask
    if differing == 0 { return }
    core.edited(model)
    setBase(of: model, to: row, entity)
    model._quireState.dirty = differing
  }

  private func give(
    _ present: any PersistentModel, valuesOf model: any PersistentModel, _ entity: Entity, _ store: Store
  ) {
    if present.isDeleted { insert(present) }
    let differing = present._quireDifference(from: model) & entity.storedMask & ~entity.keysMask
    for index in entity.stored where differing & 1 << PropertyMask(index) != 0 {
      guard core.saver.begin(present, index) else { continue }
      telling(present, index) { present._quireAdopt(1 << PropertyMask(index), from: model) }
      valuesChange(of: present)
    }
    for index in entity.relationships {
      guard let side = entity.properties[index].toOne else { continue }
      let link = linkHere(model._quireLink(index), store.entities[side.target])
      if link.currentKey == present._quireLink(index).currentKey { continue }
      assign(link.currentKey.flatMap { core.loader.load(side.target, key: $0) }, to: index, of: present)
    }
  }

  /// Translates a reference to an object of a released context into one to its row, or to the object that is inserted
  /// here.
  private func linkHere(_ link: Link, _ entity: Entity) -> Link {
    guard let object = link.object else { return link }
    let target = entity.model(object)
    guard Editing.isOrphan(target) else { return link }
    let key = target._quireRowState.key
    if key >= ModelState.firstKey, target._quireState.owner?.storeNumber == core.storeNumber { return Link(key: key) }
    insert(target)
    return self.link(to: target)
  }
}
