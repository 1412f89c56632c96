import QuireSQLite

/// One file of `Migrations/`: what it does, how it is taken back, and what it says about being run.
///
///     -- create authors and books            the first comment is the title
///     CREATE TABLE author (…) STRICT;
///     -- migrate: undo                       what follows is the undo, optional
///     DROP TABLE author;
///
/// Line endings are LF and a byte order mark is gone, whatever the file has. An undo without a statement is none.
public struct MigrationFile: Hashable, Sendable {
  public let version: MigrationVersion
  public let title: String
  /// Where it was read from, as messages show it.
  public let path: String
  public let up: String
  public let undo: String?
  /// The line that ``undo`` begins on: the one of its mark.
  public let undoLine: Int
  /// Without ``MigrationDirective/undo``.
  public let directives: [MigrationDirective]
  /// Whether a line of it says that it was written for Quire: any directive. All other files run as they would with
  /// SQLite's shell or their own tool: with strings in double quotes, and `PRAGMA foreign_keys`.
  let isOwn: Bool
  /// The whole text as it was read, byte order mark, line ends and all.
  let source: String

  /// Whether it says that a finding of the checks, such as `M001`, is meant.
  public func allows(_ code: String) -> Bool {
    directives.contains { if case .allow(code, _) = $0 { true } else { false } }
  }

  /// Whether it can take away or rewrite what is there, so that running it on a copy first shows something: judged by the
  /// words of its statements.
  public var touchesData: Bool {
    if directives.contains(where: \.isStep) { return true }
    return SQLWords.statements(of: up).contains(where: \.touchesData)
  }

  /// Whether a connection it has run on may be set otherwise than one that was opened anew.
  var changesConnection: Bool {
    let tokens = SQLTokens(up)
    return directives.contains { $0 == .noTransaction || $0.isStep }
      || tokens.contains { $0.kind == .word && tokens.text(of: $0).uppercased() == "PRAGMA" }
  }

  /// What its statements do that is more than adding: `rebuilds book`, `drops book.note`; nil for nothing of the kind.
  public var summary: String? {
    let statements = SQLWords.statements(of: up)
    let renamed = Set(statements.compactMap { $0.renamedTable.map { SQLName($0.newName) } })
    let parts = statements.compactMap { statement -> String? in
      if let table = statement.droppedTable {
        return renamed.contains(SQLName(table)) ? "rebuilds \(table)" : "drops \(table)"
      }
      if let (table, column) = statement.droppedColumn { return "drops \(table).\(column)" }
      return nil
    }
    return parts.isEmpty ? nil : parts.prefix(3).joined(separator: ", ") + (parts.count > 3 ? " …" : "")
  }

  public var name: String { String(path.split(separator: "/").last ?? "") }
}

extension MigrationFile {
  /// Reads `text` as the file at `path`.
  ///
  /// - Throws: ``MigrationError`` for a name or a directive that is not known, a file that does nothing, and one with
  ///   another tool's mark for the part that takes it back, unless a directive says that the file is Quire's.
  public init(path: String, text: String) throws(MigrationError) {
    let name = String(path.split(separator: "/").last ?? "")
    let parts = name.dropLast(4).split(separator: "_", maxSplits: 1)
    guard name.hasSuffix(".sql"), let digits = parts.first, let version = MigrationVersion(String(digits)),
      parts.count == 2
    else { throw .name(file: path) }
    try self.init(path: path, text: text, version: version, title: Self.words(parts[1]), format: .quire)
  }

  /// - Parameter words: the title where no comment is one.
  init(path: String, text: String, version: MigrationVersion, title words: String, format: MigrationFormat)
    throws(MigrationError)
  {
    let source = text
    let text = try Self.plain(source, path: path)
    let tokens = SQLTokens(text)
    var title: (text: String, line: Int)?
    var sawStatement = false
    var directives: [MigrationDirective] = []
    var undo: (comment: Range<Int>, line: Int)?
    var line = 1
    for token in tokens {
      switch token.kind {
      case .blank: break
      case .lineComment, .blockComment:
        let comment = Self.content(of: tokens.text(of: token))
        let isDirective = token.kind == .lineComment
        if isDirective, let directive = try MigrationDirective(comment: comment, file: path, line: line) {
          if directive == .undo {
            if undo != nil {
              throw .directive("undo", file: path, line: line, hint: "it stands in the file already")
            }
            undo = (token.range, line)
          } else if undo == nil {
            directives.append(directive)
          } else if !directive.isStep {
            throw .directive(comment, file: path, line: line, hint: "move it above the undo section")
          }
        } else if title == nil, !sawStatement, undo == nil, !comment.isEmpty {
          title = (comment, line)
        } else if let first = title, line == first.line + 1, !sawStatement, comment.first?.isLowercase == true {
          // A sentence that goes on in the next line is no title.
          title = (words, first.line)
        }
      default: sawStatement = true
      }
      line += tokens.bytes[token.range].count { $0 == 10 }
    }

    let bytes = tokens.bytes
    let up = String(decoding: bytes[..<(undo?.comment.lowerBound ?? bytes.count)], as: UTF8.self)
    if SQLTokens.isEmpty(up), !directives.contains(where: \.isStep) {
      throw .empty(file: path)
    }
    isOwn = undo != nil || !directives.isEmpty
    if !isOwn, let mark = ForeignMark.all(in: up).first { throw mark.refusal(of: path, canBeOwn: true) }
    self.version = version
    self.title = title?.text ?? words
    self.path = path
    self.up = up
    let below = undo.map { String(decoding: bytes[$0.comment.upperBound...], as: UTF8.self) }
    self.undo = try below.flatMap { below throws(MigrationError) in
      try MigrationText(name: path, sql: below).pieces().isEmpty ? nil : below
    }
    undoLine = undo?.line ?? line
    self.directives = (format == .quire ? [] : [.tool(format)]) + directives
    self.source = source
  }

  /// `text` without a byte order mark, and with LF for line ends.
  ///
  /// - Throws: ``MigrationError/malformed(file:line:reason:)`` where it has a NUL, behind which SQLite would not look.
  static func plain(_ text: String, path: String) throws(MigrationError) -> String {
    var text = text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
    if text.utf8.contains(13) { text.replace("\r\n", with: "\n") }
    if let nul = text.utf8.firstIndex(of: 0) {
      throw .malformed(file: path, line: text.utf8[..<nul].count { $0 == 10 } + 1, reason: "it contains a NUL byte")
    }
    return text
  }

  private static func words(_ name: Substring) -> String { String(name).replacing("_", with: " ") }

  /// The first line that says something inside a comment's marks.
  static func content(of comment: String) -> String {
    func isMark(_ character: Character) -> Bool {
      character == "-" || character == "/" || character == "*" || character.isWhitespace
    }
    for line in comment.utf8.split(separator: 10) {
      let content = Substring(line).drop(while: isMark)
      if let end = content.lastIndex(where: { !isMark($0) }) { return String(content[...end]) }
    }
    return ""
  }
}
