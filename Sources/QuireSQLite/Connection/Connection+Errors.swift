internal import CSQLite
internal import Foundation

/// The error of a call that failed, with SQLite's message and what the system says.
extension Connection {
  /// - Parameter begin: Where the text that was being prepared begins in `sql`; nil if something else failed.
  func error(_ code: Int32, sql: String?, begin: Int? = nil) -> SQLiteError {
    // SQLite notes the system's error of a statement that runs, but not of one that is prepared or commits: there it has
    // an older one, or none.
    let left = errno
    let isNoted = begin == nil && sql != "COMMIT"
    if code & 0xff == SQLITE_AUTH, let refusal {
      return SQLiteError(code: code, message: refusal, sql: sql)
    }
    if code == SQLITE_CORRUPT, let number = failedRead {
      return SQLiteError(
        code: SQLiteError.failedRead, message: String(cString: sqlite3_errstr(SQLITE_IOERR)), sql: sql,
        systemError: number)
    }
    let isCurrent = sqlite3_errcode(handle) & 0xff == code & 0xff
    let message = String(cString: isCurrent ? sqlite3_errmsg(handle) : sqlite3_errstr(code))
    let place = isCurrent ? Int(sqlite3_error_offset(handle)) : -1
    let isOfFile = [SQLITE_CANTOPEN, SQLITE_IOERR].contains(code & 0xff)
    return SQLiteError(
      code: code, message: message, sql: sql, offset: place < 0 ? nil : begin.map { $0 + place },
      systemError: !isOfFile ? 0 : isNoted ? sqlite3_system_errno(handle) : left)
  }

  /// The system's error if it could not read the file or its log, which SQLite calls damage.
  private var failedRead: Int32? {
    var (file, log): (UnsafeMutablePointer<sqlite3_file>?, UnsafeMutablePointer<sqlite3_file>?) = (nil, nil)
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
    return [file, log].lazy.compactMap { file in
      var number: Int32 = 0
      _ = file?.pointee.pMethods?.pointee.xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number)
      return number == EIO || number == ENXIO ? number : nil
    }.first
  }
}
