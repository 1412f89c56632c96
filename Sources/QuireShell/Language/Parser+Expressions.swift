import Foundation
import QuireRow
import QuireSQLite

// Binds as SQL does, from loose to tight: or, and, not, = and in and their like, < and >, + -, * / %, ||, a sign before
// a value.

extension Parser {
  mutating func expression() throws(ShellFailure) -> Syntax {
    try inside { (parser) throws(ShellFailure) in
      var parts = [try parser.conjunction()]
      while parser.take(word: "or") { parts.append(try parser.conjunction()) }
      return try parser.flat(parts) { .any($0) }
    }
  }

  private mutating func conjunction() throws(ShellFailure) -> Syntax {
    var parts = [try negation()]
    while take(word: "and") { parts.append(try negation()) }
    return try flat(parts) { .all($0) }
  }

  private func flat(_ parts: [Syntax], _ kind: ([Syntax]) -> Syntax.Kind) throws(ShellFailure) -> Syntax {
    if parts.count == 1 { return parts[0] }
    return try made(kind(parts), parts[0].range.lowerBound..<parts[parts.count - 1].range.upperBound)
  }

  private mutating func negation() throws(ShellFailure) -> Syntax {
    var starts: [Int] = []
    // A relation may be called so: `not.name`.
    while current.isWord("not"), !ahead().isSign(".") {
      starts.append(current.range.lowerBound)
      advance()
    }
    var inner = try comparison()
    for start in starts.reversed() { inner = try made(.unary("NOT", inner), start..<inner.range.upperBound) }
    return inner
  }

  private func binary(_ sign: String, _ a: Syntax, _ b: Syntax) throws(ShellFailure) -> Syntax {
    try made(.binary(sign, a, b), a.range.lowerBound..<b.range.upperBound)
  }

  // MARK: Comparisons

  private mutating func comparison() throws(ShellFailure) -> Syntax {
    var left = try relation()
    while true {
      let start = left.range.lowerBound
      if case .sign(let sign) = current.kind, let known = Self.comparisons[sign] {
        advance()
        left = try binary(known, left, try relation())
        continue
      }
      if take(word: "is") {
        let isNegated = take(word: "not")
        if take(word: "null") || take(word: "nil") {
          left = try made(.isNull(left, isNegated: isNegated), start..<current.range.lowerBound)
        } else if current.isWord("true") || current.isWord("false"), !isPeriodOfPath(ahead: 1) {
          let word = current
          advance()
          left = try made(.isTruth(left, word.isWord("true"), isNegated: isNegated), start..<word.range.upperBound)
        } else {
          left = try binary(isNegated ? "IS NOT" : "IS", left, try relation())
        }
        continue
      }
      let isNegated = current.isWord("not") && Self.negatable.contains { ahead().isWord($0) }
      if isNegated { advance() }
      if take(word: "in") {
        let values = try oneOf()
        left = try made(.oneOf(left, values, isNegated: isNegated), start..<current.range.lowerBound)
      } else if take(word: "between") {
        let low = try relation()
        if !take(word: "and") { throw unexpected("between needs and: between 1950 and 1960") }
        let high = try relation()
        left = try made(.between(left, low, high, isNegated: isNegated), start..<high.range.upperBound)
      } else if let word = ["like", "glob", "contains", "regexp", "match"].first(where: { current.isWord($0) }) {
        advance()
        let pattern = try relation()
        left = try made(.match(word, left, pattern, isNegated: isNegated), start..<pattern.range.upperBound)
      } else {
        return left
      }
    }
  }

  /// `<` and its like, which bind tighter than `=`.
  private mutating func relation() throws(ShellFailure) -> Syntax {
    var left = try sum()
    while case .sign(let sign) = current.kind, Self.relations.contains(sign) {
      advance()
      left = try binary(sign, left, try sum())
    }
    return left
  }

  private static let relations: Set<String> = ["<", "<=", ">", ">="]

  static let comparisons = [
    "=": "=", "==": "=", "!=": "<>", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
  ]
  private static let negatable = ["in", "between", "like", "glob", "contains", "regexp"]

  private mutating func oneOf() throws(ShellFailure) -> [Syntax] {
    try require(sign: "(", "behind in: in (\"pol\", \"eng\")")
    var values: [Syntax] = []
    while !take(sign: ")") {
      if !values.isEmpty { try require(sign: ",", "between values") }
      values.append(try expression())
    }
    return values
  }

  // MARK: Arithmetic

  private mutating func sum() throws(ShellFailure) -> Syntax {
    try chain(["+", "-"]) { (parser) throws(ShellFailure) in try parser.product() }
  }

  private mutating func product() throws(ShellFailure) -> Syntax {
    try chain(["*", "/", "%"]) { (parser) throws(ShellFailure) in try parser.joined() }
  }

  private mutating func joined() throws(ShellFailure) -> Syntax {
    try chain(["||", "->", "->>"]) { (parser) throws(ShellFailure) in try parser.primary() }
  }

  /// SQLite takes a thousand steps from the outermost value to the innermost, and each operator of a chain is one.
  private static let longestChain = 900

  private mutating func chain(
    _ signs: [String], _ operand: (inout Parser) throws(ShellFailure) -> Syntax
  ) throws(ShellFailure) -> Syntax {
    let first = try operand(&self)
    var links: [Syntax.Link] = []
    var end = first.range.upperBound
    while case .sign(let sign) = current.kind, signs.contains(sign) {
      if links.count == Self.longestChain {
        throw unexpected("there are more than \(Self.longestChain) operators in a row, which SQLite does not take")
      }
      advance()
      let value = try operand(&self)
      links.append(Syntax.Link(sign: sign, value: value))
      end = value.range.upperBound
    }
    return links.isEmpty ? first : try made(.chain(first, links), first.range.lowerBound..<end)
  }

  // MARK: Values

  mutating func primary() throws(ShellFailure) -> Syntax {
    let token = current
    func literal(_ value: Value) -> Syntax { Syntax(kind: .literal(value), range: token.range) }
    switch token.kind {
    case .integer(let value): advance(); return literal(.integer(value))
    case .real(let value): advance(); return literal(.real(value))
    case .text(let value): advance(); return literal(.text(value))
    case .blob(let bytes): advance(); return literal(.blob(Data(bytes)))
    case .parameter(let name): advance(); return Syntax(kind: .parameter(name), range: token.range)
    case .sign("*"): advance(); return Syntax(kind: .everything, range: token.range)
    case .sign("-"), .sign("+"): return try signed()
    case .sign("("):
      advance()
      let inner = try expression()
      try require(sign: ")", "behind what is in parentheses")
      return Syntax(kind: inner.kind, range: token.range.lowerBound..<inner.range.upperBound)
    case .word(let word): return try named(word, token)
    case .quotedName(let name):
      let isRow = isModel(name) && (ahead().isKey || ahead().isSign("("))
      return isRow ? try row() : try path()
    case .end:
      // A pattern without quotes, such as like Sol%, is a name and the sign of the remainder.
      let isPattern = source(0..<token.range.lowerBound).last { !$0.isWhitespace } == "%"
      throw unexpected("a value is missing at the end", hint: isPattern ? "text stands in quotes, as \"%x\"" : nil)
    default: throw unexpected("a value is missing")
    }
  }

  /// A value after one or several signs.
  private mutating func signed() throws(ShellFailure) -> Syntax {
    var signs: [Token] = []
    while current.isSign("-") || current.isSign("+") {
      signs.append(current)
      advance()
    }
    // The smallest integer has no positive one.
    let isSmallest =
      if case .real = current.kind { source(current.range) == "\(Int64.min.magnitude)" } else { false }
    var inner: Syntax
    if isSmallest, let sign = signs.last, sign.isSign("-") {
      inner = Syntax(kind: .literal(.integer(.min)), range: sign.range.lowerBound..<current.range.upperBound)
      signs.removeLast()
      advance()
    } else {
      inner = try primary()
    }
    for sign in signs.reversed() {
      inner = try made(.unary(sign.isSign("-") ? "-" : "+", inner), sign.range.lowerBound..<inner.range.upperBound)
    }
    return inner
  }

  private mutating func named(_ word: String, _ token: Token) throws(ShellFailure) -> Syntax {
    // `Author 2`, `Order 2`: neither a column nor a keyword that a value may begin with is directly followed by a value.
    if isModel(word), ahead().isKey { return try row() }
    switch word.lowercased() {
    case "null", "nil": advance(); return Syntax(kind: .literal(.null), range: token.range)
    case "true": advance(); return Syntax(kind: .literal(1), range: token.range)
    case "false": advance(); return Syntax(kind: .literal(0), range: token.range)
    case "case" where !ahead().isSign("."): return try choice()
    // A relation may have a keyword's name: `order.customer`. No keyword is followed by a period.
    case _ where ahead().isSign("."): return try path()
    case "and", "or": throw unexpected("a value is missing before ‘\(word)’")
    case "select" where place > 0 && tokens[place - 1].isSign("("):
      throw unexpected("no query stands inside one of models", hint: "SQL takes it: select … where id in (select …)")
    case "where", "select", "order", "limit", "set", "from", "by", "having", "offset":
      throw unexpected(
        "a value is missing before ‘\(word)’", hint: "a name that is a keyword stands in backticks: `\(word)`")
    default: break
    }
    guard ahead().isSign("(") else { return try path() }
    if word.lowercased() == "cast" { return try cast() }
    return isModel(word) && !Self.isFunction(word) ? try row() : try call()
  }

  /// Whether a name before a parenthesis is a function's, also where a model is called so: `count(books)`, `date(t)`.
  private static func isFunction(_ name: String) -> Bool {
    let word = name.lowercased()
    return SQLiteFunctions.names.contains(word) || ListWords.questions.contains(word)
      || ListWords.aggregates.contains(word)
  }

  /// `Author 2`, `LibraryBook (1, 7)`
  private mutating func row() throws(ShellFailure) -> Syntax {
    let name = try name("a model")
    let key = current.isSign("(") ? try key() : [try keyValue()]
    return Syntax(kind: .row(name, key: key), range: name.range.lowerBound..<tokens[place - 1].range.upperBound)
  }

  private mutating func path() throws(ShellFailure) -> Syntax {
    var names = [try name("a column")]
    while isPeriodOfPath() {
      advance()
      names.append(try name("a column"))
    }
    return Syntax(kind: .path(names), range: names[0].range.lowerBound..<names[names.count - 1].range.upperBound)
  }

  private mutating func call() throws(ShellFailure) -> Syntax {
    let name = try name("a function")
    advance()
    let isDistinct = take(word: "distinct")
    var arguments: [Syntax] = []
    var condition: Syntax?
    while !current.isSign(")"), condition == nil {
      if take(word: "where") {
        condition = try expression()
        break
      }
      if !arguments.isEmpty { try require(sign: ",", "between arguments") }
      arguments.append(try expression())
    }
    let end = current.range.upperBound
    try require(sign: ")", "behind \(name.text)(…")
    if condition == nil, arguments.count == 2, ["any", "none", "all"].contains(name.text.lowercased()) {
      condition = arguments.removeLast()
    }
    return try made(
      .call(name, arguments, where: condition, isDistinct: isDistinct), name.range.lowerBound..<end)
  }

  /// Types that a value can be cast to. They stand in SQL as they are.
  static let castTypes = ["integer", "int", "real", "text", "numeric", "blob"]

  /// `cast(:x as real)`
  private mutating func cast() throws(ShellFailure) -> Syntax {
    let start = current.range.lowerBound
    advance()
    advance()
    let value = try expression()
    if !take(word: "as") { throw unexpected("cast needs as: cast(:x as real)") }
    guard let type = Self.castTypes.first(where: { current.isWord($0) }) else {
      throw unexpected("cast makes integer, real, text, numeric or blob")
    }
    advance()
    let end = current.range.upperBound
    try require(sign: ")", "behind cast(…")
    return try made(.cast(value, to: type.uppercased()), start..<end)
  }

  /// `case when year < 1900 then "old" else "new" end`
  private mutating func choice() throws(ShellFailure) -> Syntax {
    let start = current.range.lowerBound
    advance()
    var branches: [Syntax.Branch] = []
    while take(word: "when") {
      let when = try expression()
      if !take(word: "then") { throw unexpected("then is missing") }
      branches.append(Syntax.Branch(when: when, then: try expression()))
    }
    if branches.isEmpty { throw unexpected("case needs when … then …") }
    let otherwise = take(word: "else") ? try expression() : nil
    let end = current.range.upperBound
    if !take(word: "end") { throw unexpected("end is missing behind case …") }
    return try made(.choice(branches, otherwise: otherwise), start..<end)
  }
}
