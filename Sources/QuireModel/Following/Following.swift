import QuireRow
import QuireSQLite

/// Moves a context from commit to commit, and ends its turns. A turn is one uninterrupted run of the context's actor.
package final class Following: ContextPart {
  /// The live results of the context.
  package let followers = LiveRegistry()
  /// Readers that run when the turn ends, instead of immediately.
  package let turnReaders = TurnReaders()
  /// The transition that is under way.
  @exclusivity(unchecked) var move: Transition?
  @exclusivity(unchecked) var isTurnScheduled = false
  /// Whether turns end automatically, as they do on an actor.
  var hasTurns = false
  /// Whether it follows commits, and `position` keeps its snapshot; see ``hold()``.
  private(set) var isHolding = false
  /// Tables and lists that could not be compared when last tried, as of a table that was renamed: with another schema they may
  /// be again.
  var uncompared: Set<String> = []
  /// Whether the turn is being ended, after which nothing that was read is left to be released.
  private var isEndingTurn = false
  /// Deleted objects to whose keys references may lead, as long as something holds them.
  var departed = DeletedObjects()
  /// The lists of observed deleted objects, as long as something holds these.
  var keptLists = KeptLists()
  /// Whether it never moves: the context serves one block, at the commit at which that began.
  var standsStill = false

  func close() {
    move = nil
    position.pinsSnapshot = false
    position.endTurn()
    followers.removeAll()
    departed.removeAll()
    keptLists = KeptLists()
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

  /// Called when rows were read: what they leave is released at the end of the turn. An autosave that reads and fails must
  /// not have another turn for that, which would try it again.
  func hasRead() {
    if !isEndingTurn { changed() }
  }

  /// At the end of the turn, or now if turns do not end automatically.
  func giveSnapshotBack() {
    if hasTurns { hasRead() } else { position.endTurn() }
  }

  /// Saves if autosave is on, runs the readers of its turns, releases unreferenced objects, and releases the snapshot.
  func endTurn() {
    isTurnScheduled = false
    guard store != nil else { return }
    isEndingTurn = true
    defer { isEndingTurn = false }
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
    let number = position.number
    let news = core.mailbox.look(after: number)
    if let failure = news.failure {
      fail(failure)
      return try catchUp(toWrite: toWrite)
    }
    guard isHolding else {
      if store.database.commitNumber != number { try hold() }
      return
    }
    guard news.isBehind else { return }
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
    let step = Transition(number: newest)
    objects(in: batch, on: connection, into: step)
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

  var showsNothing: Bool { core.objectCount == 0 && followers.isEmpty && !hasChanges }

  // MARK: Prepare

  private func prepare(_ commits: [ChangeSet], _ advance: SnapshotReader.Advance) {
    let batch = CommitBatch(of: commits, number: advance.number)
    noteKeys(in: commits)
    let saved = core.saver.take(upTo: advance.number, commits)
    let step = Transition(number: advance.number)
    step.advance = advance
    objects(in: batch, on: advance.connection, into: step)
    compareSaved(saved, beside: batch, on: advance.connection, into: step)
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
    var work = SavedWork()
    if core.saver.undo?.committed(commit.changes) == true { work.lists = core.saver.bringBack(commit.changes) }
    if open.saving != nil, commit.hasIndirectEvents { work.models = core.pending.edits }
    let removed = open.saving.map(saved) ?? []
    // SQL executed by the context itself may follow a commit that it has not merged yet.
    var missed = core.mailbox.take(upTo: commit.number) ?? []
    if !missed.isEmpty {
      let standing = position.number
      missed.removeAll { $0.number <= standing }
      noteKeys(in: missed)
    }
    let rowsUnknown = commit.isFollowed || missed.contains(where: \.allIsUnknown)
    let expected = open.expectedEvents + (open.saving?.expectedEvents ?? 0)
    let onlyOwn =
      !commit.hasIndirectEvents && commit.eventCount == expected && missed.isEmpty && !rowsUnknown
      && commit.alteredTables.isEmpty
    if onlyOwn, removed.isEmpty, followers.isEmpty { return position.advanceAfterOwnCommit(commit) }
    let step = Transition(number: commit.number)
    step.removed = removed
    if !onlyOwn || !followers.isEmpty {
      let commits = missed.isEmpty ? [commit.changes] : missed + [commit.changes]
      var batch = CommitBatch(of: commits, number: commit.number)
      batch.rowsUnknown = rowsUnknown
      if !onlyOwn { objects(in: batch, on: commit.connection, into: step) }
      compareSaved(work, beside: batch, on: commit.connection, into: step)
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
    for commit in commits where commit.origin.isElsewhere {
      for changes in commit.tables {
        guard let entity = store.entity(ofTable: changes.table.name) else { continue }
        let keys = changes.rows.compactMap { if case .integer(let key) = $0.key { key } else { nil } }
        if let highest = keys.max() { store.keys.used(highest, for: entity.index) }
      }
    }
  }
}
