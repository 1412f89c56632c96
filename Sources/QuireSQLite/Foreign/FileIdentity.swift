internal import Foundation
internal import Synchronization

/// Which file a path led to when it was opened: writes to one that is no longer there would be lost.
final class FileIdentity: Sendable {
  private let path: String
  private let device: UInt64
  private let inode: UInt64
  private let gone = Atomic(false)
  private let lookedAt = Atomic<Int64>(0)

  init?(of path: String) {
    guard let found = FileIdentity.look(path) else { return nil }
    self.path = path
    (device, inode) = found
    lookedAt.store(FileIdentity.milliseconds, ordering: .relaxed)
  }

  /// Whether it has been found replaced, moved or deleted. It stays so.
  var isGone: Bool { gone.load(ordering: .relaxed) }

  /// Looks again where the last look is 250 ms old, or at once.
  func isReplaced(now: Bool) -> Bool {
    if isGone { return true }
    let moment = FileIdentity.milliseconds
    if !now, moment - lookedAt.load(ordering: .relaxed) < 250 { return false }
    lookedAt.store(moment, ordering: .relaxed)
    let found = FileIdentity.look(path)
    if let found, found == (device, inode) { return false }
    gone.store(true, ordering: .relaxed)
    return true
  }

  private static func look(_ path: String) -> (UInt64, UInt64)? {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    return (UInt64(truncatingIfNeeded: info.st_dev), UInt64(info.st_ino))
  }

  private static var milliseconds: Int64 {
    var time = timespec()
    #if os(Linux)
      clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC, &time)
    #endif
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
