import QuireSQLite

extension ModelContext {
  /// Writes all pending changes as one commit, as ``save()``, and suspends while others write instead of blocking a
  /// thread.
  ///
  ///     try await context.saveWhenReady()
  ///
  /// The changes pending now are written by the store's own thread, in the order of arrival among all writes; with
  /// those that wait, they are committed together (``ModelContainer/write(author:deadline:_:)``). When this method
  /// returns, the commit is on disk and the objects and live results of this context show it. When it throws, nothing
  /// was written and all changes are still pending, under those made since.
  ///
  /// Meanwhile the actor is free, and what it does with the context is defined:
  ///
  /// - What is edited, inserted and deleted stays pending for the next save.
  /// - ``rollback()`` discards all that is pending, and does not stop the save: its values appear with its commit.
  /// - A second `saveWhenReady` waits for the first, as long as its own deadline lets it, and writes what is pending then.
  /// - ``save()``, ``transaction(block:)-(()->Result)``, ``execute(_:)`` and deletions by predicate block until it has
  ///   ended.
  ///
  /// A save that needs the objects themselves is made as by ``save()``: one that inserts objects with unique values under
  /// ``UniqueConflictPolicy/upsert``, one after edits of a row that was deleted elsewhere, and one whose new objects a
  /// cascade would delete.
  ///
  /// - Parameters:
  ///   - deadline: When to give up waiting.
  ///   - isolation: The isolation of the context.
  /// - Throws: What ``save()`` throws; `CancellationError` if the task is canceled, and ``ModelError/deadlineExceeded``.
  public func saveWhenReady(
    deadline: ContinuousClock.Instant? = nil, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    let saver: Saver = owner.saver
    if owner.saver.isInTransaction { throw DatabaseError.nestedWrite }
    while let before = saver.underWay {
      try await before.hasEnded(by: deadline)
      saver.end(before)
    }
    if !owner.hasChanges || saver.needsObjects { return try save() }
    let announced = saver.announceSave()
    let save = try saver.beginSave(container, deadline: deadline)
    do {
      try await save.write()
    } catch ModelError.ignoredAssignments, ModelError.changedByTrigger {
      saver.end(save)
      return try self.save()  // a row was deleted elsewhere since, or by a cascade: the context finds out which
    } catch {
      saver.end(save)
      if saver.hasLostLinks(of: save, after: error) { return try await saveWhenReady(deadline: deadline) }
      saver.autosaveLater()
      throw error
    }
    saver.end(save)
    saver.autosaveLater()
    saver.announceSaved(announced, with: save.copy.changedRows)
    owner.following.endTurnIfIdle()
  }
}
