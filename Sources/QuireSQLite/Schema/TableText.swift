/// The parts of a CREATE TABLE that no pragma reports: collations, checks, how columns are generated, AUTOINCREMENT,
/// conflict clauses, deferred keys, and the position of the name.
///
/// Reads text from `sqlite_schema`, which SQLite has accepted; other text is read as far as possible.
package struct TableText {
  /// Byte offsets of the table's name.
  package private(set) var name = 0..<0
  private(set) var columns: [SQLName: Column] = [:]
  private(set) var checks: Set<SQLFragment> = []
  private(set) var isAutoincrement = false
  private(set) var keyConflict: SQLName?
  /// Conflict clauses of unique constraints, by their columns.
  private(set) var uniqueConflicts: [[SQLName]: SQLName] = [:]
  /// For each foreign key, in order, whether it is checked at the end of the transaction.
  private(set) var deferred: [Bool] = []

  struct Column {
    var collation: SQLName?
    var generated: SQLFragment?
    var whenNull: SQLName?
    /// The byte range of the whole definition.
    var range: Range<Int>
  }

  private let source: SQLTokens
  private let tokens: [SQLTokens.Token]
  private var position = 0

  package init(_ sql: String) {
    source = SQLTokens(sql)
    tokens = source.filter(\.isSignificant)
    while let token = peek, !isMark("(") {
      // The last name before the body: `CREATE TABLE main.book (`.
      if token.kind != .mark { name = token.range }
      advance()
    }
    advance()
    while peek != nil, !isMark(")") {
      let start = position
      if position > 0, ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains(keyword) {
        tableConstraint()
      } else {
        column()
      }
      if isMark(",") || position == start { advance() }
    }
  }

  /// A column's definition as it is written, on one line: `title TEXT NOT NULL CHECK (title <> '')`.
  package func definition(of column: SQLName) -> String {
    guard let range = columns[column]?.range else { return "\(column)" }
    return "\(SQLFragment(String(decoding: source.bytes[range], as: UTF8.self)))"
  }

  /// The whole text, with a default for columns that have none.
  func adding(defaults: [SQLName: String]) -> String {
    var bytes = Array(source.bytes)
    let places = defaults.compactMap { name, value in columns[name].map { ($0.range.upperBound, value) } }
    for (place, value) in places.sorted(by: { $0.0 > $1.0 }) {
      bytes.insert(contentsOf: " DEFAULT \(value)".utf8, at: place)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Columns

  private mutating func column() {
    guard let start = peek?.range, let name = takeName() else { return }
    var column = Column(range: start)
    while peek != nil, !isMark(","), !isMark(")") {
      switch keyword {
      case "CONSTRAINT": advance(2)
      case "PRIMARY":
        advance(2)
        skip(["ASC", "DESC"])
        keyConflict = conflict() ?? keyConflict
        if skip(["AUTOINCREMENT"]) { isAutoincrement = true }
      case "NOT" where keyword(after: 1) == "NULL":
        advance(2)
        column.whenNull = conflict() ?? column.whenNull
      case "NULL":
        advance()
        _ = conflict()
      case "UNIQUE":
        advance()
        if let conflict = conflict() { uniqueConflicts[[name]] = conflict }
      case "CHECK": check()
      case "DEFAULT":
        advance()
        if isMark("+") || isMark("-") { advance() }
        if isMark("(") { _ = takeGroup() } else { advance() }
      case "COLLATE":
        advance()
        let collation = takeName()
        column.collation = collation == "BINARY" ? nil : collation
      case "REFERENCES": references()
      case "AS":
        advance()
        column.generated = isMark("(") ? takeGroup() : nil
      default:
        // The type, GENERATED ALWAYS, STORED, and what follows a literal.
        if isMark("(") { _ = takeGroup() } else { advance() }
      }
    }
    column.range = start.lowerBound..<tokens[position - 1].range.upperBound
    columns[name] = column
  }

  // MARK: Constraints

  private mutating func tableConstraint() {
    switch keyword {
    case "CONSTRAINT": advance(2)
    case "PRIMARY":
      advance(2)
      if isMark("(") {
        let inside = names().isAutoincrement
        isAutoincrement = isAutoincrement || inside
      }
      keyConflict = conflict() ?? keyConflict
    case "UNIQUE":
      advance()
      let columns = names().columns
      if let conflict = conflict() { uniqueConflicts[columns] = conflict }
    case "CHECK": check()
    case "FOREIGN":
      advance(2)
      _ = names()
      if keyword == "REFERENCES" { references() }
    default: advance()
    }
  }

  private mutating func check() {
    advance()
    if isMark("(") { checks.insert(takeGroup()) }
    _ = conflict()
  }

  private mutating func references() {
    advance(2)
    if isMark("(") { _ = takeGroup() }
    var isDeferred = false
    while true {
      if keyword == "ON" {
        // ON DELETE CASCADE, ON UPDATE SET NULL, ON DELETE NO ACTION
        advance(2)
        advance(["SET", "NO"].contains(keyword) ? 2 : 1)
      } else if keyword == "MATCH" {
        advance(2)
      } else if keyword == "DEFERRABLE" || (keyword == "NOT" && keyword(after: 1) == "DEFERRABLE") {
        let isDeferrable = keyword == "DEFERRABLE"
        advance(isDeferrable ? 1 : 2)
        guard keyword == "INITIALLY" else { continue }
        isDeferred = isDeferrable && keyword(after: 1) == "DEFERRED"
        advance(2)
      } else {
        break
      }
    }
    deferred.append(isDeferred)
  }

  /// A list of columns in parentheses: their names, without collations and directions.
  private mutating func names() -> (columns: [SQLName], isAutoincrement: Bool) {
    guard isMark("(") else { return ([], false) }
    advance()
    var columns: [SQLName] = []
    var isAutoincrement = false
    var isFirst = true
    while let token = peek, !isMark(")") {
      if isMark("(") {
        _ = takeGroup()
        continue
      }
      if isFirst { columns.append(SQLName(source.name(of: token))) }
      if keyword == "AUTOINCREMENT" { isAutoincrement = true }
      isFirst = isMark(",")
      advance()
    }
    advance()
    return (columns, isAutoincrement)
  }

  private mutating func conflict() -> SQLName? {
    guard keyword == "ON", keyword(after: 1) == "CONFLICT" else { return nil }
    advance(2)
    let name = takeName()
    return name == "ABORT" ? nil : name
  }

  // MARK: Tokens

  private mutating func advance(_ count: Int = 1) { position = min(position + count, tokens.count) }

  private var peek: SQLTokens.Token? { position < tokens.count ? tokens[position] : nil }

  private func isMark(_ mark: Unicode.Scalar) -> Bool { peek.map { source.isMark($0, mark) } ?? false }

  /// In upper case; empty if it is not a word.
  private var keyword: String { keyword(after: 0) }

  private func keyword(after count: Int) -> String {
    guard position + count < tokens.count, tokens[position + count].kind == .word else { return "" }
    return source.text(of: tokens[position + count]).uppercased()
  }

  @discardableResult
  private mutating func skip(_ words: Set<String>) -> Bool {
    guard words.contains(keyword) else { return false }
    advance()
    return true
  }

  private mutating func takeName() -> SQLName? {
    guard let token = peek else { return nil }
    advance()
    return SQLName(source.name(of: token))
  }

  /// The tokens from an opening parenthesis to its closing one.
  private mutating func takeGroup() -> SQLFragment {
    var depth = 0
    let start = tokens[position].range.upperBound
    var end = start
    while let token = peek {
      if isMark("(") { depth += 1 }
      if isMark(")") { depth -= 1 }
      advance()
      end = token.range.lowerBound
      if depth == 0 { break }
      end = token.range.upperBound
    }
    return SQLFragment(String(decoding: source.bytes[start..<max(start, end)], as: UTF8.self))
  }
}
