import Foundation
import QuireMigration
import QuireSQLite

/// What kind of thing was typed, decided by its first words.
enum Input: Hashable, Sendable {
  case nothing
  /// `.tables book`, `\d book`, `?Book`: the name without its sign, and what follows it.
  case command(String, argument: String, sign: Character)
  case undo
  case redo
  /// A query or write of the model language; it begins at that byte.
  case model(start: Int)
  case sql
  /// A statement of another database, with what to do instead.
  case foreign(String, hint: String, Range<Int>)
  /// A word before a query, and where the query begins.
  case verb(Verb, start: Int)

  enum Verb: String, Hashable, Sendable { case live, sql, explain, count, summary }
}

/// Words that begin a statement of SQL.
let statementWords: Set<String> = [
  "select", "with", "values", "explain", "pragma", "insert", "replace", "update", "delete", "create", "drop", "alter",
  "begin", "commit", "end", "rollback", "savepoint", "release", "attach", "detach", "vacuum", "analyze", "reindex",
]

struct InputReader {
  let models: FileModels

  func kind(of text: String) -> Input {
    let trimmed = text.drop { $0.isWhitespace }
    guard let first = trimmed.first else { return .nothing }
    if first == "?" || first == "." || first == "\\", !trimmed.dropFirst().isEmpty || first == "?" {
      return command(trimmed)
    }
    if Self.isSurelySQL(text) { return .sql }
    return kind(Tokenizer.tokens(of: text).filter { $0.kind != .sign(";") })
  }

  /// Whether only SQL begins this way, so that the models need not be read.
  static func isSurelySQL(_ text: String) -> Bool {
    let tokens = SQLTokens(text)
    let begin = Array(tokens.lazy.filter(\.isSignificant).prefix(2))
    guard let first = begin.first, first.kind == .word else { return false }
    let word = tokens.text(of: first).lowercased()
    // `insert Book { … }` and `delete Book 12` are the model language's.
    if word == "insert" || word == "delete" {
      guard begin.count == 2, begin[1].kind == .word else { return false }
      return (word == "insert" ? ["into", "or"] : ["from"]).contains(tokens.text(of: begin[1]).lowercased())
    }
    // A table may be called `commit`.
    if let next = begin.last, begin.count == 2,
      tokens.isMark(next, ".") || clauses(behind: word).contains(tokens.text(of: next).lowercased())
    {
      return false
    }
    if begin.count == 1, !statementsOfOneWord.contains(word) { return false }
    return word != "explain" && statementWords.contains(word)
  }

  /// Words that follow a model's name, and not this word if it begins a statement.
  private static func clauses(behind word: String) -> Set<String> {
    ["explain", "live", "sql"].contains(word.lowercased()) ? modelClauses : modelClauses.union(["select"])
  }

  private static let modelClauses: Set<String> = ["where", "order", "limit", "group", "offset", "set", "having"]

  private static let statementsOfOneWord: Set<String> = [
    "begin", "commit", "end", "rollback", "vacuum", "analyze", "reindex",
  ]

  /// Whether no statement begins with these words, so that they mean a model of that name.
  private func isSurelyModel(_ word: String, _ next: Token) -> Bool {
    if models.model(named: word) == nil { return false }
    if next.isSign(".") || Self.clauses(behind: word).contains(where: next.isWord) { return true }
    // `select` and `SELECT` may be a statement's first line.
    return next.kind == .end && word.lowercased().capitalized == word
      && !Self.statementsOfOneWord.contains(word.lowercased())
  }

  private func command(_ text: Substring) -> Input {
    let sign = text.first ?? "."
    var rest = text.dropFirst()
    if sign == "?" {
      return .command("schema", argument: rest.trimmed, sign: sign)
    }
    let name = rest.prefix { !$0.isWhitespace }
    rest = rest.dropFirst(name.count)
    return .command(String(name), argument: rest.trimmed, sign: sign)
  }

  private func kind(_ tokens: [Token]) -> Input {
    let first = tokens[0]
    if first.kind == .end { return .nothing }
    if tokens.count == 2, first.isWord("undo") { return .undo }
    if tokens.count == 2, first.isWord("redo") { return .redo }
    let start = first.range.lowerBound
    switch first.kind {
    case .quotedName: return .model(start: start)
    case .word(let word):
      if Parser.kept(word) != nil { return .model(start: start) }
      let next = tokens[1]
      // `Live where …`, if there is such a model: no statement continues like that.
      if isSurelyModel(word, next) { return .model(start: start) }
      let isBeforeCommand =
        next.isSign(".") && first.range.upperBound < next.range.lowerBound && models.place(of: word) == nil
      switch word.lowercased() {
      case "insert" where !next.isWord("into") && !next.isWord("or"): return .model(start: start)
      case "delete" where !next.isWord("from"): return .model(start: start)
      case "explain" where isBeforeCommand || isModelWord(next, before: tokens[min(2, tokens.count - 1)]):
        return .verb(.explain, start: next.range.lowerBound)
      case "live" where next.kind != .end: return .verb(.live, start: next.range.lowerBound)
      case "sql" where next.kind != .end: return .verb(.sql, start: next.range.lowerBound)
      case "count" where isBeforeCommand || isModelWord(next, before: tokens[min(2, tokens.count - 1)]):
        return .verb(.count, start: next.range.lowerBound)
      case "summary"
      where models.place(of: word) == nil || ["select", "with", "values"].contains(where: next.isWord)
        || isModelWord(next, before: tokens[min(2, tokens.count - 1)]):
        return .verb(.summary, start: next.range.lowerBound)
      default: break
      }
      if statementWords.contains(word.lowercased()) { return .sql }
      if let hint = OtherShells.statements[word.lowercased()], models.place(of: word) == nil {
        return .foreign(word, hint: hint, first.range)
      }
      return isModel(first, next) ? .model(start: start) : .sql
    default: return .sql
    }
  }

  /// The word at the beginning of a line that can only continue a query of models.
  func continuation(in line: String) -> Range<Int>? {
    let tokens = Tokenizer.tokens(of: line)
    guard let first = tokens.first, case .word(let word) = first.kind, tokens.count > 2 else { return nil }
    switch word.lowercased() {
    case "order", "group": return tokens[1].isWord("by") ? first.range : nil
    case let word: return Self.continuing.contains(word) && models.place(of: word) == nil ? first.range : nil
    }
  }

  private static let continuing: Set<String> = [
    "where", "and", "or", "having", "limit", "offset", "set", "like", "in", "between", "is", "contains", "glob",
    "regexp",
  ]

  private func isModelWord(_ token: Token, before next: Token) -> Bool {
    switch token.kind {
    case .word(let word) where statementWords.contains(word.lowercased()): isSurelyModel(word, next)
    case .word(let word):
      models.place(of: word) != nil || Parser.kept(word) != nil
        || !["query"].contains(word.lowercased())
    case .quotedName: true
    default: false
    }
  }

  /// Whether an input that begins with this word is in the model language, even if it is misspelled.
  private func isModel(_ token: Token, _ next: Token) -> Bool {
    guard case .word(let word) = token.kind else { return false }
    if models.place(of: word) != nil { return true }
    // A misspelled word of SQL is one if what follows could be SQL's too.
    if nearest(to: word, among: statementWords.sorted()) != nil,
      !["where", "select", "order"].contains(where: next.isWord)
    {
      return false
    }
    switch next.kind {
    case .end, .integer, .text, .sign("."): return true
    default: return ["where", "select", "order", "limit", "set", "group", "offset"].contains { next.isWord($0) }
    }
  }
}

extension Substring {
  /// Without white space at either end.
  var trimmed: String {
    var text = self.drop { $0.isWhitespace }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
