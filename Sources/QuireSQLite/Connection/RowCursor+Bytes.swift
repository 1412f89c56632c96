internal import CSQLite

/// Values as SQLite holds them, for code that writes them elsewhere without keeping them.
extension RowCursor {
  package enum Cell {
    case null
    case integer(Int64)
    case real(Double)
    /// Bytes that may not be valid UTF-8.
    case text(UnsafeRawBufferPointer)
    case blob(UnsafeRawBufferPointer)
  }

  /// The column's value; its bytes are valid until the statement's next `step()` or `reset()`.
  package func cell(_ index: Int32) -> Cell {
    let value = sqlite3_column_value(statement, index)
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      return .text(RowCursor.buffer(sqlite3_value_text(value), sqlite3_value_bytes(value)))
    case SQLITE_BLOB:
      return .blob(RowCursor.buffer(sqlite3_value_blob(value), sqlite3_value_bytes(value)))
    default: return .null
    }
  }

  /// If memory is exhausted, SQLite returns no bytes, and the next step fails.
  private static func buffer(_ start: UnsafeRawPointer?, _ count: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
  }
}
