package import QuireRow

/// A write for which no thread waits: it stands in the queue of a database until its turn has come, and is then run on the
/// database's own writer thread.
package protocol QueuedWrite: AnyObject, Sendable {
  var origin: ChangeSet.Origin { get }
  /// The name that its commit carries; read after ``run(in:)``.
  var author: String? { get }
  /// Runs it in a transaction that is rolled back if this throws.
  func run(in transaction: Transaction) throws
  /// It has been committed, or refused with an error; then nothing of it is there. Called once, with no lock held.
  func finish(_ error: (any Error)?)
}

extension Database {
  /// Has a write run after all that wait for the write lock already. Returns at once.
  package func enqueue(_ write: any QueuedWrite) {
    if lock.enqueue(write) { start(write) }
  }

  /// Takes a write out of the queue, which is then never run and never finished.
  ///
  /// - Returns: false if its turn has come.
  package func remove(_ write: any QueuedWrite) -> Bool { lock.remove(write) }

  /// How many writes and threads wait for the write lock.
  package var waitingWrites: Int { lock.waitingCount }

  /// Hands the write lock to the next in the queue.
  func unlock() {
    if let next = lock.unlock() { start(next) }
  }

  /// Runs a write, which has the lock.
  private func start(_ write: any QueuedWrite) {
    writes.async {
      self.lock.adopt()
      var failure: (any Error)?
      do {
        try self.transactLocked(origin: write.origin, author: write.author, leaving: nil) {
          try write.run(in: $0)
        } committed: { _, _ in
        }
      } catch {
        failure = (error as? CommitRefusal)?.reason ?? error
      }
      self.unlock()
      write.finish(failure)
    }
  }
}
