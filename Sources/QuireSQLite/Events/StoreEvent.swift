/// Something a store has done, for logs, metrics and traces. Values of rows are in none of them.
@nonexhaustive
public enum StoreEvent: Hashable, Sendable {
  /// A statement has ended, of a context, of a live result or of SQL that was given.
  ///
  /// - sql: Its text, with a `?` in place of each value: one text for all runs of one statement.
  /// - duration: From its first step to its end, with what was done with its rows in between.
  /// - rows: How many rows it gave, or else changed, those of triggers and foreign keys included.
  case statement(sql: String, duration: Duration, rows: Int)
  /// A write has waited for the write lock of this process, and has it: of a write in a group, for its turn.
  case waitedForWriteLock(Duration)
  /// A transaction is committed.
  ///
  /// - number: Its commit number.
  /// - duration: Of COMMIT, with its sync; writes that are committed together have the same one.
  /// - changes: How many rows were inserted, updated and deleted.
  /// - logBytes: How long the write-ahead log is since it last began.
  case commit(number: Int64, duration: Duration, changes: Int, logBytes: Int)
  /// The write-ahead log was copied into the file, as far as readers let it be.
  ///
  /// - logBytes: How long the log is.
  /// - remainingBytes: How much of it readers of older commits kept from being copied.
  case checkpoint(duration: Duration, logBytes: Int, remainingBytes: Int)
}
