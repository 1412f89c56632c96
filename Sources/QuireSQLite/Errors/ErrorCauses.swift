internal import CSQLite
public import QuireRow

extension StoreBackupError: QuireError {
  public var cause: QuireErrorCause {
    switch self {
    case .exists, .sameFile: .caller
    case .inUse: .transient
    case .cannotWrite: .storage
    }
  }
}

extension ChangeLogError: QuireError {
  public var cause: QuireErrorCause {
    switch self {
    case .off, .tooManyColumns: .caller
    case .otherLog, .trimmed, .ahead: .conflict
    case .laterVersion: .storage
    }
  }
}

extension DatabaseError: QuireError {
  public var cause: QuireErrorCause {
    switch self {
    case .busy, .writerBusy, .readersBusy, .stale: .transient
    case .readOnly(_, .some): .storage  // a right or a mount, and not how the program has opened it
    case .isDirectory, .missing, .empty, .readOnly, .nestedWrite, .writeBeforeCommit, .closed, .shared: .caller
    case .notADatabase, .hardLinked, .unreadable, .cannotCreate, .corrupt, .diskFull, .inputOutput,
      .commitOutcomeUnknown, .captureFailed, .fileReplaced, .setting:
      .storage
    }
  }
}

extension SQLiteError: QuireError {
  public var cause: QuireErrorCause {
    switch primaryCode {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT: .transient
    case SQLITE_CONSTRAINT: isUnique || isForeignKey ? .conflict : .caller
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_NOMEM, SQLITE_READONLY:
      .storage
    default: .caller
    }
  }
}

extension StatementError: QuireError {
  public var cause: QuireErrorCause {
    if case .tookTooLong = self { .transient } else { .caller }
  }
}

extension NodePlaceError: QuireError {
  package var cause: QuireErrorCause { .storage }
}

extension SharedWriteError: QuireError {}
