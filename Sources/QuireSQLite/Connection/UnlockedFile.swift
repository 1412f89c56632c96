internal import Foundation

/// A file that can be read only without locks: its journal is a write-ahead log, of which nothing is there, and its folder
/// takes no files, so that SQLite cannot make the one that its readers lock.
///
/// SQLite reads it where it is promised that nobody writes. Nobody can make that promise for another program; so what the
/// file looked like is kept, and looked at again.
struct UnlockedFile {
  private let path: String
  private let opened: Stamp

  /// Nil for all other files.
  init?(_ path: String) {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    guard access(folder, W_OK) != 0, Self.hasLog(path), let stamp = Stamp(path), !stamp.hasLog else { return nil }
    (self.path, opened) = (path, stamp)
  }

  /// What SQLite opens.
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

  /// Whether the file is another than when it was opened, or has a log by now.
  var hasChanged: Bool { Stamp(path) != opened }

  /// Whether its header says that it is written by way of a log.
  private static func hasLog(_ path: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path), let header = try? file.read(upToCount: 20) else {
      return false
    }
    return header.count == 20 && header[18] == 2 && header[19] == 2
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
      hasLog = access(path + "-wal", F_OK) == 0
    }
  }
}
