/// Splits SQL into the tokens SQLite would see, comments and blanks included.
///
/// Total: every byte belongs to exactly one token, and text that ends inside a literal or a comment ends that token.
/// Knows no grammar; it is there to tell comments from text that only looks like one.
package struct SQLTokens: Sequence, IteratorProtocol {
  package struct Token: Hashable, Sendable {
    package let kind: Kind
    /// Byte offsets in the text.
    package let range: Range<Int>
  }

  package enum Kind: Hashable, Sendable {
    case blank
    case lineComment
    case blockComment
    /// `'…'`
    case string
    /// `"…"`, `` `…` `` or `[…]`
    case quotedName
    /// A keyword or a name.
    case word
    case number
    /// One byte of anything else.
    case mark
  }

  package let bytes: [UInt8]
  private var position = 0

  package init(_ text: String) { bytes = Array(text.utf8) }

  init(bytes: [UInt8]) { self.bytes = bytes }

  package mutating func next() -> Token? {
    guard position < bytes.count else { return nil }
    let start = position
    let kind = scan(bytes[start])
    return Token(kind: kind, range: start..<position)
  }

  /// The text of a token of this sequence.
  package func text(of token: Token) -> String { String(decoding: bytes[token.range], as: UTF8.self) }

  private mutating func scan(_ first: UInt8) -> Kind {
    position += 1
    switch first {
    case 9, 10, 11, 12, 13, 32:
      skip { [9, 10, 11, 12, 13, 32].contains($0) }
      return .blank
    case UInt8(ascii: "-") where peek == UInt8(ascii: "-"):
      skip { $0 != 10 }
      return .lineComment
    case UInt8(ascii: "/") where peek == UInt8(ascii: "*"):
      position += 1
      while position < bytes.count {
        position += 1
        if bytes[position - 1] == UInt8(ascii: "*"), peek == UInt8(ascii: "/") {
          position += 1
          break
        }
      }
      return .blockComment
    case UInt8(ascii: "'"):
      closing(first, doubled: true)
      return .string
    case UInt8(ascii: "\""), UInt8(ascii: "`"):
      closing(first, doubled: true)
      return .quotedName
    case UInt8(ascii: "["):
      closing(UInt8(ascii: "]"), doubled: false)
      return .quotedName
    case 48...57:
      skip { Self.isWord($0) || $0 == UInt8(ascii: ".") }
      return .number
    case let byte where Self.isWord(byte):
      skip(while: Self.isWord)
      return .word
    default:
      return .mark
    }
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skip(while accepts: (UInt8) -> Bool) {
    while let byte = peek, accepts(byte) { position += 1 }
  }

  /// Moves behind the closing `quote`; where `doubled`, two of them stand for one inside.
  private mutating func closing(_ quote: UInt8, doubled: Bool) {
    while let byte = peek {
      position += 1
      guard byte == quote else { continue }
      if doubled, peek == quote { position += 1 } else { return }
    }
  }

  /// Letters, digits, `_`, `$`, and every byte of a non-ASCII character: what SQLite takes in a name.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "$"), 128...255: true
    default: false
    }
  }
}

extension SQLTokens {
  /// Whether two texts are the same SQL: token by token, whatever their comments, blanks and line endings.
  package static func equal(_ a: String, _ b: String) -> Bool {
    a == b || significant(a).elementsEqual(significant(b))
  }

  /// Whether there is nothing to run: only blanks, comments and semicolons.
  package static func isEmpty(_ text: String) -> Bool { significant(text).allSatisfy { $0.elementsEqual([59]) } }

  /// How many stretches between semicolons have something in them; more than there are statements where a trigger is.
  package static func countStatements(in text: String) -> Int {
    significant(text).split { $0.elementsEqual([59]) }.count
  }

  private static func significant(_ text: String) -> [ArraySlice<UInt8>] {
    let tokens = SQLTokens(text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text)
    return tokens.compactMap { token in
      switch token.kind {
      case .blank, .lineComment, .blockComment: nil
      default: tokens.bytes[token.range]
      }
    }
  }
}
