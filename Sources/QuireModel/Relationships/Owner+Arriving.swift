/// What objects bring along from before their insertion: nothing but the targets they were given, each by its own side.
extension Owner {
  /// An object that has just come into the context.
  struct Arrival {
    let model: any PersistentModel
    let entity: Entity
  }

  /// The objects that one in no context was given, and those in none that were given it and still have it.
  func neighbours(of model: any PersistentModel, _ entity: Entity) -> [any PersistentModel] {
    var result = entity.relationships.flatMap { targets(broughtBy: model, $0) }
    if let tracking = tracking(ifOf: model), !tracking.referrers.isEmpty {
      result += tracking.referrers.filter { refers($0, to: model) }
      tracking.referrers = []  // from here on the context knows
    }
    return result
  }

  private func targets(broughtBy model: any PersistentModel, _ property: Int) -> [any PersistentModel] {
    let link = model._quireLink(property)
    if let list = link.list { return list.detached.compactMap { $0 as? any PersistentModel } }
    return (link.object as? any PersistentModel).map { [$0] } ?? []
  }

  /// Whether an object that was given a target has it still. A list is no longer right where its target has been given
  /// to another one since.
  private func refers(_ referrer: any PersistentModel, to target: any PersistentModel) -> Bool {
    guard referrer._quireState.owner == nil, let entity = entity(of: referrer) else { return false }
    return entity.relationships.contains { index in
      let link = referrer._quireLink(index)
      guard let list = link.list else { return link.object === target }
      guard list.detached.contains(where: { $0 === target }) else { return false }
      guard case .foreignKey(let foreignKey)? = entity.properties[index].toMany?.via,
        let holder = target._quireLink(foreignKey).object
      else { return true }
      return holder === referrer
    }
  }

  /// Links arrivals with their targets, and tells the other sides.
  func attachRelationships(of arrivals: [Arrival]) {
    // All lists are there, empty, before one is told of anything.
    var brought: [[Int: [any PersistentModel]]] = []
    for arrival in arrivals {
      var lists: [Int: [any PersistentModel]] = [:]
      for index in arrival.entity.relationships {
        guard let side = arrival.entity.properties[index].toMany else { continue }
        let targets = targets(broughtBy: arrival.model, index)
        if !targets.isEmpty { lists[index] = targets }
        arrival.model._quireSetLink(index, link(to: ToManyList(keys: [])))  // nothing to load: it has no row yet
        if let store { noteInterest(arrival.entity, index, side, store) }
      }
      brought.append(lists)
    }
    for (arrival, lists) in zip(arrivals, brought) {
      for index in arrival.entity.relationships {
        if let side = arrival.entity.properties[index].toOne {
          attach(arrival.model, index, side)
        } else if let targets = lists[index] {
          replace(index, of: arrival.model, with: targets)
        }
      }
    }
  }

  private func attach(_ model: any PersistentModel, _ index: Int, _ side: ToOneSide) {
    let old = model._quireLink(index)
    guard let object = old.object, let target = store?.entities[side.target].model(object) else { return }
    guard belongs(target, to: model, index) else {
      model._quireSetLink(index, Link())
      return
    }
    if !old.hasKey || old.key != target._quireState.key { model._quireSetLink(index, link(to: target)) }
    guard let inverse = side.inverse else { return }
    if isOneToOne(side.target, inverse) { leaveOthers(target, inverse, index, but: model) }
    let key = model._quireState.key
    edit(inverse, of: target) { $0.insert(key) }
  }
}
