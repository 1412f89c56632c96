internal import CSQLite
internal import Foundation
internal import QuireRow

/// The write-ahead log of the writing connection: how long it is, and its checkpoints. Guarded by the write lock.
final class WriteAheadLog {
  private let connection: Connection
  private let copies: RunningCopies
  private let events: StoreEvents
  private let pageSize: Int
  /// The number of frames, told by SQLite after each commit; beside it whether it has been told.
  private let told: UnsafeMutablePointer<Int32>

  init(of connection: Connection, copies: RunningCopies, events: StoreEvents) throws {
    self.connection = connection
    self.copies = copies
    self.events = events
    if case .integer(let size)? = try connection.query("PRAGMA page_size").first {
      pageSize = Int(size)
    } else {
      pageSize = 4096
    }
    told = .allocate(capacity: 2)
    told.initialize(repeating: 0, count: 2)
    sqlite3_wal_hook(
      connection.handle,
      { frames, _, _, count in
        let told = frames?.assumingMemoryBound(to: Int32.self)
        told?[0] = count
        told?[1] = 1
        return SQLITE_OK
      }, told)
  }

  deinit {
    sqlite3_wal_hook(connection.handle, nil, nil)
    told.deallocate()
  }

  var frames: Int { Int(told.pointee) }

  /// Notes its length after a commit of another process.
  func note(frames: Int) { told.pointee = Int32(frames) }

  var sizeInBytes: Int { frames * pageSize }

  /// Whether all of it is in the database, so that a snapshot opened now does not keep it from starting over.
  ///
  /// Unlike ``CommitCount/isLogCopied``, it is also known for stores in memory, whose commits are not counted.
  var isCopied: Bool { quire_wal_index(connection.handle).map { quire_wal_is_copied($0) != 0 } ?? false }

  /// Whether the last COMMIT wrote a page.
  var hasWritten: Bool { told[1] != 0 }

  func willCommit() { told[1] = 0 }

  /// Whether another program has truncated the log's file. Checked before each write, because afterward the file would be
  /// long enough again. Costs one system call.
  var isFoundCut: Bool { frames > 0 && connection.isLogCut }

  enum CheckpointMode {
    /// As far as readers let it be.
    case passive
    /// Waits as long for readers to leave the log, so that the next write can start it over; passive while a copy of
    /// the file is made.
    case waiting(Duration)
    /// Empties the log's file too, without waiting.
    case truncating
  }

  /// Copies the log into the database, in one mode after the other, and reports it as one event.
  ///
  /// - Parameter copied: Called when a mode has left all of the log copied, and while readers are waited for: then no
  ///   process can write.
  func checkpoint(_ modes: [CheckpointMode], copied: @escaping () -> Void = {}) {
    if connection.isLogCut { return }
    let begin = events.now
    var remaining = 0
    for mode in modes {
      let (result, frames, done) = run(mode, copied)
      if result == SQLITE_OK, frames >= 0 { told.pointee = frames }
      if frames >= 0 { remaining = max(Int(frames) - Int(done), 0) }
      if frames >= 0, done == frames, result == SQLITE_OK || result == SQLITE_BUSY { copied() }
    }
    events.emit(since: begin) {
      .checkpoint(duration: $0, logBytes: sizeInBytes, remainingBytes: remaining * pageSize)
    }
  }

  /// - Returns: SQLite's code, the log's length, and how much of it is copied; -1 for both if nothing was tried.
  private func run(_ mode: CheckpointMode, _ copied: @escaping () -> Void) -> (
    code: Int32, frames: Int32, copied: Int32
  ) {
    let (code, patience): (Int32, Duration) =
      switch mode {
      case .passive: (SQLITE_CHECKPOINT_PASSIVE, .zero)
      case .waiting where copies.areAny: (SQLITE_CHECKPOINT_PASSIVE, .zero)
      case .waiting(let patience): (SQLITE_CHECKPOINT_RESTART, patience)
      case .truncating: (SQLITE_CHECKPOINT_TRUNCATE, .zero)
      }
    let wait = ReaderWait(until: .now + patience, copied)
    sqlite3_busy_handler(
      connection.handle,
      { wait, _ in wait.map { Unmanaged<ReaderWait>.fromOpaque($0).takeUnretainedValue().goesOn() } == true ? 1 : 0 },
      Unmanaged.passUnretained(wait).toOpaque())
    defer { sqlite3_busy_timeout(connection.handle, connection.busyMilliseconds) }
    var (frames, done): (Int32, Int32) = (0, 0)
    return withExtendedLifetime(wait) {
      while true {
        let result = sqlite3_wal_checkpoint_v2(connection.handle, "main", code, &frames, &done)
        // While another process makes a checkpoint, SQLite tries nothing, and does not wait by itself.
        if result != SQLITE_BUSY || frames >= 0 || !wait.goesOn() { return (result, frames, done) }
      }
    }
  }
}

/// A checkpoint that waits for readers to leave the log, or for another process to end its commit or checkpoint.
private final class ReaderWait {
  private let end: ContinuousClock.Instant
  private let body: () -> Void

  init(until end: ContinuousClock.Instant, _ body: @escaping () -> Void) { (self.end, self.body) = (end, body) }

  func goesOn() -> Bool {
    if .now >= end { return false }
    body()
    usleep(500)
    return true
  }
}
