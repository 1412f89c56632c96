internal import Foundation

/// By what the system knows a file, whatever its path is.
package struct FileNumbers: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64

  /// Of the file that a path leads to; nil if there is none.
  package init?(_ path: String) {
    var found = stat()
    guard stat(path, &found) == 0 else { return nil }
    (device, inode) = (UInt64(truncatingIfNeeded: found.st_dev), UInt64(found.st_ino))
  }
}
