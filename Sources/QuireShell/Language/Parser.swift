import QuireRow
import QuireSQLite

/// Tokens → syntax. Knows no names of the file except whether a word is a model, which distinguishes `Author 2` from a
/// column.
struct Parser {
  private let text: String
  let tokens: [Token]
  private(set) var place: Int
  /// How many values are open around the present place.
  private var depth = 0
  /// Whether steps may follow the present condition: `Author where born < 1900 .books`.
  private var isBeforeSteps = false
  /// The deepest nesting of values, and its depth: if SQLite refuses a query as too deep, the reason is there.
  private(set) var deepest = (depth: 0, range: 0..<0)
  let isModel: (String) -> Bool

  /// - Parameter start: The byte where the query begins, after words such as `live`.
  init(_ text: String, from start: Int = 0, isModel: @escaping (String) -> Bool) {
    self.text = text
    tokens = Tokenizer.tokens(of: text)
    place = tokens.firstIndex { $0.range.lowerBound >= start } ?? 0
    self.isModel = isModel
  }

  /// The one statement the text is.
  static func statement(
    _ text: String, from start: Int = 0, isModel: @escaping (String) -> Bool
  ) throws(ShellFailure) -> (statement: ModelStatement, deepest: Range<Int>) {
    var parser = Parser(text, from: start, isModel: isModel)
    let statement = try parser.statement()
    while parser.current.isSign(";") { parser.advance() }
    try parser.expectEnd()
    return (statement, parser.deepest.range)
  }

  // MARK: Tokens

  var current: Token { tokens[place] }
  func ahead(_ count: Int = 1) -> Token { tokens[min(place + count, tokens.count - 1)] }
  mutating func advance() { if place + 1 < tokens.count { place += 1 } }
  func range(from start: Int) -> Range<Int> {
    tokens[start].range.lowerBound..<max(tokens[start].range.upperBound, tokens[max(start, place - 1)].range.upperBound)
  }

  mutating func take(word: String) -> Bool {
    guard current.isWord(word) else { return false }
    advance()
    return true
  }

  /// Whether a period is here, or behind the present token, that goes on with a path, and does not begin a step behind a
  /// condition, before which there is a space.
  func isPeriodOfPath(ahead count: Int = 0) -> Bool {
    let period = ahead(count)
    guard period.isSign(".") else { return false }
    return !isBeforeSteps || depth > 1 || ahead(count - 1).range.upperBound == period.range.lowerBound
  }

  mutating func take(sign: String) -> Bool {
    guard current.isSign(sign) else { return false }
    advance()
    return true
  }

  mutating func require(sign: String, _ why: String) throws(ShellFailure) {
    if !take(sign: sign) { throw unexpected("‘\(sign)’ is missing \(why)") }
  }

  /// The error for the token at this position.
  func unexpected(_ message: String, hint: String? = nil) -> ShellFailure {
    if case .wrong(let reason) = current.kind {
      return ShellFailure(reason, at: current.range, hint: OtherShells.words[source(current.range)])
    }
    return ShellFailure(message, at: current.range, hint: hint)
  }

  mutating func name(_ what: String) throws(ShellFailure) -> Name {
    switch current.kind {
    case .word(let text), .quotedName(let text):
      let name = Name(text: text, range: current.range)
      advance()
      return name
    case .text(let text):
      let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
      throw unexpected(
        "\(what) is missing", hint: isPlain ? "a name stands without quotes" : "a name stands in backticks: `\(text)`")
    default: throw unexpected("\(what) is missing")
    }
  }

  /// What is read inside a value.
  mutating func inside(
    _ body: (inout Parser) throws(ShellFailure) -> Syntax
  ) throws(ShellFailure) -> Syntax {
    depth += 1
    if depth > deepest.depth { deepest = (depth, current.range) }
    if depth > Self.most { throw tooDeep(current.range) }
    let result = try body(&self)
    depth -= 1
    return result
  }

  /// A value made of others.
  func made(_ kind: Syntax.Kind, _ range: Range<Int>) throws(ShellFailure) -> Syntax {
    let syntax = Syntax(kind: kind, range: range)
    if syntax.height > Self.most { throw tooDeep(range) }
    return syntax
  }

  /// The highest nesting of values. SQLite accepts about a hundred.
  static let most = 100

  private func tooDeep(_ range: Range<Int>) -> ShellFailure {
    let start = tokens.first { $0.range.lowerBound == range.lowerBound }
    return ShellFailure(
      "this is nested more than \(Self.most) deep", at: start?.range ?? range,
      hint: "split the query, or ask in SQL step by step (with … as)")
  }

  func source(_ range: Range<Int>) -> String { String(decoding: Array(text.utf8)[range], as: UTF8.self) }

  private func expectEnd() throws(ShellFailure) {
    if current.kind == .end { return }
    if place > 0, tokens[place - 1].isSign(";") {
      throw unexpected("a query of models cannot be followed by another statement", hint: "run this by itself")
    }
    let word = source(current.range)
    throw unexpected("‘\(word)’ does not go here", hint: hint(forMisplaced: word.lowercased()))
  }

  /// - Parameter word: In lower case.
  private func hint(forMisplaced word: String) -> String? {
    if let known = OtherShells.words[word] { return known }
    if Self.clauses.contains(word) { return nil }
    if case .word = current.kind, Self.comparisons[source(ahead().range)] != nil {
      return "did you mean where \(word) …?"
    }
    if let near = nearest(to: word, among: Self.clauses) ?? Self.clauses.first(where: { $0.hasPrefix(word + " ") }) {
      return "did you mean \(near)?"
    }
    guard case .word = current.kind, case .word(let before) = tokens[max(0, place - 1)].kind, place > 1,
      !Self.keywords.contains(before.lowercased())
    else { return nil }
    return "text stands in quotes, a name of several words in backticks"
  }

  static let clauses = [
    "where", "select", "order by", "limit", "offset", "set", "group by", "having", "and", "or", "not", "like", "in",
    "between", "is", "contains", "glob", "regexp", "match", "distinct", "as", "asc", "desc",
  ]
}

// MARK: Statements

extension Parser {
  /// Keywords, which cannot be names.
  static let keywords: Set<String> = [
    "where", "select", "order", "by", "limit", "offset", "set", "group", "having", "and", "or", "not", "like", "in",
    "between", "is", "null", "contains", "glob", "distinct", "as", "asc", "desc", "case", "when", "then", "else", "end",
    "true", "false", "live", "sql", "explain", "count", "insert", "delete", "undo", "redo",
  ]

  private mutating func statement() throws(ShellFailure) -> ModelStatement {
    if current.isWord("insert") {
      advance()
      let model = try name("the model to insert into")
      let values = try values()
      return .insert(model, values, end: tokens[place - 1].range)
    }
    if current.isWord("delete") {
      advance()
      return .delete(try query())
    }
    return .query(try query())
  }

  /// `{ title: "Eden", author: Author 2 }`
  private mutating func values() throws(ShellFailure) -> [ModelQuery.Assignment] {
    try require(sign: "{", "before the values: insert Book { title: \"Eden\" }")
    var result: [ModelQuery.Assignment] = []
    while !take(sign: "}") {
      if !result.isEmpty { try require(sign: ",", "between values") }
      let name = try name("the name of a column")
      // `author:Author` reads as a parameter; apart it is two tokens.
      if case .parameter(let word) = current.kind, word.hasPrefix(":") {
        throw unexpected("a space is missing after ‘:’")
      }
      if !take(sign: ":"), !take(sign: "=") { throw unexpected("‘:’ is missing behind \(name.text)") }
      result.append(ModelQuery.Assignment(name: name, value: try expression()))
    }
    return result
  }

  mutating func query() throws(ShellFailure) -> ModelQuery {
    var query = ModelQuery(source: try source())
    try steps(of: &query)
    while current.kind != .end, !current.isSign(";"), !current.isSign(")") {
      let start = place
      if take(word: "where") {
        try refuseSecond(query.filter != nil, "wheres", start, hint: "join them with and")
        isBeforeSteps = true
        query.filter = try expression()
        isBeforeSteps = false
        if current.isSign(".") {
          let filter = query.filter
          query.filter = nil
          try steps(of: &query, where: filter)
        }
      } else if take(word: "select") {
        try refuseSecond(!query.selected.isEmpty, "selects", start, hint: Self.commas)
        query.isDistinct = take(word: "distinct")
        query.selected = try list { (parser) throws(ShellFailure) in try parser.selected() }
      } else if current.isWord("group"), ahead().isWord("by") {
        advance()
        advance()
        try refuseSecond(!query.groups.isEmpty, "group bys", start, hint: Self.commas)
        query.groups = try list { (parser) throws(ShellFailure) in try parser.expression() }
      } else if take(word: "having") {
        try refuseSecond(query.having != nil, "havings", start, hint: "join them with and")
        query.having = try expression()
      } else if current.isWord("order"), ahead().isWord("by") {
        advance()
        advance()
        try refuseSecond(!query.order.isEmpty, "order bys", start, hint: Self.commas)
        query.order = try list { (parser) throws(ShellFailure) in try parser.order() }
      } else if take(word: "limit") {
        try refuseSecond(query.limit != nil, "limits", start)
        query.limit = try expression()
        if take(sign: ",") {
          try refuseSecond(query.offset != nil, "offsets", start, hint: "the number before the comma is one")
          query.offset = query.limit
          query.limit = try expression()
        }
      } else if take(word: "offset") {
        try refuseSecond(query.offset != nil, "offsets", start)
        query.offset = try expression()
      } else if take(word: "set") {
        try refuseSecond(query.setPlace != nil, "sets", start, hint: Self.commas)
        query.setPlace = range(from: start)
        query.assignments = try list { (parser) throws(ShellFailure) in try parser.assignment() }
      } else {
        return query
      }
    }
    return query
  }

  private static let commas = "put commas between what is in one"

  private func refuseSecond(
    _ isThere: Bool, _ clauses: String, _ start: Int, hint: String? = nil
  ) throws(ShellFailure) {
    if isThere { throw ShellFailure("there are two \(clauses)", at: range(from: start), hint: hint) }
  }

  private mutating func source() throws(ShellFailure) -> ModelQuery.Source {
    let first = current
    if case .word(let word) = first.kind, let row = Self.kept(word) {
      advance()
      return .kept(row: row, first.range)
    }
    let model = try name("a model")
    return .model(model, key: try key())
  }

  /// `_` → nil inside, `_3` → 3, anything else nil.
  static func kept(_ word: String) -> Int?? {
    guard word.hasPrefix("_") else { return nil }
    if word == "_" { return .some(nil) }
    return Int(word.dropFirst()).map { .some($0) }
  }

  /// What follows a model's name: `12`, `"PL"`, `:id`, `3, 4`, `(3, 4)`; empty if there is none.
  mutating func key() throws(ShellFailure) -> [Syntax] {
    let isParenthesised = current.isSign("(")
    if isParenthesised { advance() }
    guard isKeyValue else {
      if isParenthesised { throw unexpected("the key is missing", hint: "text stands in quotes") }
      return []
    }
    var result = [try keyValue()]
    while current.isSign(","), isParenthesised || ahead().isKey {
      advance()
      result.append(try keyValue())
    }
    if isParenthesised { try require(sign: ")", "behind the key") }
    return result
  }

  /// One value of a key; of a number that is written in another way than we write it, the text is kept too.
  mutating func keyValue() throws(ShellFailure) -> Syntax {
    let value = try primary()
    var number = value
    if case .unary(_, let inner) = value.kind { number = inner }
    guard case .literal(let literal) = number.kind, literal.isNumber else { return value }
    let written = source(value.range)
    return Value(exactly: written) == nil ? Syntax(kind: .spelled(written, value), range: value.range) : value
  }

  private var isKeyValue: Bool { current.isKey || current.isSign("-") && ahead().isKey }

  /// The filter is the condition on the rows that the first of the steps is followed from.
  private mutating func steps(of query: inout ModelQuery, where filter: Syntax? = nil) throws(ShellFailure) {
    var filter = filter
    while take(sign: ".") {
      let relation = try name("a relation")
      query.steps.append(ModelQuery.Step(relation: relation, filter: filter))
      filter = nil
      if query.steps.count > Self.most { throw tooDeep(relation.range) }
    }
  }

  private mutating func list<T>(
    _ element: (inout Parser) throws(ShellFailure) -> T
  ) throws(ShellFailure) -> [T] {
    var result = [try element(&self)]
    while take(sign: ",") { result.append(try element(&self)) }
    return result
  }

  private mutating func selected() throws(ShellFailure) -> ModelQuery.Selected {
    let start = place
    let value = try expression()
    let text =
      if case .path(let names) = value.kind { names.map(\.text).joined(separator: ".") } else {
        source(range(from: start))
      }
    if take(word: "as") {
      let name: Name
      if case .text(let text) = current.kind {
        name = Name(text: text, range: current.range)
        advance()
      } else {
        name = try self.name("a name behind as")
      }
      return ModelQuery.Selected(value: value, name: name.text, isNamed: true)
    }
    return ModelQuery.Selected(value: value, name: text, isNamed: false)
  }

  private mutating func order() throws(ShellFailure) -> ModelQuery.Order {
    var order = ModelQuery.Order(value: try expression())
    if take(word: "desc") { order.isDescending = true } else { _ = take(word: "asc") }
    if take(word: "nulls") {
      if take(word: "first") {
        order.nullsFirst = true
      } else if take(word: "last") {
        order.nullsFirst = false
      } else {
        throw unexpected("nulls first or nulls last?")
      }
    }
    return order
  }

  private mutating func assignment() throws(ShellFailure) -> ModelQuery.Assignment {
    let name = try name("the name of a column")
    try require(sign: "=", "behind \(name.text)")
    return ModelQuery.Assignment(name: name, value: try expression())
  }
}

extension Value {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .real: true
    default: false
    }
  }
}
