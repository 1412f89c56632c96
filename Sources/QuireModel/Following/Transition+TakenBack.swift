import QuireRow
import QuireSQLite

/// Edits that triggers or foreign keys' actions have changed again in the save that wrote them.
extension Following {
  /// Compares saved objects with their rows at the context's commit, if their save has changed none: no commit says so.
  func followSaved(_ models: [any PersistentModel]) {
    let step = Transition(number: position.number)
    do {
      try readToItsEnd { compareSaved(models, beside: nil, on: $0, into: step) }
    } catch {
      return deferError(error)
    }
    if step.refreshed.isEmpty, step.lists.isEmpty { return }
    move = step
    finishMove()
  }

  /// Compares saved objects with their rows. A row that ends as it began is in no change, but its object has the edit.
  ///
  /// - Parameters:
  ///   - models: The objects that the save has written, before any other change was made to them.
  ///   - batch: What the step has compared already.
  func compareSaved(
    _ models: [any PersistentModel], beside batch: CommitBatch?, on connection: Connection, into step: Transition
  ) {
    guard let store, !models.isEmpty else { return }
    let known = Set(step.refreshed.map { ObjectIdentifier($0.model) })
    let waiting = models.filter { !known.contains(ObjectIdentifier($0)) && !$0.isDeleted }
    for (index, models) in Dictionary(grouping: waiting, by: { entity(of: $0)?.index ?? -1 })
      .sorted(by: { $0.key < $1.key }) where index >= 0
    {
      let entity = store.entities[index]
      do {
        let compared = Set(batch?[entity.table]?.rows.map(\.key) ?? [])
        let keys = models.map(\._quireRowState.key).filter { !compared.contains(.integer($0)) }
        if keys.isEmpty { continue }
        let rows = try core.loader.staged(entity, keys: keys, on: connection)
        for model in models {
          guard let row = rows[model._quireRowState.key] else { continue }
          let properties = model._quireDifference(from: row) & ~model._quireRowState.dirty
          if properties == 0 { continue }
          step.refreshed.append(.init(model: model, row: row, properties: properties))
        }
      } catch {
        deferError(error)
      }
    }
    let saved = Set(models.map { ObjectIdentifier($0) })
    var lists: Set<ListPlace.Kind> = []
    for refresh in step.refreshed where saved.contains(ObjectIdentifier(refresh.model)) {
      guard let entity = entity(of: refresh.model) else { continue }
      for property in entity.relationships where refresh.properties & 1 << PropertyMask(property) != 0 {
        guard let side = entity.properties[property].toOne, let inverse = side.inverse else { continue }
        lists.insert(ListPlace.Kind(entity: side.target, property: inverse))
      }
    }
    let count = step.lists.count
    for kind in lists where core.loader.loadedLists.contains(kind) {
      let entity = store.entities[kind.entity]
      guard let side = entity.properties[kind.property].toMany else { continue }
      do {
        try compareLists(of: entity, kind.property, side, store, on: connection, into: step)
      } catch {
        deferError(error)
      }
    }
    let before = step.lists.prefix(count)
    step.lists =
      before
      + step.lists.dropFirst(count).filter { new in
        !before.contains { $0.model === new.model && $0.property == new.property }
      }
  }
}
