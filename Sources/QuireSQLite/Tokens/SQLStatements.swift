/// The statements of a script, split as `sqlite3_complete` does: at a semicolon, or for a trigger at its `; END ;`.
package struct SQLStatements: Sequence, IteratorProtocol {
  package struct Statement: Hashable {
    /// Byte offsets, from its first word to its semicolon.
    package let range: Range<Int>
    /// The first four words, in upper case; empty for a word that is longer than any keyword.
    package let words: [String]
    /// Whether a semicolon ends it, rather than the end of the text.
    package let isEnded: Bool
  }

  private var tokens: SQLTokens
  package var bytes: [UInt8] { tokens.bytes }

  package init(_ sql: String) { tokens = SQLTokens(sql) }

  /// The progress of a statement, as far as triggers need it.
  private enum State { case start, explain, create, trigger, semicolon, end, other }

  package mutating func next() -> Statement? {
    var start: Int?
    var end = 0
    var words: [String] = []
    var state = State.start
    while let token = tokens.next() {
      if !token.isSignificant { continue }
      let isSemicolon = tokens.isMark(token, ";")
      if start == nil {
        if isSemicolon { continue }
        start = token.range.lowerBound
      }
      end = token.range.upperBound
      let isShort = token.kind == .word && token.range.count <= 16
      let word = isShort ? tokens.text(of: token).uppercased() : ""
      if words.count < 4, token.kind == .word { words.append(word) }
      if isSemicolon {
        guard state == .trigger || state == .semicolon else {
          return start.map { Statement(range: $0..<end, words: words, isEnded: true) }
        }
        state = .semicolon
      } else {
        state = Self.next(state, word)
      }
    }
    return start.map { Statement(range: $0..<end, words: words, isEnded: false) }
  }

  /// - Parameter word: In upper case; empty for anything other than a word.
  private static func next(_ state: State, _ word: String) -> State {
    switch state {
    case .start: word == "CREATE" ? .create : word == "EXPLAIN" ? .explain : .other
    case .explain:
      word == "CREATE"
        ? .create : ["EXPLAIN", "TEMP", "TEMPORARY", "TRIGGER", "END"].contains(word) ? .other : .explain
    case .create: word == "TRIGGER" ? .trigger : word == "TEMP" || word == "TEMPORARY" ? .create : .other
    case .semicolon: word == "END" ? .end : .trigger
    case .trigger, .end: .trigger
    case .other: .other
    }
  }
}
