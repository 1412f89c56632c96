public import CSQLite
public import Foundation
public import QuireRow

/// The row a statement stands on. Valid until the statement's next `step()` or `reset()`.
///
/// It reads by position, or column after column with ``next(_:)``. Nothing is converted: a wrong storage class is an
/// error, except that an INTEGER is read as a `Double`, because SQLite keeps an integral REAL as an integer.
@frozen public struct RowCursor: ColumnSource {
  @usableFromInline let statement: OpaquePointer
  /// The column ``next(_:)`` reads next.
  public var position: Int32

  @inlinable init(_ statement: OpaquePointer) {
    self.statement = statement
    position = 0
  }

  /// Reads the column at ``position`` and moves on.
  @inlinable public mutating func next<T: StoredValue>(_ type: T.Type = T.self) throws(ValueError) -> T {
    let index = position
    position &+= 1
    return try T.read(from: self, at: index)
  }

  @inlinable public func isNull(_ index: Int32) -> Bool { sqlite3_column_type(statement, index) == SQLITE_NULL }

  @inlinable public func int64(_ index: Int32) throws(ValueError) -> Int64 {
    if sqlite3_column_type(statement, index) == SQLITE_INTEGER { return sqlite3_column_int64(statement, index) }
    throw mismatch(index, .integer)
  }

  @inlinable public func double(_ index: Int32) throws(ValueError) -> Double {
    let type = sqlite3_column_type(statement, index)
    if type == SQLITE_FLOAT || type == SQLITE_INTEGER { return sqlite3_column_double(statement, index) }
    throw mismatch(index, .real)
  }

  @inlinable public func text(_ index: Int32) throws(ValueError) -> String {
    guard sqlite3_column_type(statement, index) == SQLITE_TEXT else { throw mismatch(index, .text) }
    guard let start = sqlite3_column_text(statement, index) else { throw mismatch(index, .text) }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformedText(column: index) }
    return text
  }

  @inlinable public func blob(_ index: Int32) throws(ValueError) -> Data {
    guard sqlite3_column_type(statement, index) == SQLITE_BLOB else { throw mismatch(index, .blob) }
    return bytes(index)
  }

  @inlinable public func value(_ index: Int32) -> Value {
    switch sqlite3_column_type(statement, index) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, index))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, index))
    case SQLITE_TEXT:
      guard let start = sqlite3_column_text(statement, index) else { return .null }
      let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
      if let text = String(validating: bytes, as: UTF8.self) { return .text(text) }
      return .malformedText(Data(bytes))
    case SQLITE_BLOB: return .blob(bytes(index))
    default: return .null
    }
  }

  /// How many columns the row has.
  @inlinable public var count: Int32 { sqlite3_data_count(statement) }

  /// The bytes of a TEXT or BLOB column as they are.
  @inlinable func bytes(_ index: Int32) -> Data {
    guard let start = sqlite3_column_blob(statement, index) else { return Data() }
    return Data(bytes: start, count: Int(sqlite3_column_bytes(statement, index)))
  }

  @usableFromInline @inline(never) func mismatch(_ index: Int32, _ expected: ColumnType) -> ValueError {
    let found =
      switch sqlite3_column_type(statement, index) {
      case SQLITE_INTEGER: "integer"
      case SQLITE_FLOAT: "real"
      case SQLITE_TEXT: "text"
      case SQLITE_BLOB: "blob"
      default: "null"
      }
    return .wrongStorageClass(column: index, expected: expected, found: found)
  }
}
