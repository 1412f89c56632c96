/// How a connection is opened.
package struct ConnectionOptions: Hashable, Sendable {
  package var synchronous = Synchronous.full
  /// How long a lock held by another connection is waited for.
  package var busyTimeout = Duration.seconds(5)
  package var cacheSizeInBytes = ConnectionOptions.defaultCacheSizeInBytes
  /// Whether SQLite checkpoints by itself after 1 000 pages. A ``Database`` does it by its own rules.
  package var checkpointsItself = true
  /// Whether triggers and views may use virtual tables, such as a full-text index, and functions that SQLite does not
  /// hold harmless in the hands of whoever made the file.
  package var trustsSchema = false
  /// Whether the file's journal mode stays what it is. Otherwise a file opened for writing becomes one with a
  /// write-ahead log, which is so for everybody from then on.
  package var keepsJournalMode = false
  /// Whether the files that SQLite makes beside one with a write-ahead log, for a reader too, are taken away at the end
  /// where they were not there before and nobody else uses them. A file to be read, in a folder where they cannot be made, is
  /// read without them.
  package var leavesNothing = false
  /// Refuses transaction control, ATTACH and settings in SQL that is prepared, and every write.
  var role = Role.free
  /// A registered VFS of SQLite; nil is the system's.
  package var vfs: String?

  package init() {}

  /// 16 MB: eight times SQLite's default. See ``DatabaseConfiguration/cacheSizeInBytes`` for the measurement.
  package static let defaultCacheSizeInBytes = 16 << 20

  enum Role { case free, writer, reader }
}

/// When a commit is on the disk.
public enum Synchronous: String, Hashable, Sendable {
  /// At once: survives power loss.
  case full = "FULL"
  /// At the next checkpoint: survives the end of the process; power loss may take the last commits, never more.
  case normal = "NORMAL"
  /// When the system likes: for files that need not survive.
  case off = "OFF"
}

package enum Access: Hashable, Sendable {
  case readOnly
  /// The file must be there.
  case readWrite
  /// The file is made when it is missing; an empty one becomes a database.
  case create
}
