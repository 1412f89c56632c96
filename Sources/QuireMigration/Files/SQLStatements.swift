@_exported public import struct QuireSQLite.SQLTokens

/// The statements of a script, told apart as SQLite's shell does: at a semicolon, but of a trigger at its `; END ;`.
struct SQLStatements: Sequence, IteratorProtocol {
  struct Statement: Hashable {
    /// Byte offsets, from its first word to its semicolon.
    let range: Range<Int>
    /// The first four words, in capitals.
    let words: [String]

    /// BEGIN, COMMIT and END, and the pragma that goes with them.
    var isTransaction: Bool {
      ["BEGIN", "COMMIT", "END"].contains(words.first) || words.prefix(2) == ["PRAGMA", "FOREIGN_KEYS"]
    }

    /// What SQLite refuses, or ignores, inside a transaction.
    var needsNoTransaction: Bool {
      words.first == "VACUUM" || words.prefix(2) == ["PRAGMA", "JOURNAL_MODE"]
        || words.prefix(2) == ["PRAGMA", "AUTO_VACUUM"] || words.prefix(2) == ["PRAGMA", "PAGE_SIZE"]
    }
  }

  private var tokens: SQLTokens
  private let bytes: [UInt8]

  init(_ sql: String) {
    tokens = SQLTokens(sql)
    bytes = tokens.bytes
  }

  mutating func next() -> Statement? {
    var start: Int?
    var end = 0
    var words: [String] = []
    // The last two tokens that say something.
    var (before, last) = ("", "")
    while let token = tokens.next() {
      if token.kind == .blank || token.kind == .lineComment || token.kind == .blockComment { continue }
      let isSemicolon = token.kind == .mark && bytes[token.range.lowerBound] == UInt8(ascii: ";")
      if start == nil {
        if isSemicolon { continue }
        start = token.range.lowerBound
      }
      end = token.range.upperBound
      // A word that is longer than any keyword is none.
      let isShort = token.kind == .word && token.range.count <= 16
      let word = isShort ? tokens.text(of: token).uppercased() : isSemicolon ? ";" : ""
      if words.count < 4, token.kind == .word { words.append(word) }
      if isSemicolon, !Self.isTrigger(words) || (before == ";" && last == "END") { break }
      (before, last) = (last, word)
    }
    return start.map { Statement(range: $0..<end, words: words) }
  }

  private static func isTrigger(_ words: [String]) -> Bool {
    words.first == "CREATE" && (words.dropFirst().first == "TRIGGER" || words.dropFirst(2).first == "TRIGGER")
  }

  /// The script with blanks where a transaction is begun or ended; line ends stay.
  func withoutTransactions() -> String {
    var result = bytes
    for statement in self where statement.isTransaction {
      for place in statement.range where result[place] != 10 { result[place] = 32 }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
