/// The parts of a CREATE VIRTUAL TABLE: its module, and the table whose text a full-text index indexes.
package struct VirtualTableText {
  /// `fts5`, in lower case; nil if the text is not such a statement.
  package private(set) var module: String?
  /// The table of `content='book'`; empty if no text is stored, nil if the index stores its own.
  package private(set) var content: String?

  package init(_ sql: String) {
    let source = SQLTokens(sql)
    let tokens = source.filter(\.isSignificant)
    func isWord(_ place: Int, _ word: String) -> Bool {
      tokens.indices.contains(place) && tokens[place].kind == .word
        && SQLName.folded(source.text(of: tokens[place])) == word
    }
    guard let using = tokens.indices.first(where: { isWord($0, "using") }), using + 1 < tokens.count else { return }
    module = SQLName.folded(source.name(of: tokens[using + 1]))
    for place in tokens.indices.dropFirst(using + 2).dropFirst() {
      guard source.isMark(tokens[place - 1], "(") || source.isMark(tokens[place - 1], ","), isWord(place, "content"),
        place + 2 < tokens.count, source.isMark(tokens[place + 1], "=")
      else { continue }
      let value = tokens[place + 2]
      content = value.kind == .mark ? "" : source.name(of: value)
      return
    }
  }

  /// Whether it is a full-text index over another table's text, from which it can be rebuilt.
  package var isIndex: Bool { (module == "fts4" || module == "fts5") && content?.isEmpty == false }
}
