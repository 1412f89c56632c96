extension MigrationVersion {
  /// A version such as `3`, `1.2` or `1_2_1`: up to four parts, the first below a million, the others below ten
  /// thousand; a single larger number stands for itself.
  ///
  /// They are stored as negative numbers, in their order and before every other: 1.2 comes between 1 and 2, whichever
  /// is written first.
  init?(dotted text: some StringProtocol) {
    let texts = text.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "_" }
    var parts: [Int64] = []
    for text in texts {
      guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let part = Int64(text) else { return nil }
      parts.append(part)
    }
    guard parts.count <= 4, let first = parts.first, parts.dropFirst().allSatisfy({ $0 < Self.base }) else {
      return nil
    }
    if first >= 1_000_000 {
      guard parts.count == 1 else { return nil }
      self.init(number: first)
      return
    }
    parts += Array(repeating: 0, count: 4 - parts.count)
    self.init(number: Self.origin + parts.reduce(0) { $0 * Self.base + $1 })
  }

  private static let base: Int64 = 10_000
  /// The position of 0: everything that four parts can express lies between it and 0.
  private static let origin: Int64 = -(1 << 62)

  /// `1.2` for such a number; nil for any other.
  var dotted: String? {
    guard number < 0, number >= Self.origin else { return nil }
    var rest = number - Self.origin
    var parts: [Int64] = []
    for _ in 0..<3 {
      parts.insert(rest % Self.base, at: 0)
      rest /= Self.base
    }
    parts.insert(rest, at: 0)
    while parts.count > 1, parts.last == 0 { parts.removeLast() }
    return parts.map(String.init).joined(separator: ".")
  }
}
