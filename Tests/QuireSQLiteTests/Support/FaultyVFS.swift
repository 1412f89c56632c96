import CSQLite
import Foundation
import Synchronization

/// The system's VFS with a switch: from a given write or sync of the write-ahead log on, calls fail.
///
/// One for the whole test process, told which file it is to trouble: only names that contain `marker`.
// @unchecked: registered once, the counters are atomic, `fault` is changed while no troubled file is in use.
final class FaultyVFS: @unchecked Sendable {
  static let name = "quire-faulty"
  static let shared = FaultyVFS()
  enum Fault { case none, write(after: Int, code: Int32, once: Bool), sync(after: Int, once: Bool) }

  private let lock = Mutex(())
  private var fault = Fault.none
  private var count = 0
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
      if code == SQLITE_OK, flags & SQLITE_OPEN_WAL != 0, let file { FaultyVFS.shared.trouble(file) }
      return code
    }
    sqlite3_vfs_register(own, 0)
  }

  func set(_ fault: Fault) {
    lock.withLock { _ in
      self.fault = fault
      count = 0
    }
  }

  private func trouble(_ file: UnsafeMutablePointer<sqlite3_file>) {
    lock.withLock { _ in
      if troubled == nil, let known = file.pointee.pMethods {
        methods = known
        let own = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        own.initialize(to: known.pointee)
        own.pointee.xWrite = { file, bytes, count, offset in
          let code = FaultyVFS.shared.next(isSync: false)
          if code != SQLITE_OK { return code }
          return FaultyVFS.shared.methods?.pointee.xWrite(file, bytes, count, offset) ?? SQLITE_IOERR
        }
        own.pointee.xSync = { file, flags in
          let code = FaultyVFS.shared.next(isSync: true)
          if code != SQLITE_OK { return code }
          return FaultyVFS.shared.methods?.pointee.xSync(file, flags) ?? SQLITE_IOERR
        }
        troubled = own
      }
      file.pointee.pMethods = UnsafePointer(troubled)
    }
  }

  fileprivate func next(isSync: Bool) -> Int32 {
    lock.withLock { _ in
      switch fault {
      case .write(let after, let code, let once) where !isSync:
        count += 1
        return count == after || (count > after && !once) ? code : SQLITE_OK
      case .sync(let after, let once) where isSync:
        count += 1
        return count == after || (count > after && !once) ? 1034 : SQLITE_OK  // SQLITE_IOERR_FSYNC
      default: return SQLITE_OK
      }
    }
  }
}
