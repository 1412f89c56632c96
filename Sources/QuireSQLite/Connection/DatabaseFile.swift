internal import Foundation

/// A path that is to become a connection, looked at before SQLite touches it.
struct DatabaseFile {
  let path: String
  init(_ path: String) { self.path = path }

  /// The absolute path without symbolic links.
  ///
  /// Absolute, so that SQLite takes it for a path and not for `:memory:` or a `file:` URI.
  func checked(for access: Access) throws(DatabaseError) -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw .unreadable(path: path, reason: "this is not the path of a file")
    }
    var info = stat()
    guard stat(path, &info) == 0 else {
      let reason = errno
      guard reason == ENOENT else { throw .unreadable(path: path, reason: String(cString: strerror(reason))) }
      guard access == .create else { throw .missing(path: path) }
      return try newPath()
    }
    if info.st_mode & S_IFMT == S_IFDIR { throw .isDirectory(path: path) }
    if info.st_mode & S_IFMT != S_IFREG { throw .unreadable(path: path, reason: "this is not a regular file") }
    if info.st_nlink > 1 { throw .hardLinked(path: path, names: Int(info.st_nlink)) }
    if info.st_size == 0 && access != .create { throw .empty(path: path) }
    return try resolved(path)
  }

  /// The folder is resolved, the name is taken as it is.
  private func newPath() throws(DatabaseError) -> String {
    let cut = path.lastIndex(of: "/")
    let folder = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = cut.map { String(path[path.index(after: $0)...]) } ?? path
    if name.isEmpty { throw .isDirectory(path: path) }
    guard let resolved = realpath(folder, nil) else {
      throw .cannotCreate(path: path, reason: "\(folder): \(String(cString: strerror(errno)))")
    }
    defer { free(resolved) }
    let parent = String(cString: resolved)
    return parent == "/" ? "/" + name : parent + "/" + name
  }

  private func resolved(_ path: String) throws(DatabaseError) -> String {
    guard let resolved = realpath(path, nil) else {
      throw .unreadable(path: path, reason: String(cString: strerror(errno)))
    }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Whether SQLite must be told that the file does not change while it is read: one with a write-ahead log cannot be read
  /// otherwise where the log's files are not there and cannot be made, on a read-only file system for example.
  ///
  /// - Throws: ``DatabaseError/unreadable(path:reason:)`` where the log holds commits, which SQLite could not read.
  func isImmutable() throws(DatabaseError) -> Bool {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    if FileManager.default.isWritableFile(atPath: folder) { return false }
    let log = Footprint.size(of: path + "-wal")
    if log != nil, Footprint.size(of: path + "-shm") != nil { return false }
    // Looked at last: closing the file ends locks that this process has on it, which it has none where there is no log.
    if !hasLog() { return false }
    if log ?? 0 == 0 { return true }
    throw .unreadable(
      path: path,
      reason: "\(path)-wal holds commits, and reading them takes a folder that can be written to; "
        + "copy both files to one, or have the program that wrote them close the database")
  }

  var immutableURI: String {
    "file:\(path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path)?immutable=1"
  }

  /// Whether the header says that the file is written and read with a write-ahead log.
  ///
  /// <https://sqlite.org/fileformat.html#file_format_version_numbers>
  private func hasLog() -> Bool {
    guard let file = FileHandle(forReadingAtPath: path), let header = try? file.read(upToCount: 20) else {
      return false
    }
    return header.count == 20 && header[18] == 2 && header[19] == 2
  }
}
