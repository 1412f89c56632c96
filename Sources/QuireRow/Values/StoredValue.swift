public import Foundation

/// A Swift type with one documented form in a column.
///
/// The standard types conform already. A type of yours conforms as `RawRepresentable`: it declares the conformance,
/// nothing more, and its raw value is what the column holds. Other `Codable` types need no conformance: models store
/// them as JSON text.
///
/// | Swift | column | form |
/// |---|---|---|
/// | `Int`, `Int8` … `UInt` | INTEGER | the number; a `UInt` above `Int64.max` is refused |
/// | `Bool` | INTEGER | 0 or 1 |
/// | `Double`, `Float`, `CGFloat` | REAL | the number; NaN is refused, SQLite keeps none |
/// | `String` | TEXT | its UTF-8, NUL included |
/// | `Data` | BLOB | the bytes |
/// | `Date` | TEXT | `2026-11-20 10:15:30.123456`, UTC, with more decimals where six do not read back the same, years 0000 to 9999 |
/// | `UUID` | TEXT | `E621E1F8-C36C-495A-93FC-0C247A3E6E5F` |
/// | `URL` | TEXT | the absolute string |
/// | `Decimal` | TEXT | `12.5`: no exponent, no trailing zeros; not in number order |
/// | an optional | as its payload | NULL for nil |
public protocol StoredValue {
  /// The declared type of a column for this type in a STRICT table.
  static var _columnType: _Quire.ColumnType { get }
  /// Whether NULL is one of the values.
  static var _isOptional: Bool { get }
  /// Reads column `index` of the current row.
  ///
  /// - Throws: ``ValueError`` if the storage class or the content is not one that this type writes.
  static func _read<Source: _Quire.ColumnSource & ~Copyable>(from source: borrowing Source, at index: Int32)
    throws(ValueError) -> Self
  /// Binds this value to parameter `index`, counted from 1.
  ///
  /// - Throws: ``ValueError/notStorable(_:reason:)`` for the few values that no column can hold.
  func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32) throws(ValueError)
}

extension StoredValue {
  @inlinable public static var _isOptional: Bool { false }
}

extension _Quire {
  /// The declared type of a column in a STRICT table.
  @frozen public enum ColumnType: String, Hashable, Sendable, Codable {
    /// Whole numbers of 64 bits.
    case integer = "INTEGER"
    /// Floating-point numbers of 64 bits.
    case real = "REAL"
    /// Text.
    case text = "TEXT"
    /// Bytes.
    case blob = "BLOB"
    /// A value of any kind, stored unchanged.
    case any = "ANY"
  }

  /// A row whose columns can be read: that of a stepped statement, or a captured one.
  public protocol ColumnSource: ~Copyable {
    /// Whether the column holds NULL.
    func isNull(_ index: Int32) -> Bool
    /// The INTEGER in the column; anything else is an error.
    func int64(_ index: Int32) throws(ValueError) -> Int64
    /// The REAL or INTEGER in the column, because SQLite stores an integral REAL as an integer; anything else is an
    /// error.
    func double(_ index: Int32) throws(ValueError) -> Double
    /// The TEXT in the column; anything else, and text that is not UTF-8, is an error.
    func text(_ index: Int32) throws(ValueError) -> String
    /// The BLOB in the column; anything else is an error.
    func blob(_ index: Int32) throws(ValueError) -> Data
    /// The value of the column, of any storage class.
    func value(_ index: Int32) -> SQLValue
  }

  /// The parameters of a statement.
  public protocol ColumnSink: ~Copyable {
    /// Binds NULL to a parameter, counted from 1.
    func bindNull(_ index: Int32)
    /// Binds an INTEGER.
    func bind(_ value: Int64, at index: Int32)
    /// Binds a REAL.
    func bind(_ value: Double, at index: Int32)
    /// Binds TEXT.
    func bind(_ value: String, at index: Int32)
    /// Binds a BLOB.
    func bind(_ value: Data, at index: Int32)
    /// Binds a value of any kind.
    func bind(_ value: SQLValue, at index: Int32)
  }
}

@usableFromInline package typealias ColumnType = _Quire.ColumnType
@usableFromInline package typealias ColumnSource = _Quire.ColumnSource
@usableFromInline package typealias ColumnSink = _Quire.ColumnSink

/// Why a column's content is not the requested value, or why a value cannot be stored in a column.
///
/// Contains no table and no key: the code that reads a row adds them.
@nonexhaustive
public enum ValueError: Error, Hashable, Sendable {
  /// The column has another storage class, or NULL if the value is not optional.
  case wrongStorageClass(column: Int32, expected: String, found: String)
  /// TEXT that is not UTF-8; nothing is repaired.
  case malformedText(column: Int32)
  /// The storage class is right but the content is not: text that is not a date, an unknown raw value of an enum, …
  case notA(type: String, column: Int32, found: String)
  /// A value that no column can hold: NaN, an unsigned number above `Int64.max`, a date of year 10 000.
  case notStorable(String, reason: String)
}

extension ValueError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .wrongStorageClass(_, let expected, let found): "expected \(expected), found \(found)"
    case .malformedText: "text that is not UTF-8"
    case .notA(let type, _, let found): "‘\(found)’ is not a valid \(type)"
    case .notStorable(let value, let reason): "\(value) cannot be stored: \(reason)"
    }
  }
}
