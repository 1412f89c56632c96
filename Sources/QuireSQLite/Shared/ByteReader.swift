internal import Foundation
package import QuireRow

/// Reads what ``ByteWriter`` has written; whatever the bytes are, it throws and never traps.
package struct ByteReader {
  private let bytes: [UInt8]
  package private(set) var place: Int
  private let end: Int

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    (place, end) = (0, bytes.count)
  }

  package var isAtEnd: Bool { place == end }

  package func failure(_ what: String) -> MalformedBytes { MalformedBytes(what: what, place: place) }

  package mutating func byte() throws(MalformedBytes) -> UInt8 {
    guard place < end else { throw failure("they end too early") }
    defer { place += 1 }
    return bytes[place]
  }

  package mutating func raw(_ count: Int) throws(MalformedBytes) -> ArraySlice<UInt8> {
    guard count <= end - place else { throw failure("they end too early") }
    defer { place += count }
    return bytes[place..<place + count]
  }

  /// - Throws: Also for a number in more bytes than it needs, so that equal content has equal bytes.
  package mutating func number() throws(MalformedBytes) -> UInt64 {
    var result: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      let byte = try byte()
      let part = UInt64(byte & 0x7f)
      if shift == 63, part > 1 { throw failure("a number has more than 64 bits") }
      result |= part << shift
      if byte & 0x80 != 0 { continue }
      if byte == 0, shift > 0 { throw failure("a number has a byte too many") }
      return result
    }
    throw failure("a number has more than 64 bits")
  }

  /// A number of things of which each takes a byte at least.
  package mutating func count() throws(MalformedBytes) -> Int {
    let number = try number()
    guard number <= UInt64(end - place) else { throw failure("a count is larger than what follows") }
    return Int(number)
  }

  package mutating func integer() throws(MalformedBytes) -> Int64 {
    let number = try number()
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  package mutating func sized() throws(MalformedBytes) -> ArraySlice<UInt8> { try raw(try count()) }

  package mutating func text() throws(MalformedBytes) -> String {
    let bytes = try sized()
    guard let text = String(validating: bytes, as: UTF8.self) else { throw failure("a name is not UTF-8") }
    return text
  }

  package mutating func eight() throws(MalformedBytes) -> UInt64 {
    try raw(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  package mutating func value() throws(MalformedBytes) -> Value {
    guard let tag = ValueTag(rawValue: try byte()) else { throw failure("a value has an unknown class") }
    switch tag {
    case .null: return .null
    case .integer: return .integer(try integer())
    case .real: return .real(Double(bitPattern: try eight()))
    case .text:
      let bytes = try sized()
      if let text = String(validating: bytes, as: UTF8.self) { return .text(text) }
      return .malformedText(Data(bytes))
    case .blob: return .blob(Data(try sized()))
    }
  }
}

/// Bytes that are not what they should be.
package struct MalformedBytes: Error, Hashable, Sendable, CustomStringConvertible {
  package let what: String
  /// How many bytes before it could be read.
  package let place: Int

  package init(what: String, place: Int) { (self.what, self.place) = (what, place) }

  package var description: String { "\(what) (at byte \(place))" }
}
