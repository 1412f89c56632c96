internal import CSQLite
internal import Foundation

/// An error of a call to SQLite. Bound values are not part of it: they may be private.
public struct SQLiteError: Error, Hashable, Sendable {
  /// Extended result code, such as 2067 for a unique constraint. See <https://sqlite.org/rescode.html>.
  public let code: Int32
  /// SQLite's message.
  public let message: String
  /// The statement as written, with its parameters as `?`.
  public let sql: String?
  /// The byte of `sql` where preparing it failed, if SQLite reports it.
  public let offset: Int?
  /// The system's error behind it, if a file could not be opened, read or written; otherwise 0.
  package let systemError: Int32
  /// What exists and has a similar name, if the message names what does not exist.
  package var nearName: String?

  package init(code: Int32, message: String, sql: String? = nil, offset: Int? = nil, systemError: Int32 = 0) {
    self.systemError = systemError
    self.code = code
    self.message = message
    self.sql = sql
    self.offset = offset
  }
}

extension SQLiteError {
  /// The result code without its extension: 19 for every constraint.
  public var primaryCode: Int32 { code & 0xff }
  /// Another connection holds the lock.
  package var isBusy: Bool { primaryCode == SQLITE_BUSY }
  /// Any constraint: UNIQUE, NOT NULL, CHECK, FOREIGN KEY and so on.
  package var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }
  /// A value of a UNIQUE index or PRIMARY KEY, or a row id, already exists.
  package var isUnique: Bool { code == 2067 || isKeyTaken }
  /// Another row has the key.
  package var isKeyTaken: Bool { code == 1555 || code == 2579 }
  /// The table and the columns whose values are not unique, of "UNIQUE constraint failed: book.isbn, book.year".
  package var uniqueColumns: (table: String, columns: [String])? {
    guard isUnique, let list = message.split(separator: ": ").last else { return nil }
    let places = list.split(separator: ", ").map { $0.split(separator: ".") }
    guard let table = places.first?.first, places.allSatisfy({ $0.count == 2 }) else { return nil }
    return (String(table), places.map { String($0[1]) })
  }
  /// The index on expressions whose values are not unique, of "UNIQUE constraint failed: index 'book_title'".
  package var uniqueIndex: String? {
    guard isUnique, message.hasSuffix("'"), let start = message.firstRange(of: ": index '") else { return nil }
    return String(message[start.upperBound...].dropLast())
  }
  /// Of a value that a column of a STRICT table does not take: its form, and the column with its own.
  package var refusedColumn: (table: String, column: String, form: String, value: String)? {
    // cannot store TEXT value in INTEGER column book.year
    let words = message.split(separator: " ")
    guard code == 3091, words.count == 8, let dot = words[7].firstIndex(of: ".") else { return nil }
    return (
      String(words[7][..<dot]), String(words[7][dot...].dropFirst()), form: String(words[5]), value: String(words[2])
    )
  }
  /// A foreign key refers to a missing row, or others refer to the row.
  package var isForeignKey: Bool { code == 787 }
  /// NULL in a NOT NULL column.
  package var isNotNull: Bool { code == 1299 }
  /// Whether cascades or triggers went deeper than SQLite's limit of 1 000 levels.
  package var isTooDeep: Bool { code == 1 && message == "too many levels of trigger recursion" }
  /// A CHECK constraint failed.
  package var isCheck: Bool { code == 275 }
  /// The file is damaged or is not a database.
  package var isCorrupt: Bool {
    primaryCode == SQLITE_CORRUPT && !isIndexMismatch && !isUnsafeSchema || primaryCode == SQLITE_NOTADB
  }
  /// A table of the file calls a function that SQLite calls unsafe, so that it reads none of the tables. The file is whole.
  package var isUnsafeSchema: Bool {
    primaryCode == SQLITE_CORRUPT && message.hasPrefix("malformed database schema")
      && message.contains(" - unsafe use of ")
  }
  /// A statement, or a definition of the file that it uses, names a table or a column that does not exist.
  package var isOfMissingName: Bool {
    ["no such table: ", "no such column: "].contains { message.hasPrefix($0) }
  }
  /// A full-text index or an R-tree does not match the rows that it was made of. The pages of the file are intact, and
  /// the statement has changed nothing.
  package var isIndexMismatch: Bool { code == SQLITE_CORRUPT | 1 << 8 }  // SQLITE_CORRUPT_VTAB
  /// The disk is full, perhaps only for the -shm beside the file, without which a write-ahead log is not even read.
  package var isFull: Bool { primaryCode == SQLITE_FULL || code == SQLITE_IOERR | 19 << 8 }  // SQLITE_IOERR_SHMSIZE
  /// A file may not grow any more, because of a quota or a limit of its size: as on a full disk, nothing more was written.
  package var isOverLimit: Bool {
    code == SQLITE_IOERR | 3 << 8 && (systemError == EDQUOT || systemError == EFBIG)  // SQLITE_IOERR_WRITE
  }
  /// The file could not be read.
  var isReadFailure: Bool { Self.isReadFailure(code) }
  package static func isReadFailure(_ code: Int32) -> Bool {
    [SQLITE_IOERR | 1 << 8, FileObstacle.shortRead, failedRead].contains(code)  // SQLITE_IOERR_READ
  }
  /// SQLITE_IOERR_CORRUPTFS: the system could not read, as of a disk that is gone.
  static let failedRead = SQLITE_IOERR | 33 << 8
  /// A file, which may be one beside the database, could not be opened.
  package var isUnopened: Bool { primaryCode == SQLITE_CANTOPEN }
  /// The database is open for reading only.
  package var isReadOnly: Bool { primaryCode == SQLITE_READONLY }
  /// Whether a statement would have written where only reading is allowed. What keeps a file from being written has
  /// extended codes.
  package var isWriteWhileReading: Bool { code == SQLITE_READONLY }
  /// The transaction of a writer that is gone must be rolled back, which a connection that only reads cannot do.
  package var isUnfinished: Bool { code == SQLITE_READONLY | 3 << 8 }  // SQLITE_READONLY_ROLLBACK
  /// The statement was interrupted.
  package var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }
  /// The system could not read or write the file.
  package var isInputOutput: Bool { primaryCode == SQLITE_IOERR }
  /// Refused by Quire, not by SQLite: SQL run on a store may not contain transaction control, ATTACH and settings.
  package var isNotAuthorized: Bool { primaryCode == SQLITE_AUTH }
}

extension SQLiteError: CustomStringConvertible {
  public var description: String {
    var whole = sql.map { "\(message) (SQLite \(code)), in: \($0)" } ?? "\(message) (SQLite \(code))"
    if let nearName { whole += ". Did you mean \(nearName)?" }
    if isIndexMismatch { return "\(whole). \(Self.indexMismatch): \(Self.rebuilding)" }
    // What SQLite calls unsafe is a trigger or a view that uses a virtual table or a function.
    return message.hasPrefix("unsafe use of") || isUnsafeSchema ? "\(whole). \(Self.trusting)" : whole
  }
}

extension SQLiteError {
  /// What makes SQLite run what it calls unsafe.
  static let trusting = "Set trustsSchema in the configuration if the file's tables, triggers and views are yours"

  /// What SQLite calls a malformed disk image, if ``isIndexMismatch``.
  package static let indexMismatch = "a full-text index or an R-tree does not match its rows; the file is not damaged"
  /// What mends it.
  package static let rebuilding = "INSERT INTO x(x) VALUES('rebuild') makes the full-text index x again"

  /// With the name that was probably meant, of those in the file.
  func naming(near connection: Connection) -> SQLiteError {
    guard primaryCode == SQLITE_ERROR, let name = SQLMessage.name(in: message) else { return self }
    let names = (try? connection.privileged { try SchemaReader(connection).names() }) ?? []
    var error = self
    error.nearName = nearest(to: name, among: names.filter { $0 != name })
    return error
  }

  /// As an error of the whole database, if that is locked, read-only, full, failing or damaged; nil if the statement is
  /// at fault.
  package func databaseError(path: String, waited: Duration) -> DatabaseError? {
    DatabaseError(self, path: path, waited: waited)
  }
}
