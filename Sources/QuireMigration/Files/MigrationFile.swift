import QuireSQLite

/// One file of `Migrations/`: what it does, how it is undone, and its directives.
///
///     -- create authors and books            the first comment is the title
///     CREATE TABLE author (…) STRICT;
///     -- migrate: undo                       what follows is the undo, optional
///     DROP TABLE author;
///
/// Line endings become LF, and a byte order mark is removed. An undo section without a statement counts as none.
public struct MigrationFile: Hashable, Sendable {
  /// The number in its name, which orders the files.
  public let version: MigrationVersion
  /// Its first comment, or else the words of its name.
  public let title: String
  /// The path it was read from, as shown in messages.
  public let path: String
  /// The SQL to run: everything up to the undo section, directives and comments included.
  public let up: String
  /// The SQL that undoes it; nil if there is no undo section with a statement.
  public let undo: String?
  /// The line on which ``undo`` begins: that of its directive.
  public let undoLine: Int
  /// The path of ``undo``: another file's with tools that have files of two kinds.
  package let undoPath: String
  /// Without ``MigrationDirective/undo``.
  public let directives: [MigrationDirective]
  /// Whether any directive says that it was written for Quire. All other files run as they would with SQLite's shell or
  /// their own tool: with strings in double quotes; `PRAGMA foreign_keys`, BEGIN and COMMIT are ignored.
  let isOwn: Bool
  /// The whole text as it was read, including byte order mark and line endings.
  let source: String

  /// Whether it declares a finding of the checks, such as `M001`, as intended.
  public func allows(_ code: String) -> Bool {
    directives.contains { if case .allow(code, _) = $0 { true } else { false } }
  }

  /// Whether it has no statement to run, as a new file: it is listed, but running or recording it is refused. An empty
  /// file of another tool does nothing, as it does with that tool.
  public var isEmpty: Bool {
    let isOthers = !isOwn && directives.contains { if case .tool = $0 { true } else { false } }
    return !isOthers && hasNoStatement
  }

  /// Whether nothing is in it that could be run; with another tool's file that is no error.
  package var hasNoStatement: Bool { !directives.contains(where: \.isStep) && SQLTokens.isEmpty(up) }

  /// Whether it can remove or rewrite existing data, so that a rehearsal is useful: judged by the words of its
  /// statements.
  public var touchesData: Bool {
    if directives.contains(where: \.isStep) { return true }
    return SQLWords.statements(of: up).contains(where: \.touchesData)
  }

  /// Whether it drops a view, which other views and triggers may need: a rehearsal without rows tells.
  package var dropsView: Bool { SQLWords.statements(of: up).contains { $0.dropped?.kind == "VIEW" } }

  /// Whether it may leave its connection with other settings than a new one has.
  var changesConnection: Bool {
    let tokens = SQLTokens(up)
    return directives.contains { $0 == .noTransaction || $0.isStep }
      || tokens.contains { $0.kind == .word && tokens.text(of: $0).uppercased() == "PRAGMA" }
  }

  /// What its statements do beyond adding: `rebuilds book`, `drops book.note`; nil if they only add.
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

  /// The last part of ``path``: `20261120143005_add_isbn_to_book.sql`.
  public var name: String { String(path.split(separator: "/").last ?? "") }
}

extension MigrationFile {
  /// What tools write above each new file or statement: it says nothing of the migration, as its name does.
  private static let templates: Set = [
    "Add migration script here", "Custom SQL migration file, put your code below! --", "Your SQL goes here",
    "AddForeignKey", "AlterTable", "CreateIndex", "CreateTable", "DropForeignKey", "DropIndex", "DropTable",
    "RedefineTables", "RenameIndex", "Disable the enforcement of foreign-keys constraints",
    "disable the enforcement of foreign-keys constraints",
  ]

  /// Whether a comment's content says what the migration does.
  static func isTitle(_ comment: String) -> Bool {
    !comment.isEmpty && !templates.contains(comment) && !comment.hasPrefix("atlas:") && !ForeignMark.isMark(comment)
  }

  /// Reads `text` as the file at `path`.
  ///
  /// - Throws: ``MigrationError`` if a name or directive is unknown, or if it has another tool's mark for an undo
  ///   section and no directive of Quire.
  public init(path: String, text: String) throws(MigrationError) {
    let name = String(path.split(separator: "/").last ?? "")
    let parts = name.dropLast(4).split(separator: "_", maxSplits: 1)
    guard name.hasSuffix(".sql"), let digits = parts.first, let version = MigrationVersion(String(digits)),
      parts.count == 2
    else { throw .name(file: path) }
    try self.init(path: path, text: text, version: version, title: Self.words(parts[1]), format: .quire)
  }

  /// - Parameter words: The title if there is no comment with one.
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
        } else if title == nil, !sawStatement, undo == nil, Self.isTitle(comment),
          line > 1 || !SQLWords.asksForNoTransaction(text)
        {
          title = (comment, line)
        } else if let first = title, line == first.line + 1, !sawStatement, comment.first?.isLowercase == true {
          // A sentence that continues on the next line is not a title.
          title = (words, first.line)
        }
      default: sawStatement = true
      }
      line += tokens.bytes[token.range].count { $0 == 10 }
    }

    let bytes = tokens.bytes
    let up = String(decoding: bytes[..<(undo?.comment.lowerBound ?? bytes.count)], as: UTF8.self)
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
    undoPath = path
    let isSqlxs = !isOwn && SQLWords.asksForNoTransaction(up) && SQLStatements(up).contains(where: \.needsNoTransaction)
    self.directives = (format == .quire ? [] : [.tool(format)]) + directives + (isSqlxs ? [.noTransaction] : [])
    self.source = source
  }

  /// `text` without a byte order mark, and with LF for line endings.
  ///
  /// - Throws: ``MigrationError/malformed(file:line:reason:)`` if it contains a NUL, after which SQLite would stop
  ///   reading, or a comment that was meant to end at a CR, at which SQLite ends none.
  static func plain(_ text: String, path: String) throws(MigrationError) -> String {
    var text = text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
    if text.utf8.contains(13) {
      text.replace("\r\n", with: "\n")
      if let line = lineOfSwallowedText(text) {
        throw .malformed(
          file: path, line: line,
          reason: "a comment's line ends in CR alone, which in SQL makes the next line a comment, too. End lines in LF")
      }
    }
    if let nul = text.utf8.firstIndex(of: 0) {
      if let encoding = WideEncoding.name(of: text.utf8) { throw .encoding(encoding, file: path) }
      throw .malformed(
        file: path, line: text.utf8[..<nul].count { $0 == 10 } + 1,
        reason: "it contains a NUL byte, at which SQLite stops reading. tr -d '\\0' <FILE >NEW takes it out")
    }
    return text
  }

  /// The line of the first comment with a CR in it and text behind that; from 1.
  private static func lineOfSwallowedText(_ text: String) -> Int? {
    guard text.utf8.contains(13) else { return nil }
    let tokens = SQLTokens(text)
    var line = 1
    for token in tokens {
      let bytes = tokens.bytes[token.range]
      if token.kind == .lineComment, let end = bytes.firstIndex(of: 13), bytes[end...].contains(where: { $0 > 32 }) {
        return line
      }
      line += bytes.count { $0 == 10 }
    }
    return nil
  }

  private static func words(_ name: Substring) -> String { String(name).replacing("_", with: " ") }

  /// The first line with content inside a comment's marks.
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
