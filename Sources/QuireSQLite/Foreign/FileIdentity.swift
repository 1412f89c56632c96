internal import Foundation
internal import Synchronization

/// Which file a path led to when it was opened: writes to one that is no longer there would be lost.
final class FileIdentity: Sendable {
  private let path: String
  private let device: UInt64
  private let inode: UInt64
  private let gone = Atomic(false)

  init?(of path: String) {
    guard let found = FileIdentity.look(path) else { return nil }
    self.path = path
    (device, inode) = found
  }

  /// Whether it has been found replaced, moved or deleted. It stays so.
  var isGone: Bool { gone.load(ordering: .relaxed) }

  /// Asks the system, which takes about a microsecond.
  func isReplaced() -> Bool {
    if isGone { return true }
    if let found = FileIdentity.look(path), found == (device, inode) { return false }
    gone.store(true, ordering: .relaxed)
    return true
  }

  private static func look(_ path: String) -> (UInt64, UInt64)? {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    return (UInt64(truncatingIfNeeded: info.st_dev), UInt64(info.st_ino))
  }
}
