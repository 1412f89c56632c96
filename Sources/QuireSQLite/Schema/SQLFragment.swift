/// A piece of SQL, compared token by token: white space, comments, the quotes around names and the case of words and
/// names are ignored.
package struct SQLFragment: Hashable, Sendable {
  package let text: String
  /// Words and names in lower case, everything else unchanged.
  private let tokens: [String]

  package init(_ text: String) {
    self.text = text
    tokens = Self.tokens(of: text)
  }

  package static func == (a: SQLFragment, b: SQLFragment) -> Bool {
    // Strings are also equal if they write an accent in two ways, which are two values for SQLite.
    a.tokens.elementsEqual(b.tokens) { $0.utf8.elementsEqual($1.utf8) }
  }
  package func hash(into hasher: inout Hasher) { hasher.combine(tokens) }

  private static func tokens(of text: String) -> [String] {
    let sequence = SQLTokens(text)
    return sequence.compactMap { token in
      switch token.kind {
      case .blank, .lineComment, .blockComment: nil
      case .quotedName: SQLName.folded(sequence.name(of: token))
      case .word, .number, .blob: SQLName.folded(sequence.text(of: token))
      case .string, .parameter, .mark: sequence.text(of: token)
      }
    }
  }

  /// Whether it contains the name, as a word or in quotes.
  package func mentions(_ name: SQLName) -> Bool { tokens.contains(SQLName.folded(name.text)) }
}

extension SQLFragment: ExpressibleByStringLiteral, CustomStringConvertible {
  package init(stringLiteral value: String) { self.init(value) }

  /// On one line, without comments.
  package var description: String {
    let sequence = SQLTokens(text)
    var result = ""
    var needsBlank = false
    for token in sequence {
      if token.isSignificant {
        result += (needsBlank ? " " : "") + sequence.text(of: token)
        needsBlank = false
      } else {
        needsBlank = !result.isEmpty
      }
    }
    return result
  }
}
