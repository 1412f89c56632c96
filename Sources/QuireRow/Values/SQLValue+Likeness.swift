extension SQLValue {
  /// A common key for all values that SQLite may consider equal to this one, whatever the affinity of the compared
  /// columns: equality look-ups use it.
  ///
  /// `1`, `1.0` and `'1'` have the same key, because a numeric column compares with text as a number, and a text column
  /// compares with a number as text. So different values may share a key, but values with different keys are never
  /// equal. NULL shares its key with NULL only, for `IS`; `=` never matches NULL. (There is one exception: a real
  /// beyond 10¹⁵ in a text column, of which SQLite writes only fifteen digits.)
  package var equalityKey: SQLValue {
    switch self {
    case .null, .integer, .blob, .malformedText: self
    case .real(let number): SQLValue.equalityKey(of: number)
    case .text(let text): SQLValue.number(in: text) ?? self
    }
  }

  /// Numbers that are not integers share one key: as text SQLite rounds them, and they are rarely used for look-ups.
  private static func equalityKey(of number: Double) -> SQLValue {
    Int64(exactly: number).map(SQLValue.integer) ?? .real(0.5)
  }

  /// Text that a numeric column would store as a number: digits with optional surrounding characters.
  private static func number(in text: String) -> SQLValue? {
    func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
    guard let first = text.utf8.first, isSpace(first) || (43...57).contains(first) else { return nil }
    var part = text.utf8[...]
    while let byte = part.first, isSpace(byte) { part.removeFirst() }
    while let byte = part.last, isSpace(byte) { part.removeLast() }
    let isNumber = part.allSatisfy { (48...57).contains($0) || [43, 45, 46, 69, 101].contains($0) }  // + - . E e
    guard isNumber, let digits = String(part) else { return nil }
    return Int64(digits).map(SQLValue.integer) ?? Double(digits).map(equalityKey)
  }
}
