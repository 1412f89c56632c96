internal import CSQLite

/// Values as SQLite holds them, for who writes them on without keeping them.
extension RowCursor {
  package enum Cell {
    case null
    case integer(Int64)
    case real(Double)
    /// Bytes that need not be UTF-8.
    case text(UnsafeRawBufferPointer)
    case blob(UnsafeRawBufferPointer)
  }

  /// The column's value; its bytes are there until the statement's next `step()` or `reset()`.
  package func cell(_ index: Int32) -> Cell {
    let value = sqlite3_column_value(statement, index)
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let start = sqlite3_value_text(value)
      return .text(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    case SQLITE_BLOB:
      let start = sqlite3_value_blob(value)
      return .blob(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    default: return .null
    }
  }
}
