internal import CSQLite
internal import Foundation

/// Waits for another process's lock, until a time and as long as the wait is wanted.
///
/// SQLite's own waiting ends only with the time.
final class LockWait {
  private let deadline: ContinuousClock.Instant
  private let isOver: () -> Bool

  /// How long it sleeps between two tries, in microseconds: as SQLite at first, and then no longer than that, because a
  /// task that is canceled is to be answered within 50 ms.
  private static let delays: [UInt32] = [1_000, 2_000, 5_000, 10_000, 15_000]
  private static let longestDelay: UInt32 = 20_000

  init(_ timeout: Duration, unless isOver: @escaping () -> Bool) {
    deadline = .now + timeout
    self.isOver = isOver
  }

  /// - Returns: Whether to try again.
  fileprivate func wait(_ tries: Int32) -> Bool {
    if isOver() || .now >= deadline { return false }
    let place = Int(tries)
    usleep(Self.delays.indices.contains(place) ? Self.delays[place] : Self.longestDelay)
    return true
  }
}

extension Connection {
  /// Runs the body, in which a statement that meets another process's lock waits for the busy timeout, or until
  /// `isOver` returns true.
  func waitingForLock<Result>(unless isOver: () -> Bool, _ body: () throws -> Result) rethrows -> Result {
    try withoutActuallyEscaping(isOver) { isOver in
      let wait = LockWait(options.busyTimeout, unless: isOver)
      sqlite3_busy_handler(
        handle,
        { context, tries in
          guard let context else { return 0 }
          return Unmanaged<LockWait>.fromOpaque(context).takeUnretainedValue().wait(tries) ? 1 : 0
        }, Unmanaged.passUnretained(wait).toOpaque())
      defer { sqlite3_busy_timeout(handle, options.busyTimeout.milliseconds) }
      return try withExtendedLifetime(wait, body)
    }
  }
}
