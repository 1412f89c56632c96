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
      let inner = Interruption(isOver, within: outer)
      observe(inner)
      defer { observe(outer) }
      return try withExtendedLifetime(inner, body)
    }
  }

  /// SQLite does not retain it: the connection's own `interruption` holds it until the next one is set.
  private func observe(_ interruption: Interruption?) {
    self.interruption = interruption
    guard let interruption else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    sqlite3_progress_handler(
      handle, Interruption.steps,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().hasCome ? 1 : 0
      }, Unmanaged.passUnretained(interruption).toOpaque())
  }
}
