import Foundation

/// The folder for SQLite's temporary files: a rehearsal's copy, and the sorting of a large index.
enum TemporaryFolder {
  /// The first writable one, in SQLite's order.
  static var path: String {
    let named = ["SQLITE_TMPDIR", "TMPDIR"].compactMap { ProcessInfo.processInfo.environment[$0] }
    return (named + ["/var/tmp", "/usr/tmp", "/tmp"]).first { access($0, W_OK | X_OK) == 0 } ?? "."
  }

  /// Whether this folder's disk is full, and not that of the database.
  static func isFull(beside database: String) -> Bool {
    let folder = URL(filePath: database).deletingLastPathComponent().path
    guard let here = free(path), let there = free(folder) else { return false }
    return here < small && there >= small
  }

  /// Less free space counts as full: what failed may have been removed already.
  private static let small: UInt64 = 16 << 20

  private static func free(_ path: String) -> UInt64? {
    var info = statvfs()
    return statvfs(path, &info) == 0 ? UInt64(info.f_bavail) * UInt64(info.f_frsize) : nil
  }
}
