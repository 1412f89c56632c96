import QuireRow
import QuireSQLite

/// Unsaved edits → one transaction → one step of the context.
extension Owner {
  /// Writes everything that is unsaved as one commit. When this returns it is there for good; when it throws, nothing
  /// of it is, and the edits are still here.
  func save() throws {
    guard hasChanges else { return try settleThrowing() }
    let store = try requireStore()
    if !refusals.isEmpty {
      let places = refusals
      refusals.removeAll()
      throw ModelError.ignoredAssignments(places)
    }
    if store.database.configuration.access == .readOnly { throw ModelError.readOnly }
    let announced = announceSave()
    try checkRules()
    try hold()
    try settleThrowing(toWrite: true)
    try conflicts.tell()
    if onUniqueClash == .upsert { try mergeClashing(store) }
    try dropUnsavedTargets(store)
    try checkCounts(store)
    var order = Writing.Order.insertsFirst
    while true {
      var writing = Writing(self, store, order)
      do {
        try store.database.transact(origin: .context(number), author: author, leaving: position) { transaction in
          // Between settling and the lock somebody may have committed: then settle again, so that edits meet what they change.
          if store.database.commitNumber != position.number { throw MovedOn() }
          try writing.run(transaction)
        } committed: { _, commit in
          prepareOwn(commit, writing)
        }
        break
      } catch is MovedOn {
        try settleThrowing(toWrite: true)
        try conflicts.tell()
      } catch let refusal as CommitRefusal {
        throw refusal.reason
      } catch let error as SQLiteError {
        // A value that is unique may be free once deletes and edits have been written.
        if error.isUnique, let next = order.next, !(deleted.isEmpty && edits.isEmpty) {
          order = next
          continue
        }
        throw explained(error, store, of: writing.refused)
      }
    }
    finishMove()
    announceSaved(announced)
  }

  /// Runs SQL of the context's own as one commit, on the state that the context shows, and takes it in.
  ///
  /// - Parameter explain: What a refusal of SQLite's is in the models' words, where they are others than a save's.
  func write(
    explain: (SQLiteError, Store) -> (any Error)? = { _, _ in nil }, _ body: (Connection, Store) throws -> Void
  ) throws {
    let store = try requireStore()
    if store.database.configuration.access == .readOnly { throw ModelError.readOnly }
    try hold()
    try settleThrowing(toWrite: true)
    while true {
      do {
        try store.database.transact(origin: .context(number), author: author, leaving: position) { transaction in
          if store.database.commitNumber != position.number { throw MovedOn() }
          try body(transaction.connection, store)
        } committed: { _, commit in
          prepareOwn(commit, nil)
        }
        break
      } catch is MovedOn {
        try settleThrowing(toWrite: true)
      } catch let refusal as CommitRefusal {
        throw refusal.reason
      } catch let error as SQLiteError {
        throw explain(error, store) ?? explained(error, store)
      }
    }
    finishMove()
  }

  struct MovedOn: Error {}

  /// References to objects that were deleted before they were ever saved: there will be no row to refer to.
  private func dropUnsavedTargets(_ store: Store) throws {
    guard inserted.contains(where: { $0 == nil }) else { return }
    for model in inserted.compactMap({ $0 }) + edits where !model.isDeleted {
      guard let entity = entity(of: model) else { continue }
      for index in entity.relationships {
        guard let side = entity.properties[index].toOne, let object = model._quireLink(index).object else { continue }
        let state = store.entities[side.target].model(object)._quireState
        guard state.flags.isSuperset(of: [.deleted, .inserted]) else { continue }
        if !side.isOptional {
          throw ModelError.relationshipRefused(
            "\(entity.name).\(entity.properties[index].name) must have a value, and its "
              + "\(store.entities[side.target].name) was deleted before it was saved. Nothing was saved.")
        }
        assign(nil, to: index, of: model)
      }
    }
  }
}
