internal import CSQLite
internal import Foundation
internal import QuireRow

/// What reading leaves beside a file, to be taken away again.
///
/// SQLite makes a write-ahead log and its index for the first who reads a file of that mode, and a connection that may
/// only read cannot remove them. Where nobody else has the file open and nothing was written, they are empty.
package struct SidecarFiles: Sendable {
  private let path: String
  private let isClean: Bool

  /// To be made before the file is opened.
  package init(of path: String) {
    self.path = path
    isClean = Self.size(of: path + "-wal") == nil && Self.size(of: path + "-shm") == nil
  }

  /// To be called when it is closed: has SQLite remove what was not there before, which it does only where nobody else
  /// has the file open. The file itself stays as it is to the byte.
  package func sweep() {
    guard isClean, Self.size(of: path + "-wal") == 0 else { return }
    var handle: OpaquePointer?
    // Without our settings, which take longer than the look itself.
    if sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK {
      sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil)
    }
    sqlite3_close_v2(handle)
  }

  static func size(of path: String) -> Int? {
    var info = stat()
    return stat(path, &info) == 0 ? Int(info.st_size) : nil
  }
}
