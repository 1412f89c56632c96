internal import Foundation

/// The folder for SQLite's temporary files: what it sorts if that is much, what VACUUM makes, a rehearsal's copy.
package enum TemporaryFiles {
  /// The first writable one, in SQLite's order.
  package static var folder: String {
    let named = ["SQLITE_TMPDIR", "TMPDIR"].compactMap { ProcessInfo.processInfo.environment[$0] }
    return (named + ["/var/tmp", "/usr/tmp", "/tmp"]).first { access($0, W_OK | X_OK) == 0 } ?? "."
  }

  /// Whether this folder's disk is full, and not that of the database.
  package static func isFull(beside database: String) -> Bool {
    let home = URL(filePath: database).deletingLastPathComponent().path
    guard let here = free(folder), let there = free(home) else { return false }
    return here < small && there >= small
  }

  /// Less free space counts as full: what failed may have been removed already.
  private static let small: UInt64 = 16 << 20

  private static func free(_ path: String) -> UInt64? {
    var info = statvfs()
    return statvfs(path, &info) == 0 ? UInt64(info.f_bavail) * UInt64(info.f_frsize) : nil
  }
}
