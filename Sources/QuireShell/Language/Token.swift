/// A word, value or sign of the model language, with where it stands.
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

  /// Whether it can be a key behind a model's name.
  var isKey: Bool {
    switch kind {
    case .integer, .real, .text, .blob, .parameter: true
    default: false
    }
  }
}

/// Cuts a text into tokens; nothing is refused here, what cannot be read comes as ``Token/Kind/wrong(_:)``.
struct Tokenizer {
  private let bytes: [UInt8]
  private var position = 0

  static func tokens(of text: String) -> [Token] {
    var tokenizer = Tokenizer(text)
    var result: [Token] = []
    while true {
      let token = tokenizer.next()
      result.append(token)
      if token.kind == .end { return result }
    }
  }

  private init(_ text: String) { bytes = Array(text.utf8) }

  private func peek(_ ahead: Int = 0) -> UInt8? {
    position + ahead < bytes.count ? bytes[position + ahead] : nil
  }

  private mutating func next() -> Token {
    skipBlanks()
    let start = position
    guard let first = peek() else { return Token(kind: .end, range: start..<start) }
    let kind = scan(first)
    return Token(kind: kind, range: start..<position)
  }

  private mutating func skipBlanks() {
    while let byte = peek() {
      if [9, 10, 11, 12, 13, 32].contains(byte) {
        position += 1
      } else if byte == UInt8(ascii: "-"), peek(1) == byte {
        while peek() ?? 10 != 10 { position += 1 }
      } else {
        return
      }
    }
  }

  private mutating func scan(_ first: UInt8) -> Token.Kind {
    switch first {
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      return quoted(first, first).map { .text($0) } ?? .wrong("a quote that is not closed")
    case UInt8(ascii: "`"): return quoted(first, first).map { .quotedName($0) } ?? .wrong("a quote that is not closed")
    case UInt8(ascii: "["):
      return quoted(first, UInt8(ascii: "]")).map { .quotedName($0) } ?? .wrong("a bracket that is not closed")
    case _ where Self.isDigit(first): return number()
    case UInt8(ascii: ".") where peek(1).map(Self.isDigit) == true: return number()
    case UInt8(ascii: "x"), UInt8(ascii: "X"):
      return peek(1) == UInt8(ascii: "'") ? blob() : .word(word())
    case UInt8(ascii: ":"), UInt8(ascii: "$"), UInt8(ascii: "@"):
      position += 1
      let name = word()
      return name.isEmpty ? .sign(Self.text(first)) : .parameter(Self.text(first) + name)
    case _ where Self.isWord(first): return .word(word())
    default: return sign(first)
    }
  }

  private static func text(_ byte: UInt8) -> String { String(UnicodeScalar(byte)) }
  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
  private static func isWord(_ byte: UInt8) -> Bool {
    byte == 95 || (65...90).contains(byte) || (97...122).contains(byte) || byte >= 128
  }

  private mutating func word() -> String {
    let start = position
    while let byte = peek(), Self.isWord(byte) || Self.isDigit(byte) || byte == UInt8(ascii: "$") { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// What is between the quotes, a doubled closing one standing for itself; nil where it is not closed.
  private mutating func quoted(_ opening: UInt8, _ closing: UInt8) -> String? {
    position += 1
    var content: [UInt8] = []
    while let byte = peek() {
      position += 1
      if byte == closing {
        guard peek() == closing, opening == closing else { return String(decoding: content, as: UTF8.self) }
        position += 1
      }
      content.append(byte)
    }
    return nil
  }

  /// `12`, `1.5e3`, `.5`, `0x1F`; the point of `12.books` is not of the number.
  private mutating func number() -> Token.Kind {
    let start = position
    func digits(_ from: Int) -> Int {
      var end = from
      while end < bytes.count, Self.isDigit(bytes[end]) || bytes[end] == 95 { end += 1 }
      return end
    }
    if peek() == 48, peek(1) == UInt8(ascii: "x") || peek(1) == UInt8(ascii: "X") {
      position += 2
      let digits = word()
      guard let value = UInt64(digits, radix: 16) else { return .wrong("a number that is none") }
      return .integer(Int64(bitPattern: value))
    }
    position = digits(position)
    var isReal = false
    if peek() == UInt8(ascii: "."), peek(1).map(Self.isDigit) == true || !(peek(1).map(Self.isWord) ?? false) {
      isReal = true
      position = digits(position + 1)
    }
    if let e = peek(), e | 32 == UInt8(ascii: "e") {
      let sign = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-") ? 1 : 0
      if peek(1 + sign).map(Self.isDigit) == true {
        isReal = true
        position = digits(position + 1 + sign)
      }
    }
    if let byte = peek(), Self.isWord(byte) {
      _ = word()
      return .wrong("a number that is none")
    }
    let text = String(decoding: bytes[start..<position].filter { $0 != 95 }, as: UTF8.self)
    if !isReal, let value = Int64(text) { return .integer(value) }
    return Double(text).map { .real($0) } ?? .wrong("a number that is none")
  }

  private mutating func blob() -> Token.Kind {
    position += 1
    guard let digits = quoted(UInt8(ascii: "'"), UInt8(ascii: "'")) else { return .wrong("a quote that is not closed") }
    let values = digits.compactMap(\.hexDigitValue)
    guard values.count == digits.count, values.count % 2 == 0 else { return .wrong("bytes that are none: x'00ff'") }
    return .blob(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] * 16 + values[$0 + 1]) })
  }

  private mutating func sign(_ first: UInt8) -> Token.Kind {
    position += 1
    let two = [first, peek() ?? 0]
    for known in ["==", "!=", "<>", "<=", ">=", "||"] where Array(known.utf8) == two {
      position += 1
      return .sign(known)
    }
    let one = Self.text(first)
    return "=<>()+-*/%,.{};:".contains(one) ? .sign(one) : .wrong("‘\(one)’ means nothing here")
  }
}
