import QuireSQLite

/// A comment by which another tool separates the part of a file that runs from the part that undoes it, such as `--
/// +migrate Down` or a bare `-- Down`, or says when the file, or some of its lines, do not run at all. A tool that does not
/// know the mark runs everything.
struct ForeignMark: Hashable {
  /// From 1.
  let line: Int
  let text: String
  /// Nil if several tools use it.
  let tool: String?
  /// Whether the part after it undoes something, or may.
  let isDown: Bool
  /// What would go wrong, and what helps; nil of a mark that separates parts.
  private let condition: String?

  /// All marks of a text, in order. Text in strings, and comments after a statement on its line, do not count.
  static func all(in text: String) -> [ForeignMark] {
    // Nearly every file returns here, without tokenizing.
    guard mayHold(text) else { return [] }
    let tokens = SQLTokens(text)
    var marks: [ForeignMark] = []
    var line = 1
    var isAtStart = true
    for token in tokens {
      let bytes = tokens.bytes[token.range]
      switch token.kind {
      case .lineComment, .blockComment:
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        if isAtStart, lines.count == 1, let mark = ForeignMark(String(decoding: bytes, as: UTF8.self), line: line) {
          marks.append(mark)
        }
      case .blank: isAtStart = isAtStart || bytes.contains(10)
      default: isAtStart = false
      }
      line += bytes.count { $0 == 10 }
    }
    return marks
  }

  /// Whether a comment, without its dashes, is one.
  static func isMark(_ comment: String) -> Bool { ForeignMark("-- " + comment, line: 1) != nil }

  private static func mayHold(_ text: String) -> Bool {
    text.utf8.split(separator: 10).contains { line in
      let line = line.drop { $0 == 32 || $0 == 9 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }
      guard line.starts(with: "--".utf8) || line.starts(with: "/*".utf8) else { return false }
      return ForeignMark(String(decoding: line.prefix(200), as: UTF8.self), line: 0) != nil
    }
  }

  private init?(_ comment: String, line: Int) {
    let text = comment.prefix { !$0.isNewline }
    let words = text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    self.line = line
    self.text = String(text.prefix(60)).trimmingEnd
    condition = Self.condition(of: text.lowercased(), words)
    if condition != nil {
      (tool, isDown) = (["atlas": "Atlas", "only": "mautrix", "this": "Django"][words[0]] ?? "Liquibase", true)
      return
    }
    guard let (tool, isDown) = Self.meaning(of: text.lowercased(), words) else { return nil }
    self.tool = tool
    self.isDown = isDown
  }

  private static func condition(of text: String, _ words: [String]) -> String? {
    if words.starts(with: ["atlas", "checkpoint"]), text.contains("atlas:checkpoint") {
      return """
        it makes what the files before it make, and would run after them.
        Nothing was run. Move it, or those before it, out of a copy of the folder.
        """
    }
    // Of sqlmigrate, which prints it for RunPython.
    if text.hasSuffix("this operation cannot be written as sql") {
      return """
        Django runs Python there, which the file does not have.
        Nothing was run. Write in SQL what it does; if that is nothing in this database, take the line out.
        """
    }
    // Of dbutil, by which the bridges for Matrix migrate.
    if words.first == "only", text.contains("only:"), words.count > 1, ["postgres", "sqlite"].contains(words[1]),
      words.count == 2 || ["for", "until", "line", "lines"].contains(words[2])
    {
      return """
        it says for which kind of database the lines below it are, and they would run for each.
        Nothing was run. In a copy of the folder, take out the mark and what is not for SQLite.
        """
    }
    if words.first == "precondition" && text.contains("precondition-")
      || words.first == "preconditions" && words.count > 1 && outcomes.contains(words[1])
    {
      return """
        it says when what follows is to be run, and Quire would always run it.
        Nothing was run. Take those statements out of the file, or the line.
        """
    }
    guard words.first == "changeset", let place = words.firstIndex(where: conditions.contains), place > 1,
      words[place] != "dbms" || !words[place...].contains("sqlite"), text.contains(words[place] + ":")
    else { return nil }
    return """
      it says when that runs, and it would run always.
      Nothing was run. Take that statement out of the file, or the word out of the line.
      """
  }

  /// Of Liquibase's attributes those by which a change is left out.
  private static let conditions: Set<String> = ["dbms", "context", "contextfilter", "labels", "ignore"]

  /// The attributes of Liquibase's preconditions.
  private static let outcomes: Set<String> = ["onfail", "onerror", "onfailmessage", "onerrormessage", "onsqloutput"]

  private static func meaning(of text: String, _ words: [String]) -> (tool: String?, isDown: Bool)? {
    guard let first = words.first else { return nil }
    if words.starts(with: ["create", "above", "drop", "below"]) { return ("tern", true) }
    if let tool = plusTools[first], text.contains("+" + first), let second = words.dropFirst().first {
      return up.contains(second) || down.contains(second) || second.hasPrefix("statement")
        ? (tool, down.contains(second)) : nil
    }
    // Liquibase's marks have SQL after the word.
    if first == "rollback", words.count == 1 || text.hasPrefix("--rollback") || sql.contains(words[1]) {
      return (words.count == 1 ? nil : "Liquibase", true)
    }
    let directions = words.filter { up.contains($0) || down.contains($0) }
    guard directions.count == 1, let direction = directions.first, words.count <= 4 else { return nil }
    let rest = words.filter { $0 != direction }
    guard rest.allSatisfy({ fillers.contains($0) || $0.allSatisfy(\.isNumber) }) else { return nil }
    let tool: String? =
      if text.contains("//@undo") { "MyBatis" } else if rest == ["rambler"] { "rambler" } else if rest == ["migration"]
      {
        "node-pg-migrate"
      } else if text.contains("migrate:") { "dbmate" } else if text.contains("+goose") { "goose" } else { nil }
    return (tool, down.contains(direction))
  }

  private static let up: Set<String> = ["up", "ups", "upgrade", "forward", "forwards"]
  private static let down: Set<String> = [
    "down", "downs", "downgrade", "undo", "rollback", "revert", "reverse", "backward", "backwards",
  ]
  private static let plusTools = ["migrate": "sql-migrate", "micrate": "micrate"]
  /// Words that add no meaning to a direction.
  private static let fillers: Set<String> = [
    "migrate", "migration", "migrations", "script", "scripts", "section", "part", "sql", "statements", "code",
    "changes", "version", "rambler", "micrate", "goose", "dbmate", "yoyo",
  ]
  private static let sql: Set<String> = [
    "alter", "create", "delete", "drop", "empty", "insert", "pragma", "select", "update", "not",
  ]
}

extension ForeignMark {
  /// The error for `file`, which says what would make it Quire's if that is possible.
  func refusal(of file: String, canBeOwn: Bool) -> MigrationError {
    let owner = tool.map { "\($0)'s mark" } ?? "another tool's mark"
    return .malformed(
      file: file, line: line,
      reason: """
        ‘\(text)’ is \(owner), which Quire does not read: \
        \(condition ?? """
          the part that takes back would run, too.
          Nothing was run. \
          \(canBeOwn ? "Put that part below a line  -- migrate: undo  and the file is Quire's." : "Remove that part from the file.")
          """)
        """)
  }
}

extension String {
  /// Without blanks at its end.
  fileprivate var trimmingEnd: String { lastIndex { !$0.isWhitespace }.map { String(self[...$0]) } ?? "" }
}
