import QuireRow
package import QuireSQLite

/// Writes what is unsaved: pending changes → one transaction → one step of the context.
package final class Saver: ContextPart {
  /// The transaction that the context's own thread is in; nil outside one.
  @exclusivity(unchecked) var open: OpenTransaction?
  /// Whether the end of a turn saves.
  var autosaves = false
  /// Whether nothing may be written: the context serves a block that reads.
  var isReadOnly = false
  /// Whether its saves are announced by another context: it writes what is pending there.
  var isSilent = false
  /// Whether rows are being deleted by predicate here: unsaved edits of them are dropped, as those of an object that is
  /// deleted.
  var isDeletingRows = false
  /// A save that the store's writer makes, while the context goes on: see ``ModelContext/saveWhenReady(deadline:isolation:)``.
  var underWay: SaveUnderWay?
  /// What the autosave under way has announced.
  var announcedLater: Announced?
  /// The references that the save under way has made nil.
  var dropped: [DroppedReference] = []
  /// What a container on the store is made of, for saves after the context has been released.
  var parts: ModelContainer.Parts?
  /// The name its commits carry.
  var author: String?
  var onUniqueConflict = UniqueConflictPolicy.refuse
  var onConflict = ConflictPolicy.merge
  /// Keeps the context's commits, if they can be taken back, and the interest that captures their rows whole.
  var undo: UndoManager?
  var undoInterest: CaptureToken?

  func close() {
    undo = nil
    undoInterest = nil
    parts = nil
  }

  /// Writes everything that is unsaved as one commit, or inside a transaction as part of that. When this throws,
  /// nothing of it is written, and the edits are still here.
  ///
  /// - Parameter waits: Whether to wait while others write.
  func save(waits: Bool = true) throws {
    if let open { return try save(in: open) }
    guard hasChanges else { return try core.following.catchUp() }
    let announced = announceSave()
    let rows = try keepingReferences { try write(waits: waits) }
    announceSaved(announced, with: rows)
  }

  /// - Returns: See ``rows(in:since:)``.
  private func write(waits: Bool) throws -> [TableChanges] {
    let store = try requireStore()
    var order = Writing.Order()
    while true {
      var writing: Writing?
      do {
        return try transact(waits: waits) { open, store in
          try decide(store, on: open.connection)
          let made = Writing(core, store, order)
          writing = made
          try made.run(open.transaction, on: open.connection)
          open.saving = made
          return Self.rows(in: open.transaction, since: (0, 0))
        }
      } catch let refusal as CommitRefusal {
        throw refusal.reason
      } catch let error as SQLiteError {
        order = try nextOrder(after: writing, error, store)
      } catch let error as ModelError {
        guard try deletesMore(after: error) else { throw error }
      }
    }
  }

  /// The save at the end of a turn; what it throws is noted. It is made in the turn if no other write is under way, and
  /// otherwise by the store's writer, so that the actor is not blocked.
  func autosave() {
    if underWay != nil { return }  // what is pending behind it is saved when that has ended
    func save() throws {
      do {
        try self.save(waits: false)
      } catch let error as DatabaseError where error.isOthersWrite {
        try saveLater()
      }
    }
    do {
      do {
        try save()
      } catch ModelError.ignoredAssignments(let places) {
        noteAutosaveError(ModelError.ignoredAssignments(places))
        try save()  // the rest: the next turn may be far
      }
    } catch {
      autosaveFailed(error)
    }
  }

  /// The turns that ended while a save was under way have saved nothing: there is another one for what is pending.
  func autosaveLater() {
    if autosaves, hasChanges { core.following.changed() }
  }

  /// What an autosave threw: kept by the context as long as there is one, and warned of in any case.
  func noteAutosaveError(_ error: any Error) {
    core.context?.autosaveError = error
    store?.warnings.emit(StoreWarning(.autosave, "\(error)"))
  }

  func autosaveFailed(_ error: any Error) {
    noteAutosaveError(error)
    for model in pending.inserted.compactMap({ $0 }) + pending.edits {
      model._quireState.flags.insert(.unsavable)
    }
  }

  /// A save inside a transaction: what it has written is not pending any longer, and is undone with the transaction.
  func save(in open: OpenTransaction) throws {
    if open.isSaving { throw DatabaseError.nestedWrite }
    guard hasChanges else { return }
    let announced = announceSave()
    let store = try requireStore()
    open.isSaving = true
    defer { open.isSaving = false }
    let before = (events: open.transaction.eventCount, indirect: open.transaction.indirectEventCount)
    let writing = try keepingReferences {
      try decide(store, on: open.connection)
      return try write(in: open, store)
    }
    open.isSaving = false
    let rows = Self.rows(in: open.transaction, since: before)
    open.wrote(events: writing.expectedEvents, inserting: pending.inserted.compactMap { $0 })
    let step = Transition(number: position.number)
    let edited = open.transaction.indirectEventCount == before.indirect ? [] : pending.edits
    step.removed = core.following.saved(writing)
    let isAlone =
      open.transaction.eventCount == before.events + writing.expectedEvents
      && open.transaction.indirectEventCount == before.indirect
    if !isAlone {
      let batch = CommitBatch(open, since: before.events, number: step.number)
      core.following.objects(in: batch, on: open.connection, into: step)
      core.following.compareSaved(SavedWork(models: edited), beside: batch, on: open.connection, into: step)
    }
    core.following.move = step
    core.following.finishMove()
    announceSaved(announced, with: rows)
  }

  private func write(in open: OpenTransaction, _ store: Store) throws -> Writing {
    var writing = Writing(core, store, Writing.Order())
    while true {
      do {
        try open.undoing { try writing.run(open.transaction, on: open.connection) }
        return writing
      } catch let error as SQLiteError {
        writing = Writing(core, store, try nextOrder(after: writing, error, store))
      } catch let error as ModelError {
        guard try deletesMore(after: error) else { throw error }
        writing = Writing(core, store, writing.order)
      }
    }
  }

  /// Everything that a save makes of what is committed, looked at under the write lock, before anything is written.
  private func decide(_ store: Store, on connection: Connection) throws {
    try checkObjects()
    core.editing.takeBackMoved()
    core.editing.renewKeys()  // before anything compares or binds them
    try core.editing.checkConflicts(store, on: connection)
    if onUniqueConflict == .upsert { try mergeClashing(store) }
    try dropGoneTargets(store)
    try checkCounts(store)
  }

  /// What a save refuses whatever is committed.
  func checkObjects() throws {
    try core.requireFittingReads()
    if !pending.deferredErrors.isEmpty {
      let places = pending.deferredErrors
      pending.deferredErrors.removeAll()
      throw ModelError.ignoredAssignments(places)
    }
    try checkRules()
  }

  /// A value that is unique may be free once deletes and edits have been written, and a key if the rows of triggers come
  /// behind it: then another order is tried. If a cascade is deeper than SQLite goes, its objects are deleted one by one.
  /// - Throws: What SQLite has refused, in the models' words, if there is no other.
  private func nextOrder(after writing: Writing?, _ error: SQLiteError, _ store: Store) throws -> Writing.Order {
    guard var order = writing?.order else { throw explained(error, store, of: nil) }
    if error.isTooDeep, try deletesCascades() { return order }
    if error.isKeyTaken, order.highestKeys != .targetsFirst {
      order.highestKeys = order.highestKeys == nil ? .childrenFirst : .targetsFirst
    } else if error.isUnique, let next = order.steps.next, !(pending.deleted.isEmpty && pending.edits.isEmpty) {
      order.steps = next
      dropDeletedTargets()
    } else {
      throw explained(error, store, of: writing?.refused)
    }
    return order
  }

  /// A new object whose row is gone at the end of a save may be one of those that a cascade takes along: it belongs to
  /// an object that this context has not deleted, but the file does. Then all of them are deleted here, too.
  ///
  /// - Returns: Whether the save is to be tried again. One that another context makes of copies is not: it is tried again
  ///   where the objects are.
  func deletesMore(after error: any Error) throws -> Bool {
    guard case ModelError.changedByTrigger = error, !pending.deleted.isEmpty, !isSilent else { return false }
    return try deletesCascades()
  }

  private func deletesCascades() throws -> Bool {
    let known = pending.deleted.count
    try core.editing.deleteCascades()
    return pending.deleted.count > known
  }

  /// Runs the context's own SQL as one commit, or as part of its transaction, and merges the changes.
  ///
  /// - Parameter explain: Converts an error of SQLite to one in terms of the models, if that differs from a save's.
  package func write<Result>(
    explain: (SQLiteError, Store) -> (any Error)? = { _, _ in nil }, _ body: (Transaction, Store) throws -> Result
  ) throws -> Result {
    do {
      func run(_ open: OpenTransaction, _ store: Store) throws -> Result {
        try open.connection.endingWithTask { try body(open.transaction, store) }
      }
      guard let open else { return try transact(run) }
      if open.isSaving { throw DatabaseError.nestedWrite }
      let store = try requireStore()
      let before = open.transaction.eventCount
      let result = try open.transaction.savepoint { try run(open, store) }
      open.wrote(events: 0)
      let step = Transition(number: position.number)
      core.following.objects(
        in: CommitBatch(open, since: before, number: step.number), on: open.connection, into: step)
      core.following.move = step
      core.following.finishMove()
      return result
    } catch let refusal as CommitRefusal {
      throw refusal.reason
    } catch let error as SQLiteError {
      let store = try requireStore()
      throw explain(error, store) ?? explained(error, store)
    }
  }

  /// Whether what is written now becomes part of a transaction of this context.
  package var isInTransaction: Bool { open != nil }
}
