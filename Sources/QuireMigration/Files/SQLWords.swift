import QuireSQLite

/// The words of one statement without white space and comments, to recognize the few forms that drop something.
///
/// SQLite has already parsed the statement, so its form is known to be valid.
struct SQLWords {
  private let words: [String]
  /// The same words, with names unquoted.
  private let names: [String]
  /// The line of the script the statement begins on, from 1.
  private(set) var line = 1

  /// The statements of a script, each with its words; a trigger's own statements belong to it.
  static func statements(of script: String) -> [SQLWords] { statementsAndRanges(of: script).map(\.0) }

  /// As ``statements(of:)``, each with its bytes in the script.
  static func statementsAndRanges(of script: String) -> [(SQLWords, Range<Int>)] {
    let bytes = Array(script.utf8)
    var (counted, line) = (0, 1)
    return SQLStatements(script).map { statement in
      line += bytes[counted..<statement.range.lowerBound].count { $0 == 10 }
      counted = statement.range.lowerBound
      var words = SQLWords(SQLTokens(bytes: bytes, in: statement.range))
      words.line = line
      return (words, statement.range)
    }
  }

  init(_ statement: String) { self.init(SQLTokens(statement)) }

  private init(_ tokens: SQLTokens) {
    let words = tokens.filter { $0.isSignificant && !tokens.isMark($0, ";") }
    self.words = words.map(tokens.text(of:))
    names = words.map(tokens.name(of:))
  }

  private func isWord(_ index: Int, _ word: String) -> Bool {
    words.indices.contains(index) && words[index].uppercased() == word
  }

  /// The name at `index`, without a schema's name before it, and where it ends.
  private func name(at index: Int) -> (name: String, end: Int)? {
    guard words.indices.contains(index) else { return nil }
    if words.indices.contains(index + 2), words[index + 1] == "." { return (names[index + 2], index + 3) }
    return (names[index], index + 1)
  }

  /// The kind (`TABLE`, `INDEX`, `TRIGGER`, `VIEW`) and the name of the dropped object.
  var dropped: (kind: String, name: String)? {
    guard isWord(0, "DROP"), words.count > 2 else { return nil }
    let start = isWord(2, "IF") && isWord(3, "EXISTS") ? 4 : 2
    return name(at: start).map { (words[1].uppercased(), $0.name) }
  }

  /// The table that it makes, without rows unless it is made of a query.
  var createdTable: String? {
    guard isWord(0, "CREATE"), let table = words.prefix(3).firstIndex(where: { $0.uppercased() == "TABLE" }) else {
      return nil
    }
    let start = isWord(table + 1, "IF") ? table + 4 : table + 1
    return name(at: start).flatMap { isWord($0.end, "AS") ? nil : $0.name }
  }

  var droppedTable: String? { dropped.flatMap { $0.kind == "TABLE" ? $0.name : nil } }

  /// What follows `ALTER TABLE name`.
  private var alteration: (table: String, rest: Int)? {
    guard isWord(0, "ALTER"), isWord(1, "TABLE") else { return nil }
    return name(at: 2).map { ($0.name, $0.end) }
  }

  var renamedTable: (table: String, newName: String)? {
    guard let (table, rest) = alteration, isWord(rest, "RENAME"), isWord(rest + 1, "TO") else { return nil }
    return name(at: rest + 2).map { (table, $0.name) }
  }

  var droppedColumn: (table: String, column: String)? {
    guard let (table, rest) = alteration, isWord(rest, "DROP") else { return nil }
    let column = isWord(rest + 1, "COLUMN") && words.indices.contains(rest + 2) ? rest + 2 : rest + 1
    return words.indices.contains(column) ? (table, names[column]) : nil
  }

  /// The table and column of an `ADD COLUMN` that SQLite refuses where the table has rows, and what it refuses.
  var addedUnlessEmpty: (table: String, column: String, reason: String)? {
    guard let (table, rest) = alteration, isWord(rest, "ADD") else { return nil }
    let column = isWord(rest + 1, "COLUMN") && words.indices.contains(rest + 2) ? rest + 2 : rest + 1
    guard words.indices.contains(column) else { return nil }
    let definition = words.dropFirst(column + 1).map { $0.uppercased() }
    let name = names[column]
    if definition.contains("STORED") { return (table, name, "is computed and STORED") }
    let value = definition.firstIndex(of: "DEFAULT").flatMap { $0 + 1 < definition.count ? definition[$0 + 1] : nil }
    if let value, value == "(" && !isConstant(definition) || value.hasPrefix("CURRENT_") {
      return (table, name, "has a default that is not a constant")
    }
    let isRequired = zip(definition, definition.dropFirst()).contains { $0 == ("NOT", "NULL") }
    return isRequired && (value == nil || value == "NULL") ? (table, name, "is NOT NULL without a default") : nil
  }

  /// Whether the default in parentheses is a number or a text alone.
  private func isConstant(_ definition: [String]) -> Bool {
    guard let start = definition.firstIndex(of: "DEFAULT") else { return true }
    let value = definition[(start + 2)...].prefix { $0 != ")" }
    let literal = value.drop { $0 == "-" || $0 == "+" }
    guard literal.count == 1, let first = literal.first?.first else { return false }
    return first.isNumber || "'.".contains(first) || ["NULL", "TRUE", "FALSE"].contains(literal.first)
  }

  /// The table to which an INSERT or UPDATE writes, and the columns it names; nil for all of them.
  var givenColumns: (table: String, columns: [String]?)? {
    if verb == "UPDATE", let (name, end) = name(at: isWord(1, "OR") ? 3 : 1) {
      return (name, Array(names.dropFirst(end)))
    }
    guard ["INSERT", "REPLACE", "WITH"].contains(verb),
      let into = words.firstIndex(where: { $0.uppercased() == "INTO" }),
      let (name, end) = name(at: into + 1)
    else { return nil }
    let start = isWord(end, "AS") ? end + 2 : end
    guard words.indices.contains(start), words[start] == "(" else { return (name, nil) }
    return (name, words.indices.dropFirst(start + 1).prefix { words[$0] != ")" }.map { names[$0] })
  }

  /// The table of which an INSERT or UPDATE deletes rows that are in the way of new ones.
  var replacedRows: String? {
    let replaces = zip(words, words.dropFirst()).contains {
      $0.0.uppercased() == "OR" && $0.1.uppercased() == "REPLACE"
    }
    let isAbbreviated = words.firstIndex { $0.uppercased() == "INTO" }.map { isWord($0 - 1, "REPLACE") } ?? false
    return replaces || isAbbreviated ? givenColumns?.table : nil
  }

  /// The table of an UPDATE or DELETE that affects all its rows; words in parentheses belong to a query in it.
  var changesAllRows: (verb: String, table: String)? {
    guard ["UPDATE", "DELETE", "WITH"].contains(verb) else { return nil }
    var depth = 0
    let outer = words.indices.filter { index in
      if words[index] == "(" { depth += 1 }
      if words[index] == ")" { depth -= 1 }
      return depth == 0
    }
    func isAny(_ verbs: [String], _ index: Int) -> Bool { verbs.contains { isWord(index, $0) } }
    guard let start = outer.first(where: { isAny(["UPDATE", "DELETE", "INSERT", "REPLACE", "SELECT", "VALUES"], $0) }),
      isAny(["UPDATE", "DELETE"], start), !outer.contains(where: { isWord($0, "WHERE") })
    else { return nil }
    let first = isWord(start + 1, "FROM") ? start + 2 : isWord(start + 1, "OR") ? start + 3 : start + 1
    return name(at: first).map { (words[start].uppercased(), $0.name) }
  }

  /// The first word, in capitals.
  var verb: String { words.first?.uppercased() ?? "" }

  /// The word of a statement that cannot run in a transaction, or begins or ends one.
  var transactionWord: String? {
    if verb == "END" { return "COMMIT" }
    return ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "ATTACH", "DETACH", "VACUUM"].first { $0 == verb }
  }

  /// A pragma's name in small letters, and whether it is given a value.
  var pragma: (name: String, hasValue: Bool)? {
    guard verb == "PRAGMA", let (name, end) = name(at: 1) else { return nil }
    return (name.lowercased(), words.indices.contains(end) && ["=", "("].contains(words[end]))
  }

  /// Whether the statement can remove or rewrite existing data, so that a rehearsal is useful.
  var touchesData: Bool {
    switch words.first?.uppercased() {
    case "DROP": dropped?.kind == "TABLE"
    case "ALTER": !(alteration.map { isWord($0.rest, "ADD") } ?? false)
    case "UPDATE", "DELETE", "REPLACE", "INSERT", "WITH": true
    case "CREATE": isWord(1, "UNIQUE")
    default: false
    }
  }
}
