internal import CSQLite
internal import Foundation

/// Why a file cannot be opened or written: which file it is, what the system says of it, and what helps.
///
/// SQLite's message, "unable to open database file", names none of these, and the file may be one beside the database.
package enum FileObstacle {
  /// The system's words for `number`, and what helps against it if that is known.
  package static func reason(_ number: Int32) -> String {
    let text = String(cString: strerror(number))
    return help(against: number).map { "\(text); \($0)" } ?? text
  }

  /// The system's words for an error of Foundation.
  package static func reason(of error: any Error) -> String {
    var error = error as NSError
    while let inner = error.userInfo[NSUnderlyingErrorKey] as? NSError { error = inner }
    if error.domain == NSPOSIXErrorDomain { return reason(Int32(error.code)) }
    switch CocoaError.Code(rawValue: error.code) {
    case .fileReadNoPermission, .fileWriteNoPermission: return reason(EACCES)
    case .fileReadNoSuchFile, .fileNoSuchFile: return reason(ENOENT)
    case .fileWriteVolumeReadOnly: return reason(EROFS)
    case .fileWriteOutOfSpace: return reason(ENOSPC)
    default: return error.localizedDescription
    }
  }

  /// SQLITE_IOERR_SHORT_READ: a file ends before what is to be read.
  static let shortRead = SQLITE_IOERR | 2 << 8

  /// Why the system could not read or write; nil if it did not say so.
  static func failing(_ error: SQLiteError) -> String? {
    if error.code == SQLITE_IOERR | 25 << 8 {  // SQLITE_IOERR_GETTEMPPATH
      return "there is no folder for temporary files that can be written to; name one in SQLITE_TMPDIR"
    }
    if error.code == shortRead { return "it, or the -wal beside it, is shorter than it was, as if truncated" }
    return error.systemError == 0 ? nil : reason(error.systemError)
  }

  private static func help(against number: Int32) -> String? {
    switch number {
    case EACCES, EPERM: "give the user that runs this program the right to it"
    case EROFS: "mount it for writing, or use a copy elsewhere"
    case ENAMETOOLONG: "choose a shorter one"
    case EMFILE: "close some of this program's files, or raise its limit (ulimit -n)"
    case ENOSPC, EDQUOT: "make room and repeat"
    case EFBIG: "raise this program's limit of a file's size (ulimit -f)"
    default: nil
    }
  }

  /// Why a file that is no database cannot be read.
  package static func reading(_ path: String) -> String {
    var info = stat()
    if stat(path, &info) != 0 || !allows(path, R_OK) { return reason(errno) }
    if info.st_mode & S_IFMT == S_IFDIR { return reason(EISDIR) }
    return info.st_mode & S_IFMT == S_IFREG ? reason(EIO) : "it is not a regular file"
  }

  /// Why SQLite cannot open the file, or one beside it that it needs.
  ///
  /// - Parameters:
  ///   - isNew: Whether it is to be made.
  ///   - number: The system's error that SQLite saw; 0 if it saw none.
  static func opening(_ path: String, isNew: Bool = false, number: Int32) -> String? {
    if number == EMFILE || number == ENFILE { return reason(number) }
    let longest = longestPath
    if path.utf8.count > longest {
      return "its path has \(path.utf8.count) bytes, and SQLite opens up to \(longest); choose a shorter one"
    }
    if isNew, let reason = folder(of: path) ?? newFile(beside: path) { return reason }
    // A log that is not there, of a file that is, could not be made. SQLite then tries without making it, so that its error is
    // not the first one.
    let unmade = number == ENOENT && allows(path, F_OK) ? folder(of: path) ?? newFile(beside: path) : nil
    return beside(path, R_OK) ?? beside(path, W_OK) ?? unmade ?? (number == 0 ? nil : reason(number))
  }

  /// Why SQLite cannot open a file that a statement names, as ATTACH and VACUUM INTO do; nil if the reason is not seen.
  package static func opening(named path: String) -> String? {
    var info = stat()
    if stat(path, &info) != 0 {
      let missing = "\(path): \(reason(errno))"
      return folder(of: path) ?? missing
    }
    return allows(path, R_OK) ? opening(path, number: 0) : "\(path): \(reason(errno))"
  }

  /// Why the file cannot be written to; nil if nothing prevents it.
  package static func writing(_ path: String) -> String? {
    if !allows(path, W_OK) { return reason(errno) }
    return folder(of: path) ?? beside(path, W_OK)
  }

  /// Why SQLite could open it for reading only where ``writing(_:)`` finds nothing: a file's attributes, a server's rights.
  static let unseen =
    "the system opens it for reading only, whatever its rights are; see whether it may only be appended to (lsattr), or how "
    + "its file system is exported"

  /// The folder of a file, if there is none.
  package static func missingFolder(of path: String) -> String? {
    guard let end = path.lastIndex(of: "/"), end > path.startIndex, access(String(path[..<end]), F_OK) != 0 else {
      return nil
    }
    return String(path[..<end])
  }

  /// What prevents new files in its folder.
  private static func folder(of path: String) -> String? {
    let folder = folderName(of: path)
    return allows(folder, W_OK | X_OK) ? nil : "its folder \(folder): \(reason(errno))"
  }

  /// Why its file system, or the user's quota in it, takes no further file.
  private static func newFile(beside path: String) -> String? {
    let folder = folderName(of: path)
    let number = quire_new_file_error(folder)
    if number == 0 { return nil }
    return "no file can be made in its folder \(folder): \(String(cString: strerror(number))); remove files and repeat "
      + "(there may be room for bytes, and for no more files: df -i)"
  }

  static func folderName(of path: String) -> String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  /// What prevents the use of the log, its index or the journal beside it.
  private static func beside(_ path: String, _ rights: Int32) -> String? {
    for end in ["-wal", "-shm", "-journal"] {
      let file = path + end
      var info = stat()
      guard stat(file, &info) == 0 else { continue }
      if info.st_mode & S_IFMT == S_IFDIR { return "\(file): \(reason(EISDIR))" }
      if !allows(file, rights) { return "\(file): \(reason(errno))" }
    }
    return nil
  }

  private static func allows(_ path: String, _ rights: Int32) -> Bool {
    faccessat(AT_FDCWD, path, rights, AT_EACCESS) == 0
  }

  /// In bytes. SQLite must be able to append the ends of the files beside it.
  private static var longestPath: Int { sqlite3_vfs_find(nil).map { Int($0.pointee.mxPathname) - 8 } ?? .max }
}
