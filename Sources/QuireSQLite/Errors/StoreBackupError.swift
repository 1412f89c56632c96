/// Why a copy of a store was not made. The store and the file at the copy's path, if there was one, are as they were.
@nonexhaustive
public enum StoreBackupError: Error, Hashable, Sendable {
  /// There is a file at the path, and `replacing` is false.
  case exists(path: String)
  /// The path is that of the store's own file.
  case sameFile(path: String)
  /// A program is writing to the file at the path (`file`); or beside it is the log of another database (`file`), which
  /// SQLite would read as the copy's log: a program has that database open, or has crashed.
  case inUse(path: String, file: String)
  /// The copy cannot be made or written, such as on a full disk or in a folder that is missing.
  case cannotWrite(path: String, reason: String)
}

extension StoreBackupError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .exists(let path): "there is a file at \(path); it was not changed. Replace it expressly, or give another path"
    case .sameFile(let path): "\(path) is the database itself; give another path for the copy"
    case .inUse(let path, let file) where file == path:
      "\(path) is being written to by another program. Nothing was written; close that program, or give another path for the copy"
    case .inUse(let path, let file):
      "\(file) is there: \(path) is open in another program, or was when that crashed. Nothing was written; "
        + "close that program, or give another path for the copy"
    case .cannotWrite(let path, let reason):
      "no copy was made at \(path): \(reason). What was there is unchanged, and nothing is left beside it"
    }
  }
}
