package import QuireRow
import QuireSQLite

/// The way of a context from commit to commit, and the end of its turns.
package final class Following: ContextPart {
  /// The live results of the context.
  package let followers = LiveRegistry()
  /// What runs when the turn ends, and not by itself.
  package let turnReaders = TurnReaders()
  /// The step that is under way.
  var move: Transition?
  @exclusivity(unchecked) var isTurnScheduled = false
  /// Whether turns end by themselves: on an actor they do.
  var hasTurns = false
  /// Whether `position` keeps its state; see ``hold()``.
  var isHolding = false

  func close() {
    move = nil
    position.pinsSnapshot = false
    position.endTurn()
    followers.removeAll()
  }

  /// From now on the state the context stands at is kept for it.
  func hold() throws {
    guard !isHolding, store != nil else { return }
    isHolding = true
    position.pinsSnapshot = true
    try catchUp()
  }

  // MARK: Turns

  /// The first change of a turn asks for its end: one job on the context's isolation.
  func changed() {
    guard !isTurnScheduled else { return }
    isTurnScheduled = core.mailbox.scheduleTurnEnd()
  }

  /// At the end of the turn, or now if turns do not end.
  func giveSnapshotBack() {
    if hasTurns { changed() } else { position.endTurn() }
  }

  /// Saves if autosave is on, runs the readers of its turns, releases unreferenced objects, gives the snapshot back.
  func endTurn() {
    isTurnScheduled = false
    guard store != nil else { return }
    if core.saver.autosaves, hasChanges { core.saver.autosave() }
    turnReaders.run()
    core.sweeper.sweep()
    core.loader.endTurn()
    position.endTurn()
  }

  /// A context made on no actor ends its turn at a save, a refresh, the end of a transaction.
  func endTurnIfIdle() {
    if !hasTurns, core.saver.open == nil { endTurn() }
  }

  // MARK: Steps

  /// Moves to the latest commit if there are batch; errors wait for the next call that can throw.
  package func settle() {
    do { try catchUp() } catch { loadErrors.append(error) }
  }

  /// Moves to the latest commit if there are batch.
  ///
  /// Inside a reader's run a context that shows anything stays where it is, if it can and is not about to write.
  package func catchUp(toWrite: Bool = false) throws {
    if move != nil { finishMove() }  // called from inside an announcement: the rest of it first
    guard let store else { return }
    if core.saver.open != nil { return }  // it stands at the newest commit, and holds the write lock
    store.database.lookForForeignCommits()
    if let failure = core.mailbox.takeFailure() { fail(failure) }
    if core.mailbox.isEmpty { return }
    if ReaderRun.current != nil, !showsNothing, !toWrite, canStay { return }
    try hold()
    try moveToNewest()
  }

  /// Moves to the newest commit, whether or not it brings batch, and stands on a snapshot of it.
  ///
  /// Once, and not until there is nothing new: a writer that never rests would keep the reader here for ever.
  func moveToNewest() throws {
    if move != nil { finishMove() }
    if !showsNothing { ReaderRun.current?.movedInside() }
    while true {
      let advance = try position.prepareAdvance()
      let standing = position.number
      if advance.number > standing { core.mailbox.wait(for: advance.number) }
      // Nil where commits have been taken together past this snapshot, which happens while it is opened or not at all.
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

  /// Under the write lock: takes in what others have committed since the context last looked, unless what that
  /// changes has observers.
  ///
  /// - Returns: false where an observer has to be notified, which must not happen under the lock.
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

  /// Whether the state it stands at can still be read. What another process has left need not be.
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
    var step = Transition(number: advance.number)
    step.advance = advance
    objects(in: batch, on: advance.connection, into: &step)
    step.followers = prepared(batch, on: advance.connection)
    step.batch = batch
    step.reads = core.queriesRun.value
    move = step
  }

  /// Those that have a step to take.
  func prepared(_ batch: CommitBatch, on connection: Connection) -> [any CommitFollower] {
    followers.followers(affectedBy: batch).compactMap { follower, batch in
      follower.compute(batch, on: connection) ? follower : nil
    }
  }

  /// Inside the writer's lock, right after the commit: the writer's connection reads exactly the new state.
  ///
  /// - Parameter open: What has committed. Rows that its saves have not written themselves are batch to the context.
  func prepareOwn(_ commit: Commit, _ open: OpenTransaction) {
    core.saver.undo?.committed(commit.changes)
    var step = Transition(number: commit.number)
    if let writing = open.saving { saved(writing, &step) }
    // SQL of the context's own may follow a commit that has not been taken in yet.
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
      // Who is told before reads as of the commit before: the context goes on when the step is taken.
      step.own = (commit, store.database.makePosition())
    }
    move = step
  }

  /// Keys that another process has used are not given out again; those of this one are known where they are written.
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

  // MARK: Announce, apply, tell

  /// Who has made the commits of the present move; empty outside one.
  package var toldOrigins: Set<ChangeSet.Origin> { move?.batch?.origins ?? [] }

  /// Takes a prepared move through its remaining stages. Re-entrant: called from inside an announcement (a fetch or a
  /// save there), it does the rest, and the outer call finds nothing left.
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
      announce(.of(model, (0..<64).filter { properties & 1 << UInt64($0) != 0 }, row: row))
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

  /// What was first loaded by somebody who was told before, and so as of the old commit, goes along.
  /// - Returns: whether there was any, which is to be announced too.
  private func addLate() -> Bool {
    guard let step = move, !step.isApplied, let batch = step.batch, step.reads != core.queriesRun.value else {
      return false
    }
    var late = Transition(number: step.number)
    if let advance = step.advance {
      objects(in: batch, on: advance.connection, into: &late)
    } else if let place = step.own?.place {
      do { try place.read { objects(in: batch, on: $0, into: &late) } } catch { loadErrors.append(error) }
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
      // A property edited since the announcement keeps the unsaved edit.
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

  /// The row is gone: what was edited of it and not saved has nowhere to go, and the next save says so.
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

  /// The save's own objects are as the file is: they get their keys, and no edit is left. Done before anybody is told,
  /// so that an edit made by who is told is a new one.
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

  /// Lists that hold unsaved objects name them by their new keys from now on.
  private func replaceTemporaryKeys(_ writing: Writing) {
    for place in pending.editedLists {
      guard let list = place.model._quireLink(place.property).list, let last = list.keys.last,
        last < ModelState.firstKey
      else { continue }
      list.keys = ToManyList.sorted(list.keys.map(writing.saved))
    }
  }
}
