/// Leaves other stores of the file, in this process and in others, their turns at the file's lock.
///
/// SQLite has no queue: who finds the lock taken tries again after some milliseconds, and if a store writes without a pause
/// it is taken then, too, the more surely the longer each commit takes. So, where others have the file open, a store pauses
/// after half a second of that, for longer than those who wait sleep between two tries.
struct WriteTurns {
  /// For how long a store writes without a pause.
  static let longest = Duration.milliseconds(500)
  /// Longer than ``LockWait`` and a migration sleep between two tries.
  static let pause = Duration.milliseconds(25)

  /// Since when there has been no pause that others could use, and when the latest transaction ended.
  private var begun: ContinuousClock.Instant
  private var ended: ContinuousClock.Instant

  init(at now: ContinuousClock.Instant) { (begun, ended) = (now, now) }

  /// Called before a transaction.
  ///
  /// - Returns: Whether it is time to pause first.
  mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
    if ended.duration(to: now) >= Self.pause { begun = now }
    guard begun.duration(to: now) >= Self.longest else { return false }
    begun = now
    return true
  }

  /// Others have had their turn.
  mutating func othersHaveWritten(at now: ContinuousClock.Instant) { begun = now }

  mutating func transactionEnded(at now: ContinuousClock.Instant) { ended = now }
}
