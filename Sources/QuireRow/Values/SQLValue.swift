public import Foundation

/// The value of one column in one row: SQLite's five storage classes, and text that is not UTF-8.
///
/// Equality is exact: `.integer(1)` and `.real(1)` differ, text is equal if its bytes are, and a NaN equals itself, so
/// that a value equals what was written.
@frozen public enum SQLValue: Sendable {
  /// NULL.
  case null
  /// A whole number of 64 bits.
  case integer(Int64)
  /// A floating-point number of 64 bits.
  case real(Double)
  /// Text in UTF-8.
  case text(String)
  /// Bytes.
  case blob(Data)
  /// TEXT whose bytes are not UTF-8, kept byte for byte: never repaired, and written back as it was.
  case malformedText(Data)
}

/// Its short name inside the package.
@usableFromInline package typealias Value = SQLValue

extension SQLValue: Hashable {
  public static func == (a: SQLValue, b: SQLValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.integer(let x), .integer(let y)): x == y
    case (.real(let x), .real(let y)): x == y || (x.isNaN && y.isNaN)
    case (.text(let x), .text(let y)): isSame(text: x, y)
    case (.blob(let x), .blob(let y)), (.malformedText(let x), .malformedText(let y)): x == y
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let x): hasher.combine(x)
    case .real(let x): hasher.combine(x.isNaN ? 0 : x)
    case .text(var x):
      x.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      hasher.combine(UInt8.max)  // in no text: two texts in a row are not those of another cut
    case .blob(let x), .malformedText(let x): hasher.combine(x)
    }
  }
}

extension SQLValue {
  /// SQLite's name for the storage class, as `typeof()` gives it.
  public var storageClass: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .real: "real"
    case .text, .malformedText: "text"
    case .blob: "blob"
    }
  }

  /// Whether SQLite sorts this before `other`: NULL, then numbers, then text, then blobs; numbers exactly (an
  /// integer above 2⁵³ is not rounded to be compared with a real), text and blobs by their bytes (collation BINARY).
  package func precedes(_ other: SQLValue) -> Bool { compare(to: other) < 0 }

  /// Below, at or above zero if `self` sorts before, with or after `other` in SQLite (see ``precedes(_:)``).
  package func compare(to other: SQLValue) -> Int {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): return a < b ? -1 : a == b ? 0 : 1
    case (.real(let a), .real(let b)): return a < b ? -1 : a == b ? 0 : 1
    case (.integer(let a), .real(let b)): return SQLValue.compare(a, b)
    case (.real(let a), .integer(let b)): return -SQLValue.compare(b, a)
    case (.text(let a), .text(let b)): return SQLValue.compare(text: a, b)
    case (.blob(let a), .blob(let b)): return SQLValue.compare(bytes: a, b)
    case (.text(let a), .malformedText(let b)): return SQLValue.compare(bytes: a.utf8, b)
    case (.malformedText(let a), .text(let b)): return SQLValue.compare(bytes: a, b.utf8)
    case (.malformedText(let a), .malformedText(let b)): return SQLValue.compare(bytes: a, b)
    default: return rank - other.rank
    }
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .integer, .real: 1
    case .text, .malformedText: 2
    case .blob: 3
    }
  }

  /// Compares an integer with a real without rounding the integer.
  private static func compare(_ a: Int64, _ b: Double) -> Int {
    if b.isNaN { return 1 }  // SQLite stores NaN as NULL, which sorts first
    if b >= 0x1p63 { return -1 }
    if b < -0x1p63 { return 1 }
    let whole = Int64(b)  // toward zero; in range by the two lines above
    if a != whole { return a < whole ? -1 : 1 }
    let rest = b - Double(whole)
    return rest > 0 ? -1 : rest < 0 ? 1 : 0
  }

  private static func isSame(text a: String, _ b: String) -> Bool {
    let isSame = a.utf8.withContiguousStorageIfAvailable { a in
      b.utf8.withContiguousStorageIfAvailable { b in
        guard a.count == b.count, let x = a.baseAddress, let y = b.baseAddress else { return a.count == b.count }
        return memcmp(x, y, a.count) == 0
      }
    }
    return isSame.flatMap { $0 } ?? a.utf8.elementsEqual(b.utf8)
  }

  private static func compare(text a: String, _ b: String) -> Int {
    let order = a.utf8.withContiguousStorageIfAvailable { a in
      b.utf8.withContiguousStorageIfAvailable { b in
        guard let x = a.baseAddress, let y = b.baseAddress else { return a.count - b.count }
        let order = memcmp(x, y, min(a.count, b.count))
        return order == 0 ? a.count - b.count : Int(order)
      }
    }
    return order.flatMap { $0 } ?? compare(bytes: a.utf8, b.utf8)
  }

  private static func compare(bytes a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Int {
    var left = a.makeIterator()
    var right = b.makeIterator()
    while true {
      switch (left.next(), right.next()) {
      case (nil, nil): return 0
      case (nil, _): return -1
      case (_, nil): return 1
      case (let x?, let y?): if x != y { return x < y ? -1 : 1 }
      }
    }
  }
}

extension SQLValue: CustomStringConvertible {
  /// As an SQL literal, for messages and dumps; do not build statements from it.
  public var description: String {
    switch self {
    case .null: "NULL"
    case .integer(let x): "\(x)"
    case .real(let x): "\(x)"
    case .text(let x): "'\(x.replacing("'", with: "''"))'"
    case .blob(let x), .malformedText(let x): "x'\(x.map { String(format: "%02x", $0) }.joined())'"
    }
  }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(stringLiteral value: String) { self = .text(value) }
  public init(nilLiteral: ()) { self = .null }
}
