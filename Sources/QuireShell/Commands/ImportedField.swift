import Foundation
import QuireRow

/// One field of an imported file, unconverted: its conversion depends on the column it goes to.
///
/// Numbers are stored as the nearest ones, which SQLite's own conversion does not always find. A text column gets a
/// number's text as written, digit for digit.
enum ImportedField: Hashable {
  /// NULL, bytes, and explicit text.
  case value(Value)
  /// A number of JSON, or what the format json writes in the place of an infinite one.
  case number(String)
  /// Of CSV, without quotes: a number or a text.
  case word(String)

  /// Nil for a number that is beyond those of a file.
  func value(in column: ColumnKind) -> Value? {
    switch (self, column.keeps) {
    case (.word("Inf"), .numbers): return .real(.infinity)
    case (.word("-Inf"), .numbers): return .real(-.infinity)
    case (.value(.text(let text)), .numbers), (.word(let text), .numbers): return Self.real(text) ?? .text(text)
    case (.value(let value), _): return value
    case (.word(let text), .texts), (.number(let text), .texts): return .text(text)
    case (.word(let text), .anything): return Value(exactly: text) ?? .text(text)
    case (.number(let text), _):
      if let infinity = JSONInfinity(rawValue: text) { return .real(infinity.number) }
      if let number = Int64(text) { return .integer(number) }
      guard let number = Double(text), number.isFinite else { return nil }
      if text.contains(where: { ".eE".contains($0) }) || column.isReal { return .real(number) }
      return String(format: "%.0f", number) == text ? .real(number) : nil
    }
  }

  /// A text that a column of numbers makes a real number of; nil for integers, which SQLite reads without a loss, and
  /// for what is not a number.
  private static func real(_ text: String) -> Value? {
    let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
    guard let first = digits.first, (48...57).contains(first) || first == UInt8(ascii: "."),
      digits.count + 1 >= text.utf8.count,
      digits.allSatisfy({ (48...57).contains($0) || ".eE+-".utf8.contains($0) }),
      digits.contains(where: { ".eE".utf8.contains($0) })
    else { return nil }
    return Double(text).map { .real($0) }
  }
}

/// What a column makes of fields, told once for all records.
struct ColumnKind {
  fileprivate let keeps: Kept
  fileprivate let isReal: Bool

  fileprivate enum Kept { case texts, numbers, anything }

  init(of column: FileModel.Column) {
    let affinity = column.affinity
    isReal = affinity == .real
    keeps =
      switch affinity {
      case .text: .texts
      case .blob: .anything
      // In a table that is STRICT it takes all values as they are, elsewhere it makes numbers of texts itself.
      case .numeric where column.type.uppercased() == "ANY": .anything
      case .integer, .real, .numeric: .numbers
      }
  }
}
