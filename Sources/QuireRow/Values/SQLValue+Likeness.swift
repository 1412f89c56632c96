extension SQLValue {
  /// One value for all that SQLite may find equal to this one, whatever the affinity of the columns compared: what
  /// equality is looked up by.
  ///
  /// `1`, `1.0` and `'1'` are alike, because a column of numbers compares with text as a number, and one of text with a
  /// number as text. So values that are alike may differ; values that are not alike are never equal. NULL is alike NULL
  /// alone, for `IS`: `=` asks for no value that is NULL. (Not so for a real beyond 10¹⁵ that a column of text keeps:
  /// SQLite writes fifteen of its digits.)
  package var equalityKey: SQLValue {
    switch self {
    case .null, .integer, .blob, .malformedText: self
    case .real(let number): SQLValue.equalityKey(of: number)
    case .text(let text): SQLValue.number(in: text) ?? self
    }
  }

  /// Numbers that are no integers are all alike: as text SQLite rounds them, and nobody looks rows up by one.
  private static func equalityKey(of number: Double) -> SQLValue {
    Int64(exactly: number).map(SQLValue.integer) ?? .real(0.5)
  }

  /// Text that a column of numbers would keep as a number: digits with what may stand around them.
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
