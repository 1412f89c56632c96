import CSQLite
import Foundation
import Synchronization

/// Makes every sync of a file last so much longer, as on a disk that really writes: a layer over the system's VFS, which
/// it replaces as SQLite's default with its first use.
enum SlowSync {
  private static let microseconds = Atomic<UInt32>(0)
  /// SQLite's functions for a file, by those of the system's VFS.
  private static let slow = Mutex<[UInt: UInt]>([:])

  /// From now on, and for all connections.
  static func delay(milliseconds: Int) {
    _ = isInstalled
    microseconds.store(UInt32(milliseconds) * 1000, ordering: .relaxed)
  }

  // Written once, before SQLite can call what reads them.
  private nonisolated(unsafe) static var base: UnsafeMutablePointer<sqlite3_vfs>?
  private nonisolated(unsafe) static var sync: (@convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32)?

  private static let isInstalled: Bool = {
    guard let found = sqlite3_vfs_find(nil) else { return false }
    base = found
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: found.pointee)
    vfs.pointee.pNext = nil
    vfs.pointee.zName = UnsafePointer(strdup("quire-slow-sync"))
    vfs.pointee.xOpen = { _, name, file, flags, outFlags in
      let code = SlowSync.base?.pointee.xOpen(SlowSync.base, name, file, flags, outFlags) ?? SQLITE_ERROR
      if code == SQLITE_OK, let file, let methods = file.pointee.pMethods { file.pointee.pMethods = slowed(methods) }
      return code
    }
    return sqlite3_vfs_register(vfs, 1) == SQLITE_OK
  }()

  private static func slowed(_ methods: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods> {
    let made = slow.withLock { slow -> UInt in
      if let known = slow[UInt(bitPattern: methods)] { return known }
      let made = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
      made.initialize(to: methods.pointee)
      if sync == nil { sync = methods.pointee.xSync }
      made.pointee.xSync = { file, flags in
        let code = SlowSync.sync?(file, flags) ?? SQLITE_ERROR
        let delay = SlowSync.microseconds.load(ordering: .relaxed)
        if delay > 0 { usleep(delay) }
        return code
      }
      slow[UInt(bitPattern: methods)] = UInt(bitPattern: made)
      return UInt(bitPattern: made)
    }
    return UnsafePointer(bitPattern: made) ?? methods
  }
}

/// Nanoseconds of the wall clock.
@inline(__always) func now() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
