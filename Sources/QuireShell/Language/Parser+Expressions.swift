import Foundation
import QuireRow

// Binds as SQL does, from loose to tight: or, and, not, comparisons, + -, * / %, ||, a sign before a value.

extension Parser {
  mutating func expression() throws(ShellFailure) -> Syntax {
    var left = try conjunction()
    while current.isWord("or") {
      advance()
      left = binary("OR", left, try conjunction())
    }
    return left
  }

  private mutating func conjunction() throws(ShellFailure) -> Syntax {
    var left = try negation()
    while current.isWord("and") {
      advance()
      left = binary("AND", left, try negation())
    }
    return left
  }

  private mutating func negation() throws(ShellFailure) -> Syntax {
    let start = current.range.lowerBound
    guard take(word: "not") else { return try comparison() }
    let inner = try negation()
    return Syntax(kind: .unary("NOT", inner), range: start..<inner.range.upperBound)
  }

  private func binary(_ sign: String, _ a: Syntax, _ b: Syntax) -> Syntax {
    Syntax(kind: .binary(sign, a, b), range: a.range.lowerBound..<b.range.upperBound)
  }

  // MARK: Comparisons

  private mutating func comparison() throws(ShellFailure) -> Syntax {
    var left = try sum()
    while true {
      let start = left.range.lowerBound
      func made(_ kind: Syntax.Kind, _ end: Int) -> Syntax { Syntax(kind: kind, range: start..<end) }
      if case .sign(let sign) = current.kind, let known = Self.comparisons[sign] {
        advance()
        left = binary(known, left, try sum())
        continue
      }
      if take(word: "is") {
        let isNegated = take(word: "not")
        if take(word: "null") || take(word: "nil") {
          left = made(.isNull(left, isNegated: isNegated), current.range.lowerBound)
        } else {
          left = binary(isNegated ? "IS NOT" : "IS", left, try sum())
        }
        continue
      }
      let isNegated = current.isWord("not") && Self.negatable.contains { ahead().isWord($0) }
      if isNegated { advance() }
      if take(word: "in") {
        let values = try oneOf()
        left = made(.oneOf(left, values, isNegated: isNegated), current.range.lowerBound)
      } else if take(word: "between") {
        let low = try sum()
        if !take(word: "and") { throw unexpected("between needs and: between 1950 and 1960") }
        let high = try sum()
        left = made(.between(left, low, high, isNegated: isNegated), high.range.upperBound)
      } else if let word = ["like", "glob", "contains", "match"].first(where: { current.isWord($0) }) {
        advance()
        let pattern = try sum()
        left = made(.match(word, left, pattern, isNegated: isNegated), pattern.range.upperBound)
      } else {
        return left
      }
    }
  }

  private static let comparisons = [
    "=": "=", "==": "=", "!=": "<>", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
  ]
  private static let negatable = ["in", "between", "like", "glob", "contains"]

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
    var left = try product()
    while case .sign(let sign) = current.kind, sign == "+" || sign == "-" {
      advance()
      left = binary(sign, left, try product())
    }
    return left
  }

  private mutating func product() throws(ShellFailure) -> Syntax {
    var left = try joined()
    while case .sign(let sign) = current.kind, ["*", "/", "%"].contains(sign) {
      advance()
      left = binary(sign, left, try joined())
    }
    return left
  }

  private mutating func joined() throws(ShellFailure) -> Syntax {
    var left = try primary()
    while take(sign: "||") { left = binary("||", left, try primary()) }
    return left
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
    case .sign("-"), .sign("+"):
      advance()
      let inner = try primary()
      return Syntax(
        kind: .unary(token.isSign("-") ? "-" : "+", inner), range: token.range.lowerBound..<inner.range.upperBound)
    case .sign("("):
      advance()
      let inner = try expression()
      try require(sign: ")", "behind what is in parentheses")
      return Syntax(kind: inner.kind, range: token.range.lowerBound..<inner.range.upperBound)
    case .word(let word): return try named(word, token)
    case .quotedName: return try path()
    case .end: throw unexpected("a value is missing at the end")
    default: throw unexpected("a value is missing")
    }
  }

  private mutating func named(_ word: String, _ token: Token) throws(ShellFailure) -> Syntax {
    switch word.lowercased() {
    case "null", "nil": advance(); return Syntax(kind: .literal(.null), range: token.range)
    case "true": advance(); return Syntax(kind: .literal(1), range: token.range)
    case "false": advance(); return Syntax(kind: .literal(0), range: token.range)
    case "case": return try choice()
    case "where", "select", "order", "limit", "and", "or", "set", "from", "by", "having", "offset":
      throw unexpected("a value is missing before ‘\(word)’")
    default: break
    }
    if ahead().isSign("(") { return try call() }
    // `Author 2`: a model and a key; a column never has a value right behind it.
    if isModel(word), ahead().isKey {
      let name = try name("a model")
      let start = token.range.lowerBound
      let key = [try primary()]
      return Syntax(kind: .row(name, key: key), range: start..<key[0].range.upperBound)
    }
    return try path()
  }

  private mutating func path() throws(ShellFailure) -> Syntax {
    var names = [try name("a column")]
    while current.isSign(".") {
      advance()
      names.append(try name("a column"))
    }
    return Syntax(kind: .path(names), range: names[0].range.lowerBound..<names[names.count - 1].range.upperBound)
  }

  private mutating func call() throws(ShellFailure) -> Syntax {
    let name = try name("a function")
    if isModel(name.text) {
      let key = try key()
      return Syntax(kind: .row(name, key: key), range: name.range.lowerBound..<current.range.lowerBound)
    }
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
    return Syntax(
      kind: .call(name, arguments, where: condition, isDistinct: isDistinct), range: name.range.lowerBound..<end)
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
    return Syntax(kind: .choice(branches, otherwise: otherwise), range: start..<end)
  }
}
