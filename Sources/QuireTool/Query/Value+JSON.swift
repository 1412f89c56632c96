import Quire

extension Value {
  /// As JSON: numbers and text as such; bytes, and text that is not UTF-8, as an object with their encoding.
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
