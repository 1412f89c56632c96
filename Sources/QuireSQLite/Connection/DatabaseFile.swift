internal import CSQLite
internal import Foundation

/// A path that will be opened as a connection, checked before SQLite touches it.
struct DatabaseFile {
  let path: String
  init(_ path: String) { self.path = path }

  /// The absolute path without symbolic links.
  ///
  /// Absolute, so that SQLite does not interpret it as `:memory:` or a `file:` URI.
  func checked(for access: Access) throws(DatabaseError) -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw .unreadable(path: path, reason: "this is not the path of a file")
    }
    var info = stat()
    guard stat(path, &info) == 0 else {
      let reason = errno
      guard reason == ENOENT else { throw .unreadable(path: path, reason: FileObstacle.reason(reason)) }
      guard access == .create else { throw .missing(path: path) }
      return try newPath()
    }
    if info.st_mode & S_IFMT == S_IFDIR { throw .isDirectory(path: path) }
    if info.st_mode & S_IFMT != S_IFREG { throw .unreadable(path: path, reason: "this is not a regular file") }
    if info.st_nlink > 1 { throw .hardLinked(path: path, names: Int(info.st_nlink)) }
    if access != .readOnly, quire_is_mounted(path) != 0 {
      throw .unreadable(
        path: path,
        reason:
          "it is mounted alone, without its folder, and its -wal would lie outside of that mount, where other programs and "
          + "the next container do not find it; mount the folder")
    }
    // SQLite itself would not say why it cannot open it.
    if faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 {
      throw .unreadable(path: path, reason: FileObstacle.reason(errno))
    }
    if info.st_size == 0 && access != .create { throw .empty(path: path) }
    return try resolved(path)
  }

  /// The folder is resolved; the name is kept.
  private func newPath() throws(DatabaseError) -> String {
    let cut = path.lastIndex(of: "/")
    let folder = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = cut.map { String(path[path.index(after: $0)...]) } ?? path
    if name.isEmpty { throw .isDirectory(path: path) }
    guard let resolved = realpath(folder, nil) else {
      throw .cannotCreate(path: path, reason: "its folder \(folder): \(FileObstacle.reason(errno))")
    }
    defer { free(resolved) }
    let parent = String(cString: resolved)
    return parent == "/" ? "/" + name : parent + "/" + name
  }

  private func resolved(_ path: String) throws(DatabaseError) -> String {
    guard let resolved = realpath(path, nil) else {
      throw .unreadable(path: path, reason: FileObstacle.reason(errno))
    }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
