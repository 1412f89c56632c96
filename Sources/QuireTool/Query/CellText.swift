import Foundation
import Quire

/// A value for somebody to look at.
struct CellText {
  /// With its control characters made visible, so that nothing in a database can steer the terminal.
  let text: String
  let isNull: Bool

  init(_ value: Value) {
    isNull = value == .null
    switch value {
    case .null: text = "NULL"
    case .integer(let number): text = "\(number)"
    case .real(let number): text = "\(number)"
    case .text(let string): text = printable(string)
    case .malformedText(let data): text = printable(String(decoding: data, as: UTF8.self))
    case .blob(let data):
      let shown = data.prefix(16).map { String(format: "%02x", $0) }.joined()
      text = data.count > 16 ? "x'\(shown)…' \(data.count) B" : "x'\(shown)'"
    }
  }
}

extension Value {
  var isNumber: Bool {
    switch self {
    case .integer, .real: true
    default: false
    }
  }

  /// In JSON: numbers and text as such; bytes, and text that is not UTF-8, as an object that says so.
  var json: JSON {
    switch self {
    case .null: .null
    case .integer(let number): .integer(Int(number))
    case .real(let number): number.isFinite ? .number(number) : .string(number < 0 ? "-Infinity" : "Infinity")
    case .text(let text): .string(text)
    case .blob(let data): .object([("base64", .string(data.base64EncodedString()))])
    case .malformedText(let data): .object([("malformedText", .string(data.base64EncodedString()))])
    }
  }
}
