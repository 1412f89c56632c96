public import CSQLite
public import Foundation
public import QuireRow

// Parameters are counted from 1. Text and blobs are copied, by length: a NUL inside survives.

extension Statement: ColumnSink {
  @inlinable public func bindNull(_ index: Int32) { note(sqlite3_bind_null(pointer, index), index) }

  @inlinable public func bind(_ value: Int64, at index: Int32) {
    note(sqlite3_bind_int64(pointer, index, value), index)
  }

  @inlinable public func bind(_ value: Double, at index: Int32) {
    if value.isNaN { return refuseNaN(index) }
    note(sqlite3_bind_double(pointer, index, value), index)
  }

  @inlinable public func bind(_ value: String, at index: Int32) {
    var value = value
    let code = value.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { quire_bind_text(pointer, index, $0.baseAddress, $0.count) }
    }
    note(code, index)
  }

  @inlinable public func bind(_ value: Data, at index: Int32) {
    note(value.withUnsafeBytes { quire_bind_blob(pointer, index, $0.baseAddress, $0.count) }, index)
  }

  @inlinable public func bind(_ value: SQLValue, at index: Int32) {
    switch value {
    case .null: bindNull(index)
    case .integer(let value): bind(value, at: index)
    case .real(let value): bind(value, at: index)
    case .text(let value): bind(value, at: index)
    case .blob(let value): bind(value, at: index)
    case .malformedText(let value):
      note(
        value.withUnsafeBytes { bytes in
          bytes.withMemoryRebound(to: CChar.self) { quire_bind_text(pointer, index, $0.baseAddress, $0.count) }
        }, index)
    }
  }

  /// Binds a Swift value in its column form.
  @inlinable public func bind<T: StoredValue>(_ value: T, at index: Int32) throws(ValueError) {
    try value._write(to: self, at: index)
  }

  /// Binds all values from parameter 1 on.
  ///
  /// - Throws: ``SQLiteError`` if there are more or fewer values than parameters.
  package func bind(all values: [Value]) throws(SQLiteError) {
    guard values.count == Int(parameterCount) else {
      let message = "\(parameterCount) parameters, and \(values.count) values were given"
      throw SQLiteError(code: SQLITE_RANGE, message: message, sql: sql)
    }
    for (offset, value) in values.enumerated() { bind(value, at: Int32(offset + 1)) }
  }

  @inlinable func note(_ code: Int32, _ index: Int32) { if code != SQLITE_OK { refuse(code, index) } }

  @usableFromInline @inline(never) func refuse(_ code: Int32, _ index: Int32) {
    if bindFailure == nil { bindFailure = .refused(code, index: index) }
    needsCare = true
  }

  @usableFromInline @inline(never) func refuseNaN(_ index: Int32) {
    if bindFailure == nil { bindFailure = .notANumber(index: index) }
    needsCare = true
  }
}
