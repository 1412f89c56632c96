import QuireRow

/// Keeps both sides of a relationship consistent while it is edited.
extension Editing {
  /// Changes a loaded list and notifies its observers; a list that was never read needs no change.
  func edit(_ property: Int, of model: any PersistentModel, _ change: (ToManyList) -> Void) {
    guard let list = model._quireLink(property).list else { return }
    if !model._quireRowState.hasTracking {
      // Without observers it is changed in place: copying a long list for each of its children would be quadratic.
      let version = list.version
      change(list)
      if list.version != version { pending.editedLists.append(ListPlace(model: model, property: property)) }
      return
    }
    let before = list.keys
    change(list)
    let after = list.keys
    if before == after { return }
    list.keys = before
    telling(model, property) { list.keys = after }
    pending.editedLists.append(ListPlace(model: model, property: property))
  }

  /// `book.author = author`: the column, and both authors' lists.
  func assign(_ target: (any PersistentModel)?, to property: Int, of model: any PersistentModel) {
    guard let entity = entity(of: model) else { return }
    if case .toMany = entity.properties[property].kind {  // the side of a one-to-one without the column
      replace(property, of: model, with: target.map { [$0] } ?? [])
      return
    }
    guard let side = entity.properties[property].toOne else { return }
    if let target, !belongs(target, to: model, property) { return }
    let old = model._quireLink(property)
    let oldKey = old.currentKey
    let newKey = target?._quireState.key
    if oldKey == newKey { return }
    guard edit(model, property) else { return }
    if let target, side.isOneToOne, let inverse = side.inverse {
      leaveOthers(target, inverse, property, but: model)
    }
    let isMade = telling(model, property) {
      _ = edit(model, property)  // an observer may have saved
      model._quireSetLink(property, target.map { link(to: $0) } ?? Link())
    }
    if !isMade { return core.refuse(assignmentTo: property, of: model) }
    guard let inverse = side.inverse else { return }
    let key = model._quireState.key
    if let oldKey, let parent = registered(side.target, oldKey) as? any PersistentModel {
      edit(inverse, of: parent) { $0.remove(key) }
    }
    if let target { edit(inverse, of: target) { $0.insert(key) } }
  }

  /// `author.books = […]`
  func replace(_ property: Int, of model: any PersistentModel, with targets: [any PersistentModel]) {
    guard let entity = entity(of: model), let side = entity.properties[property].toMany else { return }
    if isGone(model, property) { return }
    for target in targets where !belongs(target, to: model, property) { return }
    guard let list = core.loader.list(of: model, property) else { return }
    let old = Set(list.keys)
    let new = targets.map(\._quireState.key)
    let added = targets.filter { !old.contains($0._quireState.key) }
    let removed = old.subtracting(new)
    defer {
      if let order = side.order, let store, !model.isDeleted {
        core.loader.arrange(targets, new: added, by: order, store.entities[side.target])
      }
    }
    if added.isEmpty, removed.isEmpty { return }
    let leaving = removed.sorted().compactMap { core.loader.load(side.target, key: $0) }
    switch side.via {
    case .foreignKey(let foreignKey):
      for target in leaving {
        assign(nil, to: foreignKey, of: target)
        if isGone(model, property) { return }
      }
      for target in added {
        assign(model, to: foreignKey, of: target)
        if isGone(model, property) { return }
      }
    case .join(let join, let own):
      let key = model._quireState.key
      edit(property, of: model) { list in
        for target in leaving { list.remove(target._quireState.key) }
        for target in added { list.insert(target._quireState.key) }
      }
      if isGone(model, property) { return }
      for target in leaving { pending.joinEdits.unlink(pair(join, own, key, target._quireState.key)) }
      for target in added { pending.joinEdits.link(pair(join, own, key, target._quireState.key)) }
      if let inverse = side.inverse {
        for target in leaving { edit(inverse, of: target) { $0.remove(key) } }
        for target in added { edit(inverse, of: target) { $0.insert(key) } }
      }
      core.following.changed()
    }
  }

  /// Whether the object whose list is being assigned is deleted, by now or by an observer that was notified: then the
  /// rest of the assignment is skipped, and the next save reports it.
  private func isGone(_ model: any PersistentModel, _ property: Int) -> Bool {
    if !model.isDeleted { return false }
    core.refuse(assignmentTo: property, of: model)
    return true
  }

  /// Makes sure the target is in this context; inserts it if it is in none.
  func belongs(_ target: any PersistentModel, to model: any PersistentModel, _ property: Int) -> Bool {
    if target._quireRowState.isOwned(by: core) { return true }
    if target._quireState.owner == nil || Editing.isOrphan(target), !target._quireState.flags.contains(.vacant) {
      insert(target)
      return target._quireState.owner === core
    }
    pending.deferredErrors.append(
      "\(entity(of: model)?.name ?? "").\(entity(of: model)?.properties[property].name ?? "") was given an object of another context"
    )
    return false
  }

  private func edit(_ model: any PersistentModel, _ property: Int) -> Bool {
    func begin<M: PersistentModel>(_ model: M) -> Bool { _Quire.edit(model, property) }
    return begin(model)
  }

  /// The previous owner of the target of a one-to-one relationship loses it.
  func leaveOthers(
    _ target: any PersistentModel, _ inverse: Int, _ property: Int, but model: any PersistentModel
  ) {
    for holder in core.loader.targets(of: target, inverse) where holder !== model {
      if let holder = holder as? any PersistentModel { assign(nil, to: property, of: holder) }
    }
  }

  func pair(_ join: JoinTable, _ own: JoinSide, _ key: Int64, _ other: Int64) -> JoinEdits.Pair {
    own == .first
      ? JoinEdits.Pair(join: join.index, first: key, second: other)
      : JoinEdits.Pair(join: join.index, first: other, second: key)
  }

  func link(to target: any PersistentModel) -> Link {
    func make<M: PersistentModel>(_ target: M) -> Link { Link(to: target) }
    return make(target)
  }

  func link(to list: ToManyList) -> Link {
    var link = Link()
    link.object = list
    return link
  }
}
