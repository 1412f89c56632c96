import Foundation
import QuireRow

/// What SQLite prefers to store in a column of a declared type, because tables made by other tools may say VARCHAR(80)
/// and BIGINT.
enum Affinity {
  case integer, text, blob, real
  /// Whole numbers, reals, and text that is neither: DECIMAL, DATETIME and every word that SQLite does not know.
  case numeric
  /// All as it is: no type, and ANY in a STRICT table. In another table ANY is a word that SQLite does not know.
  case none

  init(declared type: String) {
    let name = type.uppercased()
    func has(_ words: String...) -> Bool { words.contains { name.contains($0) } }
    self =
      if name.isEmpty || name == "ANY" {
        .none
      } else if has("INT", "BOOL") {
        .integer
      } else if has("CHAR", "CLOB", "TEXT") {
        .text
      } else if has("BLOB") {
        .blob
      } else if has("REAL", "FLOA", "DOUB") {
        .real
      } else {
        .numeric
      }
  }

  /// Whether that is the type for which the column is declared.
  func fits(_ type: ColumnType) -> Bool {
    switch self {
    case .integer: type == .integer || type == .any
    case .text: type == .text || type == .any
    case .blob: type == .blob || type == .any
    case .real: type == .real || type == .any
    case .numeric, .none: true
    }
  }

  /// Whether values of another type are kept as they are in a table that is not STRICT, and programs are known to store
  /// them so: reals in an INTEGER column, which makes 1.0 a 1 that reads back as 1.0, bytes in a TEXT column, JSON in a
  /// BLOB column.
  func keeps(_ type: ColumnType, isJSON: Bool) -> Bool {
    switch (self, type) {
    case (.integer, .real), (.text, .blob): true
    case (.blob, .text): isJSON
    default: false
    }
  }
}

extension Property {
  var isDecimal: Bool { valueType == Decimal.self }

  var isJSON: Bool { !(valueType is any StoredValue.Type || valueType is any RawRepresentable.Type) }

  /// Whether its text may be that of a number, as `12` may be a name. Dates, identifiers and addresses are not, nor is JSON.
  var mayLookLikeNumbers: Bool { Self.mayLookLikeNumbers(valueType) }

  /// Without optionals.
  private var valueType: Any.Type {
    var type: Any.Type = type(of: keyPath).valueType
    while let optional = type as? any AnyOptional.Type { type = optional.wrapped }
    return type
  }

  private static func mayLookLikeNumbers(_ type: Any.Type) -> Bool {
    let others: [Any.Type] = [Date.self, UUID.self, URL.self]
    if others.contains(where: { $0 == type }) { return false }
    if let type = type as? any RawRepresentable.Type { return acceptsNumbers(type) }
    return type is any StoredValue.Type
  }

  /// Whether one of many numbers is a raw value of the type. A type that reads `2026-11-20` or the names of its cases
  /// accepts none.
  private static func acceptsNumbers<T: RawRepresentable>(_ type: T.Type) -> Bool {
    guard T.RawValue.self == String.self else { return mayLookLikeNumbers(T.RawValue.self) }
    return numbers.contains { number in (number as? T.RawValue).flatMap(T.init(rawValue:)) != nil }
  }

  private static let numbers: [String] =
    (0..<100).flatMap { ["\($0)", $0 < 10 ? "0\($0)" : "-\($0)"] }
    + [
      "007", "2026", "0930", "093000", "202611", "20261120", "20261120101530", "1732097730", "1732097730123",
      "+493012345",
      "1.5", "-0.5", ".5", "10.15", "10.1530", "20.11", "1e5", "1E-5", "1732097730.25", " 7", "7 ",
      "12345678901234567890123456789012",
    ]
}
