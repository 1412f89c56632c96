import Foundation
public import QuireRow
import QuireSQLite

/// `text` with its control characters made visible, so that nothing from a file can steer a terminal.
public func printable(_ text: String, keepingLines: Bool = false) -> String {
  guard text.unicodeScalars.contains(where: isControl) else { return text }
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    switch scalar.value {
    case 10 where keepingLines: result.append(scalar)
    case 0..<32: result.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
    case 127: result.append("\u{2421}")
    default: result.append(isControl(scalar) ? "\u{FFFD}" : scalar)
    }
  }
  return String(result)
}

/// SQL for a terminal: its lines stay and tabs are spaces, whatever ends its lines; other control characters are made
/// visible. SQL that goes elsewhere stays as it is, so that it can be run.
package func printable(sql: String) -> String {
  guard sql.unicodeScalars.contains(where: isControl) else { return sql }
  var kept = String.UnicodeScalarView()
  for scalar in sql.unicodeScalars where scalar != "\r" {
    if scalar == "\t" { kept += "    ".unicodeScalars } else { kept.append(scalar) }
  }
  return printable(String(kept), keepingLines: true)
}

/// C0, DEL, C1, and the marks that turn the direction of writing around.
package func isControl(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0..<32, 127..<160, 0x202A...0x202E, 0x2066...0x2069: true
  default: false
  }
}

/// A value for display, with NULL visible as such.
public struct ShownCell: Hashable, Sendable {
  public let text: String
  public let isNull: Bool
  public let isNumber: Bool

  public init(_ value: SQLValue) {
    isNull = value == .null
    switch value {
    case .null: (text, isNumber) = ("NULL", false)
    case .integer(let number): (text, isNumber) = ("\(number)", true)
    case .real(let number): (text, isNumber) = (number.sqliteText, true)
    case .text(let string): (text, isNumber) = (printable(string), false)
    case .malformedText(let data): (text, isNumber) = (printable(String(decoding: data, as: UTF8.self)), false)
    case .blob(let data):
      let shown = data.prefix(16).map {
        String(UnicodeScalar(ByteBuffer.hexDigits[Int($0 >> 4)]))
          + String(UnicodeScalar(ByteBuffer.hexDigits[Int($0 & 15)]))
      }.joined()
      (text, isNumber) = (data.count > 16 ? "x'\(shown)…' \(data.count) B" : "x'\(shown)'", false)
    }
  }
}

extension ShownCell {
  /// As `init(_:)`, but of a text that is much longer than `limit` only the beginning, for where the end is not shown: a
  /// text of millions of bytes takes no longer than a short one.
  package init(_ value: SQLValue, limit: Int?) {
    // Each sign has up to four bytes.
    let count = 2 * max(limit ?? 0, 512)
    switch value {
    case .text(let string) where limit != nil && string.utf8.count > 4 * count:
      self.init(.text(String(string.unicodeScalars.prefix(count)) + "…"))
    case .malformedText(let data) where limit != nil && data.count > 4 * count:
      self.init(.text(String(decoding: data.prefix(count), as: UTF8.self) + "…"))
    default: self.init(value)
    }
  }
}

extension CellRow {
  /// All its cells, kept.
  var values: [Value] { (0..<cellCount).map { index in withCell(index) { Value($0) } } }
}

extension Value {
  init(_ cell: RowCursor.Cell) {
    switch cell {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .text(let bytes):
      self = String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .malformedText(Data(bytes))
    case .blob(let bytes): self = .blob(Data(bytes))
    }
  }
}

/// Names as keys of a JSON object, made unique by their bytes: a repeated name gets a number as suffix.
public func distinct(_ names: [String]) -> [String] {
  var known: Set<[UInt8]> = []
  return names.map { name in
    var next = name
    var number = 2
    while !known.insert(Array(next.utf8)).inserted {
      next = "\(name):\(number)"
      number += 1
    }
    return next
  }
}
