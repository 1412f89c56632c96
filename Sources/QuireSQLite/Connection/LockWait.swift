internal import CSQLite
internal import Foundation

/// Whether a wait for another process's lock goes on, within the busy timeout.
enum LockPatience {
  case none, unlimited
  /// Until the task of the calling thread is canceled.
  case task
  /// Until none of these is wanted any longer.
  case writes([any QueuedWrite])

  var isOver: Bool {
    switch self {
    case .none: true
    case .unlimited: false
    case .task: Task.isCancelled
    case .writes(let writes): writes.allSatisfy(\.isOver)
    }
  }
}

/// Waits for another process's lock, until a time and as long as the wait is wanted.
///
/// SQLite's own waiting ends only with the time.
private struct LockWait {
  let timeout: Duration
  let patience: LockPatience
  /// That of the store whose write waits.
  let lock: WriteLock?
  /// Set at the first try that fails.
  private var deadline: ContinuousClock.Instant?

  /// How long it sleeps between two tries, in microseconds: as SQLite at first, and then no longer than that, because a
  /// task that is canceled is to be answered within 50 ms.
  private static let delays: [UInt32] = [1_000, 2_000, 5_000, 10_000, 15_000]
  private static let longestDelay: UInt32 = 20_000

  init(_ timeout: Duration, _ patience: LockPatience, _ lock: WriteLock?) {
    self.timeout = timeout
    self.patience = patience
    self.lock = lock
  }

  /// - Returns: Whether to try again.
  mutating func wait(_ tries: Int32) -> Bool {
    if deadline == nil, let lock, OpenWriteLocks.isMine(besides: lock) { return false }
    let deadline = deadline ?? .now + timeout
    self.deadline = deadline
    if patience.isOver || .now >= deadline { return false }
    let place = Int(tries)
    usleep(Self.delays.indices.contains(place) ? Self.delays[place] : Self.longestDelay)
    return true
  }
}

extension Connection {
  /// Runs the body, in which a statement that meets another process's lock waits for the busy timeout, or for as long
  /// as `patience` says; not at all for the calling thread's own write to the file through another store.
  func waitingForLock<Failure: Error>(
    _ patience: LockPatience, under lock: WriteLock?, _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    var wait = LockWait(options.busyTimeout, patience, lock)
    try withUnsafeMutablePointer(to: &wait) { wait throws(Failure) in
      sqlite3_busy_handler(
        handle,
        { context, tries in
          guard let context else { return 0 }
          return context.assumingMemoryBound(to: LockWait.self).pointee.wait(tries) ? 1 : 0
        }, wait)
      defer { sqlite3_busy_timeout(handle, busyMilliseconds) }
      try body()
    }
  }
}
