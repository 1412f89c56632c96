import QuireSQLite

/// The tables of the SQL statement around a position, and the one whose columns are asked for there.
///
/// Knows no grammar: a table is used where its name follows `from`, `join`, `into`, `update`, `table` or a comma, or, if
/// there is no such place, wherever its name stands.
struct SQLScope {
  /// In the order of the statement.
  let tables: [FileModel]
  /// The table before the period that stands before the position, by its own name or by the one that the statement gives it.
  let qualified: FileModel?
  /// The tables before the position whose columns can be used there, in the order of the statement, each by the name it has
  /// there, as it is typed.
  let before: [(name: String, model: FileModel)]

  init(_ text: String, at place: Int, _ models: FileModels) {
    let source = SQLTokens(text)
    let all = source.filter(\.isSignificant)
    func isEnd(_ token: SQLTokens.Token) -> Bool { source.isMark(token, ";") }
    let start = all.lastIndex { isEnd($0) && $0.range.upperBound <= place }.map { $0 + 1 } ?? 0
    let end = all.firstIndex { isEnd($0) && $0.range.lowerBound >= place } ?? all.count
    let tokens = all[start..<max(start, end)]
    /// A name in lower case; nil of other tokens.
    func name(_ index: Int) -> String? {
      guard tokens.indices.contains(index), [.word, .quotedName].contains(tokens[index].kind) else { return nil }
      return source.name(of: tokens[index]).lowercased()
    }
    func isKeyword(_ index: Int, _ words: Set<String>) -> Bool {
      tokens.indices.contains(index) && tokens[index].kind == .word && words.contains(name(index) ?? "")
    }

    let byName = Dictionary(models.all.map { ($0.table.lowercased(), $0) }) { first, _ in first }
    var used: [(name: String, model: FileModel)] = []
    var named: [(name: String, model: FileModel)] = []
    var before: [(name: String, model: FileModel)] = []
    // Where the queries begin whose parentheses are open: the number of tables before them; nil for other parentheses.
    var outer: [Int?] = []
    for index in tokens.indices {
      if tokens[index].range.upperBound <= place {
        if source.isMark(tokens[index], "(") {
          outer.append(isKeyword(index + 1, Self.beforeQueries) ? before.count : nil)
        } else if source.isMark(tokens[index], ")") {
          if let count = outer.popLast() ?? nil { before.removeLast(before.count - count) }
        } else if isKeyword(index, ["select"]) {
          // What is before it is of a query that ends here, or the table that the rows go into.
          before.removeLast(before.count - (outer.compactMap { $0 }.last ?? 0))
        }
      }
      guard let own = name(index), let model = byName[own] else { continue }
      func isMark(_ place: Int, _ mark: Unicode.Scalar) -> Bool {
        tokens.indices.contains(place) && source.isMark(tokens[place], mark)
      }
      // A schema's name, or the name before that of a column.
      if isMark(index + 1, ".") { continue }
      named.append((own, model))
      let first = isMark(index - 1, ".") && name(index - 2) == "main" ? index - 2 : index
      let isAfterComma = isMark(first - 1, ",")
      guard
        isKeyword(first - 1, Self.beforeTables) || isAfterComma && Self.isTableList(before: first, isKeyword, tokens)
      else { continue }
      used.append((own, model))
      var last = index
      let alias = isKeyword(index + 1, ["as"]) ? index + 2 : index + 1
      if let other = name(alias), tokens[alias].kind == .quotedName || !sqlKeywords.contains(other.uppercased()) {
        used.append((other, model))
        last = alias
      }
      if tokens[last].range.upperBound < place { before.append((source.text(of: tokens[last]), model)) }
    }
    self.before = before
    var known: Set<String> = []
    tables = (used.isEmpty ? named : used).map(\.model).filter { known.insert($0.table).inserted }

    let dot = tokens.lastIndex { $0.range.upperBound <= place }.flatMap { last -> Int? in
      if source.isMark(tokens[last], ".") { return last }
      let isTyped = tokens[last].range.upperBound == place || tokens[last].isOpen
      return isTyped && last > tokens.startIndex && source.isMark(tokens[last - 1], ".") ? last - 1 : nil
    }
    qualified = dot.flatMap { name($0 - 1) }.flatMap { word in
      used.first { $0.name == word }?.model ?? byName[word]
    }
  }

  private static let beforeQueries: Set<String> = ["select", "with", "values"]

  private static let beforeTables: Set<String> = ["from", "join", "into", "update", "table"]

  /// Whether a name behind a comma is one more table: the last keyword of a clause before it is `from`.
  private static func isTableList(
    before index: Int, _ isKeyword: (Int, Set<String>) -> Bool, _ tokens: ArraySlice<SQLTokens.Token>
  ) -> Bool {
    let clauses: Set<String> = [
      "from", "select", "where", "on", "using", "by", "set", "values", "having", "limit", "into",
    ]
    return tokens.indices[..<index].last { isKeyword($0, clauses) }.map { isKeyword($0, ["from"]) } ?? false
  }
}

extension SQLTokens {
  /// The last token of a text, blanks and comments included.
  static func last(of text: String) -> (token: Token, bytes: [UInt8])? {
    var tokens = SQLTokens(text)
    var last: Token?
    while let token = tokens.next() { last = token }
    return last.map { ($0, tokens.bytes) }
  }
}
