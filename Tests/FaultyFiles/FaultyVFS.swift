internal import CSQLite
internal import Foundation
internal import QuireSQLite

/// The system's VFS with a switch for each file: from a given write or sync of its write-ahead log on, calls fail.
// @unchecked: registered once; all that changes is guarded by `lock`.
package final class FaultyVFS: @unchecked Sendable {
  package static let name = "quire-faulty"
  package static let shared = FaultyVFS()
  package enum Fault: Sendable {
    /// - Parameter number: The system's error.
    case write(after: Int, code: Int32, once: Bool, number: Int32 = 0)
    case sync(after: Int, once: Bool)
    /// All reads, as of a disk that is gone.
    case read
  }

  private let lock = Locked(())
  /// By the path of the database.
  private var faults: [String: (fault: Fault, count: Int)] = [:]
  /// The path of its database for each write-ahead log that was opened.
  private var paths: [UnsafeMutablePointer<sqlite3_file>: String] = [:]
  private let base: UnsafeMutablePointer<sqlite3_vfs>
  private let own: UnsafeMutablePointer<sqlite3_vfs>
  /// The methods of the system's files; all files of the unix VFS in WAL mode share one table.
  fileprivate var methods: UnsafePointer<sqlite3_io_methods>?
  private var troubled: UnsafeMutablePointer<sqlite3_io_methods>?

  private init() {
    base = sqlite3_vfs_find(nil)
    own = .allocate(capacity: 1)
    own.initialize(to: base.pointee)
    own.pointee.pNext = nil
    own.pointee.zName = UnsafePointer(strdup(Self.name))
    own.pointee.xOpen = { vfs, path, file, flags, outFlags in
      let code = FaultyVFS.shared.base.pointee.xOpen(vfs, path, file, flags, outFlags)
      if code == SQLITE_OK, flags & SQLITE_OPEN_WAL != 0, let file, let path {
        FaultyVFS.shared.trouble(file, String(cString: path))
      }
      return code
    }
    sqlite3_vfs_register(own, 0)
  }

  /// From now on a file's calls fail in this way; nil for not at all.
  package func set(_ fault: Fault?, of path: String) {
    lock.withLock { _ in faults[path] = fault.map { ($0, 0) } }
  }

  private func trouble(_ file: UnsafeMutablePointer<sqlite3_file>, _ log: String) {
    lock.withLock { _ in
      paths[file] = String(log.dropLast("-wal".count))
      if troubled == nil, let known = file.pointee.pMethods {
        methods = known
        let own = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        own.initialize(to: known.pointee)
        own.pointee.xWrite = { file, bytes, count, offset in
          let code = FaultyVFS.shared.next(file, isSync: false)
          if code != SQLITE_OK { return code }
          return FaultyVFS.shared.methods?.pointee.xWrite(file, bytes, count, offset) ?? SQLITE_IOERR
        }
        own.pointee.xRead = { file, bytes, count, offset in
          if FaultyVFS.shared.isUnreadable(file) { return 8458 }  // SQLITE_IOERR_CORRUPTFS
          return FaultyVFS.shared.methods?.pointee.xRead(file, bytes, count, offset) ?? SQLITE_IOERR
        }
        own.pointee.xFileControl = { file, operation, argument in
          if operation == SQLITE_FCNTL_LAST_ERRNO, FaultyVFS.shared.isUnreadable(file) {
            argument?.assumingMemoryBound(to: Int32.self).pointee = EIO
            return SQLITE_OK
          }
          return FaultyVFS.shared.methods?.pointee.xFileControl(file, operation, argument) ?? SQLITE_IOERR
        }
        own.pointee.xSync = { file, flags in
          let code = FaultyVFS.shared.next(file, isSync: true)
          if code != SQLITE_OK { return code }
          return FaultyVFS.shared.methods?.pointee.xSync(file, flags) ?? SQLITE_IOERR
        }
        troubled = own
      }
      file.pointee.pMethods = UnsafePointer(troubled)
    }
  }

  fileprivate func isUnreadable(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Bool {
    lock.withLock { _ in
      guard let path = file.flatMap({ paths[$0] }), case .read? = faults[path]?.fault else { return false }
      return true
    }
  }

  fileprivate func next(_ file: UnsafeMutablePointer<sqlite3_file>?, isSync: Bool) -> Int32 {
    lock.withLock { _ in
      guard let path = file.flatMap({ paths[$0] }), let (fault, before) = faults[path] else { return SQLITE_OK }
      let count = before + 1
      switch fault {
      case .write(let after, let code, let once, let number) where !isSync:
        faults[path]?.count = count
        guard count == after || (count > after && !once) else { return SQLITE_OK }
        if number != 0 { errno = number }
        return code
      case .sync(let after, let once) where isSync:
        faults[path]?.count = count
        return count == after || (count > after && !once) ? 1034 : SQLITE_OK  // SQLITE_IOERR_FSYNC
      default: return SQLITE_OK
      }
    }
  }
}
