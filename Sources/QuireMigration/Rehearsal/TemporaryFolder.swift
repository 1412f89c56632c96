import Foundation

/// The folder in which SQLite makes temporary files: a rehearsal's copy, and what a large index is sorted in.
enum TemporaryFolder {
  /// The first that can be written to, in SQLite's order.
  static var path: String {
    let named = ["SQLITE_TMPDIR", "TMPDIR"].compactMap { ProcessInfo.processInfo.environment[$0] }
    return (named + ["/var/tmp", "/usr/tmp", "/tmp"]).first { access($0, W_OK | X_OK) == 0 } ?? "."
  }

  /// Whether it is this folder's disk that has no room, and not that of the database.
  static func isFull(beside database: String) -> Bool {
    let folder = URL(filePath: database).deletingLastPathComponent().path
    guard let here = free(path), let there = free(folder) else { return false }
    return here < small && there >= small
  }

  /// Less is called full: what failed may have been removed again already.
  private static let small: UInt64 = 16 << 20

  private static func free(_ path: String) -> UInt64? {
    var info = statvfs()
    return statvfs(path, &info) == 0 ? UInt64(info.f_bavail) * UInt64(info.f_frsize) : nil
  }
}
