import QuireRow
import QuireSQLite

/// Rows that come back under the keys of deleted objects, as when others take a deletion back: references that have kept such
/// a key, by unsaved edits or by `.noAction`, lead to the objects that the rows have now.
extension Following {
  /// By entity, deleted objects whose rows have been inserted again.
  private typealias Returned = [Int: Set<ObjectIdentifier>]

  /// Notes a deleted object to whose key references may lead.
  func noteDeparted(_ model: any PersistentModel, _ entity: Entity) {
    guard let store, store.isTarget[entity.index], store.isKept[entity.index] || hasChanges else { return }
    departed.add(model, RowName(entity: entity.index, key: model._quireRowState.key))
  }

  /// Finds the references to deleted objects whose rows are there again.
  func references(in batch: CommitBatch, on connection: Connection, into step: Transition) {
    guard let store, !departed.isEmpty else { return }
    do {
      let returned = try returned(in: batch, store, on: connection)
      if returned.isEmpty { return }
      for entity in store.entities {
        let properties = entity.relationships.filter { index in
          entity.properties[index].toOne.map { returned[$0.target] != nil } ?? false
        }
        if properties.isEmpty { continue }
        var models = pending.insertedPlaces[entity.index].compactMap { pending.inserted[$0] }
        maps[entity.index].forEach { _, object in
          if let model = object as? any PersistentModel { models.append(model) }
        }
        for model in models { renew(properties, of: model, entity, returned, into: step) }
      }
    } catch {
      deferError(error)
    }
  }

  private func returned(in batch: CommitBatch, _ store: Store, on connection: Connection) throws -> Returned {
    var left: [Int: [Int64: any PersistentModel]] = [:]
    for (name, model) in departed.present where model.isDeleted && registered(name.entity, name.key) !== model {
      left[name.entity, default: [:]][name.key] = model
    }
    return try left.reduce(into: [:]) { result, found in
      let (entity, models) = (store.entities[found.key], found.value)
      var keys = Array(models.keys)
      if !batch.rowsUnknown, !batch.alters(entity.table) {
        let changes = batch.tables.filter { $0.table.name == entity.table }.flatMap(\.rows)
        keys = changes.compactMap { change in
          guard change.kind == .insert, case .integer(let key) = change.key else { return nil }
          return models[key] == nil ? nil : key
        }
      }
      if keys.isEmpty { return }
      let returned = try present(keys, entity, on: connection).compactMap { models[$0].map { ObjectIdentifier($0) } }
      if !returned.isEmpty { result[entity.index] = Set(returned) }
    }
  }

  private func renew(
    _ properties: [Int], of model: any PersistentModel, _ entity: Entity, _ returned: Returned, into step: Transition
  ) {
    let gone = pending.deletedByOthersToo.stillDeleted
    let leading = properties.filter { index in
      guard let side = entity.properties[index].toOne, let target = model._quireLink(index).object else { return false }
      // To what is deleted here, too, a save leads nothing by these rules, as if only that deletion were there.
      let isDropped = side.whenTargetGoes == .cascade || side.whenTargetGoes == .nullify && side.isOptional
      return returned[side.target]?.contains(ObjectIdentifier(target)) == true
        && !(isDropped && gone.contains(ObjectIdentifier(target)))
    }
    if leading.isEmpty { return }
    let row = entity.type.vacant(ModelState())
    row._quireAdopt(entity.storedMask, from: model)
    for index in leading { row._quireSetLink(index, Link(key: model._quireLink(index).key)) }
    let mask = leading.reduce(PropertyMask(0)) { $0 | 1 << PropertyMask($1) }
    step.refreshed.append(.init(model: model, row: row, properties: mask, isRenewed: true))
  }

  /// The properties that a step takes from its row. One that an observer has assigned since the notification keeps that.
  func taken(by refresh: Transition.Refresh) -> PropertyMask {
    if refresh.isPutBack { return refresh.properties }
    if !refresh.isRenewed { return refresh.properties & ~pending.edited(of: refresh.model) }
    return positions(in: refresh.properties).reduce(0) { mask, index in
      let target = refresh.model._quireLink(index).object as? any PersistentModel
      return target?.isDeleted == true ? mask | 1 << PropertyMask(index) : mask
    }
  }
}
