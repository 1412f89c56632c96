internal import CSQLite
internal import Foundation
internal import QuireRow

/// SQLite's own count of the commits to a file, by any process.
///
/// In the header of the WAL index, which all processes share: reading it is reading memory (20 ns), while `PRAGMA
/// data_version` takes a lock. It increases by one with every commit that wrote a page, and restarts only if a process
/// died in the middle of a commit and the next one recovered the index. For a file that is not in WAL mode, which only
/// a read-only store can have, `PRAGMA data_version` is read on a separate connection (4 to 14 µs). A file that can be read
/// only without locks is looked at: when it has changed, it is opened again, and that counts as one commit.
final class CommitCount: Sendable {
  private enum Source {
    /// Owned by the connection: valid while that is open.
    case index(UnsafeRawPointer, Connection)
    case pragma(Connection)
    /// Read without locks, with the way to open it again.
    case unlocked(Connection, () -> Connection?)
  }
  private struct State {
    var source: Source?
    /// The last that was read by `PRAGMA data_version`, or how often an unlocked file was found changed.
    var version: Int64 = CommitCount.unknown
  }
  private let state = Locked(State())

  static let unknown: Int64 = -1

  /// - Parameters:
  ///   - connection: Held until ``close()``; if there is a WAL index, only its memory is read.
  ///   - reopen: Makes another one when the file is read without locks and has changed.
  func start(_ connection: Connection, mayAsk: Bool, reopen: @escaping @Sendable () -> Connection? = { nil }) {
    // Without a log there is no index, and reading it would create an empty one beside the file.
    let mode = connection.privileged { try? connection.query("PRAGMA journal_mode").first }
    state.withLock { state in
      if connection.isUnlocked {
        state.source = .unlocked(connection, reopen)
        state.version = 0
      } else if mode == "wal", let index = quire_wal_index(connection.handle) {
        state.source = .index(UnsafeRawPointer(index), connection)
      } else if mayAsk {
        // A writer that waits for a snapshot of this process to end keeps new readers out: who waited for that writer
        // here could not end the snapshot.
        sqlite3_busy_timeout(connection.handle, 0)
        state.source = .pragma(connection)
      }
    }
  }

  /// Whether readers block writers: the file has no write-ahead log, so an open snapshot blocks everyone's commits.
  var isBlocking: Bool {
    state.withLock { if case .pragma? = $0.source { true } else { false } }
  }

  /// Whether all of the log is in the database, so that a snapshot opened now does not keep it from starting over. A hint.
  var isLogCopied: Bool {
    state.withLock { if case .index(let index, _)? = $0.source { quire_wal_is_copied(index) != 0 } else { false } }
  }

  /// How many frames the log has, by any process; 0 if that is not known. A hint.
  var logFrames: Int {
    state.withLock { if case .index(let index, _)? = $0.source { Int(quire_wal_frames(index)) } else { 0 } }
  }

  func close() {
    let source = state.withLock { state in
      defer { state.source = nil }
      return state.source
    }
    _ = source  // its connection may be closed here, outside the lock
  }

  /// ``unknown`` if it is not available; nil while it changes, or while a writer is about to change it. If a process dies
  /// while it changes the count, this stays nil until a snapshot is opened, which repairs the count.
  var value: Int64? {
    state.withLock { state -> Int64? in
      switch state.source {
      case .none: return CommitCount.unknown
      case .index(let index, _):
        var count: UInt32 = 0
        for _ in 0..<1000 where quire_wal_commit_count(index, &count) != 0 { return Int64(count) }
        return nil
      case .pragma(let connection):
        do throws(SQLiteError) {
          let version = try connection.privileged { () throws(SQLiteError) in
            try connection.query("PRAGMA data_version").first
          }
          if case .integer(let number)? = version { state.version = number }
        } catch {
          if error.isBusy { return nil }
        }
        return state.version
      case .unlocked(let connection, let reopen):
        guard connection.isPassed, let now = reopen() else { return state.version }
        state.version += 1
        if now.isUnlocked {
          state.source = .unlocked(now, reopen)
        } else if let index = quire_wal_index(now.handle) {
          state.source = .index(UnsafeRawPointer(index), now)  // another program has opened it
        } else {
          state.source = .pragma(now)
        }
        return state.version
      }
    }
  }
}
