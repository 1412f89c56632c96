internal import CSQLite

/// Who decides whether the statements of a connection go on, and who decided before.
final class Interruption {
  let isOver: () -> Bool
  let outer: Interruption?

  init(_ isOver: @escaping () -> Bool, within outer: Interruption?) {
    self.isOver = isOver
    self.outer = outer
  }

  var hasCome: Bool { isOver() || (outer?.hasCome ?? false) }

  /// How many steps of its machine SQLite takes between two questions: some 10 µs of work.
  static let steps: Int32 = 1_000
}

extension Connection {
  /// Runs the body, and ends the statement that runs in it with SQLITE_INTERRUPT as soon as `isOver` says so.
  ///
  ///     try connection.interrupted(when: { Task.isCancelled }) { try connection.query("SELECT …") }
  ///
  /// It is asked about every 1 000 steps of SQLite's machine, on the thread that runs the statement: a short statement
  /// is never asked about, and waiting for a lock is none of those steps. A read that is ended leaves nothing behind; of
  /// a write SQLite takes back the statement, or the transaction. One within another ends when either says so.
  package func interrupted<Result>(when isOver: () -> Bool, _ body: () throws -> Result) rethrows -> Result {
    try withoutActuallyEscaping(isOver) { isOver in
      let outer = interruption
      let inner = Interruption(isOver, within: outer)
      observe(inner)
      defer { observe(outer) }
      return try withExtendedLifetime(inner, body)
    }
  }

  /// SQLite holds it without owning it: it is the connection's own `interruption` until the next one is set.
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
