package import QuireRow

/// A write for which no thread waits: it stands in the queue of a database until its turn has come, and is then run on the
/// database's own writer thread, with those that wait behind it as one group: see ``WriteGroup``.
package protocol QueuedWrite: AnyObject, Sendable {
  /// Since when it waits.
  var arrival: ContinuousClock.Instant { get }
  /// Whether its caller has stopped waiting: then it does not wait for other processes either.
  var isOver: Bool { get }
  var origin: ChangeSet.Origin { get }
  /// The name that its commit carries; read after ``run(in:)``.
  var author: String? { get }
  /// Runs it as a part of a transaction, which is taken back if this throws. It may be run again: when another part has
  /// ended the whole transaction.
  func run(in transaction: Transaction) throws
  /// Its outcome is certain: the number of its commit, nil if it has changed nothing, or an error. Called once, under the
  /// write lock, before subscribers are notified of the commit: it only records it.
  func decided(_ outcome: Result<Int64?, any Error>)
  /// It has been committed, or refused with an error; then nothing of it is there. Called once, with no lock held.
  func finish(_ error: (any Error)?)
}

extension QueuedWrite {
  package func decided(_ outcome: Result<Int64?, any Error>) {}
}

extension Database {
  /// Has a write run after all that wait for the write lock already. Returns at once.
  package func enqueue(_ write: any QueuedWrite) {
    do throws(DatabaseError) {
      try checkProcess()
    } catch {
      write.decided(.failure(error))
      return write.finish(error)
    }
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

  /// Hands the write lock on if the calling thread has kept its place for a write that is to be run again, and has not run it:
  /// see ``transact(origin:author:leaving:keepsState:waits:isTrial:_:committed:)``.
  package func leavePlace() {
    endKept()
    if let next = lock.leavePlace() { start(next) }
  }

  /// Takes the write lock for anything but a write that is made again.
  func takeLock(timeout: Duration) throws(DatabaseError) {
    endKept()
    try lock.lock(timeout: timeout)
  }

  /// Ends the transaction that the calling thread has kept for a write that is to be made again, if there is one; it still is the
  /// next write of this process.
  func endKept() {
    if lock.isKept, let writer = kept.take() { takeBack(writer) }
  }

  /// Runs a write, which has the lock, and those behind it.
  private func start(_ write: any QueuedWrite) {
    writes.async {
      self.lock.adopt()
      var group = WriteGroup(self)
      group.run(write)
      self.unlock()
      for (write, error) in group.answers { write.finish(error) }
    }
  }
}
