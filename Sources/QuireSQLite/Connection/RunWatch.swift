internal import CSQLite
internal import Synchronization

/// Counts the steps of what runs on a connection and stops it, from any thread.
///
///     let watch = connection.watched()
///     …                     // in another thread:  watch.stop()
///     try statement.step()  // throws SQLITE_INTERRUPT
///
/// A stop holds until ``start()``: one that comes before the statement has begun is not lost. What SQLite does in one
/// step, such as counting a whole table, is stopped too.
package final class RunWatch: Sendable {
  private let isStopped = Atomic(false)
  private let count = Atomic(0)
  /// Nil once the connection is gone: its memory is not touched after that.
  private let handle: Locked<OpaquePointer?>
  /// How many steps of SQLite's machine lie between two looks: about 20 µs.
  private static let stride: Int32 = 1000

  fileprivate init(_ handle: OpaquePointer) {
    self.handle = Locked(handle)
    let context = Unmanaged.passUnretained(self).toOpaque()  // the connection holds it, and lets it go by `leave`
    sqlite3_progress_handler(
      handle, Self.stride,
      { context in
        guard let context else { return 0 }
        return Unmanaged<RunWatch>.fromOpaque(context).takeUnretainedValue().look()
      }, context)
  }

  private func look() -> Int32 {
    count.wrappingAdd(Int(Self.stride), ordering: .relaxed)
    return isStopped.load(ordering: .relaxed) ? 1 : 0
  }

  /// Steps since ``start()``, in thousands.
  package var steps: Int { count.load(ordering: .relaxed) }
  package var wasStopped: Bool { isStopped.load(ordering: .relaxed) }

  /// Begins to count anew, and forgets a stop.
  package func start() {
    isStopped.store(false, ordering: .relaxed)
    count.store(0, ordering: .relaxed)
  }

  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    handle.withLock { if let handle = $0 { sqlite3_interrupt(handle) } }
  }

  func leave() {
    handle.withLock { handle in
      if let handle { sqlite3_progress_handler(handle, 0, nil, nil) }
      handle = nil
    }
  }
}

extension Connection {
  /// Has what runs here counted from now on; the same watch at every call.
  package func watched() -> RunWatch {
    if let watch { return watch }
    let made = RunWatch(handle)
    watch = made
    return made
  }
}
