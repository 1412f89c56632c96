/// How a database is opened.
package struct DatabaseConfiguration: Hashable, Sendable {
  package enum Location: Hashable, Sendable {
    case file(String)
    /// A file of its own in a private folder, removed when the database is closed: for stores “in memory”.
    case temporary
  }

  package var location: Location
  package var access: Access
  package var synchronous = Synchronous.full
  /// How long another process's lock is waited for, and a free reader.
  package var busyTimeout = Duration.seconds(5)
  /// How long a thread waits while another one of this process writes.
  package var writeTimeout = Duration.seconds(60)
  /// Page cache of each connection, filled as needed.
  ///
  /// 16 MB is the knee: filling 1 M rows with one index cost 2 670 ns a row at 2 MB, 1 910 at 8, 1 110 at 16, 1 070 at
  /// 32; a look-up among 100 k rows 1 400 ns at 2 MB and 550 from 8 MB on; among 1 M rows 1 700 up to 32 MB and 1 150
  /// at 64 MB, which is worth it for one large file.
  package var cacheSizeInBytes = ConnectionOptions.defaultCacheSizeInBytes
  /// How many reading connections there are at most, besides those that hold an old snapshot for lagging readers.
  package var readers = 8
  /// A passive checkpoint is tried when the write-ahead log has grown by this many pages, and again when a snapshot
  /// that prevented it has ended; nil is 1 000 with `synchronous` full and 4 000 otherwise.
  ///
  /// Measured: with full, a one-page commit took 235 µs while the log was still growing and 110 µs once it was being
  /// written over, so the log should be short. Without a sync at each commit that makes no difference, and fewer
  /// checkpoints save time: 13.6 µs a commit at 1 000 pages, 10.9 at 4 000, 11.1 at 16 000 (CPU, random rows of 100 k).
  package var checkpointPages: Int?
  /// If the write-ahead log grows this large, the old snapshots that keep it from starting over are released.
  package var logLimitInBytes = 256 << 20
  package var changeLog = ChangeLog.asInFile
  /// See ``ConnectionOptions/trustsSchema``.
  package var trustsSchema = false
  /// A registered VFS of SQLite; nil is the system's.
  package var vfs: String?

  package init(_ location: Location, access: Access = .create) {
    self.location = location
    self.access = access
    if location == .temporary { synchronous = .off }
  }

  var pagesBetweenCheckpoints: Int { max(checkpointPages ?? (synchronous == .full ? 1000 : 4000), 1) }

  func options(_ role: ConnectionOptions.Role) -> ConnectionOptions {
    var options = ConnectionOptions()
    options.synchronous = synchronous
    options.isTemporary = location == .temporary
    options.busyTimeout = busyTimeout
    options.cacheSizeInBytes = cacheSizeInBytes
    options.checkpointsItself = false
    options.role = role
    options.trustsSchema = trustsSchema
    options.vfs = vfs
    return options
  }
}
