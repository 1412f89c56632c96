internal import CSQLite
internal import Synchronization

/// Counts the steps of statements on a connection and stops them, from any thread.
///
///     let watch = connection.watched()
///     …                     // in another thread:  watch.stop()
///     try statement.step()  // throws SQLITE_INTERRUPT
///
/// A stop lasts until ``start()``, so one that comes before the statement has begun is not lost. Work that SQLite does
/// in a single step, such as counting a whole table, is stopped too.
package final class RunWatch: Sendable {
  private let isStopped = Atomic(false)
  private let count = Atomic(0)
  /// Nil once the connection is closed: its memory is not accessed after that.
  private let handle: Locked<OpaquePointer?>
  /// The number of virtual-machine steps between two checks: about 20 µs.
  private static let stride: Int32 = 1000

  fileprivate init(_ handle: OpaquePointer) {
    self.handle = Locked(handle)
    let context = Unmanaged.passUnretained(self).toOpaque()  // the connection holds it until `leave`
    sqlite3_progress_handler(
      handle, Self.stride,
      { context in
        guard let context else { return 0 }
        return Unmanaged<RunWatch>.fromOpaque(context).takeUnretainedValue().look()
      }, context)
  }

  func look() -> Int32 {
    count.wrappingAdd(Int(Self.stride), ordering: .relaxed)
    return wasStopped ? 1 : 0
  }

  /// Steps since ``start()``, in thousands.
  package var steps: Int { count.load(ordering: .relaxed) }
  package var wasStopped: Bool {
    isStopped.load(ordering: .relaxed) || heedsSignals.load(ordering: .relaxed) && Self.wasStoppedBySignal
  }

  /// Resets the count and clears a stop.
  package func start() {
    isStopped.store(false, ordering: .relaxed)
    count.store(0, ordering: .relaxed)
  }

  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    handle.withLock { if let handle = $0 { sqlite3_interrupt(handle) } }
  }

  /// The connection that ``stopBySignal()`` stops; 0 for none.
  private static let stoppedBySignal = Atomic<UInt>(0)
  private static let isSignaled = Atomic(false)
  private let heedsSignals = Atomic(false)

  /// Whether ``stopBySignal()`` was called since ``standsForSignals()``.
  package static var wasStoppedBySignal: Bool { isSignaled.load(ordering: .relaxed) }

  /// Makes this the connection that ``stopBySignal()`` stops, and forgets an earlier stop.
  package func standsForSignals() {
    Self.isSignaled.store(false, ordering: .relaxed)
    heedsSignals.store(true, ordering: .relaxed)
    handle.withLock { Self.stoppedBySignal.store(UInt(bitPattern: $0), ordering: .releasing) }
  }

  /// Stops the statement that is being run, and those after it. May be called in a signal handler: it takes no lock and
  /// no memory.
  package static func stopBySignal() {
    isSignaled.store(true, ordering: .relaxed)
    let handle = OpaquePointer(bitPattern: stoppedBySignal.load(ordering: .acquiring))
    if let handle { sqlite3_interrupt(handle) }
  }

  func leave() {
    handle.withLock { handle in
      let address = UInt(bitPattern: handle)
      _ = Self.stoppedBySignal.compareExchange(expected: address, desired: 0, ordering: .releasing)
      if let handle { sqlite3_progress_handler(handle, 0, nil, nil) }
      handle = nil
    }
  }
}

extension Connection {
  /// Counts the statements on this connection from now on; returns the same watch at every call.
  package func watched() -> RunWatch {
    if let watch { return watch }
    let made = RunWatch(handle)
    watch = made
    isWatchedForInterruptions = false  // the watch has taken the place of the handler
    return made
  }
}
