/// How a database is opened.
public struct DatabaseConfiguration: Hashable, Sendable {
  public enum Location: Hashable, Sendable {
    case file(String)
    /// A file of its own in a private folder, removed when the database is closed: for stores “in memory”.
    case temporary
  }

  public var location: Location
  public var access: Access
  public var synchronous = Synchronous.full
  /// How long another process's lock is waited for, and a free reader.
  public var busyTimeout = Duration.seconds(5)
  /// How long a thread waits while another one of this process writes.
  public var writeTimeout = Duration.seconds(60)
  /// Page cache of each connection, filled as needed.
  public var cacheSizeInBytes = ConnectionOptions.defaultCacheSizeInBytes
  /// How many reading connections there are at most, besides those that hold an old snapshot for lagging readers.
  public var readers = 8
  /// A passive checkpoint is tried when the write-ahead log has grown by this many pages.
  public var checkpointPages = 1000
  /// A write-ahead log this large takes away the old snapshots that keep it from starting anew.
  public var logLimitInBytes = 256 << 20
  /// A registered VFS of SQLite; nil is the system's.
  public var vfs: String?

  public init(_ location: Location, access: Access = .create) {
    self.location = location
    self.access = access
    if location == .temporary { synchronous = .off }
  }

  func options(_ role: ConnectionOptions.Role) -> ConnectionOptions {
    var options = ConnectionOptions()
    options.synchronous = synchronous
    options.busyTimeout = busyTimeout
    options.cacheSizeInBytes = cacheSizeInBytes
    options.checkpointsItself = false
    options.role = role
    options.vfs = vfs
    return options
  }
}
