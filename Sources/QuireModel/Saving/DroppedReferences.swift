import QuireRow
import QuireSQLite

/// A reference that a save has made nil, because its target has no row to refer to.
struct DroppedReference {
  let model: any PersistentModel
  let property: Int
  let target: any PersistentModel
}

/// References of unsaved objects to what has no row when they are written: a save makes them nil before. If it fails, they are
/// as they were, because the deletion of the target may still be canceled.
extension Saver {
  /// Runs a save, or the beginning of one.
  func keepingReferences<Result>(_ save: () throws -> Result) throws -> Result {
    let outer = dropped
    dropped = []
    defer { dropped = outer }
    do {
      return try save()
    } catch {
      putBack(dropped)
      throw error
    }
  }

  /// References are as they were before a save that has failed, except for those that have been assigned since.
  func putBack(_ dropped: [DroppedReference]) {
    for reference in dropped.reversed() {
      let (model, property) = (reference.model, reference.property)
      guard model._quireRowState.isOwned(by: core), !model.isDeleted, !model._quireLink(property).hasKey else {
        continue
      }
      assign(reference.target, to: property, of: model)
    }
  }

  private func drop(_ property: Int, of model: any PersistentModel, _ target: any PersistentModel) {
    assign(nil, to: property, of: model)
    dropped.append(DroppedReference(model: model, property: property, target: target))
  }

  /// Not as an edit, after which a failed autosave would be tried again: it would be so without end.
  private func assign(_ target: (any PersistentModel)?, to property: Int, of model: any PersistentModel) {
    let isUnsavable = model._quireRowState.flags.contains(.unsavable)
    model._quireState.flags.remove(.unsavable)
    core.editing.assign(target, to: property, of: model)
    if isUnsavable { model._quireState.flags.insert(.unsavable) }
  }

  /// References to objects that were deleted before they were ever saved, or that others have deleted after this context:
  /// there will be no row to refer to. What the rule of the deletion takes along goes, too.
  func dropGoneTargets(_ store: Store) throws {
    core.editing.deleteGiven()
    let gone = pending.deletedByOthersToo.stillDeleted
    guard !gone.isEmpty || pending.inserted.contains(where: { $0 == nil }) else { return }
    for model in pending.inserted.compactMap({ $0 }) + pending.edits where !model.isDeleted {
      guard let entity = entity(of: model) else { continue }
      let state = model._quireRowState
      let written = state.flags.contains(.inserted) ? ~0 : state.dirty
      for index in entity.relationships where written & 1 << PropertyMask(index) != 0 {
        guard let side = entity.properties[index].toOne, let object = model._quireLink(index).object else { continue }
        let target = store.entities[side.target].model(object)
        if target._quireState.flags.isSuperset(of: [.deleted, .inserted]) {
          if !side.isOptional {
            throw ModelError.relationshipRefused(
              "\(entity.name).\(entity.properties[index].name) must have a value, and its "
                + "\(store.entities[side.target].name) was deleted before it was saved. Nothing was saved.")
          }
          drop(index, of: model, target)
        } else if gone.contains(ObjectIdentifier(target)), side.isOptional, side.whenTargetGoes == .nullify {
          drop(index, of: model, target)
        }
      }
    }
  }

  /// References of new objects to what the same save deletes, before it inserts them: the file's rule, which would make them
  /// nil, comes too early.
  func dropDeletedTargets() {
    let deleted = Dictionary(
      pending.deleted.compactMap { model in
        entity(of: model).map { (RowName(entity: $0.index, key: model._quireRowState.key), model) }
      }, uniquingKeysWith: { first, _ in first })
    if deleted.isEmpty { return }
    for model in pending.inserted.compactMap({ $0 }) where !model.isDeleted {
      guard let entity = entity(of: model) else { continue }
      for index in entity.relationships {
        guard let side = entity.properties[index].toOne, side.isOptional, side.whenTargetGoes == .nullify,
          let key = model._quireLink(index).currentKey,
          let target = deleted[RowName(entity: side.target, key: key)]
        else { continue }
        drop(index, of: model, target)
      }
    }
  }
}
