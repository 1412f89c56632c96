import QuireRow
import QuireSQLite

/// The objects of rows that were deleted, as long as something else holds them: if a context's undo brings the rows back, they
/// are the objects of their rows again.
struct DeletedObjects {
  private struct Released {
    weak var object: AnyObject?
  }

  private var objects: [RowName: Released] = [:]
  /// How many there may be before those that nothing holds any more are forgotten.
  private var limit = 64

  mutating func add(_ model: any PersistentModel, _ name: RowName) {
    if objects.count >= limit {
      objects = objects.filter { $0.value.object != nil }
      limit = max(64, objects.count * 2)
    }
    objects[name] = Released(object: model)
  }

  mutating func take(_ name: RowName) -> (any PersistentModel)? {
    objects.removeValue(forKey: name)?.object as? any PersistentModel
  }

  /// Those that something holds.
  var present: [(name: RowName, model: any PersistentModel)] {
    objects.compactMap { name, released in (released.object as? any PersistentModel).map { (name, $0) } }
  }

  var isEmpty: Bool { objects.isEmpty }

  mutating func removeAll() { objects.removeAll() }
}

extension Saver {
  /// Makes deleted objects the objects of their rows again, which the commit has inserted once more.
  ///
  /// They have the values of before their deletion; the step that follows compares them with the rows.
  ///
  /// - Returns: Their lists, which have what was unsaved when they were deleted: the step compares them with the file.
  func bringBack(_ changes: ChangeSet) -> Set<ListPlace.Kind> {
    guard let store, let undo else { return [] }
    var returned: [any PersistentModel] = []
    for table in changes.tables {
      guard let entity = store.entity(ofTable: table.table.name) else { continue }
      for row in table.rows where row.kind == .insert {
        guard case .integer(let key) = row.key,
          let model = undo.deleted.take(RowName(entity: entity.index, key: key)), maps[entity.index].find(key) == nil
        else { continue }
        let state = model._quireRowState
        // It may have been inserted again, as a new row.
        guard state.isOwned(by: core), state.key == key, state.flags.contains(.deleted) else { continue }
        model._quireState.flags.remove(.deleted)
        maps[entity.index].insert(model, key: key)
        returned.append(model)
      }
    }
    for model in returned { forgetStrangers(of: model) }
    return Set(returned.flatMap(loadedLists))
  }

  private func loadedLists(of model: any PersistentModel) -> [ListPlace.Kind] {
    guard let entity = entity(of: model) else { return [] }
    return entity.relationships.filter { model._quireLink($0).list != nil }
      .map { ListPlace.Kind(entity: entity.index, property: $0) }
  }

  /// Drops targets of references that are not the objects of their rows.
  private func forgetStrangers(of model: any PersistentModel) {
    guard let entity = entity(of: model) else { return }
    for index in entity.relationships {
      guard let side = entity.properties[index].toOne else { continue }
      var link = model._quireLink(index)
      guard let target = link.object, registered(side.target, link.key) !== target else { continue }
      link.object = nil
      model._quireSetLink(index, link)
    }
  }
}
