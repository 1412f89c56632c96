/// The tokens of SQL text, as SQLite's own tokenizer splits it, with white space and comments.
///
/// Total: every byte of any text belongs to exactly one token, and an unclosed literal or comment ends with the text.
/// Knows no grammar.
package struct SQLTokens: Sequence, IteratorProtocol {
  package struct Token: Hashable, Sendable {
    package let kind: Kind
    /// Byte offsets in the text.
    package let range: Range<Int>
    /// Whether it is a quote or block comment that is not closed.
    package let isOpen: Bool

    /// Whether it is neither white space nor a comment.
    package var isSignificant: Bool {
      switch kind {
      case .blank, .lineComment, .blockComment: false
      default: true
      }
    }
  }

  package enum Kind: Hashable, Sendable {
    /// White space, and a byte order mark.
    case blank
    case lineComment
    case blockComment
    /// `'…'`
    case string
    /// `x'…'`
    case blob
    /// `"…"`, `` `…` `` or `[…]`
    case quotedName
    /// A keyword or a name.
    case word
    /// Includes text that SQLite refuses, such as `12x`.
    case number
    /// `?`, `?1`, `:name`, `@name`, `$name` or `#1`.
    case parameter
    /// An operator such as `||`, or one byte of anything else.
    case mark
  }

  package let bytes: [UInt8]
  private var position: Int
  private let end: Int

  package init(_ text: String) { self.init(bytes: Array(text.utf8)) }

  /// - Parameter range: The part of the text to read. Token offsets refer to the whole text.
  package init(bytes: [UInt8], in range: Range<Int>? = nil) {
    self.bytes = bytes
    let range = (range ?? 0..<bytes.count).clamped(to: 0..<bytes.count)
    (position, end) = (range.lowerBound, range.upperBound)
  }

  package mutating func next() -> Token? {
    guard position < end else { return nil }
    let start = position
    let (kind, isOpen) = scan(bytes[start])
    return Token(kind: kind, range: start..<position, isOpen: isOpen)
  }

  private mutating func scan(_ first: UInt8) -> (Kind, isOpen: Bool) {
    position += 1
    switch first {
    case 9, 10, 12, 13, 32:
      skip(while: Self.isBlank)
      return (.blank, false)
    case 0xEF where peek() == 0xBB && peek(1) == 0xBF:
      position += 2
      return (.blank, false)
    case UInt8(ascii: "-") where peek() == first:
      skip { $0 != 10 }
      return (.lineComment, false)
    case UInt8(ascii: "/") where peek() == UInt8(ascii: "*"): return (.blockComment, skipComment())
    case UInt8(ascii: "'"): return (.string, skipQuote(first, doubled: true))
    case UInt8(ascii: "\""), UInt8(ascii: "`"): return (.quotedName, skipQuote(first, doubled: true))
    case UInt8(ascii: "["): return (.quotedName, skipQuote(UInt8(ascii: "]"), doubled: false))
    case UInt8(ascii: "x") where peek() == UInt8(ascii: "'"), UInt8(ascii: "X") where peek() == UInt8(ascii: "'"):
      position += 1
      return (.blob, skipQuote(UInt8(ascii: "'"), doubled: false))
    case 65...90, 97...122, UInt8(ascii: "_"), 128...255:
      skip(while: Self.isWord)
      return (.word, false)
    case 48...57:
      skipNumber(first)
      return (.number, false)
    case UInt8(ascii: ".") where peek().map(Self.isDigit) == true:
      skipFraction()
      return (.number, false)
    case UInt8(ascii: "?"):
      skip(while: Self.isDigit)
      return (.parameter, false)
    case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
      return (skipParameter() ? .parameter : .mark, false)
    default:
      skipOperator(first)
      return (.mark, false)
    }
  }

  private func peek(_ ahead: Int = 0) -> UInt8? { position + ahead < end ? bytes[position + ahead] : nil }

  private mutating func skip(while accepts: (UInt8) -> Bool) {
    while let byte = peek(), accepts(byte) { position += 1 }
  }

  /// Bytes that continue white space; a vertical tab does not begin it.
  private static func isBlank(_ byte: UInt8) -> Bool { (9...13).contains(byte) || byte == 32 }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

  /// Letters, digits, `_`, `$`, and every byte of a non-ASCII character: what SQLite accepts in a name.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "$"), 128...255: true
    default: false
    }
  }

  // MARK: Each kind, from behind its first byte

  /// Returns whether the comment is unclosed.
  private mutating func skipComment() -> Bool {
    position += 1
    while let byte = peek() {
      position += 1
      if byte == UInt8(ascii: "*"), peek() == UInt8(ascii: "/") {
        position += 1
        return false
      }
    }
    return true
  }

  /// Returns whether the quote is unclosed.
  ///
  /// - Parameter doubled: Whether two closing quotes inside stand for one.
  private mutating func skipQuote(_ closing: UInt8, doubled: Bool) -> Bool {
    while let byte = peek() {
      position += 1
      guard byte == closing else { continue }
      guard doubled, peek() == closing else { return false }
      position += 1
    }
    return true
  }

  private mutating func skipNumber(_ first: UInt8) {
    if first == 48, let x = peek(), x | 32 == UInt8(ascii: "x") { return skip(while: Self.isWord) }
    skipDigits()
    skipFraction()
  }

  private mutating func skipDigits() { skip { Self.isDigit($0) || $0 == UInt8(ascii: "_") } }

  /// The point with its digits, the exponent, and a name that follows without a space, which makes the token invalid.
  private mutating func skipFraction() {
    if bytes[position - 1] == UInt8(ascii: ".") {
      skipDigits()
    } else if peek() == UInt8(ascii: ".") {
      position += 1
      skipDigits()
    }
    if let e = peek(), e | 32 == UInt8(ascii: "e"), let next = peek(1) {
      let hasSign = next == UInt8(ascii: "+") || next == UInt8(ascii: "-")
      if (hasSign ? peek(2) : next).map(Self.isDigit) == true {
        position += hasSign ? 2 : 1
        skipDigits()
      }
    }
    skip(while: Self.isWord)
  }

  /// `name`, `name::of(something)`: whether there is a name.
  private mutating func skipParameter() -> Bool {
    let start = position
    var hasName = false
    while let byte = peek() {
      if Self.isWord(byte) {
        hasName = true
        position += 1
      } else if byte == UInt8(ascii: ":"), peek(1) == byte {
        position += 2
      } else {
        if byte == UInt8(ascii: "("), hasName {
          skip { $0 != UInt8(ascii: ")") && !Self.isBlank($0) }
          if peek() == UInt8(ascii: ")") { position += 1 }
        }
        break
      }
    }
    if !hasName { position = start }
    return hasName
  }

  private mutating func skipOperator(_ first: UInt8) {
    guard let second = peek() else { return }
    switch (first, second) {
    case (UInt8(ascii: "-"), UInt8(ascii: ">")): position += peek(1) == UInt8(ascii: ">") ? 2 : 1
    case (UInt8(ascii: "="), UInt8(ascii: "=")), (UInt8(ascii: "!"), UInt8(ascii: "=")),
      (UInt8(ascii: "|"), UInt8(ascii: "|")), (UInt8(ascii: "<"), 60...62), (UInt8(ascii: ">"), 61...62):
      position += 1
    default: break
    }
  }
}

// MARK: Token content

extension SQLTokens {
  package func text(of token: Token) -> String { String(decoding: bytes[token.range], as: UTF8.self) }

  /// The content of a word or literal: without its quotes, with doubled quotes halved.
  package func name(of token: Token) -> String { String(decoding: content(of: token), as: UTF8.self) }

  /// The content of text that is one token: `a b` for `"a b"`.
  package static func name(_ text: String) -> String {
    var tokens = SQLTokens(text)
    return tokens.next().map(tokens.name(of:)) ?? text
  }

  func content(of token: Token) -> [UInt8] {
    let text = bytes[token.range]
    guard token.kind == .quotedName || token.kind == .string, let quote = text.first else { return Array(text) }
    let inside = text.dropFirst().dropLast(token.isOpen ? 0 : 1)
    if quote == UInt8(ascii: "[") || !inside.contains(quote) { return Array(inside) }
    var result: [UInt8] = []
    var isSecond = false
    for byte in inside {
      isSecond = byte == quote && !isSecond
      if !isSecond { result.append(byte) }
    }
    return result
  }

  /// Whether it is this one byte: `;`, `(`, `.` …
  package func isMark(_ token: Token, _ mark: Unicode.Scalar) -> Bool {
    token.kind == .mark && token.range.count == 1 && UInt32(bytes[token.range.lowerBound]) == mark.value
  }
}

// MARK: Whole texts

extension SQLTokens {
  /// Whether two texts are the same SQL: token by token, ignoring comments, white space and line endings.
  package static func equal(_ a: String, _ b: String) -> Bool {
    a.utf8.elementsEqual(b.utf8) || significant(a).elementsEqual(significant(b))
  }

  /// Whether there is nothing to run: only white space, comments and semicolons.
  package static func isEmpty(_ text: String) -> Bool { SQLTokens(text).isEmpty }

  package var isEmpty: Bool { !contains { $0.isSignificant && !isMark($0, ";") } }

  /// A statement with the semicolon that ends it: behind a comment at its end, which would take it in, on the next line.
  package static func ended(_ statement: String) -> String {
    var last: Token?
    if mayHaveComments(statement) { for token in SQLTokens(statement) { last = token } }
    return switch last?.kind {
    case .lineComment: statement + "\n;"
    case .blockComment: statement + (last?.isOpen == true ? "*/;" : ";")
    default: statement + ";"
    }
  }

  /// An expression without what is behind it: a comment there would take in what follows the expression elsewhere.
  package static func withoutEnd(_ expression: String) -> String {
    guard mayHaveComments(expression) else { return expression }
    var end = 0
    let tokens = SQLTokens(expression)
    for token in tokens where token.isSignificant { end = token.range.upperBound }
    return String(decoding: tokens.bytes[..<end], as: UTF8.self)
  }

  private static func mayHaveComments(_ text: String) -> Bool { text.contains("--") || text.contains("/*") }

  /// The number of non-empty parts between semicolons; more than there are statements if there is a trigger.
  package static func countStatements(in text: String) -> Int {
    significant(text).split { $0.elementsEqual([59]) }.count
  }

  private static func significant(_ text: String) -> [ArraySlice<UInt8>] {
    let tokens = SQLTokens(text)
    return tokens.compactMap { $0.isSignificant ? tokens.bytes[$0.range] : nil }
  }
}
