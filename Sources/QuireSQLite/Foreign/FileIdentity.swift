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

  func isSameFile(as other: FileIdentity) -> Bool { files[0].numbers == other.files[0].numbers }

  /// Whether the file was found replaced, moved or deleted. It stays so.
  var isGone: Bool { gone.load(ordering: .relaxed) }

  /// Checks whether a path leads to another file, or to none. Takes less than half a microsecond while nothing
  /// happens to the file. If a parent folder is moved, this is noticed within a quarter of a second.
  func isReplaced() -> Bool {
    if isGone { return true }
    var now: UInt64?
    if let events = moves?.count {
      let time = FileIdentity.time
      if events == seenEvents.load(ordering: .relaxed), time &- lookedAt.load(ordering: .relaxed) < 250_000_000 {
        return false
      }
      // Before the check: events after it are seen at the next one.
      seenEvents.store(events, ordering: .relaxed)
      now = time
    }
    if !isThere() { return true }
    if let now { lookedAt.store(now, ordering: .relaxed) }
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
