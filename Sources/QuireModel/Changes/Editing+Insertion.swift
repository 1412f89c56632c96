/// Relationships assigned before insertion: only the assigned targets exist, each known by one side.
extension Editing {
  /// An object that has just come into the context.
  struct Arrival {
    let model: any PersistentModel
    let entity: Entity
  }

  /// The targets of a list that was assigned before the insertion: the list itself begins empty.
  struct BroughtList {
    let arrival: Int
    let property: Int
    let targets: [any PersistentModel]
  }

  /// Adds the unregistered objects that `model` refers to, and the unregistered objects that were assigned `model` and
  /// still refer to it; the first is added last.
  func addNeighbors(of model: any PersistentModel, _ entity: Entity, to waiting: inout [any PersistentModel]) {
    let start = waiting.count
    guard let entities = store?.entities else { return }
    for property in entity.relationships {
      guard let object = model._quireLink(property).object else { continue }
      if let side = entity.properties[property].toOne {
        let target = entities[side.target].model(object)
        if !target._quireRowState.isOwned(by: core) { waiting.append(target) }
      } else if let list = object as? ToManyList {
        waiting += list.detached?.objects.compactMap { $0 as? any PersistentModel } ?? []
      } else if let target = object as? any PersistentModel {
        waiting.append(target)
      }
    }
    if let tracking = tracking(ifOf: model), !tracking.referrers.isEmpty {
      waiting += tracking.referrers.filter { refers($0, to: model) }
      tracking.referrers = []  // from here on the context keeps them
    }
    if waiting.count > start + 1 { waiting[start...].reverse() }
  }

  /// Whether an object still refers to a target that it was assigned. A list entry is outdated if its target has since
  /// been assigned to another object.
  private func refers(_ referrer: any PersistentModel, to target: any PersistentModel) -> Bool {
    guard referrer._quireRowState.owner == nil, let entity = entity(of: referrer) else { return false }
    return entity.relationships.contains { index in
      let link = referrer._quireLink(index)
      guard let list = link.list else { return link.object === target }
      guard list.detached?.objects.contains(where: { $0 === target }) == true else { return false }
      guard case .foreignKey(let foreignKey)? = entity.properties[index].toMany?.via,
        let holder = target._quireLink(foreignKey).object
      else { return true }
      return holder === referrer
    }
  }

  /// Inserts an object whose row is gone: it gets a new row, with the values that it has kept. A reference to an object
  /// that is gone becomes nil, and its lists begin empty.
  func insertWithoutRow(_ model: any PersistentModel) {
    guard let entity = entity(of: model) else { return }
    for index in entity.relationships {
      let link = model._quireLink(index)
      if let side = entity.properties[index].toOne {
        let target = target(of: link, in: side.target, model: model, property: index)
        if let target, !target.isDeleted {
          model._quireSetLink(index, self.link(to: target))
          valuesChange(of: model)
          continue
        }
        if !link.hasKey { continue }
      } else if link.list?.keys.isEmpty ?? true {
        continue
      }
      telling(model, index) { model._quireSetLink(index, Link()) }
    }
    becomeNew(model)
  }

  /// Inserts an object that was a row's as if it had never been saved.
  func becomeNew(_ model: any PersistentModel) {
    model._quireState.leave()
    model._quireState.dirty = 0
    model._quireState.flags.remove(.deleted)
    model._quireState.key = 0
    core.fetcher.forgetUnsavedValues()  // as in `register`, which cannot see the former key any longer
    insert(model)
    pending.hasRenewed = true
    reconnect(model)
  }

  /// Gives unsaved references the keys that their targets have now. They differ only where an object has become new
  /// after it was referred to.
  func renewKeys() {
    guard pending.hasRenewed else { return }
    for model in pending.edits + pending.inserted.compactMap({ $0 }) { renewKeys(of: model, to: nil) }
  }

  /// - Parameter renewed: The target that has become new, into whose lists the object comes; nil for all of them.
  func renewKeys(of model: any PersistentModel, to renewed: (any PersistentModel)?) {
    guard let entity = entity(of: model) else { return }
    let state = model._quireRowState
    let edited = state.flags.contains(.inserted) ? ~0 : state.dirty
    for index in entity.relationships where edited & 1 << PropertyMask(index) != 0 {
      guard let side = entity.properties[index].toOne else { continue }
      let old = model._quireLink(index)
      guard old.hasKey, let target = old.object as? any PersistentModel, renewed == nil || target === renewed,
        old.key != target._quireRowState.key
      else { continue }
      model._quireSetLink(index, link(to: target))
      valuesChange(of: model)
      if renewed != nil, let inverse = side.inverse { edit(inverse, of: target) { $0.insert(model) } }
    }
  }

  /// Links inserted objects with their targets and notifies the other sides. All lists exist, empty, before any
  /// observer is notified.
  func attachRelationships(of arrivals: [Arrival]) {
    var brought: [BroughtList] = []
    for (number, arrival) in arrivals.enumerated() { startLists(of: arrival, number, &brought) }
    var next = brought[...]
    for (number, arrival) in arrivals.enumerated() { attach(arrival, number, &next) }
  }

  /// Links one inserted object with its targets.
  func attachRelationships(of arrival: Arrival) {
    var brought: [BroughtList] = []
    startLists(of: arrival, 0, &brought)
    var next = brought[...]
    attach(arrival, 0, &next)
  }

  private func startLists(of arrival: Arrival, _ number: Int, _ brought: inout [BroughtList]) {
    for index in arrival.entity.relationships {
      if arrival.entity.properties[index].toMany == nil { continue }
      let targets = targets(broughtBy: arrival.model, index)
      if !targets.isEmpty { brought.append(BroughtList(arrival: number, property: index, targets: targets)) }
      arrival.model._quireSetLink(index, link(to: ToManyList(keys: [])))  // nothing to load: it has no row yet
      if let store { core.loader.noteLists(arrival.entity, index, store) }
    }
  }

  /// - Parameter brought: In the order of the arrivals and their properties; the lists of this arrival are removed.
  private func attach(_ arrival: Arrival, _ number: Int, _ brought: inout ArraySlice<BroughtList>) {
    for index in arrival.entity.relationships {
      guard arrival.model._quireRowState.isOwned(by: core) else { break }  // an observer has rolled back
      if let side = arrival.entity.properties[index].toOne {
        attach(arrival.model, index, side)
      } else if let list = brought.first, list.arrival == number, list.property == index {
        brought.removeFirst()
        assign(list.targets, toList: index, of: arrival.model)
      }
    }
    brought = brought.drop { $0.arrival == number }
  }

  private func targets(broughtBy model: any PersistentModel, _ property: Int) -> [any PersistentModel] {
    let link = model._quireLink(property)
    if let list = link.list { return list.detached?.objects.compactMap { $0 as? any PersistentModel } ?? [] }
    return (link.object as? any PersistentModel).map { [$0] } ?? []
  }

  private func attach(_ model: any PersistentModel, _ index: Int, _ side: ToOneSide) {
    let old = model._quireLink(index)
    guard let object = old.object, let target = store?.entities[side.target].model(object) else { return }
    guard belongs(target, to: model, index) else {
      model._quireSetLink(index, Link())
      valuesChange(of: model)
      return
    }
    if !old.hasKey || old.key != target._quireRowState.key {
      model._quireSetLink(index, link(to: target))
      valuesChange(of: model)
    }
    noteReference(to: target, side)
    guard let inverse = side.inverse else { return }
    leaveOthers(target, index, side, but: model)
    edit(inverse, of: target) { list in
      let isThere = model._quireRowState.isOwned(by: core) && !model.isDeleted
      if isThere, model._quireLink(index).object === object { list.insert(model) }
    }
  }
}
