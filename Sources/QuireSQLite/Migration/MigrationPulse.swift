import CSQLite
import Foundation

/// Called by a migration's connection while a statement runs, or waits for another writer, to decide whether to
/// continue.
///
/// Used on the connection's thread only, by the connection that holds it.
final class MigrationPulse {
  let interruption: MigrationInterruption?
  private let busyTimeout: Duration
  private let beat: (@Sendable () -> Void)?
  private var waitingSince = ContinuousClock.now

  init(interruption: MigrationInterruption?, busyTimeout: Duration, beat: (@Sendable () -> Void)?) {
    self.interruption = interruption
    self.busyTimeout = busyTimeout
    self.beat = beat
  }

  /// The number of virtual-machine instructions between two beats: a few tenths of a millisecond.
  private static let instructions: Int32 = 20_000

  /// The connection must hold this object as long as it is open.
  func install(on handle: OpaquePointer) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_progress_handler(
      handle, Self.instructions,
      { context in
        guard let context else { return 0 }
        return Unmanaged<MigrationPulse>.fromOpaque(context).takeUnretainedValue().goesOn() ? 0 : 1
      }, context)
    sqlite3_busy_handler(
      handle,
      { context, count in
        guard let context else { return 0 }
        return Unmanaged<MigrationPulse>.fromOpaque(context).takeUnretainedValue().waits(count) ? 1 : 0
      }, context)
  }

  /// False if the work is to stop.
  func goesOn() -> Bool {
    beat?()
    return interruption?.isStopped != true
  }

  /// Waits a moment for a lock; false if the timeout has passed.
  private func waits(_ count: Int32) -> Bool {
    if count == 0 { waitingSince = .now }
    guard goesOn(), waitingSince.duration(to: .now) < busyTimeout else { return false }
    usleep([1_000, 2_000, 5_000, 10_000][min(Int(count), 3)])
    return true
  }
}
