/// Relationships that say how many objects they have at least or at most.
extension Owner {
  /// Looks at the lists that the save changes, and at those of new objects.
  /// - Throws: ``ModelError/relationshipCount(model:property:count:allowed:)`` for the first that has too few or too many.
  func checkCounts(_ store: Store) throws {
    guard store.limitsCounts else { return }
    for model in pendingModels where !model.isDeleted {
      guard let entity = entity(of: model) else { continue }
      for (index, property) in entity.properties.enumerated() {
        switch property.kind {
        case .toMany where model._quireState.flags.contains(.inserted): try checkCount(of: index, model, entity)
        case .toOne(let side):
          guard let inverse = side.inverse, store.entities[side.target].properties[inverse].counts != nil,
            let key = model._quireLink(index).currentKey,
            let parent = registered(side.target, key).map(store.entities[side.target].model)
          else { continue }
          try checkCount(of: inverse, parent, store.entities[side.target])
        default: continue
        }
      }
    }
    for place in editedLists where !place.model.isDeleted {
      if let entity = entity(of: place.model) { try checkCount(of: place.property, place.model, entity) }
    }
  }

  private func checkCount(of index: Int, _ model: any PersistentModel, _ entity: Entity) throws {
    let property = entity.properties[index]
    guard let counts = property.counts, let list = list(of: model, index) else { return }
    if counts.contains(list.keys.count) { return }
    throw ModelError.relationshipCount(
      model: entity.name, property: property.name, count: list.keys.count, allowed: counts)
  }
}
