internal import CSQLite
internal import Foundation

/// A file that can be read only without locks: its journal mode is a write-ahead log, which does not exist, and its
/// folder is not writable, so that SQLite cannot make the file that readers lock. Or the file itself is not writable:
/// SQLite would make the log's files with this program's owner and could not remove them, and they would keep others from
/// writing. Or it is mounted alone, without its folder: the log that it may have is outside of the mount.
///
/// SQLite reads it if it is promised that the file does not change. This cannot be guaranteed for other programs, so
/// the file's state is recorded, and checked again.
struct UnlockedFile {
  private let path: String
  private let opened: Stamp

  /// Nil for all other files.
  ///
  /// - Throws: ``DatabaseError/unreadable(path:reason:)`` if commits wait in the log: they cannot be read without
  ///   locks; and if a program has a file open that is mounted alone.
  init?(_ path: String) throws(DatabaseError) {
    let folder = FileObstacle.folderName(of: path)
    let log = SidecarFiles.size(of: path + "-wal")
    let isAlone = log == nil && quire_is_mounted(path) != 0
    if !isAlone, access(folder, W_OK) == 0, log != nil || access(path, W_OK) == 0 { return nil }
    if log != nil, SidecarFiles.size(of: path + "-shm") != nil { return nil }
    // Checked last: closing the file releases this process's locks on it, and without a log it has none.
    guard Self.hasLog(path), let stamp = Stamp(path) else { return nil }
    if isAlone, Self.isOpen(path) {
      throw .unreadable(
        path: path,
        reason:
          "it is mounted alone, without its folder, and a program has it open whose latest commits may be in a -wal "
          + "outside of that mount; mount the folder")
    }
    if let log, log > 0 {
      throw .unreadable(
        path: path,
        reason: "\(path)-wal holds commits, and reading them takes a folder that can be written to; "
          + "copy both files to one, or have the program that wrote them close the database")
    }
    (self.path, opened) = (path, stamp)
  }

  /// The URI that SQLite opens.
  var uri: String {
    var uri = "file:"
    for scalar in path.unicodeScalars {
      switch scalar {
      case "%": uri += "%25"
      case "?": uri += "%3f"
      case "#": uri += "%23"
      default: uri.unicodeScalars.append(scalar)
      }
    }
    return uri + "?immutable=1"
  }

  /// Whether the file has changed since it was opened, or has a log now.
  var hasChanged: Bool { Stamp(path) != opened }

  /// Whether its header says that its journal mode is a write-ahead log.
  private static func hasLog(_ path: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path), let header = try? file.read(upToCount: 20) else {
      return false
    }
    return header.count == 20 && header[18] == 2 && header[19] == 2
  }

  /// Whether another program has the file open: with a write-ahead log, each holds SQLite's shared lock on it.
  private static func isOpen(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { return false }
    defer { close(file) }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    (lock.l_start, lock.l_len) = (0x4000_0000, 512)  // SQLite's bytes for locks
    return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }

  private struct Stamp: Equatable {
    let numbers: [Int]
    let hasLog: Bool

    init?(_ path: String) {
      var info = stat()
      guard stat(path, &info) == 0 else { return nil }
      #if canImport(Darwin)
        let (changed, inode) = (info.st_mtimespec, Int(info.st_ino))
      #else
        let (changed, inode) = (info.st_mtim, Int(info.st_ino))
      #endif
      numbers = [changed.tv_sec, changed.tv_nsec, Int(info.st_size), inode]
      hasLog = SidecarFiles.size(of: path + "-wal") ?? 0 > 0
    }
  }
}
