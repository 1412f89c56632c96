import QuireSQLite

/// Another tool's files → migrations, with the meaning of that tool's marks and pairs.
///
/// Each runs in one transaction with its record, so a file's own BEGIN and COMMIT, and `PRAGMA foreign_keys`, which has
/// no effect inside a transaction, are ignored. Line numbers stay those of the file. An undo part without a statement
/// undoes nothing, as it does with the tool.
struct ToolFolder {
  let format: MigrationFormat
  /// In any order.
  let files: [File]

  struct File {
    let path: String
    let name: MigrationName
    /// As read, and without its byte order mark and with LF for line endings.
    let source, text: String

    init(path: String, source: String) throws(MigrationError) {
      self.path = path
      self.source = source
      name = MigrationName(String(path.split(separator: "/").last ?? ""))
      text = try MigrationFile.plain(source, path: path)
    }
  }

  /// - Parameter unread: Receives the error of a file that cannot be run without its tool, and may throw it.
  func migrations(_ unread: (MigrationError) throws(MigrationError) -> Void) throws(MigrationError) -> [MigrationFile] {
    try files.each(unread) { file throws(MigrationError) in try migration(of: file) }
  }

  /// Nil for a file that is another one's undo, or of no meaning to the tool.
  private func migration(of file: File) throws(MigrationError) -> MigrationFile? {
    switch (format, file.name.kind) {
    case (.flyway, .repeatable):
      throw .malformed(
        file: file.path, line: 1,
        reason: "a repeatable migration has no number, and only Flyway can run it: give it one")
    case (.flyway, .versioned):
      let undo = undo(of: { $0.kind == .undo && $0.version == file.name.version })
      return try migration(file, up: file.text, undo: undo?.text, undoPath: undo?.path)
    case (.flyway, .undo):
      if files.contains(where: { $0.name.kind == .versioned && $0.name.version == file.name.version }) { return nil }
      // In refinery U means that the migration may run out of order, and there are no undo files.
      if MigrationName.haveUndo(files.map(\.name)) {
        throw .malformed(
          file: file.path, line: 1,
          reason: "there is no file that it undoes. Nothing was run. If it is to run, name it with V")
      }
      return try migration(file, up: file.text, undo: nil)
    case (.golangMigrate, .number):
      if file.name.direction == .down {
        guard files.contains(where: { $0.name.direction != .down && $0.name.version == file.name.version }) else {
          throw .malformed(file: file.path, line: 1, reason: "there is no file that it undoes")
        }
        return nil
      }
      let undo = undo(of: { $0.direction == .down && $0.version == file.name.version })
      return try migration(
        file, up: file.text, undo: undo?.text, undoPath: undo?.path,
        asksForNoTransaction: SQLWords.asksForNoTransaction(file.text))
    case (.dbmate, .number), (.goose, .number): return try marked(file)
    case (.plain, .number): return try plain(file)
    case (.flyway, .other):
      if let reason = MigrationName.reasonOnlyFlyway(runs: file.path) {
        throw .malformed(file: file.path, line: 1, reason: reason)
      }
      return nil
    default: return nil
    }
  }

  private func undo(of isUndo: (MigrationName) -> Bool) -> File? { files.first { isUndo($0.name) } }

  /// A file with a number other than Quire's; it is Quire's nevertheless if a line says so.
  private func plain(_ file: File) throws(MigrationError) -> MigrationFile {
    guard let version = file.name.version else { throw .name(file: file.path) }
    if MigrationText(name: file.path, sql: file.text).directives.isEmpty {
      if let mark = ForeignMark.all(in: file.text).first { throw mark.refusal(of: file.path, canBeOwn: true) }
      return try migration(
        file, up: file.text, undo: nil, asksForNoTransaction: SQLWords.asksForNoTransaction(file.text))
    }
    return try MigrationFile(
      path: file.path, text: file.source, version: version, title: file.name.title, format: format)
  }

  /// A file with two parts, each after its mark.
  private func marked(_ file: File) throws(MigrationError) -> MigrationFile {
    let lines = file.text.utf8.split(separator: 10, omittingEmptySubsequences: false)
    var up: (line: Int, options: String)?
    var down: (line: Int, options: String)?
    var hasNoTransaction = false
    for mark in MigrationFormat.marks(file.text) where mark.tool == format {
      func wrong(_ reason: String) -> MigrationError {
        .malformed(file: file.path, line: mark.line + 1, reason: reason)
      }
      switch mark.words.split(separator: " ").first.map(String.init) ?? "" {
      case "up":
        if up != nil { throw wrong("it has a second part that runs it") }
        up = (mark.line, mark.words)
      case "down":
        if up == nil { throw wrong("what takes it back stands before what runs it") }
        if down != nil { throw wrong("it has a second part that takes it back") }
        down = (mark.line, mark.words)
      case "statementbegin", "statementend": break
      case "envsub" where mark.words.hasSuffix("on"): throw wrong("only goose can put variables into it")
      default: hasNoTransaction = hasNoTransaction || mark.words == "no transaction"
      }
    }
    guard let up else {
      throw .malformed(
        file: file.path, line: 1,
        reason:
          "no line says -- \(format == .goose ? "+goose Up" : "migrate:up"), as the others of \(format.rawValue) do")
    }
    try checkAbove(up.line, in: lines, of: file)
    func isAlone(_ options: String) -> Bool {
      hasNoTransaction || options.split(separator: " ").contains("transaction:false")
    }
    // Empty lines replace what comes before it and the mark, so that line numbers are kept.
    let blanks = String(repeating: "\n", count: up.line + 1)
    let hasLoneUndo = down.map { isAlone($0.options) } == true
    return try migration(
      file, up: blanks + Self.text(lines[(up.line + 1)..<(down?.line ?? lines.count)]),
      undo: down.map { down in
        // The database keeps nothing but the text, which says in the place of the mark what the mark says.
        (hasLoneUndo ? SQLWords.noTransaction + "\n" : "") + Self.text(lines[(down.line + 1)...])
      }, asksForNoTransaction: isAlone(up.options), undoLine: (down?.line ?? 0) + (hasLoneUndo ? 1 : 2))
  }

  /// Refuses SQL above the mark, as the tools do: it belongs to neither part.
  private func checkAbove(_ mark: Int, in lines: [Substring.UTF8View], of file: File) throws(MigrationError) {
    let tokens = SQLTokens(Self.text(lines[..<mark]))
    guard !tokens.isEmpty, let first = tokens.first(where: { $0.isSignificant && !tokens.isMark($0, ";") }) else {
      return
    }
    let line = tokens.bytes[..<first.range.lowerBound].count { $0 == 10 }
    throw .malformed(
      file: file.path, line: line + 1,
      reason: """
        ‘\(String(decoding: lines[line].prefix(60), as: UTF8.self))’ stands above the line \
        ‘\(String(decoding: lines[mark].prefix(60), as: UTF8.self))’, and so in no part of the file.
        Nothing was run. Move it below that line.
        """)
  }

  private static func text(_ lines: ArraySlice<Substring.UTF8View>) -> String {
    String(decoding: Array(lines.joined(separator: CollectionOfOne(10))), as: UTF8.self)
  }

  /// The title of a file whose name has none.
  private static func firstComment(of sql: String) -> String {
    let tokens = SQLTokens(sql)
    let comments = tokens.lazy.prefix { !$0.isSignificant }.filter { $0.kind != .blank }
    return comments.map { MigrationFile.content(of: tokens.text(of: $0)) }.first(where: MigrationFile.isTitle) ?? ""
  }

  private func migration(
    _ file: File, up: String, undo: String?, undoPath: String? = nil,
    asksForNoTransaction: Bool = false, undoLine: Int = 1
  ) throws(MigrationError) -> MigrationFile {
    guard let version = file.name.version else { throw .name(file: file.path) }
    if format == .flyway, let place = up.firstRange(of: "${") {
      throw .malformed(
        file: file.path, line: up.utf8[..<place.lowerBound].count { $0 == 10 } + 1,
        reason: "only Flyway fills in what stands in ${…}: write the value")
    }
    if let mark = ForeignMark.all(in: up).first(where: \.isDown) { throw mark.refusal(of: file.path, canBeOwn: false) }
    let up = SQLStatements(up).withoutTransactions()
    let undo = undo.map { SQLStatements($0).withoutTransactions() }
    let asksForNoTransaction =
      asksForNoTransaction
      || file.text.contains("no-transaction")
        && MigrationText(name: file.path, sql: file.text).directives.contains(.noTransaction)
    let isAlone = asksForNoTransaction && SQLStatements(up).contains(where: \.needsNoTransaction)
    return MigrationFile(
      version: version, title: file.name.title.isEmpty ? Self.firstComment(of: up) : file.name.title, path: file.path,
      up: up, undo: undo, undoLine: undoLine,
      undoPath: undoPath ?? file.path,
      directives: [.tool(format)] + (isAlone ? [.noTransaction] : []), isOwn: false, source: file.source)
  }
}
