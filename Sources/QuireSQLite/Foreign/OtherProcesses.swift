internal import Foundation

/// Tells whether other processes have a database open, by the lock that they hold.
///
/// Every process that has the WAL index open holds a shared lock on one byte of it, and `F_GETLK` tells whether a lock
/// of another process is in the way of an exclusive one. It is asked of the descriptor that SQLite has: one of our own
/// could never be closed, because closing any descriptor of a file ends all locks of the process on that file.
struct OtherProcesses {
  private let index: String
  /// The descriptor that was found last. Another file may have it by now.
  private var descriptor: Int32?

  /// - Parameter path: The database file's.
  init(_ path: String) { index = path + "-shm" }

  /// Always false on systems other than Linux.
  ///
  /// - Complexity: Three system calls; the first time, and after SQLite has closed the file, one for each open
  ///   descriptor of the process.
  mutating func haveOpen() -> Bool {
    var file = stat()
    guard stat(index, &file) == 0 else { return false }
    if !isOpen(file, as: descriptor) { descriptor = openDescriptors().first { isOpen(file, as: $0) } }
    guard let descriptor else { return false }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 128  // UNIX_SHM_DMS, in SQLite's os_unix.c: the lock that marks the file as open
    lock.l_len = 1
    return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }

  private func isOpen(_ file: stat, as descriptor: Int32?) -> Bool {
    var open = stat()
    guard let descriptor, fstat(descriptor, &open) == 0 else { return false }
    return open.st_ino == file.st_ino && open.st_dev == file.st_dev
  }

  private func openDescriptors() -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.compactMap { Int32($0) }
  }
}
