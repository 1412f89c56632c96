/// A set of the keys of rows that count: 64 keys to a word, so that a million adjacent keys take half a megabyte. Keys
/// that are far apart take as much as in a `Set`.
struct KeySet {
  private var words: [Int64: UInt64] = [:]

  func contains(_ key: Int64) -> Bool { (words[key >> 6] ?? 0) & Self.bit(key) != 0 }

  mutating func insert(_ key: Int64) { words[key >> 6, default: 0] |= Self.bit(key) }

  mutating func remove(_ key: Int64) {
    guard let word = words[key >> 6] else { return }
    let rest = word & ~Self.bit(key)
    words[key >> 6] = rest == 0 ? nil : rest
  }

  private static func bit(_ key: Int64) -> UInt64 { 1 << UInt64(key & 63) }
}
