/// Objects of an ordered list of keys, loaded as they are reached.
extension Fetcher {
  /// The object at a position of a list, loaded together with those that follow it.
  package func element<Model: PersistentModel>(_ entity: Entity, _ keys: [Int64], at index: Int) -> Model {
    let key = keys[index]
    if let known = registered(entity.index, key) { return unsafeDowncast(known, to: Model.self) }
    let batch = Array(keys[index..<min(index + RelationshipLoader.batchLimit, keys.count)])
    _ = load(Model.self, keys: batch, entity)
    core.loader.groups.add(batch, entity: entity.index)
    core.following.hasRead()
    if let loaded = registered(entity.index, key) { return unsafeDowncast(loaded, to: Model.self) }
    return standIn(Model.self, entity, key)  // the error is recorded
  }

  /// An object for each key, and whether their rows were read; if there is no row, an object that is marked as deleted.
  ///
  /// - Parameter unsaved: Those that had no row when the keys were determined.
  func batch<Model: PersistentModel>(of keys: [Int64], _ entity: Entity, unsaved: [Int64: Model])
    -> ([Model], isRead: Bool)
  {
    let isRead = load(Model.self, keys: keys, entity)
    let models = keys.map { key in
      unsaved[key] ?? registered(entity.index, key) as? Model ?? standIn(Model.self, entity, key)
    }
    return (models, isRead)
  }

  /// The unsaved objects among these, by key: a save gives them others, under which they would not be found.
  func unsaved<Model: PersistentModel>(among identifiers: [PersistentIdentifier], _ entity: Entity) -> [Int64: Model] {
    var result: [Int64: Model] = [:]
    for identifier in identifiers where identifier.key < ModelState.firstKey {
      result[identifier.key] = registered(entity.index, identifier.key) as? Model
    }
    return result
  }

  /// Loads rows for callers that cannot throw.
  ///
  /// - Returns: Whether they could be read. If not, the error is noted for each, and thrown by the next save.
  func load<Model: PersistentModel>(_: Model.Type, keys: [Int64], _ entity: Entity) -> Bool {
    do {
      try core.inPlace { try loadBatch(Model.self, keys: keys) }
      return true
    } catch {
      core.deferReadError(error)
      for key in keys where registered(entity.index, key) == nil { unread.noteFailedRead(error, entity.index, key) }
      return false
    }
  }
}
