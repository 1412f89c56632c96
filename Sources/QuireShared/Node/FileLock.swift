internal import Foundation
internal import QuireSQLite

/// Keeps other programs, and other threads of this one, from making the same file at the same time. Ends with this object,
/// or with the process.
///
/// The lock is on a file of its own: a descriptor on a database that SQLite has open in the same process must not be closed,
/// because SQLite's locks end with it.
final class FileLock {
  private let path: String
  private let descriptor: Int32
  private let mark = ProcessMark()

  /// Waits until it has the lock.
  ///
  /// - Throws: ``QuireSQLite/DatabaseError/unreadable(path:reason:)`` if nothing can be made in the folder of the file.
  init(making file: String) throws(DatabaseError) {
    path = "\(file)-joining.lock"
    while true {
      let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      if opened < 0 {
        throw .unreadable(path: file, reason: "it cannot be made: \(FileObstacle.reason(errno))")
      }
      while flock(opened, LOCK_EX) != 0, errno == EINTR {}
      var (mine, there) = (stat(), stat())
      if fstat(opened, &mine) == 0, stat(path, &there) == 0, mine.st_ino == there.st_ino {
        descriptor = opened
        return
      }
      close(opened)  // the one that had it has removed it
    }
  }

  deinit {
    if mark.isInherited { return }
    unlink(path)
    close(descriptor)
  }
}
