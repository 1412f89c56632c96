internal import CSQLite

/// Decides whether the statements of a connection continue; linked to the previous interruption.
final class Interruption {
  let isOver: () -> Bool
  let outer: Interruption?

  init(_ isOver: @escaping () -> Bool, within outer: Interruption?) {
    self.isOver = isOver
    self.outer = outer
  }

  var hasCome: Bool { isOver() || (outer?.hasCome ?? false) }

  /// The number of virtual-machine steps between two checks: some 10 µs of work.
  static let steps: Int32 = 1_000
}

extension Connection {
  /// Runs the body, and ends the statement running in it with SQLITE_INTERRUPT as soon as `isOver` returns true.
  ///
  ///     try connection.interrupted(when: { Task.isCancelled }) { try connection.query("SELECT …") }
  ///
  /// `isOver` is called about every 1 000 steps of SQLite's virtual machine, on the thread that runs the statement:
  /// never during a short statement, and not while it waits for a lock. Ending a read has no further effect; for a
  /// write, SQLite rolls back the statement or the transaction. A nested call ends when either closure returns true.
  package func interrupted<Result>(when isOver: () -> Bool, _ body: () throws -> Result) rethrows -> Result {
    try withoutActuallyEscaping(isOver) { isOver in
      let outer = interruption
      interruption = Interruption(isOver, within: outer)
      defer { interruption = outer }
      watchForInterruptions()
      return try body()
    }
  }

  /// Runs the body, and ends the statement running in it when the task of the calling thread is canceled.
  ///
  /// - Throws: `CancellationError` for a statement that it has ended.
  package func endingWithTask<Result>(_ body: () throws -> Result) throws -> Result {
    tasks += 1
    defer { tasks -= 1 }
    watchForInterruptions()
    do {
      return try body()
    } catch let error as SQLiteError where error.isInterrupted && Task.isCancelled {
      throw CancellationError()
    }
  }

  /// Runs the body, whose statements are ended neither by a canceled task nor by ``interrupted(when:_:)`` around it: for
  /// reads that cannot throw, whose answer would otherwise be taken for what is in the file.
  package func toItsEnd<Result>(_ body: () throws -> Result) rethrows -> Result {
    callsToTheEnd += 1
    defer { callsToTheEnd -= 1 }
    return try body()
  }

  /// From the first use on, SQLite asks every so many steps; it does not retain the connection, which ends that before
  /// it is gone.
  private func watchForInterruptions() {
    if isWatchedForInterruptions { return }
    isWatchedForInterruptions = true
    sqlite3_progress_handler(
      handle, Interruption.steps,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().isInterrupted ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Whether the statement that runs is to end.
  var isInterrupted: Bool {
    if callsToTheEnd == 0 {
      if tasks > 0, Task.isCancelled { return true }
      if let interruption, interruption.hasCome { return true }
    }
    return watch?.look() == 1
  }
}
