public import QuireRow
public import QuireSQLite

/// Why migrations could not be read or run. If it matters, the text says what state the data is in.
@nonexhaustive
public enum MigrationError: Error, Hashable, Sendable {
  /// The folder is missing, unreadable or empty: `reason` continues the sentence after its path.
  case folder(String, reason: String)
  /// A file that cannot be read; the reason is that of the system, or its encoding.
  case unreadable(file: String, reason: String)
  /// The name is not `YYYYMMDDhhmmss_title.sql`.
  case name(file: String)
  /// A file whose parts do not fit together, at a line from 1.
  case malformed(file: String, line: Int, reason: String)
  /// A `-- migrate:` comment that is not a known directive.
  case directive(String, file: String, line: Int, hint: String)
  /// A file without a statement was to be run, or to be recorded as applied; nothing was changed.
  case empty(file: String)
  /// Files and history do not fit; nothing was run.
  case history(MigrationProblem)
  /// There is no such version in the files or the history.
  case unknownVersion(MigrationVersion)
  /// It has not run on this database.
  case notApplied(MigrationVersion)
  /// More migrations were to be undone than have run.
  case fewerApplied(Int)
  /// Neither the file nor the database says how it is undone; nothing was undone.
  case noUndo(AppliedMigration)
  /// Another process has migrated since the plan was made: this migration is now the last that ran.
  case changedMeanwhile(AppliedMigration)
  /// Values would be lost; everything of this migration was rolled back.
  case destructive([MigrationLoss], file: String)
  /// Keys, views or triggers that stay would refer to what is dropped, or a rebuild forgets an index or trigger; everything
  /// was rolled back. Each text says one of the two, as the continuation of a sentence about the file.
  case stillUsed([String], file: String)
  /// A copy of the database could not be made or used; nothing was changed.
  case backup(String, reason: String, isDiskFull: Bool = false)
  /// It was asked to stop; what ran was rolled back.
  case interrupted
  /// A step written in Swift threw; everything of this migration was rolled back.
  case stepFailed(String, file: String, reason: String)
  /// The file names a step written in Swift that this binary does not have.
  case unknownStep(String, file: String)
  /// `no-transaction` with more than one statement: half of them could stay.
  case severalStatementsWithoutTransaction(file: String)
  /// A statement SQLite refused; everything of this migration was rolled back.
  case failed(MigrationFailure)
  /// A statement that is not allowed in a migration, such as COMMIT; everything of this migration was rolled back.
  case refused(statement: String, SourcePlace)
  /// Foreign keys refer to missing rows at the end; everything of this migration was rolled back.
  ///
  /// `mismatches` are SQLite's messages about keys whose target is neither a primary key nor unique.
  case foreignKeys([ForeignKeyViolation], total: Int, file: String, mismatches: [String])
  /// A step written in Swift, or `no-transaction`, on a shared store: other machines cannot run it. It was rolled back.
  case notShareable(file: String)
  /// Another tool's history prevents migrating, or cannot be imported.
  case tool(ToolProblem)
  /// There is no database, and creating one was not requested.
  case noDatabase(path: String, similar: String?)
  /// The path leads to something that is not a database: a folder, or another kind of file.
  case unusable(DatabaseError)
  /// The database failed during use: full, damaged, read-only.
  case database(DatabaseError)
  /// The disk on which SQLite keeps temporary files is full; nothing was changed.
  case temporaryFull(folder: String)
  /// Any other error of SQLite, for one of our own statements.
  case sqlite(SQLiteError)
  /// Another writer held the lock for that long; nothing was changed.
  case busy(path: String, seconds: Double)
}

extension MigrationError {
  /// - Parameter encoding: As iconv calls it.
  static func encoding(_ encoding: String, file: String) -> MigrationError {
    .malformed(
      file: file, line: 1,
      reason: "it is in \(encoding.prefix(6)). iconv -f \(encoding) -t UTF-8 FILE >NEW converts it")
  }

  /// The file that cannot be read or understood.
  var file: String? {
    switch self {
    case .unreadable(let file, _), .name(let file), .malformed(let file, _, _), .directive(_, let file, _, _): file
    default: nil
    }
  }
}

/// A place in a file.
public struct SourcePlace: Hashable, Sendable {
  /// The file's path, as it was read.
  public let file: String
  /// From 1.
  public let line: Int
  /// Characters from 1; nil if only the line is known.
  public let column: Int?
  /// The whole line.
  public let text: String
}

/// A statement that SQLite refused, and its place.
public struct MigrationFailure: Hashable, Sendable {
  /// Extended result code.
  public let code: Int32
  /// SQLite's message, in English and without a final period.
  public let message: String
  /// The place that the message is about; the beginning of the statement if SQLite names none.
  public let place: SourcePlace
  /// How many characters to underline: those of the name in SQLite's message, or 1 if only the place is known.
  public let length: Int
  /// An existing name that is similar.
  public let suggestion: String?
}

/// A row whose foreign key refers to a missing row.
public struct ForeignKeyViolation: Hashable, Sendable {
  /// The table of the row.
  public let table: String
  /// Nil in a WITHOUT ROWID table.
  public let row: Int64?
  /// The row's first text, which is most likely its name.
  public let label: String?
  /// The table that the key refers to.
  public let parent: String
  /// The columns of the key.
  public let columns: [String]
  /// Their values; empty if the row could not be read.
  public let values: [SQLValue]
  /// Whether the table that the key refers to no longer exists.
  package var parentIsGone = false

  /// A violation with these values; see the properties.
  public init(
    table: String, row: Int64?, label: String? = nil, parent: String, columns: [String], values: [SQLValue] = []
  ) {
    self.table = table
    self.row = row
    self.label = label
    self.parent = parent
    self.columns = columns
    self.values = values
  }
}

extension ForeignKeyViolation: CustomStringConvertible {
  /// `book 17 "Solaris" . author_id = 4          there is no author 4`
  public var description: String {
    let name = [table, row.map { "\($0)" }, label.map { "\"\($0)\"" }].compactMap(\.self).joined(separator: " ")
    guard values.count == columns.count, !values.isEmpty else {
      if parentIsGone { return "\(name) . \(columns.joined(separator: ", "))          the table \(parent) is gone" }
      return "\(name) . \(columns.joined(separator: ", "))          there is no such \(parent)"
    }
    let shown = values.map(Self.shown)
    let keys = zip(columns, shown).map { "\($0) = \($1)" }.joined(separator: ", ")
    if parentIsGone { return "\(name) . \(keys)          the table \(parent) is gone" }
    return "\(name) . \(keys)          there is no \(parent) \(shown.joined(separator: ", "))"
  }

  private static func shown(_ value: SQLValue) -> String {
    switch value {
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): "\"\(text)\""
    case .null: "NULL"
    default: "a blob"
    }
  }
}

extension SourcePlace: CustomStringConvertible {
  /// `Migrations/20261120090000_books.sql:3:37`; without the column if it is not known.
  public var description: String { "\(file):\(line)" + (column.map { ":\($0)" } ?? "") }
}

extension MigrationError: CustomStringConvertible {
  /// What is wrong, where, the state of the database, and what to do next; one or more lines, without a line break at the end.
  public var description: String { text { "Nothing was \($0)." } }

  /// The description.
  ///
  /// - Parameter nothing: The sentence about what was not done, such as `changed`: other migrations may have run before.
  package func text(_ nothing: (String) -> String) -> String {
    switch self {
    case .folder(let path, let reason): "the migrations folder \(path) \(reason)"
    case .unreadable(let file, let reason): "\(file) cannot be read: \(reason)"
    case .name(let file): MigrationName.problem(file)
    case .malformed(let file, let line, let reason): "\(file):\(line): \(reason)"
    case .directive("undo", let file, let line, let hint): "\(file):\(line): ‘undo’ cannot stand here: \(hint)"
    case .directive(let text, let file, let line, let hint): "\(file):\(line): ‘\(text)’ is not a directive: \(hint)"
    case .empty(let file): "\(file) is empty: write its SQL, or delete the file. \(nothing("changed"))"
    case .history(let problem): problem.text(nothing)
    case .unknownVersion(let version): "there is no migration \(version) among these files"
    case .notApplied(let version): "\(version) has not run on this database"
    case .fewerApplied(0): "no migration has run on this database"
    case .fewerApplied(let count): "only \(count) migration\(count == 1 ? " has" : "s have") run on this database"
    case .noUndo(let applied):
      "\(applied.version) \(applied.title) has no undo. Nothing was undone."
    case .changedMeanwhile(let last):
      """
      another process has migrated this database meanwhile: \(last.version) \(last.title) is the last one now.
      Nothing was changed here.
      """
    case .destructive(let losses, let file):
      "\(file) " + losses.map(\.description).joined(separator: ",\n    ") + ".   [M001]"
    case .stillUsed(let objects, let file):
      "\(file) " + objects.joined(separator: ",\n    and ") + ".   [M004]"
    case .backup(let path, let reason, true): "the backup \(path) could not be made: \(reason)\n\(nothing("changed"))"
    case .backup(let path, let reason, false): "the backup \(path) cannot be used: \(reason)\n\(nothing("changed"))"
    case .interrupted: "stopped"
    case .stepFailed(let name, let file, let reason): "the step ‘\(name)’ of \(file) failed: \(reason)\nRolled back."
    case .unknownStep(let name, let file):
      "\(file) has the step ‘\(name)’, written in Swift: only the application's own binary can run it"
    case .severalStatementsWithoutTransaction(let file):
      "\(file) runs without a transaction and has several statements: half of them could stay. Give each a file of its own"
    case .failed(let failure): failure.description
    case .refused(let statement, let place):
      """
      \(statement) in a migration    \(place)
      \(Self.reason(against: statement))
      """
    case .foreignKeys(let rows, let total, let file, let mismatches):
      Self.broken(rows, total: total, file: file, mismatches) + "\nRolled back."
    case .notShareable(let file):
      """
      \(file) has a step in Swift or runs without a transaction, which other machines of a shared store cannot repeat.
      Rolled back. Write it in SQL, or end the sharing first with quire node leave.
      """
    case .tool(let problem): problem.text(nothing)
    case .noDatabase(let path, let similar):
      "no database at \(path)" + (similar.map { ". Did you mean \($0)?" } ?? "")
    case .unusable(let error), .database(let error): error.description
    case .temporaryFull(let folder):
      """
      the disk of \(folder) is full, where temporary files lie, such as the copy for a rehearsal. \(nothing("changed"))
      Make room there, or name another folder in SQLITE_TMPDIR.
      """
    case .sqlite(let error): error.description
    case .busy(let path, let seconds):
      "\(path) has been locked by another writer for \(seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)") s. \(nothing("changed"))"
    }
  }

  /// Which keys point nowhere, without the state of the data.
  package static func broken(
    _ rows: [ForeignKeyViolation], total: Int, file: String, _ mismatches: [String]
  ) -> String {
    var lines = ["after \(file) \(grouped(total)) foreign key\(total == 1 ? " points" : "s point") nowhere:"]
    for row in rows { lines.append("    \(row)") }
    for mismatch in mismatches {
      lines.append("    \(mismatch): the columns it names are neither its primary key nor unique")
    }
    let shown = rows.count + mismatches.count
    if shown < total { lines.append("    and \(grouped(total - shown)) more") }
    return lines.joined(separator: "\n")
  }
}

extension MigrationFailure: CustomStringConvertible {
  /// The message, the place, and the line with the error underlined; of a long line only the part around the error.
  public var description: String {
    let first = message.prefix { !$0.isNewline }.prefix(300)
    let (line, column) = shown
    var text = "\(first)\(first.count < message.count ? "…" : "")    \(place)\n\(quoted(line: place.line)) \(line)"
    if let column {
      let indent = line.prefix(column - 1).map { $0 == "\t" ? "\t" : " " }.joined()
      text += "\n     │ \(indent)\(String(repeating: "^", count: max(1, min(length, line.count - column + 1))))"
      if let suggestion { text += " did you mean \(suggestion)?" }
    } else if let suggestion {
      text += "\n     │ did you mean \(suggestion)?"
    }
    if let explanation { text += "\n     │ \(explanation)" }
    return text
  }

  /// What the file needs that is not there when migrations run.
  private var explanation: String? {
    if let hint = SQLMessage.hint(ofNewerFunction: message) { return hint }
    if message.hasPrefix("no such function: "), suggestion == nil {
      return "SQLite has no such function: one that a program adds is not there when migrations run"
    }
    if message.hasPrefix("no such collation sequence: ") {
      return "SQLite has no such collation: one that a program adds is not there when migrations run"
    }
    if let hint = SQLMessage.hint(ofAlteration: message) { return hint }
    if let alteration { return alteration }
    if let hint = SQLMessage.hint(message) { return hint }
    if ["<<<<<<<", "=======", ">>>>>>>"].contains(where: place.text.hasPrefix) {
      return "git could not merge the file here: leave one of the two texts, or both, without these lines"
    }
    if let command { return command }
    if message.hasPrefix("unrecognized token: \"{"), place.text.contains("{{") {
      return "what stands in {{…}} another program fills in: write the value"
    }
    return nil
  }

  /// What a line is that is a command of another program, or a comment of one, and not SQL.
  private var command: String? {
    let text = place.text.drop { $0 == " " || $0 == "\t" }
    switch text.first {
    case "#": return "# begins no comment in SQL: write --"
    case "\\": return "a command of PostgreSQL's psql, and not SQL: take it out"
    case "." where message.hasPrefix("near \".\""):
      return "a command of the sqlite3 program, and not SQL: take it out"
    case _ where message.hasPrefix("near \"DELIMITER\"") && text.uppercased().hasPrefix("DELIMITER"):
      return "a command of MySQL's client, and not SQL: take it out, and end statements with ;"
    default: return nil
    }
  }

  /// What to write in place of a change that ALTER TABLE does not make.
  private var alteration: String? {
    let rebuild = "rebuild the table: migrate new --rebuild TABLE"
    let message = message.lowercased()
    let isSyntax = ["alter", "modify", "constraint"].contains { message == "near \"\($0)\": syntax error" }
    if isSyntax && place.text.lowercased().contains("alter table") || message.hasPrefix("cannot drop ") {
      return rebuild
    }
    return switch message {
    case "cannot add a not null column with default value null":
      "give it a DEFAULT; or add it without NOT NULL, fill it with UPDATE, and \(rebuild)"
    case "cannot add a column with non-constant default":
      "add it without the default and fill it with UPDATE; for new rows, \(rebuild)"
    case "cannot add a unique column": "add it without UNIQUE, and then CREATE UNIQUE INDEX on it"
    case "cannot add a stored column": "VIRTUAL can be added, with an index too; for STORED, \(rebuild)"
    case "cannot add a primary key column": rebuild
    case "cannot add a references column with non-null default value":
      "add it without the default, and fill it with UPDATE"
    default: nil
    }
  }

  /// The part of the line that is shown, and the column in that part.
  private var shown: (line: String, column: Int?) {
    let width = 160
    guard place.text.utf8.count > width else { return (place.text, place.column) }
    let start = max(0, (place.column ?? 1) - width / 2)
    let rest = place.text.dropFirst(start)
    let (before, after) = (start > 0 ? "…" : "", rest.dropFirst(width).isEmpty ? "" : "…")
    return (before + rest.prefix(width) + after, place.column.map { $0 - start + before.count })
  }
}

extension MigrationError: QuireError {
  /// `transient` for a lock and an interruption; `storage` for files that cannot be read or written, and for a full disk; that of
  /// SQLite's error if it is one; otherwise `caller`: files, arguments or steps have to change.
  public var cause: QuireErrorCause {
    switch self {
    case .busy, .interrupted: .transient
    case .folder, .unreadable, .backup, .temporaryFull: .storage
    case .database(let error), .unusable(let error): error.cause
    case .sqlite(let error): error.cause
    default: .caller
    }
  }
}
