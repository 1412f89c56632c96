internal import Foundation
internal import Synchronization

/// The file that a path led to when it was opened: writes to a file that is no longer there would be lost.
///
/// Its write-ahead log and the log's index belong to it as long as a connection that writes has them open. Where one of
/// them was deleted, a new connection makes another one, and does not read what the first one wrote.
final class FileIdentity: Sendable {
  private let files: [(path: String, numbers: FileNumbers)]
  /// Nil if the system does not watch the file.
  private let moves: FileMoves?
  private let gone = Atomic(false)
  /// The event count at the last check of the path, and the time of that check.
  private let seenEvents = Atomic(UInt64.max)
  private let lookedAt = Atomic(UInt64(0))

  /// - Parameter hasLog: Whether a connection has the log and its index open now, and keeps them open.
  init?(of path: String, hasLog: Bool) {
    guard let found = FileNumbers(path) else { return nil }
    let beside = hasLog ? [path + "-wal", path + "-shm"] : []
    files = [(path, found)] + beside.compactMap { path in FileNumbers(path).map { (path, $0) } }
    moves = FileMoves(files.map(\.path))
  }

  /// Something else has shown that the file is not as this program has left it.
  func noteGone() { gone.store(true, ordering: .relaxed) }

  func isSameFile(as other: FileIdentity) -> Bool { files[0].numbers == other.files[0].numbers }

  /// Whether the file was found replaced, moved or deleted, or its log truncated. It stays so.
  var isGone: Bool { gone.load(ordering: .relaxed) }

  /// Checks whether a path leads to another file, or to none. Takes less than half a microsecond while nothing
  /// happens to the file. If a parent folder is moved, this is noticed within a quarter of a second.
  func isReplaced() -> Bool {
    if isGone { return true }
    // Counted before the check: events during it are seen by the next one.
    guard let events = moves?.count else { return !isThere() }
    let now = FileIdentity.time
    if events == seenEvents.load(ordering: .acquiring), now &- lookedAt.load(ordering: .relaxed) < 250_000_000 {
      return false
    }
    if !isThere() { return true }
    // Noted after the check: another thread that sees these events as seen must not be ahead of its result.
    lookedAt.store(now, ordering: .relaxed)
    seenEvents.store(events, ordering: .releasing)
    return false
  }

  /// Checks whether the paths lead to the files at this moment: a call of the system for each.
  func isThere() -> Bool {
    if files.allSatisfy({ FileNumbers($0.path) == $0.numbers }) { return true }
    gone.store(true, ordering: .relaxed)
    return false
  }

  /// In nanoseconds, as of the last tick of the system's clock.
  private static var time: UInt64 {
    #if canImport(Glibc) || canImport(Musl)
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
      return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    #else
      return DispatchTime.now().uptimeNanoseconds
    #endif
  }
}
