import QuireMigration
import QuireRow
import QuireSQLite

/// Candidates for a position in an input.
public struct InputCompletions: Hashable, Sendable {
  /// The bytes that they would replace.
  public let range: Range<Int>
  public let candidates: [Candidate]

  public struct Candidate: Hashable, Sendable {
    public let text: String
    /// The kind: a type, or the model that a relation leads to.
    public let detail: String

    /// The text without the quotes of a name.
    var name: Substring {
      guard let first = text.first, first == "`" || first == "\"", text.count > 1 else { return text[...] }
      return text.dropFirst().dropLast()
    }
  }
}

extension ShellSession {
  /// Names and words that are possible at a position; follows paths: after `author.` those of the author.
  ///
  /// There are none inside a text or comment. In SQL the tables of the whole statement count, also those behind the
  /// position; behind `x.` only the columns of the table that `x` is. In the middle of a word they replace the whole word
  /// where they continue it.
  ///
  /// - Parameter place: A byte offset.
  nonisolated public func completions(_ text: String, at place: Int) -> InputCompletions {
    let bytes = Array(text.utf8)
    let place = min(max(place, 0), bytes.count)
    let found = completions(
      behind: String(decoding: bytes[..<place], as: UTF8.self), before: String(decoding: bytes[place...], as: UTF8.self)
    )
    let rest = bytes[place...].prefix { byte in
      switch byte {
      case 48...57, 65...90, UInt8(ascii: "_"), 97...122, 128...255: true
      default: false
      }
    }
    guard !rest.isEmpty else { return found }
    let range = found.range.lowerBound..<place + rest.count
    let word = String(decoding: bytes[range], as: UTF8.self).lowercased()
    let continuing = found.candidates.filter { $0.name.lowercased().hasPrefix(word) }
    return continuing.isEmpty ? found : InputCompletions(range: range, candidates: continuing)
  }

  nonisolated private func completions(behind before: String, before after: String) -> InputCompletions {
    let models = self.models
    let reader = InputReader(models: models)
    if case .command(let name, let argument, let sign) = reader.kind(of: before) {
      return Completer.command(before, name, argument, sign, models)
    }
    let completer = Completer(text: before, after: after, models: models)
    let kind = reader.kind(of: before)
    if case .sql = kind, completer.isInQuotedName { return completer.sql }
    if completer.isInText { return completer.none }
    switch kind {
    case .sql where completer.hasOnlyOneWord: return completer.beginnings
    case .sql: return completer.sql
    case .verb(.live, let start), .verb(.sql, let start), .verb(.explain, let start), .verb(.count, let start):
      let rest = before.utf8Suffix(from: start)
      if case .sql = reader.kind(of: rest), completer.words > 2 { return completer.sql }
      return completer.words <= 2 ? completer.beginnings : completer.model
    case .nothing: return completer.beginnings
    default: return completer.hasOnlyOneWord ? completer.beginnings : completer.model
    }
  }
}

/// Finds possible continuations at the end of a text.
struct Completer {
  let models: FileModels
  private let tokens: [Token]
  /// The word being typed; empty after a space or sign.
  private let prefix: String
  private let range: Range<Int>

  /// Whether the text ends in a comment, or in a literal that is not closed.
  let isInText: Bool
  /// Whether it ends in quotes that are not closed and that enclose a name in SQL.
  let isInQuotedName: Bool
  private let scope: SQLScope

  /// - Parameter after: What follows the position.
  init(text: String, after: String, models: FileModels) {
    self.models = models
    let open = SQLTokens.last(of: text)
    isInText = Self.isText(open)
    isInQuotedName = open?.token.kind == .quotedName && open?.token.isOpen == true
    let end = text.utf8.count
    var closed = text
    if let open, isInQuotedName, after.first?.isLetter != true {
      // The name ends at the position, unless the rest of it stands behind.
      let quote = open.bytes[open.token.range.lowerBound]
      closed.unicodeScalars.append(quote == UInt8(ascii: "[") ? "]" : Unicode.Scalar(quote))
    }
    scope = SQLScope(closed + after, at: end, models)
    var tokens = Tokenizer.tokens(of: text)
    tokens.removeLast()
    if let open, isInQuotedName {
      prefix = String(decoding: open.bytes[(open.token.range.lowerBound + 1)...], as: UTF8.self)
      range = open.token.range
      tokens.removeAll { $0.range.lowerBound >= open.token.range.lowerBound }
    } else if let last = tokens.last, last.range.upperBound == end, case .word(let word) = last.kind {
      prefix = word
      range = last.range
      tokens.removeLast()
    } else {
      prefix = ""
      range = end..<end
    }
    self.tokens = tokens
  }

  private static func isText(_ last: (token: SQLTokens.Token, bytes: [UInt8])?) -> Bool {
    guard let (last, bytes) = last else { return false }
    if last.kind == .lineComment { return true }
    guard last.isOpen else { return false }
    return last.kind != .quotedName || bytes[last.range.lowerBound] == UInt8(ascii: "\"")
  }

  var none: InputCompletions { InputCompletions(range: range.upperBound..<range.upperBound, candidates: []) }

  var words: Int { tokens.count + 1 }
  var hasOnlyOneWord: Bool { tokens.isEmpty }

  private func made(_ candidates: [(String, String)]) -> InputCompletions {
    let wanted = prefix.lowercased()
    var known: Set<String> = []
    let candidates = candidates.map { InputCompletions.Candidate(text: $0.0, detail: $0.1) }
    return InputCompletions(
      range: range,
      candidates: candidates.filter { $0.name.lowercased().hasPrefix(wanted) && known.insert($0.text).inserted })
  }

  // MARK: Kinds

  /// Words that a value follows.
  private static let beforeValues: Set<String> = [
    "where", "and", "or", "not", "select", "by", "set", "when", "then", "else", "distinct",
  ]

  private var modelNames: [(String, String)] {
    models.all.map { ($0.name, $0.kind == .view ? "view" : $0.name == $0.table ? "model" : $0.table) }
  }

  /// What an input may begin with.
  var beginnings: InputCompletions {
    made(
      modelNames + ["live", "explain", "count", "summary", "sql", "undo", "redo", "insert", "delete"].map { ($0, "") }
        + ["SELECT", "WITH", "PRAGMA", "UPDATE", "CREATE", "EXPLAIN QUERY PLAN"].map { ($0, "SQL") })
  }

  var sql: InputCompletions {
    let name = isInQuotedName ? Self.inQuotes : Self.inSQL
    let tables = models.all.map { (name($0.table), $0.kind == .view ? "view" : "table") }
    let used = scope.qualified.map { [$0] } ?? scope.tables
    let columns = (used.isEmpty ? models.all : used).flatMap { model in
      model.columns.map { (name($0.column), "\(model.table) \($0.type)") }
    }
    let isInSchema = tokens.last?.isSign(".") == true && tokens.dropLast().last?.isWord("main") == true
    let word = (isInSchema ? tokens.dropLast(2) : tokens[...]).last
    if ["from", "join", "into", "update", "table"].contains(where: { word?.isWord($0) == true }) {
      return made(tables)
    }
    if tokens.last?.isSign(".") == true { return made(columns) }
    if isInQuotedName { return made(columns + tables) }
    let conditions = tokens.last?.isWord("on") == true ? joinConditions : []
    return made(
      conditions + columns + tables + sqlKeywords.sorted().map { ($0, "") }
        + SQLiteFunctions.names.sorted().map { ($0 + "(", "function") })
  }

  /// How the last table of the statement is related to those before it: `b.author_id = a.id`.
  private var joinConditions: [(String, String)] {
    guard let joined = scope.before.last else { return [] }
    return scope.before.dropLast().reversed().flatMap { other in
      joined.model.relations.compactMap { relation -> (String, String)? in
        guard case .direct(let pairs) = relation.route, models[relation.target].table == other.model.table else {
          return nil
        }
        let condition = pairs.map { pair in
          "\(joined.name).\(Self.inSQL(pair.own)) = \(other.name).\(Self.inSQL(pair.other))"
        }
        return (condition.joined(separator: " AND "), "\(joined.model.name).\(relation.name)")
      }
    }
  }

  var model: InputCompletions {
    guard let start = tokens.firstIndex(where: { isModelWord($0) }), case .word(let word) = tokens[start].kind,
      let place = models.place(of: word)
    else { return made(modelNames) }
    let (current, dots) = reached(from: place, start)
    if dots { return made(names(of: current, relationsFirst: true)) }
    if let last = tokens.last {
      switch last.kind {
      case .word(let word) where Self.beforeValues.contains(word.lowercased()):
        return made(names(of: inner(place), relationsFirst: false) + questions)
      case .sign:
        return made(names(of: inner(place), relationsFirst: false) + questions)
      default: break
      }
    }
    return made(clauses)
  }

  private func isModelWord(_ token: Token) -> Bool {
    if case .word(let word) = token.kind { models.place(of: word) != nil } else { false }
  }

  /// The model that the path before the cursor leads to, and whether there is a path.
  private func reached(from model: Int, _ start: Int) -> (Int, Bool) {
    guard tokens.last?.isSign(".") == true else { return (model, false) }
    // Steps are what `inner` follows.
    let isNested = tokens.count { $0.isSign("(") } > tokens.count { $0.isSign(")") }
    if !isNested, steps.last == true { return (inner(model), true) }
    var path: [String] = []
    var place = tokens.count - 1
    while place > 0, tokens[place].isSign("."), case .word(let word) = tokens[place - 1].kind {
      path.append(word)
      place -= 2
    }
    var current = inner(model)
    for name in path.reversed() {
      // `Author 2 .books` begins with the model itself.
      if let relation = models[current].relation(named: name) { current = relation.target }
    }
    return (current, true)
  }

  /// The model whose names apply here: inside `any(books where …` those of a book, and so behind a step `.books`.
  private func inner(_ model: Int) -> Int {
    var stack: [Int] = [model]
    var last: [String] = []
    for (place, (token, isStep)) in zip(tokens, steps).enumerated() {
      switch token.kind {
      case .sign(".") where stack.count == 1 && isStep:
        if place + 1 < tokens.count, case .word(let word) = tokens[place + 1].kind,
          let relation = models[stack[0]].relation(named: word)
        {
          stack[0] = relation.target
        }
      case .sign("("):
        stack.append(stack.last ?? model)
        last = []
      case .sign(")"): if stack.count > 1 { stack.removeLast() }
      case .sign("."): continue
      case .word(let word) where word.lowercased() == "where" && stack.count > 1:
        var current = stack.last ?? model
        for name in last { if let relation = models[current].relation(named: name) { current = relation.target } }
        stack[stack.count - 1] = current
        last = []
      case .word(let word): last.append(word)
      default: last = []
      }
    }
    return stack.last ?? model
  }

  /// For each token, whether it is a period that begins a step or goes on with steps, and is not part of a path:
  /// `Author 2 .books.tags`.
  private var steps: [Bool] {
    var steps = Array(repeating: false, count: tokens.count)
    for place in tokens.indices.dropFirst() where tokens[place].isSign(".") {
      let before = tokens[place - 1]
      if before.range.upperBound == tokens[place].range.lowerBound, case .word = before.kind, place > 1 {
        steps[place] = steps[place - 2]
      } else {
        steps[place] = true
      }
    }
    return steps
  }

  private func names(of place: Int, relationsFirst: Bool) -> [(String, String)] {
    let model = models[place]
    let columns = model.columns.map { (Self.inModels($0.name), $0.type.lowercased()) }
    let relations = model.relations.map {
      (Self.inModels($0.name), "→ \(models[$0.target].name)\($0.isToMany ? " list" : "")")
    }
    return relationsFirst ? relations + columns : columns + relations
  }

  /// A name as it can be typed: a keyword, or one with other signs, is in quotes.
  private static func inModels(_ name: String) -> String {
    Example.isName(name) || name.contains("`") ? name : "`\(name)`"
  }

  private static func inSQL(_ name: String) -> String {
    let tokens = Array(SQLTokens(name))
    let isWord = tokens.count == 1 && tokens[0].kind == .word && !sqlKeywords.contains(name.uppercased())
    return isWord ? name : inQuotes(name)
  }

  private static func inQuotes(_ name: String) -> String { (try? quoted(identifier: name)) ?? name }

  private var questions: [(String, String)] {
    [("any(", "of a list"), ("none(", "of a list"), ("all(", "of a list"), ("count(", "of a list"), ("not", "")]
  }

  private var clauses: [(String, String)] {
    [
      "where", "select", "order by", "limit", "and", "or", "like", "regexp", "in", "between", "is null", "is not null",
      "contains",
      "offset", "group by", "desc", "set",
    ].map { ($0, "") }
  }
}
