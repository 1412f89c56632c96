import QuireRow
import QuireSQLite

/// A save that the store's writer makes from a copy, while its context goes on.
///
/// The outcome is recorded under the write lock, before anything is notified of the commit: a context that takes the
/// commit in knows that it is its own.
// @unchecked: `decided`, `waiting` and `waiters` are accessed under `condition`, `wasRolledBack` and `dropped` on the
// context's isolation.
final class SaveUnderWay: @unchecked Sendable {
  enum Outcome {
    /// With the number of the commit; nil if the file was so already.
    case committed(Int64?)
    case failed(any Error)
  }

  let copy: PendingCopy
  /// What its commit carries.
  let origin: ChangeSet.Origin
  /// Whether what it writes has been rolled back in its context meanwhile.
  var wasRolledBack = false
  /// The references that were made nil for it: if it fails, they are as before.
  var dropped: [DroppedReference] = []
  private let number: UInt64
  private let container: ModelContainer
  private let limit: ContinuousClock.Instant?
  private let condition = Condition()
  private var decided: Outcome?
  private var waiting: [Int: AwaitedCall<Void>] = [:]
  private var waiters = 0

  init(_ core: ContextCore, _ container: ModelContainer, deadline: ContinuousClock.Instant?) {
    copy = PendingCopy(core)
    number = container.store.nextContextNumber()
    origin = .context(number)
    self.container = container
    limit = deadline
  }

  /// Queues the save, and returns when it has been made.
  ///
  /// - Throws: What a save throws; `CancellationError` and ``ModelError/deadlineExceeded``.
  func write() async throws {
    let copy = copy
    let block = ServedBlock(limit) { context in try copy.save(in: context) }
    let write = BlockWrite(block, container, author: nil, number: number) { [self] in decide($0) }
    let database = container.store.database
    try await block.value(enqueue: { database.enqueue(write) }) { [self] in
      guard database.remove(write) else { return false }
      decide(.failed(CancellationError()))
      return true
    }
  }

  var outcome: Outcome? {
    condition.lock()
    defer { condition.unlock() }
    return decided
  }

  private func decide(_ outcome: Outcome) {
    condition.lock()
    decided = outcome
    condition.wakeAll()
    let waiting = Array(waiting.values)
    self.waiting.removeAll()
    condition.unlock()
    for waiter in waiting { waiter.finish(nil) }
  }

  /// Returns when the outcome is certain.
  ///
  /// - Throws: `CancellationError` if the task is canceled before, and ``ModelError/deadlineExceeded``.
  func hasEnded(by deadline: ContinuousClock.Instant?) async throws {
    let call = AwaitedCall<Void>(deadline)
    call.compute {}
    let waiter = condition.withLock {
      waiters += 1
      return waiters
    }
    defer { condition.withLock { _ = waiting.removeValue(forKey: waiter) } }
    try await call.value(
      begin: {
        let isOver = condition.withLock {
          if decided == nil { waiting[waiter] = call }
          return decided != nil
        }
        if isOver { call.finish(nil) }
      }, stop: { true })
  }

  /// Blocks the calling thread until the outcome is certain.
  ///
  /// - Throws: ``DatabaseError/writerBusy(waited:)``.
  func wait(atMost timeout: Duration) throws(DatabaseError) {
    let deadline = ContinuousClock.now + timeout
    condition.lock()
    defer { condition.unlock() }
    while decided == nil {
      if !condition.wait(until: deadline), decided == nil { throw .writerBusy(waited: timeout) }
    }
  }
}
