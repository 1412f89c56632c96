/// Something a store has done, for logs, metrics and traces. No event contains values of rows.
@nonexhaustive
public enum StoreEvent: Hashable, Sendable {
  /// A statement of a context, of a live result or of your own SQL has ended.
  ///
  /// - sql: Its text, with a `?` in place of each value: one text for all runs of one statement.
  /// - duration: From its first step to its end, including the time in which its rows were processed.
  /// - rows: How many rows it returned, or else changed, including rows changed by triggers and foreign keys.
  case statement(sql: String, duration: Duration, rows: Int)
  /// A write has got the write lock of this process after this wait; a write in a group, its turn.
  case waitedForWriteLock(Duration)
  /// A transaction is committed.
  ///
  /// - number: Its commit number.
  /// - duration: The time of COMMIT, with its sync; the same for writes that are committed together.
  /// - changes: How many rows were inserted, updated and deleted.
  /// - logBytes: How long the write-ahead log is since it last began.
  case commit(number: Int64, duration: Duration, changes: Int, logBytes: Int)
  /// The write-ahead log was copied into the file, except for the part that readers still need.
  ///
  /// - logBytes: How long the log is.
  /// - remainingBytes: How much of it was not copied, because readers of older commits need it.
  case checkpoint(duration: Duration, logBytes: Int, remainingBytes: Int)
}
