/// How a connection is opened.
package struct ConnectionOptions: Hashable, Sendable {
  package var synchronous = Synchronous.full
  /// How long to wait for a lock held by another connection.
  package var busyTimeout = Duration.seconds(5)
  package var cacheSizeInBytes = ConnectionOptions.defaultCacheSizeInBytes
  /// Whether SQLite checkpoints automatically after 1 000 pages. A ``Database`` uses its own rules.
  package var checkpointsItself = true
  /// Whether triggers and views may use virtual tables, such as a full-text index, and functions that SQLite considers
  /// unsafe in a file of unknown origin.
  package var trustsSchema = false
  /// Whether the file's journal mode is kept. Otherwise a file opened for writing gets a write-ahead log, permanently
  /// and for all programs.
  package var keepsJournalMode = false
  /// Whether the sidecar files that SQLite makes beside a file with a write-ahead log, even for a reader, are removed
  /// at the end if they did not exist before and no other connection uses them. If a file is only read, and its folder
  /// does not allow sidecar files, it is read without them.
  package var leavesNothing = false
  /// Whether the file goes when its connections do: nothing is synced, and the log is not written back at the end.
  var isTemporary = false
  /// The restrictions on prepared SQL: transaction control, ATTACH and settings, or also every write.
  var role = Role.free
  /// A registered SQLite VFS; nil for the system's.
  package var vfs: String?

  package init() {}

  /// 16 MB: eight times SQLite's default. See ``DatabaseConfiguration/cacheSizeInBytes`` for the measurement.
  package static let defaultCacheSizeInBytes = 16 << 20

  enum Role { case free, writer, reader }
}

/// When a commit is guaranteed to be on disk.
public enum Synchronous: String, Hashable, Sendable {
  /// Immediately: survives power loss.
  case full = "FULL"
  /// At the next checkpoint: survives the end of the process; power loss may lose the last commits, but does not damage
  /// the file.
  case normal = "NORMAL"
  /// Whenever the system writes it: power loss may damage the file. For files that need not survive.
  case off = "OFF"
}

package enum Access: Hashable, Sendable {
  case readOnly
  /// The file must exist.
  case readWrite
  /// The file is created if it is missing; an empty one becomes a database.
  case create
}
