import QuireRow

/// Keeps both sides of a relationship consistent while it is edited.
extension Editing {
  /// Changes a loaded list and notifies its observers; a list that was never read needs no change.
  ///
  /// - Parameter change: Called more than once: the second time after observers were notified, who may have changed the
  ///   list, or what it should show.
  func edit(_ property: Int, of model: any PersistentModel, _ change: (ToManyList) -> Void) {
    let place = ListPlace(model: model, property: property)
    guard model._quireRowState.hasTracking else { return editInSilence(place, change) }
    guard let list = model._quireLink(property).list else { return }
    let before = list.keys
    change(list)
    if before == list.keys { return }
    list.keys = before
    var notifications = JointChange()
    _ = notifications.willChange([place])
    editInSilence(place, change)
    notifications.didChange()
  }

  /// Changes a loaded list, whose observers are notified by the caller or are none.
  ///
  /// It is changed in place: copying a long list for each of its children would be quadratic.
  func editInSilence(_ place: ListPlace, _ change: (ToManyList) -> Void) {
    guard let list = place.model._quireLink(place.property).list else { return }
    let version = list.version
    change(list)
    if list.version != version { pending.edited(place) }
  }

  /// `book.author = author`: the column, and both authors' lists, at once.
  func assign(_ target: (any PersistentModel)?, to property: Int, of model: any PersistentModel) {
    guard let entity = entity(of: model) else { return }
    if case .toMany = entity.properties[property].kind {  // the side of a one-to-one without the column
      return assign(target.map { [$0] } ?? [], toList: property, of: model)
    }
    guard let side = entity.properties[property].toOne else { return }
    if let target, !belongs(target, to: model, property) { return }
    let oldKey = model._quireLink(property).currentKey
    let newKey = target?._quireRowState.key
    if oldKey == newKey { return }
    guard edit(model, property) else { return }
    var change = JointChange()
    var rounds = 0
    while leaveOthers(target, property, side, but: model)
      || change.willChange(places(property, side, of: model, target))
    {
      rounds += 1
      if rounds == ObservationLoop.limit { break }  // an observer takes the target back each time
    }
    let isInContext = model._quireRowState.isOwned(by: core)
    if isInContext, let target, !belongs(target, to: model, property) { return }
    if model.isDeleted { return core.refuse(assignmentTo: property, of: model) }
    _ = edit(model, property)  // an observer may have saved
    let lists = isInContext ? places(property, side, of: model, target).dropFirst() : []
    let key = model._quireRowState.key
    model._quireSetLink(property, target.map { link(to: $0) } ?? Link())
    if let target { noteReference(to: target, side) }
    for place in lists {
      editInSilence(place) { if place.model === target { $0.insert(model) } else { $0.remove(key) } }
    }
    change.didChange()
    if !isInContext { rejoin(model, target.map { [$0] } ?? []) }
  }

  /// What an assignment changes: the reference, then the loaded lists of the target it has and of the one it gets.
  private func places(
    _ property: Int, _ side: ToOneSide, of model: any PersistentModel, _ target: (any PersistentModel)?
  ) -> [ListPlace] {
    var places = [ListPlace(model: model, property: property)]
    guard let inverse = side.inverse else { return places }
    let key = model._quireRowState.key
    if let oldKey = model._quireLink(property).currentKey, oldKey != target?._quireRowState.key,
      let former = registered(side.target, oldKey) as? any PersistentModel,
      former._quireLink(inverse).list?.contains(key) == true
    {
      places.append(ListPlace(model: former, property: inverse))
    }
    if let target, target._quireLink(inverse).list?.contains(key) == false {
      places.append(ListPlace(model: target, property: inverse))
    }
    return places
  }

  /// After an assignment to an object that an observer has taken out of the context, by a rollback: as any object of no
  /// context, it joins that of what it is assigned.
  private func rejoin(_ model: any PersistentModel, _ targets: [any PersistentModel]) {
    if model._quireRowState.owner == nil,
      targets.contains(where: { $0._quireRowState.isOwned(by: core) && !$0.isDeleted })
    {
      insert(model)
    }
  }

  /// As below, for code that does not know the targets' class, which is one.
  func assign(_ targets: [any PersistentModel], toList property: Int, of model: any PersistentModel) {
    func replace<Target: PersistentModel>(_: Target.Type) {
      self.replace(property, of: model, with: targets.compactMap { $0 as? Target })
    }
    guard let entity = entity(of: model), let side = entity.properties[property].toMany, let store else { return }
    let type: any PersistentModel.Type = targets.first.map { Swift.type(of: $0) } ?? store.entities[side.target].type
    replace(type)
  }

  /// `author.books = […]`
  func replace<Target: PersistentModel>(_ property: Int, of model: any PersistentModel, with targets: [Target]) {
    guard let entity = entity(of: model), let side = entity.properties[property].toMany else { return }
    if isGone(model, property) { return }
    let ends = model._quireLink(property).list.map { commonEnds($0, targets) }
    for target in targets[ends?.rest(of: targets.count) ?? targets.indices]
    where !belongs(target, to: model, property) { return }
    guard let list = core.loader.list(of: model, property) else { return }
    let (removed, added) = difference(list, targets)
    defer {
      if let order = side.order, let store, !model.isDeleted {
        core.loader.arrange(targets, new: added, by: order, store.entities[side.target])
      }
    }
    if added.isEmpty, removed.isEmpty { return }
    let leaving = removed.compactMap { core.loader.load(side.target, key: $0) }
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
    case .join(let join, let own): replacePairs(property, of: model, with: targets, side, join, own)
    }
  }

  /// What a list and the targets that it is assigned have in common at both ends, most of them after an append or the
  /// removal of one.
  private func commonEnds<Target: PersistentModel>(_ list: ToManyList, _ targets: [Target]) -> CommonEnds {
    if let shown = core.loader.shown.targets(of: list, Target.self) { return CommonEnds(shown, targets) }
    let keys = list.keys
    return CommonEnds(keys.count, targets.count) {
      let state = targets[$1]._quireRowState
      return state.key == keys[$0] && state.isOwned(by: core)  // another context's object of that row has its key, too
    }
  }

  /// The keys that an assignment takes out of a list, ascending, and the objects that it puts into it.
  private func difference<Target: PersistentModel>(_ list: ToManyList, _ targets: [Target]) -> (
    removed: [Int64], added: [any PersistentModel]
  ) {
    let ends = commonEnds(list, targets)
    let rest = targets[ends.rest(of: targets.count)]
    let old = Set(list.keys[ends.rest(of: list.keys.count)])
    if old.isEmpty, rest.isEmpty { return ([], []) }
    let new = Set(rest.map(\._quireRowState.key))
    let added = rest.filter { target in
      let key = target._quireRowState.key
      return !old.contains(key) && !list.contains(key)  // An object may stand in `targets` twice.
    }
    return (old.subtracting(new).sorted(), added)
  }

  /// A list that a join table keeps: its pairs, and the lists of the other side, at once.
  private func replacePairs<Target: PersistentModel>(
    _ property: Int, of model: any PersistentModel, with targets: [Target], _ side: ToManySide, _ join: JoinTable,
    _ own: JoinSide
  ) {
    var change = JointChange()
    var (leaving, added): ([any PersistentModel], [any PersistentModel]) = ([], [])
    var wereDeleted: Set<ObjectIdentifier>?
    func places() -> [ListPlace] {
      guard let list = core.loader.list(of: model, property) else { return [] }
      let difference = difference(list, targets)
      leaving = difference.removed.compactMap { core.loader.load(side.target, key: $0) }
      added = difference.added
      if wereDeleted == nil { wereDeleted = Set(added.filter(\.isDeleted).map { ObjectIdentifier($0) }) }
      if leaving.isEmpty, added.isEmpty { return [] }
      let others = side.inverse.map { inverse in
        (leaving + added).filter { $0._quireLink(inverse).list != nil }.map { ListPlace(model: $0, property: inverse) }
      }
      return [ListPlace(model: model, property: property)] + (others ?? [])
    }
    while change.willChange(places()) {}
    if isGone(model, property) { return }
    guard model._quireRowState.isOwned(by: core) else {
      model._quireSetLink(property, Link(detached: targets))
      change.didChange()
      return rejoin(model, targets)
    }
    // What an observer has deleted is not linked any more.
    added.removeAll { $0.isDeleted && wereDeleted?.contains(ObjectIdentifier($0)) != true }
    for target in added where !belongs(target, to: model, property) { return }
    let key = model._quireRowState.key
    editInSilence(ListPlace(model: model, property: property)) { list in
      for target in leaving { list.remove(target._quireRowState.key) }
      for target in added { list.insert(target) }
    }
    for target in leaving { edit(pair(join, own, key, target._quireRowState.key), isLinked: false) }
    for target in added { edit(pair(join, own, key, target._quireRowState.key), isLinked: true) }
    if let inverse = side.inverse {
      for target in leaving { editInSilence(ListPlace(model: target, property: inverse)) { $0.remove(key) } }
      for target in added { editInSilence(ListPlace(model: target, property: inverse)) { $0.insert(model) } }
    }
    core.following.changed()
    change.didChange()
  }

  /// Links or unlinks a pair. The opposite of an unsaved edit cancels it, unless others have made the same edit since.
  private func edit(_ pair: JoinEdits.Pair, isLinked: Bool) {
    if pending.joinEdits.changes[pair] == !isLinked, (isCommitted(pair) ?? isLinked) == isLinked {
      pending.joinEdits.forget(pair)
    } else {
      pending.joinEdits.set(pair, isLinked)
    }
  }

  /// Whether the commit that the context shows has the pair; nil if it cannot be read.
  private func isCommitted(_ pair: JoinEdits.Pair) -> Bool? {
    if min(pair.first, pair.second) < ModelState.firstKey { return false }
    guard let join = core.store?.joins[pair.join] else { return nil }
    return try? readToItsEnd { connection in
      let rows = try connection.query(
        "SELECT 1 FROM \(try quoted(identifier: join.name)) WHERE \(try quoted(identifier: join.first.name)) = ? "
          + "AND \(try quoted(identifier: join.second.name)) = ?", [.integer(pair.first), .integer(pair.second)])
      return !rows.rows.isEmpty
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
    if target._quireRowState.owner == nil || Editing.isOrphan(target), !target._quireRowState.flags.contains(.vacant) {
      insert(target)
      return target._quireRowState.isOwned(by: core)
    }
    core.refuse(
      "\(entity(of: model)?.name ?? "").\(entity(of: model)?.properties[property].name ?? "") was given an object of another context"
    )
    return false
  }

  private func edit(_ model: any PersistentModel, _ property: Int) -> Bool {
    func begin<M: PersistentModel>(_ model: M) -> Bool { _Quire.edit(model, property) }
    return begin(model)
  }

  /// Takes the target of a one-to-one relationship from any other object that refers to it.
  ///
  /// - Returns: Whether there was such an object.
  @discardableResult func leaveOthers(
    _ target: (any PersistentModel)?, _ property: Int, _ side: ToOneSide, but model: any PersistentModel
  ) -> Bool {
    guard let target, side.isOneToOne, let inverse = side.inverse else { return false }
    let others = core.loader.targets(of: target, inverse).compactMap { $0 as? any PersistentModel }
      .filter { $0 !== model && !$0.isDeleted }
    for other in others { assign(nil, to: property, of: other) }
    return !others.isEmpty
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
