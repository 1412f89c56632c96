/// What refers to the new objects of one class: found once, and not for each object that is merged.
///
/// References that have changed since are there, too, so each has to be looked at again.
struct Referrers {
  typealias Reference = (model: any PersistentModel, property: Int)

  private var references: [Int64: [Reference]] = [:]

  init(to entity: Entity, in core: ContextCore) {
    for model in core.fetcher.pendingModels {
      guard let other = core.entity(of: model) else { continue }
      for index in other.relationships {
        switch other.properties[index].kind {
        case .toOne(let side) where side.target == entity.index:
          if let target = model._quireLink(index).object as? any PersistentModel {
            add(target._quireRowState.key, (model, index))
          }
        case .toMany(let side) where side.target == entity.index: addList((model, index), side)
        default: continue
        }
      }
    }
    // Objects of which nothing but a list is edited.
    for place in core.pending.editedLists {
      guard let side = core.entity(of: place.model)?.properties[place.property].toMany, side.target == entity.index
      else { continue }
      addList((place.model, place.property), side)
    }
  }

  private mutating func addList(_ reference: Reference, _ side: ToManySide) {
    guard case .join = side.via, let list = reference.model._quireLink(reference.property).list else { return }
    for key in list.keys { add(key, reference) }
  }

  private mutating func add(_ key: Int64, _ reference: Reference) {
    if key < ModelState.firstKey { references[key, default: []].append(reference) }
  }

  subscript(model: any PersistentModel) -> [Reference] { references[model._quireRowState.key] ?? [] }
}
