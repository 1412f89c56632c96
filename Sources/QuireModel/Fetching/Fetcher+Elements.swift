/// Objects of an ordered list of keys, loaded as they are reached.
extension Fetcher {
  /// The object at a position of a list, loaded together with those that follow it.
  package func element<Model: PersistentModel>(_ entity: Entity, _ keys: [Int64], at index: Int) -> Model {
    let key = keys[index]
    if let known = registered(entity.index, key) { return unsafeDowncast(known, to: Model.self) }
    let batch = Array(keys[index..<min(index + RelationshipLoader.batchLimit, keys.count)])
    _ = load(Model.self, keys: batch, entity)
    core.loader.groups.add(batch, entity: entity.index)
    core.following.changed()
    if let loaded = registered(entity.index, key) { return unsafeDowncast(loaded, to: Model.self) }
    return standIn(Model.self, entity, key)  // the error is recorded
  }
}
