package import QuireRow
import QuireSQLite

/// Moves a context from commit to commit, and ends its turns. A turn is one uninterrupted run of the context's actor.
package final class Following: ContextPart {
  /// The live results of the context.
  package let followers = LiveRegistry()
  /// Readers that run when the turn ends, instead of immediately.
  package let turnReaders = TurnReaders()
  /// The transition that is under way.
  var move: Transition?
  @exclusivity(unchecked) var isTurnScheduled = false
  /// Whether turns end automatically, as they do on an actor.
  var hasTurns = false
  /// Whether it follows commits, and `position` keeps its snapshot; see ``hold()``.
  private(set) var isHolding = false
  /// Whether it never moves: the context serves one block, at the commit at which that began.
  var standsStill = false

  func close() {
    move = nil
    position.pinsSnapshot = false
    position.endTurn()
    followers.removeAll()
  }

  /// Follows commits and keeps the snapshot of the context's commit from now on: it is about to show something.
  func hold() throws {
    guard !isHolding, !standsStill, store != nil else { return }
    holds(true)
    try catchUp()
  }

  /// - Parameter shows: Whether the context shows anything. One that does not is not notified of commits.
  func holds(_ shows: Bool) {
    guard shows != isHolding, !standsStill, let store else { return }
    isHolding = shows
    if shows { core.mailbox.follow(store.database, exceptTo: .context(core.number)) } else { core.mailbox.ignore() }
    position.pinsSnapshot = shows
  }

  // MARK: Turns

  /// Called at the first change of a turn: schedules one job on the context's isolation that ends the turn.
  func changed() {
    guard !isTurnScheduled else { return }
    isTurnScheduled = core.mailbox.scheduleTurnEnd()
  }

  /// At the end of the turn, or now if turns do not end automatically.
  func giveSnapshotBack() {
    if hasTurns { changed() } else { position.endTurn() }
  }

  /// Saves if autosave is on, runs the readers of its turns, releases unreferenced objects, and releases the snapshot.
  func endTurn() {
    isTurnScheduled = false
    guard store != nil else { return }
    if core.saver.autosaves, hasChanges { core.saver.autosave() }
    turnReaders.run()
    core.sweeper.sweep()
    core.loader.endTurn()
    position.endTurn()
  }

  /// A context made outside an actor ends its turn at a save, a refresh, or the end of a transaction.
  func endTurnIfIdle() {
    if !hasTurns, core.saver.open == nil { endTurn() }
  }

  // MARK: Steps

  /// Moves to the latest commit if there is a newer one; errors are reported by the next call that can throw.
  package func settle() {
    do { try catchUp() } catch { deferError(error) }
  }

  /// Moves to the latest commit if there is a newer one.
  ///
  /// Inside a reader's run, a context that shows anything stays at its commit if it can and is not about to write.
  package func catchUp(toWrite: Bool = false) throws {
    if move != nil { finishMove() }  // called from inside a notification: finish it first
    guard let store else { return }
    if standsStill { return }
    if core.saver.open != nil { return }  // it stands at the newest commit, and holds the write lock
    store.database.lookForForeignCommits()
    if let failure = core.mailbox.takeFailure() { fail(failure) }
    guard isHolding else {
      if store.database.commitNumber != position.number { try hold() }
      return
    }
    guard core.mailbox.isBehind(position.number) else { return }
    if ReaderRun.current != nil, !showsNothing, !toWrite, canStay { return }
    try moveToNewest()
  }

  /// Moves to the newest commit, whether or not it changes anything, and takes a snapshot of it.
  ///
  /// Only once, not until there is nothing new: a writer that never pauses would keep the reader here forever.
  func moveToNewest() throws {
    if move != nil { finishMove() }
    if standsStill { throw DatabaseError.stale(commit: position.number) }
    if !showsNothing { ReaderRun.current?.movedInside() }
    while let store {
      let advance = try position.prepareAdvance()
      let standing = position.number
      if advance.number > standing { core.mailbox.wait(for: advance.number, in: store.database) }
      // Nil if commits were combined past this snapshot, which can happen only while it is opened.
      guard let commits = core.mailbox.take(upTo: advance.number) else { continue }
      let batch = commits.filter { $0.number > standing }
      if batch.isEmpty {
        advance.commit()
        return giveSnapshotBack()
      }
      prepare(batch, advance)
      return finishMove()
    }
  }

  /// Under the write lock: merges what others have committed since the context's last check, unless the changes have
  /// observers.
  ///
  /// - Returns: False if an observer must be notified, which must not happen under the lock.
  func catchUpUnnotified(_ store: Store, on connection: Connection) throws -> Bool {
    let newest = store.database.commitNumber
    if position.number == newest { return true }
    if ReaderRun.current != nil, !showsNothing { return false }
    let standing = position.number
    guard let commits = core.mailbox.waiting(upTo: newest)?.filter({ $0.number > standing }) else { return false }
    let batch = CommitBatch(of: commits, number: newest)
    guard followers.isEmpty || followers.followers(affectedBy: batch).isEmpty else { return false }
    var step = Transition(number: newest)
    objects(in: batch, on: connection, into: &step)
    guard step.isSilent else { return false }
    noteKeys(in: commits)
    _ = core.mailbox.take(upTo: newest)
    move = step
    finishMove()
    position.advance(toNewest: newest)
    return true
  }

  /// Whether the context's commit can still be read. The state before a foreign commit may be gone.
  private var canStay: Bool {
    do {
      try position.read { _ in }
      return true
    } catch {
      return false
    }
  }

  private var showsNothing: Bool { core.objectCount == 0 && followers.isEmpty && !hasChanges }

  // MARK: Prepare

  private func prepare(_ commits: [ChangeSet], _ advance: SnapshotReader.Advance) {
    let batch = CommitBatch(of: commits, number: advance.number)
    noteKeys(in: commits)
    core.saver.take(upTo: advance.number, commits)
    var step = Transition(number: advance.number)
    step.advance = advance
    objects(in: batch, on: advance.connection, into: &step)
    step.followers = prepared(batch, on: advance.connection)
    step.batch = batch
    step.reads = core.queriesRun.value
    move = step
  }

  /// The followers that have a step to apply.
  func prepared(_ batch: CommitBatch, on connection: Connection) -> [any CommitFollower] {
    followers.followers(affectedBy: batch).compactMap { follower, batch in
      follower.compute(batch, on: connection) ? follower : nil
    }
  }

  /// Inside the writer's lock, right after the commit: the writer's connection reads exactly the new state.
  ///
  /// - Parameter open: The committed transaction. Rows that its saves did not write themselves are changes to the
  ///   context.
  func prepareOwn(_ commit: Commit, _ open: OpenTransaction) {
    core.saver.undo?.committed(commit.changes)
    var step = Transition(number: commit.number)
    if let writing = open.saving { saved(writing, &step) }
    // SQL executed by the context itself may follow a commit that it has not merged yet.
    let standing = position.number
    let missed = (core.mailbox.take(upTo: commit.number) ?? []).filter { $0.number > standing }
    noteKeys(in: missed)
    let rowsUnknown = commit.isFollowed || missed.contains(where: \.rowsUnknown)
    let expected = open.expectedEvents + (open.saving?.expectedEvents ?? 0)
    let onlyOwn =
      !commit.hasIndirectEvents && commit.eventCount == expected && missed.isEmpty && !rowsUnknown
    if !onlyOwn || !followers.isEmpty {
      let batch = CommitBatch(
        number: commit.number, tables: CommitBatch.tables(of: missed + [commit.changes]), rowsUnknown: rowsUnknown,
        altersSchema: commit.schemaChanged || missed.contains(where: \.altersSchema),
        origins: Set(missed.map(\.origin) + [commit.origin]))
      if !onlyOwn { objects(in: batch, on: commit.connection, into: &step) }
      step.followers = prepared(batch, on: commit.connection)
      step.batch = batch
      step.reads = core.queriesRun.value
    }
    if step.refreshed.isEmpty, step.lists.isEmpty, step.gone.isEmpty, step.followers.isEmpty {
      position.advanceAfterOwnCommit(commit)
    } else if let store {
      // Code notified before the change reads as of the previous commit; the context advances when the step is applied.
      step.own = (commit, store.database.makePosition())
    }
    move = step
  }

  /// Keys used by another process are not allocated again; keys used by this process are recorded when they are
  /// written.
  private func noteKeys(in commits: [ChangeSet]) {
    guard let store else { return }
    for commit in commits where commit.origin == .otherProcess {
      for changes in commit.tables {
        guard let entity = store.entity(ofTable: changes.table.name) else { continue }
        let keys = changes.rows.compactMap { if case .integer(let key) = $0.key { key } else { nil } }
        if let highest = keys.max() { store.keys.used(highest, for: entity.index) }
      }
    }
  }

  // MARK: Notify and apply

  /// The origins of the commits in the current transition; empty outside one.
  package var toldOrigins: Set<ChangeSet.Origin> { move?.batch?.origins ?? [] }

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
    var late = Transition(number: step.number)
    if let advance = step.advance {
      objects(in: batch, on: advance.connection, into: &late)
    } else if let place = step.own?.place {
      do { try place.read { objects(in: batch, on: $0, into: &late) } } catch { deferError(error) }
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
      // A property edited since the notification keeps its unsaved edit.
      let properties =
        refresh.isPutBack ? refresh.properties : refresh.properties & ~refresh.model._quireState.dirty
      refresh.model._quireAdopt(properties, from: refresh.row)
      if !pending.conflicts.isEmpty, !refresh.isPutBack {
        core.editing.followBase(of: refresh.model, properties, from: refresh.row)
      }
    }
    for list in step.lists {
      guard let loaded = list.model._quireLink(list.property).list else { continue }
      loaded.keys = list.keys(from: loaded.keys)
    }
    core.fetcher.apply(step.readable)
    for model in step.gone { leave(model) }
    if !step.gone.isEmpty { pending.edits.removeAll { $0._quireState.dirty == 0 } }
    core.saver.open?.removed(step.gone + step.removed)
    for model in step.gone + step.removed {
      guard let entity = entity(of: model) else { continue }
      maps[entity.index].remove(model._quireState.key)
      core.editing.forgetPairs(of: entity, model._quireState.key)
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

  /// The row is gone: its unsaved edits cannot be saved, and the next save reports that.
  private func leave(_ model: any PersistentModel) {
    if core.editing.noteLost(model) {
      model._quireState.dirty = 0
      model._quireState.flags.insert(.deleted)
      return
    }
    var edited = model._quireState.flags.contains(.deleted) ? 0 : model._quireState.dirty
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
  func saved(_ writing: Writing, _ step: inout Transition) {
    for model in pending.edits { model._quireState.dirty = 0 }
    pending.edits.removeAll(keepingCapacity: true)
    if !pending.conflicts.isEmpty { pending.conflicts.removeAll() }
    for (index, places) in writing.places.enumerated() where !places.isEmpty {
      let map = maps[index]
      map.reserve(places.count)
      if let last = places.last { store?.keys.used(writing.newKeys[last], for: index) }
      for place in places {
        guard let model = pending.inserted[place] else { continue }
        model._quireState.saved(as: writing.newKeys[place])
        map.insert(model, key: writing.newKeys[place])
      }
    }
    if !pending.inserted.isEmpty { replaceTemporaryKeys(writing) }
    pending.forgetInserted()
    step.removed = pending.deleted
    pending.deleted.removeAll()
    pending.cascades = .init()
    pending.joinEdits.removeAll()
    pending.editedLists.removeAll()
  }

  /// Replaces temporary keys of saved objects in lists by their new keys.
  private func replaceTemporaryKeys(_ writing: Writing) {
    for place in pending.editedLists {
      guard let list = place.model._quireLink(place.property).list, let last = list.keys.last,
        last < ModelState.firstKey
      else { continue }
      list.keys = ToManyList.sorted(list.keys.map(writing.saved))
    }
  }
}
