package import QuireRow
import QuireSQLite

/// The end of a step: observers are notified, and objects and live results take the values of the commit.
extension Following {
  /// The origins of the commits in the current transition; empty outside one.
  package var toldOrigins: Set<ChangeSet.Origin> { Set(move?.batch?.origins ?? []) }

  /// Takes a computed transition through its remaining stages. Re-entrant: if it is called from inside a notification
  /// (by a fetch or a save), it completes the transition, and the outer call finds nothing left to do.
  func finishMove() {
    guard let begun = move else { return }
    for announcement in begun.announcements { announcement.tellRest() }
    repeat {
      while move?.isApplied == false, let next = move?.next(.willSet) { tell(next, .willSet) }
    } while addLate()
    if let step = move, !step.isApplied {
      move?.isApplied = true
      apply(step)
    }
    while let next = move?.next(.didSet) { tell(next, .didSet) }
    if move != nil {
      move = nil
      giveSnapshotBack()
    }
  }

  /// As ``finishMove()``, after a commit of the context's own: without a transition there was nothing left to notify of.
  func finishOwnMove() {
    if move == nil { giveSnapshotBack() } else { finishMove() }
    leaveLostState()
  }

  /// Goes on to the newest commit if another process has committed in the instant after the context's own, whose state
  /// could not be kept: a list of that state would be loaded from another one.
  private func leaveLostState() {
    guard position.isLost, !showsNothing, !standsStill else { return }
    do { try moveToNewest() } catch { deferError(error) }
  }

  private func tell(_ told: Transition.Notification, _ moment: Moment) {
    switch told {
    case .property(let model, let property): model._quireTell(property, moment)
    case .object(let model, let properties, let row):
      if !model.isListenedTo { return }
      announce(.of(model, Array(positions(in: properties)), row: row))
    case .list(let list):
      announce(.of(list.model, [list.property]))
      list.model._quireTell(list.property, .willSet)
    case .gone(let model): if !model.isDeleted { announce(.ofVanishing(model)) }
    case .announcement(let announcement): announcement.tell(.didSet)
    case .follower(let follower):
      switch moment {
      case .willSet: follower.willChange()
      case .didSet: follower.didChange()
      }
    }
  }

  private func announce(_ announcement: _Announcement?) {
    guard let announcement else { return }
    move?.announcements.append(announcement)
    announcement.tell(.willSet)
  }

  /// Adds objects that an observer loaded for the first time during the notifications before the change, at the old
  /// commit.
  ///
  /// - Returns: Whether there were any, which must be notified too.
  private func addLate() -> Bool {
    guard let step = move, !step.isApplied, let batch = step.batch, step.reads != core.queriesRun.value else {
      return false
    }
    let late = Transition(number: step.number)
    if let advance = step.advance {
      objects(in: batch, on: advance.connection, into: late)
    } else if let place = step.own?.place {
      do { try place.read { objects(in: batch, on: $0, into: late) } } catch { deferError(error) }
    }
    move?.reads = core.queriesRun.value
    let known = Set((step.refreshed.map(\.model) + step.gone).map(ObjectIdentifier.init))
    let refreshed = late.refreshed.filter { !known.contains(ObjectIdentifier($0.model)) }
    let lists = late.lists.filter { list in
      !step.lists.contains { $0.model === list.model && $0.property == list.property }
    }
    move?.refreshed += refreshed
    let gone = late.gone.filter { !known.contains(ObjectIdentifier($0)) }
    move?.gone += gone
    move?.lists += lists
    let rows = Set(step.readable.map { [Int64($0.entity), $0.key] })
    move?.readable += late.readable.filter { !rows.contains([Int64($0.entity), $0.key]) }
    return !refreshed.isEmpty || !lists.isEmpty || !gone.isEmpty
  }

  private func apply(_ step: Transition) {
    for refresh in step.refreshed {
      let properties = taken(by: refresh)
      refresh.model._quireAdopt(properties, from: refresh.row)
      valuesChange(of: refresh.model)
      if !pending.conflicts.isEmpty, !refresh.isPutBack, !refresh.isRenewed {
        core.editing.followBase(of: refresh.model, properties, from: refresh.row)
      }
    }
    for list in step.lists {
      guard let loaded = list.model._quireLink(list.property).list else { continue }
      loaded.keys = list.keys(from: loaded.keys)
    }
    core.fetcher.apply(step.readable)
    for model in step.gone { leave(model) }
    if !step.gone.isEmpty { pending.rowsAreGone(step.gone) }
    core.saver.open?.removed(step.gone + step.removed)
    for model in step.gone + step.removed {
      guard let entity = entity(of: model) else { continue }
      let key = model._quireRowState.key
      if !step.announcements.isEmpty { step.left[RowName(entity: entity.index, key: key)] = model }
      maps[entity.index].remove(key)
      core.saver.undo?.deleted.add(model, RowName(entity: entity.index, key: key))
      noteDeparted(model, entity)
      keptLists.note(model, core)
      core.editing.forgetPairs(of: entity, key)
    }
    for follower in step.followers {
      follower.apply()
      if !follower.isFollowing { followers.fellBehind(follower) }
    }
    step.advance?.commit()
    if let own = step.own {
      position.advanceAfterOwnCommit(own.commit)
      store?.database.checkpointIfDue()
    }
  }

  /// The row is gone: its unsaved edits cannot be saved, and the next save reports that, unless this context has deleted
  /// it; then nothing is left to delete.
  private func leave(_ model: any PersistentModel) {
    if core.saver.isDeletingRows {
      core.editing.forgetBase(of: model)
      model._quireState.dirty = 0
    }
    if core.editing.noteLost(model) {
      model._quireState.dirty = 0
      model._quireState.flags.insert(.deleted)
      return
    }
    var edited = model._quireRowState.flags.contains(.deleted) ? 0 : model._quireRowState.dirty
    while edited != 0 {
      core.refuse(assignmentTo: edited.trailingZeroBitCount, of: model)
      edited &= edited - 1
    }
    model._quireState.flags.insert(.deleted)
    model._quireState.flags.remove(.inserted)
    model._quireState.dirty = 0
  }

  /// After a save its own objects equal the file: they get their keys and have no edits left. Done before any
  /// notification, so that an edit by an observer is a new one.
  ///
  /// - Returns: The objects that the save has deleted.
  func saved(_ writing: Writing) -> [any PersistentModel] {
    core.fetcher.forgetUnsavedValues()
    for model in core.pending.edits { model._quireState.dirty = 0 }
    core.pending.edits.removeAll(keepingCapacity: true)
    if !core.pending.conflicts.isEmpty { core.pending.conflicts.removeAll() }
    if !core.pending.inserted.isEmpty { keepInserted(writing) }
    core.pending.forgetEditedLists()
    if !core.pending.joinEdits.isEmpty { core.pending.joinEdits.removeAll() }
    if core.pending.cascades.isUsed { core.pending.cascades = .init() }
    core.pending.forgetDeletedByOthersToo()
    if core.pending.deleted.isEmpty { return [] }
    let removed = core.pending.deleted
    core.pending.forgetDeleted()
    core.pending.cascades = .init()
    return removed
  }

  /// Objects that were new have rows, and stand in the identity map under their keys.
  private func keepInserted(_ writing: Writing) {
    let (inserted, newKeys) = (core.pending.inserted, writing.newKeys)
    for (index, places) in writing.places.enumerated() where !places.isEmpty {
      let map = maps[index]
      map.reserve(places.count)
      if let last = places.last { store?.keys.used(newKeys[last], for: index) }
      for place in places {
        guard let model = inserted[place] else { continue }
        model._quireState.saved(as: newKeys[place])
        map.insert(model, key: newKeys[place])
      }
    }
    core.loader.shown.keeping {
      replaceTemporaryKeys(writing)
      core.pending.forgetInserted()
    }
  }

  /// Replaces temporary keys of saved objects in lists by their new keys.
  private func replaceTemporaryKeys(_ writing: Writing) {
    for place in pending.editedLists {
      place.model._quireLink(place.property).list?.replaceUnsaved(writing.saved)
    }
  }
}
