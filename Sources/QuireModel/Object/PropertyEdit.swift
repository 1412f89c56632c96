public import QuireRow

extension _Quire {
  /// Records that a property is about to be assigned another value.
  ///
  /// - Returns: False for a deleted object: the assignment is ignored, and the next `save()` reports it.
  @inlinable public static func edit<Model: PersistentModel>(_ model: Model, _ property: Int) -> Bool {
    let bit: PropertyMask = 1 << PropertyMask(property)
    let dirty = model._quireState.dirty
    if dirty & bit != 0 {
      if model._quireState.flags.isWaitedFor { editAgain(model) }
      return true
    }
    if model._quireState.flags.isEditedAlone, let owner = model._quireState.owner {
      if dirty == 0 { owner.edited(model) }
      model._quireState.dirty = dirty | bit
      return true
    }
    return beginEdit(model, property, bit)
  }
}

/// An edit that something waits for. After a failed autosave it may have fixed the cause, so the autosave is scheduled
/// again; an object that is found by its values has others then.
@usableFromInline func editAgain(_ model: some PersistentModel) {
  valuesChange(of: model)
  guard model._quireState.flags.contains(.unsavable) else { return }
  model._quireState.flags.remove(.unsavable)
  model._quireState.owner?.following.changed()
}

/// The object's values are about to change, or have changed, without an edit: see ``UnsavedValues``.
func valuesChange(of model: any PersistentModel) {
  guard model._quireRowState.flags.contains(.noted) else { return }
  model._quireState.flags.remove(.noted)
  model._quireState.owner?.fetcher.note(model)
}

@usableFromInline func beginEdit<Model: PersistentModel>(_ model: Model, _ property: Int, _ bit: PropertyMask) -> Bool {
  let state = model._quireState
  guard let owner = state.owner else { return !state.flags.contains(.deleted) }
  if state.flags.contains(.deleted) {
    owner.refuse(assignmentTo: property, of: model)
    return false
  }
  if state.flags.isWaitedFor { editAgain(model) }
  if state.flags.contains(.inserted) { return true }  // saved whole
  if state.dirty == 0 { owner.edited(model) }
  model._quireState.dirty = state.dirty | bit
  return true
}

extension PersistentModel {
  /// Identifies this object in its store; temporary, but its own, until its first save. Unchanged after the context is
  /// released.
  public var persistentModelID: PersistentIdentifier {
    let key = _quireRowState.key
    guard let owner = _quireState.owner, let entity = owner.entityNumber(of: self) else {
      return key == 0 ? PersistentIdentifier(loose: self) : PersistentIdentifier(store: 0, entity: 0, key: key)
    }
    return PersistentIdentifier(store: owner.storeNumber, entity: UInt32(entity), key: key)
  }

  /// The context the object is in; nil before insertion, once its deletion is saved, and after the context is gone.
  public var modelContext: ModelContext? {
    let state = _quireState
    guard let owner = state.owner else { return nil }
    if state.flags.contains(.deleted), !owner.pending.isDeletionUnsaved(of: self) { return nil }
    return owner.context
  }

  /// Whether the object was deleted here or its row is gone. It keeps its last values and ignores assignments.
  public var isDeleted: Bool { _quireRowState.flags.contains(.deleted) }

  /// Whether the object has edits that have not been saved.
  public var hasChanges: Bool {
    let state = _quireRowState
    return state.dirty != 0 || state.flags.contains(.inserted)
  }
}

extension PersistentModel {
  /// Whether the object has an observation registrar, for tests.
  package var isTracked: Bool { _quireState.tracking != nil }
}
