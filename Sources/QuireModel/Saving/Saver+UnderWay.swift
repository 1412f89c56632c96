import QuireRow
import QuireSQLite

/// Saves that the store's writer makes from a copy of what is pending.
///
/// Until such a save has ended, all of it is still pending here: fetches see it, and a failure leaves it as it is. When
/// it has succeeded, what is equal to the copy is saved, and what was edited since stays pending.
extension Saver {
  /// Whether a save needs the objects themselves, so that no copy will do: new objects may turn out to be those of
  /// rows, and edits of rows that are gone are asked about.
  var needsObjects: Bool {
    if !pending.conflicts.lost.isEmpty { return true }
    guard onUniqueConflict == .upsert else { return false }
    return pending.inserted.contains { $0.flatMap { entity(of: $0) }?.uniqueSets.isEmpty == false }
  }

  /// Copies what is pending.
  func beginSave(_ container: ModelContainer, deadline: ContinuousClock.Instant? = nil) throws -> SaveUnderWay {
    let store = try requireStore()
    if isReadOnly { throw ModelError.writeInRead("a write was begun") }
    if store.database.isReadOnly { throw ModelError.readOnly }
    try core.following.hold()
    try checkObjects()
    return try keepingReferences {
      try dropGoneTargets(store)
      let save = SaveUnderWay(core, container, deadline: deadline)
      save.dropped = dropped
      underWay = save
      return save
    }
  }

  /// The save at the end of a turn while others write. It is made even if its context is released before.
  func saveLater() throws {
    guard !needsObjects, let parts else { return try save() }
    let announced = announceSave()
    let save = try beginSave(core.context?.container ?? ModelContainer(parts))
    announcedLater = announced
    let mailbox = core.mailbox
    let warnings = parts.store.warnings
    Task.detached {
      let failure: (any Error)?
      do {
        try await save.write()
        failure = nil
      } catch {
        failure = error
      }
      mailbox.run { core in
        if let core { return core.saver.autosaveEnded(save, failure) }
        if let failure { warnings.emit(StoreWarning(.autosave, "\(failure)")) }
      }
    }
  }

  private func autosaveEnded(_ save: SaveUnderWay, _ error: (any Error)?) {
    end(save)
    let announced = announcedLater.take()
    // A row was deleted elsewhere since: the context finds out which, and saves the rest.
    if case ModelError.ignoredAssignments? = error { return autosave() }
    if let error, (try? deletesMore(after: error)) == true { return autosave() }
    if let error, hasLostLinks(of: save, after: error) { return autosave() }
    if let error { autosaveFailed(error) } else { announceSaved(announced, with: save.copy.changedRows) }
    if error == nil { autosaveLater() }
  }

  /// Whether a save was refused, and links or deletes objects whose rows were deleted elsewhere since they were copied: the
  /// context has dropped these links now, and drops references to what it deletes, as any save does, and can save the rest.
  func hasLostLinks(of save: SaveUnderWay, after error: any Error) -> Bool {
    guard case ModelError.relationshipRefused = error else { return false }
    core.following.settle()
    return save.copy.joinEdits.changes.contains { pending.joinEdits.changes[$0.key] != $0.value }
      || save.copy.deleted.contains { !pending.isDeletionUnsaved(of: $0.original) }
  }

  /// Before anything else is written: what a save under way writes must not be written twice.
  func awaitSaveUnderWay(_ store: Store) throws {
    guard let save = underWay else { return }
    if store.database.isWritten { throw DatabaseError.nestedWrite }
    try save.wait(atMost: store.database.configuration.writeTimeout)
    end(save)
  }

  /// Takes in the commit of a save whose outcome is certain.
  func end(_ save: SaveUnderWay) {
    guard underWay === save, let outcome = save.outcome else { return }
    guard case .committed(let number) = outcome else {
      underWay = nil
      return putBack(save.dropped)
    }
    do {
      while underWay === save, let number, position.number < number, !isClosed { try core.following.moveToNewest() }
    } catch {
      deferError(error)
    }
    guard underWay === save else { return }
    core.following.compareSaved(take(save))
  }

  private var isClosed: Bool { core.isClosed }

  /// The context is about to stand at that commit: ends the save that it contains, if any.
  ///
  /// - Returns: What was written and may have been changed again: by triggers, or by commits after that one.
  func take(upTo number: Int64, _ commits: [ChangeSet]) -> SavedWork {
    guard let save = underWay, case .committed(let own?)? = save.outcome, own <= number else { return SavedWork() }
    let work = take(save, isFollowed: commits.contains { $0.number > own })
    if let changes = commits.first(where: { $0.origin == save.origin }) { undo?.committed(changes) }
    return work
  }

  /// What has been saved is not pending any longer.
  ///
  /// - Parameter isFollowed: Whether other commits are taken in together with it.
  /// - Returns: What was written and may have been changed again.
  private func take(_ save: SaveUnderWay, isFollowed: Bool = false) -> SavedWork {
    underWay = nil
    guard let store else { return SavedWork() }
    let copy = save.copy
    let keys = copy.newKeys
    // Before new objects get their keys, by which references to them are compared.
    let edits = copy.edits.map { $0.original._quireDifference(from: $0.values) & $0.entity.storedMask }
    let news = copy.inserted.map { $0.original._quireDifference(from: $0.values) & $0.entity.storedMask }
    for (object, since) in zip(copy.edits, edits) {
      let left = pending.edited(of: object.original) & (~object.dirty | since)
      if object.original.isDeleted {
        pending.keepEdits(left, of: object.original)
      } else {
        object.original._quireState.dirty = left
      }
      rebase(object)
    }
    if !save.wasRolledBack {
      for (pair, linked) in copy.joinEdits.changes { pending.joinEdits.saved(pair, linked) }
      for (object, since) in zip(copy.inserted, news) {
        if let key = keys[object.key] { take(object, key, editedSince: since, store) }
      }
      for place in pending.editedLists {
        place.model._quireLink(place.property).list?.replaceUnsaved { keys[$0] ?? $0 }
      }
    }
    pending.forgetDeleted(copy.deleted.map(\.original))
    pending.forgetSaved()
    core.fetcher.forgetUnsavedValues()
    guard copy.ranTriggers || isFollowed else { return SavedWork() }
    return SavedWork(
      models: (copy.edits + copy.inserted).map(\.original).filter {
        $0._quireRowState.isOwned(by: core) && $0._quireRowState.key >= ModelState.firstKey
      }, joins: Set(copy.joinEdits.changes.keys.map(\.join)))
  }

  /// A new object has its row.
  private func take(_ object: PendingCopy.Object, _ key: Int64, editedSince: PropertyMask, _ store: Store) {
    let model = object.original
    let entity = object.entity
    let place = Int(truncatingIfNeeded: object.key &- pending.firstTemporaryKey)
    if pending.inserted.indices.contains(place), pending.inserted[place] === model { pending.discard(place) }
    guard model._quireRowState.isOwned(by: core), model._quireRowState.key == object.key,
      maps[entity.index].find(key) == nil
    else { return }
    model._quireState.saved(as: key)
    maps[entity.index].insert(model, key: key)
    store.keys.used(key, for: entity.index)
    pending.joinEdits.rename(object.key, to: key) { pair in
      let join = store.joins[pair.join]
      return (join.first.entity == entity.index, join.second.entity == entity.index)
    }
    if model.isDeleted {  // since: now there is a row to delete
      pending.deleted.append(model)
    } else {
      model._quireState.dirty = editedSince
      if editedSince == 0 { return }
      pending.edits.append(model)
    }
    core.editing.setBase(of: model, to: object.values, entity)
  }

  /// Edits and a deletion made since are based on what has been saved.
  private func rebase(_ object: PendingCopy.Object) {
    let isDeletionBased =
      object.original.isDeleted && pending.conflicts.base(of: object.entity, object.key) != nil
    pending.conflicts.forgetBase(of: object.entity, object.key)
    if isDeletionBased || object.original._quireRowState.dirty != 0 {
      core.editing.setBase(of: object.original, to: object.values, object.entity)
    }
  }
}
