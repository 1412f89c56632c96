import QuireSQLite

/// A word, value or sign of the model language, with its position.
struct Token: Hashable, Sendable {
  let kind: Kind
  /// Byte offsets in the text.
  let range: Range<Int>

  enum Kind: Hashable, Sendable {
    /// A keyword or a name as it is written.
    case word(String)
    /// `` `odd name` `` or `[odd name]`: never a keyword.
    case quotedName(String)
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
    /// With its sigil: `:y`.
    case parameter(String)
    /// `=`, `<=`, `(` …
    case sign(String)
    /// A quote that is not closed, or a character that means nothing here.
    case wrong(String)
    case end
  }

  /// Whether it is this keyword, in either case.
  func isWord(_ word: String) -> Bool {
    if case .word(let own) = kind { own.lowercased() == word } else { false }
  }

  func isSign(_ sign: String) -> Bool { kind == .sign(sign) }

  /// Whether it can be a key after a model's name.
  var isKey: Bool {
    switch kind {
    case .integer, .real, .text, .blob, .parameter: true
    default: false
    }
  }
}

/// The tokens of the model language: those of SQL with their values, except that double quotes enclose text, and that
/// the period of `12.books` is not part of the number. Nothing is refused here: unreadable text becomes
/// ``Token/Kind/wrong(_:)``.
struct Tokenizer {
  private let source: SQLTokens
  private var result: [Token] = []

  static func tokens(of text: String) -> [Token] {
    var tokenizer = Tokenizer(source: SQLTokens(text))
    for token in tokenizer.source { tokenizer.add(token) }
    let end = tokenizer.source.bytes.count
    return tokenizer.result + [Token(kind: .end, range: end..<end)]
  }

  private init(source: SQLTokens) { self.source = source }

  private mutating func add(_ kind: Token.Kind, _ range: Range<Int>) { result.append(Token(kind: kind, range: range)) }

  private mutating func add(_ token: SQLTokens.Token) {
    let first = source.bytes[token.range.lowerBound]
    switch token.kind {
    case .blank, .lineComment: break
    case .blockComment: if token.isOpen { add(.wrong("a comment that is not closed"), token.range) }
    case .word: add(.word(source.text(of: token)), token.range)
    case .string, .quotedName, .blob: add(quoted(token, first), token.range)
    case .number: addNumber(token)
    case .parameter where first != UInt8(ascii: "?") && first != UInt8(ascii: "#"):
      add(.parameter(source.text(of: token)), token.range)
    case .parameter, .mark:
      let text = source.text(of: token)
      if ["==", "!=", "<>", "<=", ">=", "||", "->", "->>", ":", "$", "@"].contains(text) {
        return add(.sign(text), token.range)
      }
      for place in token.range {
        let one = String(UnicodeScalar(source.bytes[place]))
        let isSign = Self.signs.contains(source.bytes[place])
        add(isSign ? .sign(one) : .wrong("‘\(one)’ means nothing here"), place..<place + 1)
      }
    }
  }

  private static let signs = Set("=<>()+-*/%,.{};:".utf8)

  private func quoted(_ token: SQLTokens.Token, _ first: UInt8) -> Token.Kind {
    if token.isOpen {
      return .wrong(first == UInt8(ascii: "[") ? "a bracket that is not closed" : "a quote that is not closed")
    }
    switch first {
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return .text(source.name(of: token))
    case UInt8(ascii: "x"), UInt8(ascii: "X"):
      let digits = source.text(of: token).dropFirst(2).dropLast()
      let values = digits.compactMap(\.hexDigitValue)
      guard values.count == digits.count, values.count % 2 == 0 else { return .wrong("bytes that are none: x'00ff'") }
      let starts = stride(from: 0, to: values.count, by: 2)
      return .blob(starts.map { (at: Int) in UInt8(values[at] << 4 | values[at + 1]) })
    default: return .quotedName(source.name(of: token))
    }
  }

  /// `12`, `1.5e3`, `.5`, `0x1F`, and the three tokens of `12.books`.
  private mutating func addNumber(_ token: SQLTokens.Token) {
    let range = token.range
    let point = range.first { source.bytes[$0] == UInt8(ascii: ".") }
    if let point, point + 1 < range.upperBound, source.bytes[point + 1] >= 65, point > range.lowerBound {
      add(Self.number(source.bytes[range.lowerBound..<point]), range.lowerBound..<point)
      add(.sign("."), point..<point + 1)
      let name = point + 1..<range.upperBound
      add(.word(String(decoding: source.bytes[name], as: UTF8.self)), name)
    } else {
      add(Self.number(source.bytes[range]), range)
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Token.Kind {
    let wrong = Token.Kind.wrong("an invalid number")
    let written = String(decoding: bytes, as: UTF8.self)
    if written.hasPrefix("0x") || written.hasPrefix("0X") {
      return UInt64(written.dropFirst(2), radix: 16).map { .integer(Int64(bitPattern: $0)) } ?? wrong
    }
    let text = written.filter { $0 != "_" }
    // Not for `inf`, which Double takes.
    let isNumber = text.utf8.allSatisfy { (48...57).contains($0) || ".eE+-".utf8.contains($0) }
    return Int64(text).map { .integer($0) } ?? (isNumber ? Double(text).map { .real($0) } : nil) ?? wrong
  }
}
