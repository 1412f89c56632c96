/// An error of a database file or its locks, not of one statement. The text says what happened, to which file, what
/// state the data is in, and what to do.
@nonexhaustive
public enum DatabaseError: Error, Hashable, Sendable {
  /// The file is not an SQLite database; it was not touched.
  case notADatabase(path: String)
  /// The path is that of a folder.
  case isDirectory(path: String)
  /// The file does not exist, and creating it was not requested.
  case missing(path: String)
  /// The file has no bytes, and was not opened for creating.
  case empty(path: String)
  /// The file has several names (hard links): these would get separate write-ahead logs, which would destroy the file.
  case hardLinked(path: String, names: Int)
  /// The file cannot be opened; it was not changed.
  case unreadable(path: String, reason: String)
  /// The file cannot be made.
  case cannotCreate(path: String, reason: String)
  /// A page is damaged. Writing has stopped; undamaged parts can still be read.
  case corrupt(path: String, sql: String?)
  /// A write to a file that can only be read; nothing was written. `reason` is nil if the file was opened for reading
  /// only.
  case readOnly(path: String, reason: String? = nil)
  /// The disk is full; the transaction was rolled back.
  case diskFull(path: String)
  /// The system could not read or write the file; what was not committed was rolled back.
  case inputOutput(path: String, code: Int32, reason: String? = nil)
  /// Another connection or process held the lock for the entire busy timeout, or ran a `SchemaMigrationPlan` for the
  /// entire write timeout; `by` names it if it is known.
  case busy(path: String, waited: Duration, by: String? = nil)
  /// Another thread of this process was writing for the entire write timeout.
  case writerBusy(waited: Duration)
  /// All readers were in use for the entire busy timeout.
  case readersBusy(count: Int, waited: Duration)
  /// COMMIT failed in a way that leaves unknown whether the transaction is in the file.
  case commitOutcomeUnknown(path: String, code: Int32)
  /// The changes of a transaction could not be captured exactly; it was rolled back.
  case captureFailed(table: String?, code: Int32)
  /// A write inside a write on the same thread; it was not run.
  case nestedWrite
  /// A write inside a closure of `beforeCommit`, which may only read; it was not run.
  case writeBeforeCommit(sql: String)
  /// The store has been closed, or this process was forked while it was open; nothing was read or written.
  case closed(path: String)
  /// The state after this commit can no longer be read.
  case stale(commit: Int64)
  /// The file that was opened, or its write-ahead log, was replaced, moved or deleted, or another program has truncated
  /// the log. Nothing more is written.
  case fileReplaced(path: String)
  /// The file is shared with other machines, and was opened as if it were not; nothing was written.
  case shared(path: String)
  /// A setting of the connection does not have its required value; the database was not opened.
  case setting(String, expected: String, found: String)
}

extension DatabaseError {
  /// Whether others were writing, in this process or another one.
  package var isOthersWrite: Bool {
    switch self {
    case .busy, .writerBusy: true
    default: false
    }
  }
}

extension DatabaseError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notADatabase(let path):
      "\(path) is not an SQLite database; it was not touched. Check the path: if it is right, the file is encrypted, or its "
        + "first page is damaged"
    case .isDirectory(let path): "\(path) is a directory; give the path of a file in it"
    case .missing(let path): "there is no database at \(path); check the path, or open it for creating"
    case .empty(let path): "\(path) has no bytes; open it for creating if it is to become a database"
    case .hardLinked(let path, let names):
      "\(path) has \(names) names (hard links), and SQLite would destroy it through two of them; remove all but one"
    case .unreadable(let path, let reason): "\(path) cannot be opened: \(reason). It was not changed"
    case .cannotCreate(let path, let reason): "\(path) cannot be created: \(reason)"
    case .corrupt(let path, let sql):
      "\(path) is damaged\(sql.map { " (seen by: \($0))" } ?? ""). Nothing more is written to it; "
        + "restore a backup, or save what is readable into a new file: sqlite3 FILE .recover | sqlite3 NEW"
    case .readOnly(let path, let reason):
      reason.map { "\(path) can only be read: \($0). Nothing was written" }
        ?? "\(path) was opened for reading only; nothing was written"
    case .diskFull(let path):
      "the disk of \(path) is full. The transaction was rolled back; free disk space and retry"
    case .inputOutput(let path, let code, let reason):
      "reading or writing \(path) failed (SQLite \(code))\(reason.map { ": \($0)" } ?? ""). What was not committed was rolled "
        + (code == FileObstacle.shortRead ? "back; restore a backup" : "back; check the disk and repeat")
    case .busy(let path, let waited, let holder):
      "\(holder ?? "another process, or another container of this one,") kept \(path) locked for \(waited). "
        + "Nothing was written; repeat, or raise the \(holder == nil ? "busy" : "write") timeout"
    case .writerBusy(let waited):
      "another thread of this program has been writing for \(waited). Nothing was written; repeat"
    case .readersBusy(let count, let waited):
      "all \(count) readers were in use for \(waited). Nothing was read; end reads sooner, or allow more readers"
    case .commitOutcomeUnknown(let path, let code):
      "COMMIT to \(path) failed (SQLite \(code)), and whether the transaction is in the file is not known. "
        + "Writing has stopped; open the store again and look"
    case .captureFailed(let table, let code):
      "the changes\(table.map { " to table \($0)" } ?? "") could not be captured exactly (SQLite \(code)). "
        + "The transaction was rolled back"
    case .nestedWrite:
      "a write was begun inside a write on the same thread; nothing of it was run. "
        + "Use the transaction at hand, or a savepoint in it"
    case .writeBeforeCommit(let sql):
      "a write was begun in a closure that may only read, before a commit; it was not run: \(sql)"
    case .closed(let path) where ProcessMark.isInherited(path):
      "\(path) was open when this process was forked, and SQLite's locks on it are those of the process that opened it; "
        + "nothing was read or written. Open it after the fork, or start a program of its own for that"
    case .closed(let path): "\(path) is closed; nothing was read or written. Open it again"
    case .stale(let commit): "the state after commit \(commit) can no longer be read; move to the latest commit"
    case .fileReplaced(let path):
      "\(path), or its -wal or -shm, was replaced, moved or deleted while it was open, or the -wal truncated. Nothing more "
        + "is written, because it would be lost; close the store, and open the file that is to be used"
    case .shared(let path):
      "\(path) is shared with other machines, and was not opened as a shared store. Nothing was written; "
        + "write to it with a program that shares it, or end that with quire node leave"
    case .setting(let name, let expected, let found):
      "the setting \(name) is \(found) and not \(expected), as it must be; the database was not opened"
    }
  }
}

extension DatabaseError {
  /// The reason of ``unreadable(path:reason:)`` if a writer's transaction was not finished.
  package static let unfinished =
    "a program that wrote to it ended in the middle of a transaction, which opening the file for writing takes back"

  /// An error that affects the whole database and not the statement, as a `DatabaseError`; nil for all others.
  package init?(_ error: SQLiteError, path: String, waited: Duration) {
    switch error.primaryCode {
    case 1 where NodeTables.isRefusal(error): self = .shared(path: path)
    case 5: self = .busy(path: path, waited: waited)
    case 8 where error.code == 1032: self = .fileReplaced(path: path)  // moved, says SQLite
    case 8 where error.isUnfinished: self = .unreadable(path: path, reason: Self.unfinished)
    case 8: self = .readOnly(path: path, reason: FileObstacle.writing(path) ?? FileObstacle.unseen)
    case 10 where error.isFull: self = .diskFull(path: path)
    case 10: self = .inputOutput(path: path, code: error.code, reason: FileObstacle.failing(error))
    // The pages are intact, and SQLite names the definition that it cannot read.
    case 11 where error.message.hasPrefix("malformed database schema"):
      let advice = error.isUnsafeSchema ? ". \(SQLiteError.trusting)" : ""
      self = .unreadable(path: path, reason: error.message + advice)
    case 11, 26:
      if !error.isCorrupt { return nil }
      self = .corrupt(path: path, sql: error.sql)
    // With another text it is about a file that the statement names.
    case 14 where error.message == "unable to open database file":
      let reason = FileObstacle.opening(path, number: error.systemError)
      self = .unreadable(path: path, reason: reason ?? error.message)
    case 13: self = .diskFull(path: TemporaryFiles.isFull(beside: path) ? TemporaryFiles.folder : path)
    default: return nil
    }
  }

  /// Converts the error of a read: damage, a failing disk and a file that cannot be opened concern the database; other
  /// errors of SQLite concern the statement.
  package static func explaining(_ error: any Error, path: String) -> any Error {
    guard let refused = error as? SQLiteError, refused.isCorrupt || refused.isInputOutput || refused.isUnopened
    else { return error }
    return DatabaseError(refused, path: path, waited: .zero) ?? error
  }
}
