import QuireRow
import QuireSQLite

/// How everything that a context writes becomes a commit: the write lock first, then a look at what others have
/// committed, then the body, COMMIT, and the step to what was written.
extension Saver {
  /// Leaves a transaction that has written nothing: others have committed what observers of this context must be notified
  /// of first, and what these write must not wait for this thread.
  private struct MovedOn: ReturningWrite {
    let keeps: KeptPlace
  }

  /// How often others of this process alone wait for observers. After that, other processes do as well: they could write without
  /// pause.
  private static let turnsWithoutFile = 3

  /// Runs the body with the write lock held, the file's too, and the context at the newest commit.
  ///
  /// - Parameters:
  ///   - waits: Whether to wait while others write.
  ///   - outdated: Called if the store is shared and another node was first: the body has been taken back, and is run
  ///     again on the newest rows.
  /// - Throws: What the body or the commit throws; ``CommitRefusal`` if an observer of commits refuses it. Nothing of
  ///   it is written then; what is pending is as the body left it.
  func transact<Result>(
    waits: Bool = true, outdated: () -> Void = {}, _ body: (OpenTransaction, Store) throws -> Result
  ) throws -> Result {
    let store = try requireStore()
    if isReadOnly { throw ModelError.writeInRead("a write was begun") }
    if store.database.isReadOnly { throw ModelError.readOnly }
    try awaitSaveUnderWay(store)
    try core.following.hold()
    defer { store.database.leavePlace() }
    var turns = 0
    while true {
      turns += 1
      try core.following.catchUp(toWrite: true)
      do {
        let result = try store.database.transact(
          origin: .context(core.number), author: author, leaving: position, keepsState: BeforeObserver.isAny,
          waits: waits
        ) { transaction in
          let connection = transaction.connection
          guard try core.following.catchUpUnnotified(store, on: connection) else {
            throw MovedOn(keeps: turns < Self.turnsWithoutFile ? .place : .transaction)
          }
          let open = OpenTransaction(transaction, on: connection)
          self.open = open
          return try body(open, store)
        } committed: { _, commit in
          guard let open = open.take() else { return }
          core.following.prepareOwn(commit, open)
        }
        core.following.finishOwnMove()
        return result
      } catch is MovedOn {
        continue
      } catch is OutdatedTransaction {
        open = nil
        outdated()
      } catch {
        open = nil
        throw error
      }
    }
  }

  // MARK: With a block

  /// Runs the block as one transaction and saves what it leaves unsaved. When it throws, nothing of it is written, and
  /// all that is pending is as it was before.
  func transaction<Result>(_ block: () throws -> Result) throws -> Result {
    if let open { return try transaction(inside: open, block) }
    var checkpoint: PendingCheckpoint?
    var opened: OpenTransaction?
    var isWhole = false
    /// Puts back what was pending before the block, once.
    func restore() {
      if let checkpoint, let opened { self.restore(checkpoint, opened, since: nil) }
      (checkpoint, opened, isWhole) = (nil, nil, false)
    }
    do {
      return try transact(outdated: restore) { open, _ in
        opened = open
        checkpoint = PendingCheckpoint(core)
        let result = try core.fitting(block)
        try save(in: open)
        isWhole = true
        return result
      }
    } catch {
      let isWhole = isWhole
      restore()
      switch error {
      case let refusal as CommitRefusal: throw refusal.reason
      case let refused as SQLiteError where isWhole: throw try explained(refused, requireStore())
      default: throw error
      }
    }
  }

  /// A transaction inside another one: a part of it, which undoes only itself.
  private func transaction<Result>(inside open: OpenTransaction, _ block: () throws -> Result) throws -> Result {
    if open.isSaving { throw DatabaseError.nestedWrite }
    let checkpoint = PendingCheckpoint(core)
    let mark = open.mark
    do {
      return try open.transaction.savepoint {
        let result = try core.fitting(block)
        try save(in: open)
        return result
      }
    } catch {
      restore(checkpoint, open, since: mark)
      open.forget(since: mark)
      throw error
    }
  }
}
