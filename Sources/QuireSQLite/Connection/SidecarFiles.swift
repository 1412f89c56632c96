internal import CSQLite
internal import Foundation
internal import QuireRow

/// Removes the sidecar files that reading leaves beside a database.
///
/// SQLite makes a write-ahead log and its index for the first reader of a file in that mode, and a connection that may
/// only read cannot remove them. If no other program has the file open and nothing was written, they are empty.
package struct SidecarFiles: Sendable {
  private let path: String
  private let isClean: Bool

  /// Must be made before the file is opened.
  package init(of path: String) {
    self.path = path
    isClean = Self.size(of: path + "-wal") == nil && Self.size(of: path + "-shm") == nil
  }

  /// Must be called after the file is closed: lets SQLite remove the files that did not exist before, which it does
  /// only if no other program has the file open. The file itself stays unchanged to the byte.
  package func sweep() {
    guard isClean, Self.size(of: path + "-wal") == 0 else { return }
    var handle: OpaquePointer?
    // Without our settings, which take longer than the removal itself.
    if sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK {
      sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil)
    }
    sqlite3_close_v2(handle)
  }

  /// Removes the files when the last connection that has it is closed.
  final class Removal {
    private let files: SidecarFiles
    private let mark = ProcessMark()
    /// Two descriptors that are closed before the files are removed, because removing them needs two. SQLite makes the log
    /// first and then opens its index: if that takes the last descriptor, or there is none for it, the log would stay.
    private let spareDescriptors: Locked<[Int32]>

    /// Must be made before the file is opened.
    init(of path: String) {
      files = SidecarFiles(of: path)
      let spare = files.isClean ? (0..<2).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) } : []
      spareDescriptors = Locked(spare.filter { $0 >= 0 })
    }

    /// To be called when the file has been opened and read.
    func isOpen() {
      spareDescriptors.withLock { spare in
        for descriptor in spare { close(descriptor) }
        spare = []
      }
    }

    deinit {
      isOpen()
      if !mark.isInherited { files.sweep() }
    }
  }

  /// The database for whose log SQLite would take a file of this name; nil if it would not.
  package static func owner(of path: String) -> String? {
    for end in ["-wal", "-shm", "-journal"] where path.hasSuffix(end) {
      let owner = String(path.dropLast(end.count))
      if size(of: owner) != nil { return owner }
    }
    return nil
  }

  package static func size(of path: String) -> Int? {
    var info = stat()
    return stat(path, &info) == 0 ? Int(info.st_size) : nil
  }
}
