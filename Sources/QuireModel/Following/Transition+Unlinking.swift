import QuireRow

extension Following {
  /// Takes an object whose row is gone out of the lists that it is in by unsaved edits alone: no row tells of them, and a
  /// row that gets its key later must not be in them.
  func unlinkGone(_ store: Store, in step: Transition) {
    for model in step.gone {
      guard let entity = entity(of: model) else { continue }
      let key = model._quireRowState.key
      for index in entity.relationships where model._quireRowState.dirty & 1 << PropertyMask(index) != 0 {
        guard let side = entity.properties[index].toOne, let inverse = side.inverse,
          let parent = model._quireLink(index).currentKey.flatMap({ registered(side.target, $0) })
            as? any PersistentModel
        else { continue }
        remove(key, from: parent, inverse, in: step)
      }
      for (pair, isLinked) in pending.joinEdits.changes where isLinked {
        let join = store.joins[pair.join]
        for (side, own, other) in [(JoinSide.second, pair.first, pair.second), (.first, pair.second, pair.first)] {
          // `side` is that of the list.
          guard own == key, join.other(side).entity == entity.index,
            let holder = registered(join.own(side).entity, other) as? any PersistentModel
          else { continue }
          for (index, property) in store.entities[join.own(side).entity].properties.enumerated() {
            guard case .join(join, side)? = property.toMany?.via.asJoin else { continue }
            remove(key, from: holder, index, in: step)
          }
        }
      }
    }
  }

  private func remove(_ key: Int64, from model: any PersistentModel, _ property: Int, in step: Transition) {
    guard let list = model._quireLink(property).list else { return }
    let place = step.lists.firstIndex { $0.model === model && $0.property == property }
    let (was, keys) = place.map { (step.lists[$0].was, step.lists[$0].keys) } ?? (list.keys, list.keys)
    guard keys.contains(key) else { return }
    let shorter = Transition.ListStep(model: model, property: property, was: was, keys: keys.filter { $0 != key })
    if let place { step.lists[place] = shorter } else { step.lists.append(shorter) }
  }
}
