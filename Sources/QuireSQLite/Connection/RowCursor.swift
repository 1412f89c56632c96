public import CSQLite
public import Foundation
public import QuireRow

extension _Quire {
  /// The current row of a statement. Valid until the statement's next `step()` or `reset()`.
  ///
  /// It reads by position, or column after column with ``next(_:)``. Nothing is converted: a wrong storage class is an
  /// error, except that an INTEGER is read as a `Double`, because SQLite keeps an integral REAL as an integer.
  @frozen public struct RowCursor: _Quire.ColumnSource {
    @usableFromInline let statement: OpaquePointer
    /// The column that ``next(_:)`` reads next.
    public var position: Int32

    @inlinable init(_ statement: OpaquePointer) {
      self.statement = statement
      position = 0
    }

    /// Reads the column at ``position`` and moves on.
    @inlinable public mutating func next<T: StoredValue>(_ type: T.Type = T.self) throws(ValueError) -> T {
      let index = position
      position &+= 1
      return try T._read(from: self, at: index)
    }

    // One look-up of the column by `sqlite3_column_value`, then calls on the value: half the time of separate calls for
    // type, content and length. Such a value must not be shared between threads; a statement is not either.

    @inlinable public func isNull(_ index: Int32) -> Bool { sqlite3_column_type(statement, index) == SQLITE_NULL }

    @inlinable public func int64(_ index: Int32) throws(ValueError) -> Int64 {
      let value = sqlite3_column_value(statement, index)
      if sqlite3_value_type(value) == SQLITE_INTEGER { return sqlite3_value_int64(value) }
      throw mismatch(index, .integer)
    }

    @inlinable public func double(_ index: Int32) throws(ValueError) -> Double {
      let value = sqlite3_column_value(statement, index)
      let type = sqlite3_value_type(value)
      if type == SQLITE_FLOAT || type == SQLITE_INTEGER { return sqlite3_value_double(value) }
      throw mismatch(index, .real)
    }

    @inlinable public func text(_ index: Int32) throws(ValueError) -> String {
      let value = sqlite3_column_value(statement, index)
      guard sqlite3_value_type(value) == SQLITE_TEXT, let start = sqlite3_value_text(value) else {
        throw mismatch(index, .text)
      }
      let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
      guard let text = String(utf8: bytes) else { throw .malformedText(column: index) }
      return text
    }

    @inlinable public func blob(_ index: Int32) throws(ValueError) -> Data {
      let value = sqlite3_column_value(statement, index)
      guard sqlite3_value_type(value) == SQLITE_BLOB else { throw mismatch(index, .blob) }
      return RowCursor.bytes(value)
    }

    @inlinable public func value(_ index: Int32) -> SQLValue {
      let value = sqlite3_column_value(statement, index)
      switch sqlite3_value_type(value) {
      case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
      case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
      case SQLITE_TEXT:
        guard let start = sqlite3_value_text(value) else { return .null }
        let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
        if let text = String(utf8: bytes) { return .text(text) }
        return .malformedText(Data(bytes))
      case SQLITE_BLOB: return .blob(RowCursor.bytes(value))
      default: return .null
      }
    }

    /// How many columns the row has.
    @inlinable package var count: Int32 { sqlite3_data_count(statement) }

    @inlinable static func bytes(_ value: OpaquePointer?) -> Data {
      guard let start = sqlite3_value_blob(value) else { return Data() }
      return Data(bytes: start, count: Int(sqlite3_value_bytes(value)))
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
      return .wrongStorageClass(column: index, expected: expected.rawValue, found: found)
    }
  }
}

extension String {
  /// Nil unless the bytes are UTF-8.
  ///
  /// Decodes, which would repair, and compares: half the time of `String(validating:as:)`, which looks up its generic
  /// metadata at every call.
  @inlinable init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    var text = String(decoding: bytes, as: UTF8.self)
    let isSame = text.withUTF8 { decoded in
      guard decoded.count == bytes.count else { return false }
      guard let a = decoded.baseAddress, let b = bytes.baseAddress else { return true }
      return memcmp(a, b, decoded.count) == 0
    }
    guard isSame else { return nil }
    self = text
  }
}

@usableFromInline package typealias RowCursor = _Quire.RowCursor
