internal import CSQLite
internal import QuireRow

/// Commits that this program makes in a file outside the store that has it open: those of a ``RecordingConnection``. A
/// store that knows them reports them as the program's own SQL, and not as another process's.
///
/// They are identified by SQLite's own count of a file's commits, and by their record in the change log, if there is
/// one; times are not used.
package final class LocalCommits: Sendable {
  private struct State {
    /// The names under which they are recorded in a change log.
    var processes: Set<String> = []
    /// By the file's count, in order, with adjacent ones combined.
    var runs: [ClosedRange<Int64>] = []
  }
  private let state = Locked(State())
  /// The number of remembered runs: no store falls further behind.
  private static let most = 4096

  package init() {}

  func recorded(as process: String) { state.withLock { _ = $0.processes.insert(process) } }

  /// Must be called before COMMIT: a store that notices the commit must find it here.
  func add(_ count: Int64) {
    state.withLock { state in
      if let last = state.runs.last, last.upperBound + 1 == count {
        state.runs[state.runs.count - 1] = last.lowerBound...count
      } else {
        state.runs.append(count...count)
      }
      if state.runs.count > Self.most { state.runs.removeFirst(Self.most / 2) }
    }
  }

  /// Removes the last one: nothing was committed.
  func remove(_ count: Int64) {
    state.withLock { state in
      guard let last = state.runs.last, last.upperBound == count else { return }
      state.runs.removeLast()
      if last.count > 1 { state.runs.append(last.lowerBound...count - 1) }
    }
  }

  func contains(_ process: String?) -> Bool {
    process.map { process in state.withLock { $0.processes.contains(process) } } ?? false
  }

  /// How many of the file's commits after one up to another are among them.
  func count(after first: Int64, upTo last: Int64) -> Int64 {
    state.withLock { state in
      state.runs.reduce(0) { sum, run in
        let (low, high) = (max(run.lowerBound, first + 1), min(run.upperBound, last))
        return low <= high ? sum + high - low + 1 : sum
      }
    }
  }
}

extension Connection {
  /// SQLite's count of the commits to the file, by any process, as this connection's transaction sees it: from the
  /// log's index for a file with a write-ahead log, otherwise from the file's header. Nil if it is not available.
  func fileCommitCount() throws(SQLiteError) -> Int64? {
    var count: UInt32 = 0
    let mode = try privileged { () throws(SQLiteError) in try query("PRAGMA journal_mode").first }
    if mode == "wal" {
      guard let index = quire_wal_index(handle) else { return nil }
      for _ in 0..<1000 where quire_wal_commit_count(UnsafeRawPointer(index), &count) != 0 { return Int64(count) }
      return nil
    }
    return quire_header_commit_count(handle, &count) != 0 ? Int64(count) : nil
  }
}
