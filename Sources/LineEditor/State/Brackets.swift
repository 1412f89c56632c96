/// The bracket at a cursor and the one that belongs to it.
struct BracketPair: Hashable, Sendable {
  let first: Int
  let second: Int

  private static let pairs: [UInt8: UInt8] = [
    UInt8(ascii: "("): UInt8(ascii: ")"), UInt8(ascii: "["): UInt8(ascii: "]"), UInt8(ascii: "{"): UInt8(ascii: "}"),
  ]

  /// For the bracket before the cursor, otherwise the one under it; nil if there is none, or if it has no counterpart.
  /// Brackets within literal spans are text.
  init?(in text: String, cursor: Int, spans: [Span]) {
    let literals = spans.filter(\.isLiteral).map(\.range)
    let bytes = Array(text.utf8)
    for place in [cursor - 1, cursor] where bytes.indices.contains(place) {
      if let other = Self.partner(of: place, in: bytes, literals) {
        first = min(place, other)
        second = max(place, other)
        return
      }
    }
    return nil
  }

  private static func partner(of place: Int, in bytes: [UInt8], _ literals: [Range<Int>]) -> Int? {
    let isOpen = pairs[bytes[place]] != nil
    guard isOpen || pairs.values.contains(bytes[place]) else { return nil }
    var literal = [Bool](repeating: false, count: bytes.count)
    for range in literals { for place in range.clamped(to: bytes.indices) { literal[place] = true } }
    guard !literal[place] else { return nil }
    var closing: [UInt8] = []
    for index in isOpen ? Array(place..<bytes.count) : Array((0...place).reversed()) where !literal[index] {
      let byte = bytes[index]
      // In reverse order, brackets close where they open.
      let opens = isOpen ? pairs[byte] : pairs.first { $0.value == byte }?.key
      if let opens {
        closing.append(opens)
      } else if isOpen ? pairs.values.contains(byte) : pairs[byte] != nil {
        guard closing.popLast() == byte else { return nil }
        if closing.isEmpty { return index }
      }
    }
    return nil
  }
}
