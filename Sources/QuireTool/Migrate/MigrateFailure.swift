public import QuireMigration

/// Errors of migrating with what only a command knows: how the database stands, and what to type.
struct MigrateFailure {
  let target: MigrateTarget
  let migrator: Migrator
  /// Whether the files only run on a copy, or from empty on a database of their own.
  var isTrial = false

  /// Runs `body`; with `--json` an error is the answer, too.
  static func told(_ invocation: Invocation, _ body: () throws -> ExitStatus) throws -> ExitStatus {
    do {
      return try body()
    } catch {
      let told = (error as? any CommandError) ?? CommandFailure("\(error)")
      if invocation.flag("--json"), !(error is MigrateAnswered) {
        invocation.terminal.print(
          JSON.object([
            ("v", 1),
            (
              "error",
              ["status": .integer(Int(told.exitStatus.rawValue)), "message": .string(told.description)]
            ),
          ]).text)
      }
      throw told
    }
  }

  /// Runs `body` and puts its errors in a command's words.
  func explaining<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      guard let error = error as? MigrationError else { throw error }
      throw explained(error)
    }
  }

  func explained(_ error: MigrationError) -> any CommandError {
    if case .destructive(let losses, let file) = error, !file.hasPrefix("undo of") {
      return Self.refusal(of: name(of: file), losses, target)
    }
    guard let advice = advice(for: error) else { return error }
    // Goes on in the line that says how the data stands.
    let goesOn =
      switch error {
      case .history(.edited), .history(.databaseIsNewer), .history(.missing): true
      default: false
      }
    return CommandFailure("\(error)\(goesOn ? " " : "\n")\(advice)", error.exitStatus)
  }

  /// Values that would be lost, and what to type if that is meant.
  static func refusal(of name: String, _ losses: [MigrationLoss], _ target: MigrateTarget) -> CommandFailure {
    CommandFailure(
      """
      \(sentence(of: name, losses))
      Nothing was changed.
          \(target.pasteable("apply --allow-destructive"))      a backup is made first; undo cannot bring the values back
      or, in the file:  -- migrate: allow M001 and the reason
      """, .refused)
  }

  static func sentence(of name: String, _ losses: [MigrationLoss]) -> String {
    "\(name) " + losses.map(\.description).joined(separator: ",\n    ") + ".   [M001]"
  }

  private func advice(for error: MigrationError) -> String? {
    switch error {
    case .noDatabase: "To create one:  \(target.pasteable("apply --create"))"
    case .failed where isTrial, .refused where isTrial: "Tried on a database of its own: nothing was changed."
    case .refused: "Nothing of it was run."
    case .failed(let failure):
      failure.place.file.hasPrefix("undo of")
        ? "Rolled back: \(state). The text is the database's own: correct it in the file, and record it with accept."
        : "Rolled back: \(state). Fix the file, run apply again."
    case .busy:
      "    \(target.pasteable("apply --wait 60"))        or stop the program that has it open"
    case .destructive:
      "Nothing was changed.\n    add --yes to undo it all the same; a backup is made first"
    case .noUndo(let applied): noUndo(applied)
    case .interrupted: "Rolled back: \(state)."
    case .backup: "With --no-backup it goes without."
    case .history(let problem): advice(for: problem)
    case .tool(.notAdopted): "    \(target.pasteable("baseline"))        records what has run, and runs nothing"
    case .unknownVersion(let version): known(near: version)
    default: nil
    }
  }

  private func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  /// How the database stands now.
  private var state: String {
    switch Result(catching: migrator.plan) {
    case .success(let plan):
      "\(migrator.database) is as before (\(plan.current.map { "schema \($0)" } ?? "no migration applied"))"
    case .failure: "\(migrator.database) was not created"
    }
  }

  private func known(near version: MigrationVersion) -> String? {
    let versions = migrator.files.map { "\($0.version)" }
    return nearest(to: "\(version)", among: versions).map { "Did you mean \($0)?" }
  }

  private func noUndo(_ applied: AppliedMigration) -> String {
    let backup = MigrationBackup.all(of: migrator.database).first { $0.occasion == "\(applied.version)" }
    let restore = backup.map {
      "\nor put a backup back:\n    \(target.program) migrate restore \($0.occasion) -d \(shellQuoted(migrator.database))"
    }
    let writing = placeOfUndo.map {
      "\($0), and record it:\n    \(target.pasteable("accept \(applied.version)"))\(restore ?? "")\nor write"
    }
    return "\(writing ?? "Write") a new migration that does the opposite."
  }

  /// Where the folder's tool has what takes a migration back; nil where it has no place for it.
  private var placeOfUndo: String? {
    switch MigrationFormat(of: migrator.files) {
    case .dbmate: "Write one in its file, below  -- migrate:down"
    case .goose: "Write one in its file, below  -- +goose Down"
    case .golangMigrate: "Write one in a file that ends in .down.sql"
    case .flyway: "Write one in a file that begins with U in place of V"
    case .quire: "Write one in its file, below  -- migrate: undo "
    case .plain, .sqlx, .refinery: nil
    }
  }

  private func advice(for problem: MigrationProblem) -> String {
    switch problem {
    case .edited(let file, let applied):
      """
      Databases elsewhere hold the old text, so put the change in a new migration:
          git checkout \(shellQuoted(file.path)) && \(target.pasteable("new", database: false)) \(shellQuoted("change \(file.title)"))
      \(isLast(applied) ? "Only your own database has it?   \(target.pasteable("redo"))\n" : "")\
      Harmless?   \(target.pasteable("accept \(applied.version)"))
      """
    case .missing(let applied):
      """
      Put the file back; its text is in the database:
          \(target.pasteable("log \(applied.version)"))
      """
    case .outOfOrder(_, let version, _):
      "    \(target.pasteable("renumber \(version)"))        gives it today's number (it is applied nowhere here)"
    case .duplicate(_, let files):
      "    \(target.pasteable("renumber \(shellQuoted(files.last ?? ""))"))        where it is applied nowhere"
    case .databaseIsNewer(let applied):
      """
      Switched branch? \(applied.count == 1 ? "Its" : "Their") undo text is in the database:
          \(target.pasteable("undo --to \(before(applied))"))
      """
    }
  }

  private func isLast(_ applied: AppliedMigration) -> Bool {
    (try? migrator.history())?.last?.version == applied.version
  }

  /// The newest that ran before all of these.
  private func before(_ applied: [AppliedMigration]) -> String {
    let first = applied.map(\.sequence).min() ?? 0
    let earlier = ((try? migrator.history()) ?? []).last { $0.sequence < first }
    return earlier.map { "\($0.version)" } ?? "0"
  }
}

/// An error after which the answer has been printed already: `status --json` tells of problems itself.
struct MigrateAnswered: CommandError {
  let error: any CommandError
  var exitStatus: ExitStatus { error.exitStatus }
  var description: String { error.description }
}

extension MigrationError: CommandError {
  public var exitStatus: ExitStatus {
    switch self {
    case .failed, .foreignKeys, .database, .sqlite, .stepFailed, .backup, .noUndo: .failure
    case .folder, .unreadable, .name, .malformed, .directive, .empty, .unknownStep, .unknownVersion, .notApplied,
      .fewerApplied, .severalStatementsWithoutTransaction, .refused, .noDatabase, .unusable:
      .usage
    case .history(.databaseIsNewer): .databaseIsNewer
    case .history, .changedMeanwhile, .tool: .history
    case .destructive: .refused
    case .busy: .busy
    case .interrupted: .interrupted
    }
  }
}
