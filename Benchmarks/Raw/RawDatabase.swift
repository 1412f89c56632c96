import CSQLite

/// A call SQLite refused.
struct RawError: Error, CustomStringConvertible {
  let code: Int32
  let message: String

  var description: String { "SQLite refused (\(code)): \(message)" }
}

/// What a connection sets where Quire's and SQLite's own choices differ.
struct RawSettings: Sendable {
  /// In KiB; nil for SQLite's own 2 000.
  var cache: Int?
  /// In pages of the write-ahead log; 0 for never, nil for SQLite's own 1 000.
  var automaticCheckpoint: Int?

  /// As Quire sets its connections: what the `raw` variants have.
  static let quire = RawSettings(cache: 16_384, automaticCheckpoint: 4_000)
  /// As SQLite is out of the box: what the `raw-default` variants have.
  static let sqlite = RawSettings()
}

/// A connection used as one would by hand: write-ahead log, `synchronous=NORMAL`, foreign keys on, no mutex; it waits a
/// minute for another process's writes.
final class RawDatabase {
  let handle: OpaquePointer

  init(_ file: String, _ settings: RawSettings) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(file, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      sqlite3_close_v2(handle)
      throw RawError(code: code, message: "\(file) does not open")
    }
    self.handle = handle
    try run("PRAGMA busy_timeout = 60000")
    try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON")
    if let cache = settings.cache { try run("PRAGMA cache_size = -\(cache)") }
    if let pages = settings.automaticCheckpoint { try run("PRAGMA wal_autocheckpoint = \(pages)") }
  }

  func close() { sqlite3_close_v2(handle) }

  /// Runs statements that give no rows worth reading.
  func run(_ sql: String) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw RawError(code: code, message: String(cString: sqlite3_errmsg(handle))) }
  }

  func prepare(_ sql: String) throws -> RawStatement {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else {
      throw RawError(code: code, message: String(cString: sqlite3_errmsg(handle)))
    }
    return RawStatement(handle: statement)
  }

  static let insertBook = """
    INSERT INTO book (id, title, author_id, year, rating, is_available) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    """
  static let selectBook = "SELECT id, title, author_id, year, rating, is_available FROM book"
}

/// A prepared statement and nothing around it: every method is one or two calls of the C API.
struct RawStatement {
  let handle: OpaquePointer

  func finalize() { sqlite3_finalize(handle) }

  @inline(__always) func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
  @inline(__always) func bind(_ index: Int32, _ value: Double) { sqlite3_bind_double(handle, index, value) }

  /// Binds a text without a copy: it has to be used up inside `body`.
  @inline(__always) func binding<Result>(_ index: Int32, _ text: String, _ body: () throws -> Result) rethrows -> Result
  {
    var text = text
    return try text.withUTF8 { bytes in
      try bytes.withMemoryRebound(to: CChar.self) { characters in
        sqlite3_bind_text(handle, index, characters.baseAddress, Int32(characters.count), nil)
        return try body()
      }
    }
  }

  /// Whether there is a row.
  @inline(__always) func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw failure()
    }
  }

  @inline(__always) func reset() { sqlite3_reset(handle) }

  /// Runs a statement that gives no rows, and makes it ready for the next time.
  @inline(__always) func run() throws {
    let code = sqlite3_step(handle)
    guard code == SQLITE_DONE else { throw failure() }
    sqlite3_reset(handle)
  }

  @inline(never) private func failure() -> RawError {
    let code = sqlite3_reset(handle)
    return RawError(code: code, message: String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
  }

  @inline(__always) func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  @inline(__always) func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  @inline(__always) func text(_ column: Int32) -> String {
    let start = sqlite3_column_text(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// The row of a statement that selects what `RawDatabase.selectBook` does.
  @inline(__always) var book: BookRow {
    BookRow(
      id: sqlite3_column_int64(handle, 0), title: text(1), authorID: sqlite3_column_int64(handle, 2),
      year: Int(sqlite3_column_int64(handle, 3)), rating: sqlite3_column_double(handle, 4),
      isAvailable: sqlite3_column_int64(handle, 5) != 0)
  }

  /// Runs `RawDatabase.insertBook`.
  @inline(__always) func insert(_ book: BookRow) throws {
    bind(1, book.id)
    bind(3, book.authorID)
    bind(4, Int64(book.year))
    bind(5, book.rating)
    bind(6, book.isAvailable ? 1 as Int64 : 0)
    try binding(2, book.title) { try run() }
  }
}
