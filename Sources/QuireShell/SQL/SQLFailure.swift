import Foundation
import QuireMigration
import QuireRow
package import QuireSQLite

/// What SQLite refuses, as a failure with its place in the input and what was probably meant.
struct SQLFailure {
  /// The whole input.
  let input: String
  let file: String
  /// Names of tables, columns and indexes.
  let names: () -> [String]
  /// The views and triggers whose text has a name, such as `view v`.
  var users: (_ name: String) -> [String] = { _ in [] }
  /// What was being done when it failed.
  var work = Work.reading
  /// How long it took to fail, if that is known.
  var elapsed: Duration?
  /// Whether SQLite has ended the transaction that was open.
  var hasEndedTransaction = false

  enum Work {
    case reading, writing, committing
    /// It is not known yet.
    case either
  }

  func explained(_ error: any Error, _ watch: RunWatch?) -> ShellFailure {
    switch error {
    case let failure as ShellFailure: return failure
    case let error as SQLiteError:
      if error.isInterrupted || watch?.wasStopped == true {
        if work == .reading { return withState(ShellFailure("stopped", .stopped)) }
        return withState(ShellFailure("stopped", state: "The statement that was running changed nothing", .stopped))
      }
      if error.isBusy { return ShellFailure(isSnapshotPassed: error.isSnapshotPassed, file, work, elapsed) }
      if error.isIndexMismatch {
        return withState(ShellFailure(SQLiteError.indexMismatch, hint: SQLiteError.rebuilding))
      }
      if error.isUnfinished { return ShellFailure(.unreadable(path: file, reason: DatabaseError.unfinished)) }
      return withState(whole(error) ?? placed(error))
    case let error as DatabaseError: return ShellFailure(error)
    default: return ShellFailure("\(error)")
    }
  }

  /// An error of the file or a disk, and not of the statement; nil for all others.
  private func whole(_ error: SQLiteError) -> ShellFailure? {
    if error.isFull, work == .reading && !error.isInputOutput || TemporaryFiles.isFull(beside: file) {
      return ShellFailure(
        "the disk of \(printable(TemporaryFiles.folder)) is full, where SQLite keeps what it sorts. "
          + "\(printable(file)) is \(work == .reading ? "not at fault" : "as it was before the statement")",
        hint: "make room there, or name another folder in SQLITE_TMPDIR")
    }
    return error.databaseError(path: file, waited: .zero).map { ShellFailure($0) }
  }

  private func withState(_ failure: ShellFailure) -> ShellFailure {
    guard hasEndedTransaction else { return failure }
    var failure = failure
    failure.state = nil
    return failure.rollingBack
  }

  /// SQLite reports the offset of many errors, but not of a missing table: then the name in the message is searched.
  private func placed(_ error: SQLiteError) -> ShellFailure {
    var tokens = SQLTokens(input)
    let name = Self.isMisplacedHaving(error) ? "having" : SQLMessage.name(in: error.message)
    var found: SQLTokens.Token?
    var named: SQLTokens.Token?
    var (last, before): (SQLTokens.Token?, SQLTokens.Token?)
    while let token = tokens.next() {
      if let offset = error.offset, token.range.contains(offset) { (found, before) = (token, last) }
      if token.isSignificant { last = token }
      if let name, named == nil, tokens.name(of: token).lowercased() == name.lowercased() {
        named = token
      }
    }
    if let offset = error.offset, error.sql != input { found = offset < input.utf8.count ? found : nil }
    guard let token = found.flatMap({ $0.kind == .blank ? nil : $0 }) ?? named ?? (error.isTooDeep ? deepest : nil)
    else {
      if error.message == "incomplete input", let end = last?.range.upperBound {
        return ShellFailure(error.message, at: end..<end)
      }
      let hint = Self.hint(ofMissing: error.message) ?? name.flatMap(hint(ofUsers:))
      return ShellFailure(error.message, hint: hint ?? self.hint(ofSearch: error.message))
    }
    let best = named.map { named in found?.range == named.range ? named : found ?? named } ?? token
    let hint = hint(error, name, tokens.text(of: best))
    if hint == nil, error.message.hasSuffix("syntax error"), let before, before.kind == .word, before.range.count > 3,
      let meant = Self.word(near: tokens.text(of: before))
    {
      // A misspelled keyword is a name to SQLite, and what follows it is wrong.
      return ShellFailure(error.message, at: before.range, hint: "did you mean \(meant)?")
    }
    return ShellFailure(error.message, at: best.range, hint: hint)
  }

  /// For what the statement does not name: then the file's own definitions do.
  static func hint(ofMissing message: String) -> String? {
    let start = "unable to open database: "
    if message.hasPrefix(start) { return FileObstacle.opening(named: String(message.dropFirst(start.count))) }
    guard SQLiteError.isOfApplication(message), SQLMessage.hint(ofNewerFunction: message) == nil else {
      return SQLMessage.hint(message)
    }
    return "\(users(ofMissing: message)): the program that made the file adds it to SQLite, and here it is not there"
      + (message.contains("collation") ? "; in SQL, COLLATE BINARY behind the column does without it" : "")
  }

  private static func users(ofMissing message: String) -> String {
    if message.contains("collation") { return "a column or an index of the file compares its texts so" }
    if message.hasPrefix("error in tokenizer") { return "the tokenizer of a virtual table of the file needs another" }
    return message.contains("function")
      ? "a trigger, view, index or check of the file uses it" : "a virtual table of the file uses it"
  }

  /// For the text of a full-text search, which is a language of its own.
  private func hint(ofSearch message: String) -> String? {
    let own = ["fts5: ", "malformed MATCH expression", "unknown special query", "unterminated string"]
    let tokens = SQLTokens(input)
    let isInSearch =
      message.hasPrefix("no such column: ")
      && tokens.contains { $0.kind == .word && tokens.text(of: $0).lowercased() == "match" }
    guard isInSearch || own.contains(where: message.hasPrefix) else { return nil }
    return "signs have a meaning in the text of a search: words in double quotes are searched as they are, "
      + "as in match '\"a-b\"'"
  }

  /// For a name that only the file's own definitions have.
  private func hint(ofUsers name: String) -> String? {
    let users = users(name)
    guard let first = users.first else { return nil }
    let all = users.prefix(3).joined(separator: ", ") + (users.count > 3 ? " …" : "")
    return "\(printable(all)) of the file \(users.count == 1 ? "uses" : "use") it: it has gone, or its name was "
      + "changed, since \(printable(first)) was made"
  }

  /// The keyword that was probably meant; nil for one that is written right.
  private static func word(near token: String) -> String? {
    nearest(to: token, among: words).flatMap { $0 == token.uppercased() ? nil : $0 }
  }

  /// The most deeply nested parenthesis, otherwise the first word.
  private var deepest: SQLTokens.Token? {
    var tokens = SQLTokens(input)
    var (depth, most) = (0, 0)
    var deepest: SQLTokens.Token?
    while let token = tokens.next() {
      if tokens.isMark(token, "(") {
        depth += 1
      } else if tokens.isMark(token, ")") {
        depth -= 1
      } else if token.kind != .word || deepest != nil {
        continue
      }
      if depth > most || deepest == nil { (most, deepest) = (depth, token) }
    }
    return deepest
  }

  private static func isMisplacedHaving(_ error: SQLiteError) -> Bool { error.message.hasPrefix("HAVING clause") }

  private func hint(_ error: SQLiteError, _ name: String?, _ token: String) -> String? {
    if let hint = SQLMessage.hint(error.message) { return hint }
    if error.message.hasPrefix("unrecognized token: \"{") {
      return "a row of a model is added without into: insert Book { … }"
    }
    if Self.isMisplacedHaving(error) { return "having is for groups: put a condition on rows after where" }
    if error.message.hasPrefix("no such function: ") {
      return nearest(to: token, among: SQLiteFunctions.names.sorted()).map { "did you mean \($0)(…)?" }
    }
    guard let name else {
      guard error.message.hasSuffix("syntax error") else { return nil }
      if statementWords.contains(token.lowercased()) { return "is a ; missing before it?" }
      return Self.word(near: token).map { "did you mean \($0)?" }
    }
    if let near = nearest(to: name, among: names().filter { $0 != name }) { return "did you mean \(near)?" }
    return token.hasPrefix("\"") ? "text stands in single quotes: '\(name)'" : nil
  }

  private static let words = [
    "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "BY", "HAVING", "LIMIT", "OFFSET", "JOIN", "LEFT", "INNER", "ON",
    "USING", "UNION", "DISTINCT", "VALUES", "WITH", "RECURSIVE", "BETWEEN", "LIKE", "CASE", "WHEN", "THEN", "ELSE",
    "INSERT", "UPDATE", "DELETE", "CREATE", "TABLE", "INDEX", "PRAGMA", "EXPLAIN", "VACUUM", "BEGIN", "COMMIT",
  ]
}

extension SQLiteError {
  /// Whether a transaction that has read cannot write, as another program has written since.
  fileprivate var isSnapshotPassed: Bool { code == 517 }

  /// Whether the nesting is too deep for SQLite.
  fileprivate var isTooDeep: Bool { message.contains("stack overflow") || message.contains("tree is too large") }
}

extension ShellFailure {
  /// A lock of another program, and what that means for what was being done.
  ///
  /// - Parameter elapsed: How long it was waited for.
  init(isSnapshotPassed: Bool = false, _ file: String, _ work: SQLFailure.Work, _ elapsed: Duration?) {
    let file = printable(file)
    if isSnapshotPassed {
      self.init("another program has written to \(file) since this transaction began: rollback, and begin again", .busy)
      return
    }
    let time = elapsed.flatMap { $0 < .milliseconds(100) ? nil : " for \($0.spoken)" } ?? ""
    let outcome =
      switch work {
      case .reading: "it could not be read. Ask again later"
      case .either: "nothing was read or written. Try it again later"
      case .writing: "nothing was written. Write it again later"
      case .committing: "nothing is committed yet, and the transaction is still open: commit again, or rollback"
      }
    let hint =
      "a program that keeps its file locked until it ends, as browsers do, has to end first; "
      + "or ask a copy, made of the file and its -wal while that program does not write"
    self.init(
      "another program has kept \(file) locked\(time), so \(outcome)", hint: work == .reading ? hint : nil, .busy)
  }

  /// What is wrong with the file as a whole.
  package init(_ error: DatabaseError) {
    switch error {
    case .busy(let path, let waited, _): self.init(path, .reading, waited)
    case .writerBusy, .readersBusy: self.init("\(error)", .busy)
    case .missing(let path): self.init(missingFile: path)
    case .unreadable(_, DatabaseError.unfinished):
      self.init("\(error)", hint: "--write does so, and any program that may write to it", .usage)
    case .notADatabase(let path): self.init("\(error)", hint: OtherFile.hint(inPlaceOfDatabase: path), .usage)
    case .empty(let path):
      let creating = "--create with --write makes one of it, and so does migrate apply --create"
      self.init(
        "\(path) has no bytes: it is no database yet", hint: OtherFile.hint(inPlaceOfDatabase: path) ?? creating, .usage
      )
    case .isDirectory, .unreadable, .hardLinked: self.init("\(error)", .usage)
    case .shared: self.init("\(error)", .refused)
    default: self.init("\(error)")
    }
  }

  private init(missingFile path: String) {
    if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
      self.init("\(printable(path)) is a link to \(printable(target)), which does not exist", .usage)
    } else {
      let near = Migrator.fileLike(path).map { " Did you mean \($0)?" } ?? ""
      let url = isURL(path) ? " It is a URL, and a file is opened: download it first" : ""
      let folder = FileObstacle.missingFolder(of: path).map { " There is no folder \($0)" } ?? ""
      self.init("no database at \(path).\(near)\(url.isEmpty ? folder : url)", .usage)
    }
  }
}

/// Whether it names something on another machine, such as `https://example.org/library.db`.
package func isURL(_ word: String) -> Bool {
  guard let end = word.firstRange(of: "://"), word.first?.isLetter == true else { return false }
  return ["http", "https", "ftp", "sftp", "s3", "gs"].contains(word[..<end.lowerBound].lowercased())
}
