package import QuireRow

/// Writes the bytes of entries: whole numbers in as few bytes as they need, texts and bytes behind their length.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func byte(_ value: UInt8) { bytes.append(value) }

  /// Bytes whose number the reader knows.
  package mutating func raw(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Seven bits a byte, the lowest first; the highest bit says that another byte follows.
  package mutating func number(_ value: UInt64) {
    var rest = value
    while rest > 0x7f {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  package mutating func count(_ value: Int) { number(UInt64(value)) }

  /// Small for small numbers of either sign.
  package mutating func integer(_ value: Int64) {
    number(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  /// Bytes behind their number.
  package mutating func sized(_ more: some Collection<UInt8>) {
    count(more.count)
    bytes.append(contentsOf: more)
  }

  package mutating func text(_ value: String) { sized(value.utf8) }

  package mutating func eight(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func value(_ value: Value) {
    switch value {
    case .null: byte(ValueTag.null.rawValue)
    case .integer(let number):
      byte(ValueTag.integer.rawValue)
      integer(number)
    case .real(let number):
      byte(ValueTag.real.rawValue)
      eight(number.bitPattern)
    case .text(let text):
      byte(ValueTag.text.rawValue)
      self.text(text)
    case .malformedText(let data):
      byte(ValueTag.text.rawValue)
      sized(data)
    case .blob(let data):
      byte(ValueTag.blob.rawValue)
      sized(data)
    }
  }
}

/// The storage class of a value in an entry.
enum ValueTag: UInt8 {
  case null, integer, real, text, blob
}
