internal import CSQLite
internal import Foundation
internal import QuireRow

/// SQLite's own count of the commits to a file, whoever made them.
///
/// In the header of the WAL index, which all processes share: reading it is reading memory (20 ns), where
/// `PRAGMA data_version` takes a lock. Goes up by one with every commit that wrote a page, and starts anew only when a
/// process died in the middle of a commit and the next one put the index in order. A file that is not in WAL mode,
/// which only a read-only store meets, is asked by `PRAGMA data_version` of a connection of its own (4 to 14 µs).
final class CommitCount: Sendable {
  private enum Source {
    /// Belongs to the connection: valid while that is open.
    case index(UnsafeRawPointer, Connection)
    case pragma(Connection)
  }
  private struct State {
    var source: Source?
    var latest: Int64 = CommitCount.unknown
  }
  private let state = Locked(State())

  static let unknown: Int64 = -1

  /// - Parameter connection: kept until ``close()``; only its memory is read where it has a WAL index.
  func start(_ connection: Connection, mayAsk: Bool) {
    // Where there is no log there is no index, and asking for it would make an empty one beside the file.
    let mode = connection.privileged { try? connection.query("PRAGMA journal_mode").first }
    state.withLock { state in
      if mode == "wal", let index = quire_wal_index(connection.handle) {
        state.source = .index(UnsafeRawPointer(index), connection)
      } else if mayAsk {
        state.source = .pragma(connection)
      }
    }
  }

  /// Whether readers keep writers out: the file has no write-ahead log, so what is held open stops everybody's commits.
  var isBlocking: Bool {
    state.withLock { if case .pragma? = $0.source { true } else { false } }
  }

  func close() {
    let source = state.withLock { state in
      defer { state.source = nil }
      return state.source
    }
    _ = source  // its connection may be closed here, outside the lock
  }

  /// ``unknown`` where there is none to be had.
  var value: Int64 {
    state.withLock { state in
      switch state.source {
      case .none: return CommitCount.unknown
      case .index(let index, _):
        var count: UInt32 = 0
        for _ in 0..<1000 where quire_wal_commit_count(index, &count) != 0 {
          state.latest = Int64(count)
          break
        }
        // Between the two halves of a commit, and after a process that died there: what it was before.
        return state.latest
      case .pragma(let connection):
        let version = connection.privileged { try? connection.query("PRAGMA data_version").first }
        if case .integer(let number)? = version { state.latest = number }
        return state.latest
      }
    }
  }
}
