public import Foundation

extension FixedWidthInteger where Self: StoredValue {
  /// INTEGER.
  @inlinable public static var _columnType: _Quire.ColumnType { .integer }

  /// The whole number in the column; a number out of this type's range is an error.
  @inlinable public static func _read<Source: _Quire.ColumnSource & ~Copyable>(
    from source: borrowing Source, at index: Int32
  )
    throws(ValueError) -> Self
  {
    let wide = try source.int64(index)
    guard let value = Self(exactly: wide) else {
      throw ValueError.notA(type: "\(Self.self)", column: index, found: "\(wide)")
    }
    return value
  }

  /// Binds the number; one above `Int64.max` is ``ValueError/notStorable(_:reason:)``.
  @inlinable public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32)
    throws(ValueError)
  {
    guard let wide = Int64(exactly: self) else {
      throw ValueError.notStorable("\(self)", reason: "it is above Int64.max")
    }
    sink.bind(wide, at: index)
  }
}

extension Int: StoredValue {}
extension Int8: StoredValue {}
extension Int16: StoredValue {}
extension Int32: StoredValue {}
extension Int64: StoredValue {}
extension UInt: StoredValue {}
extension UInt8: StoredValue {}
extension UInt16: StoredValue {}
extension UInt32: StoredValue {}
extension UInt64: StoredValue {}

extension Bool: StoredValue {
  @inlinable public static var _columnType: _Quire.ColumnType { .integer }

  @inlinable public static func _read<Source: _Quire.ColumnSource & ~Copyable>(
    from source: borrowing Source, at index: Int32
  )
    throws(ValueError) -> Bool
  {
    switch try source.int64(index) {
    case 0: return false
    case 1: return true
    case let other: throw ValueError.notA(type: "Bool", column: index, found: "\(other)")
    }
  }

  @inlinable public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32)
    throws(ValueError)
  {
    sink.bind(self ? 1 as Int64 : 0, at: index)
  }
}

extension BinaryFloatingPoint where Self: StoredValue {
  /// REAL.
  @inlinable public static var _columnType: _Quire.ColumnType { .real }

  /// The number in the column, REAL or INTEGER.
  @inlinable public static func _read<Source: _Quire.ColumnSource & ~Copyable>(
    from source: borrowing Source, at index: Int32
  )
    throws(ValueError) -> Self
  {
    Self(try source.double(index))
  }

  /// Binds the number; NaN is ``ValueError/notStorable(_:reason:)``.
  @inlinable public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32)
    throws(ValueError)
  {
    if isNaN { throw ValueError.notStorable("NaN", reason: "SQLite keeps no NaN; use an optional") }
    sink.bind(Double(self), at: index)
  }
}

extension Double: StoredValue {}
extension Float: StoredValue {}
extension CGFloat: StoredValue {}

extension String: StoredValue {
  @inlinable public static var _columnType: _Quire.ColumnType { .text }
  @inlinable public static func _read<Source: _Quire.ColumnSource & ~Copyable>(
    from source: borrowing Source, at index: Int32
  )
    throws(ValueError) -> String
  {
    try source.text(index)
  }
  @inlinable public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32)
    throws(ValueError)
  {
    sink.bind(self, at: index)
  }
}

extension Data: StoredValue {
  @inlinable public static var _columnType: _Quire.ColumnType { .blob }
  @inlinable public static func _read<Source: _Quire.ColumnSource & ~Copyable>(
    from source: borrowing Source, at index: Int32
  )
    throws(ValueError) -> Data
  {
    try source.blob(index)
  }
  @inlinable public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32)
    throws(ValueError)
  {
    sink.bind(self, at: index)
  }
}

extension Optional: StoredValue where Wrapped: StoredValue {
  @inlinable public static var _columnType: _Quire.ColumnType { Wrapped._columnType }
  @inlinable public static var _isOptional: Bool { true }
  @inlinable public static func _read<Source: _Quire.ColumnSource & ~Copyable>(
    from source: borrowing Source, at index: Int32
  )
    throws(ValueError) -> Wrapped?
  {
    source.isNull(index) ? nil : try Wrapped._read(from: source, at: index)
  }
  @inlinable public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32)
    throws(ValueError)
  {
    if let value = self { try value._write(to: sink, at: index) } else { sink.bindNull(index) }
  }
}

extension RawRepresentable where Self: StoredValue, RawValue: StoredValue {
  /// The column type of the raw value.
  @inlinable public static var _columnType: _Quire.ColumnType { RawValue._columnType }
  /// The case of the raw value in the column; an unknown raw value is an error.
  @inlinable public static func _read<Source: _Quire.ColumnSource & ~Copyable>(
    from source: borrowing Source, at index: Int32
  )
    throws(ValueError) -> Self
  {
    let raw = try RawValue._read(from: source, at: index)
    guard let value = Self(rawValue: raw) else {
      throw ValueError.notA(type: "\(Self.self)", column: index, found: "\(raw)")
    }
    return value
  }
  /// Binds the raw value.
  @inlinable public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32)
    throws(ValueError)
  {
    try rawValue._write(to: sink, at: index)
  }
}
