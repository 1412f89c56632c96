import QuireMigration
import QuireSQLite
import QuireShared

/// Errors of migrations, with what only a command knows: the state of the database, and what to type.
struct MigrateFailure {
  let target: MigrateTarget
  let migrator: Migrator
  /// Whether the files only run on a copy, or from empty on a database of their own.
  var isTrial = false
  /// What this command has committed before it failed.
  var progress = MigrateProgress()

  /// Runs `body` and puts its errors in a command's words.
  func explaining<T>(_ body: () throws -> T) throws -> T {
    var progress = progress
    return try explaining(&progress) { _ in try body() }
  }

  /// As ``explaining(_:)``, for work that commits in several steps and reports them.
  func explaining<T>(_ progress: inout MigrateProgress, _ body: (inout MigrateProgress) throws -> T) throws -> T {
    do {
      return try body(&progress)
    } catch {
      guard let error = error as? MigrationError else { throw explained(ofLog: error) }
      var failure = self
      failure.progress = progress
      throw failure.explained(error)
    }
  }

  /// An error of the log of a shared store, with where it was looked for.
  private func explained(ofLog error: any Error) -> any Error {
    guard error is SharedStoreError || error is SharedLogError,
      let told = NodeTarget.explained(error) as? CommandFailure
    else { return error }
    let named = target.invocation.environment["QUIRE_ETCD"].map { "is \($0)" } ?? "is not set: 127.0.0.1:2379"
    return CommandFailure("\(told.description)\nQUIRE_ETCD, where etcd is, \(named)", told.exitStatus)
  }

  func explained(_ error: MigrationError) -> any CommandError {
    if case .destructive(let losses, let file) = error, !file.hasPrefix("undo of") {
      let refusal = Self.refusal(of: name(of: file), losses, target, nothing("changed"))
      return failed(refusal.description, error, refusal.exitStatus)
    }
    if isTrial, let text = Self.brokenKeys(error, tried) { return failed(text, error, error.exitStatus) }
    let text = error.text(nothing)
    guard let advice = advice(for: error) else { return failed(text, error, error.exitStatus) }
    // Continues the line that describes the state of the data.
    let goesOn =
      switch error {
      case .history(.edited), .history(.databaseIsNewer), .history(.missing): true
      default: false
      }
    return failed("\(text)\(goesOn ? " " : "\n")\(advice)", error, error.exitStatus)
  }

  /// Includes what was committed before.
  private func failed(_ text: String, _ error: MigrationError, _ status: ExitStatus) -> MigrateFailed {
    var text = text
    if !progress.applied.isEmpty, !text.contains(before) { text += "\nIts changes were rolled back; \(before)." }
    return MigrateFailed(description: text, exitStatus: status, error: error, progress: progress)
  }

  /// That something was not done, such as `changed`; no sentence may claim so of what was committed before.
  private func nothing(_ what: String) -> String {
    progress.applied.isEmpty ? "Nothing was \(what)." : "Of it nothing was changed; \(before)."
  }

  /// What ran before the one that failed.
  private var before: String {
    let count = progress.applied.count
    let last = progress.applied.last.map { " (schema \($0.version))" } ?? ""
    return count == 1 ? "the migration before it is applied\(last)" : "\(count) migrations before it are applied\(last)"
  }

  /// Values that would be lost, and what to type if that is meant.
  static func refusal(
    of name: String, _ losses: [MigrationLoss], _ target: MigrateTarget, _ nothing: String = "Nothing was changed."
  ) -> CommandFailure {
    CommandFailure(
      """
      \(sentence(of: name, losses))
      \(nothing)
          \(target.pasteable("apply --allow-destructive"))      a backup is made first; undo cannot bring the values back
      or, in the file:  -- migrate: allow M001 and the reason
      """, .refused)
  }

  static func sentence(of name: String, _ losses: [MigrationLoss]) -> String {
    "\(name) " + losses.map(\.description).joined(separator: ",\n    ") + ".   [M001]"
  }

  private func advice(for error: MigrationError) -> String? {
    switch error {
    case .unusable(.notADatabase) where isCommand("restore"):
      "Only a backup of its own replaces it. To put another file in its place, move it away first."
    case .unusable(.notADatabase), .database(.corrupt): restoring
    case .unusable(.empty):
      (restoring.map { $0 + "\n" } ?? "") + "To make it a database:  \(target.pasteable("apply --create"))"
    case .noDatabase(let path, _):
      (FileObstacle.missingFolder(of: path).map { "Its folder \($0) is missing, too: make that first.\n" } ?? "")
        + "To create one:  \(target.pasteable("apply --create"))"
    case .failed(let failure) where isTrial:
      alreadyThere(failure, tried) ?? tried + (beginning(failure).map { "\n" + $0 } ?? "")
    case .refused where isTrial: tried
    case .refused(let statement, _):
      statement.hasPrefix("writing")
        ? "Rolled back: \(state)."
        : progress.applied.isEmpty ? "Nothing of it was run." : nothing("run")
    case .failed(let failure):
      undone(failure.place.file, line: failure.place.line) ?? alreadyThere(failure, "Rolled back: \(state).")
        ?? "Rolled back: \(state). Fix the file, run \(isCommand("redo") ? "redo" : "apply") again."
    case .foreignKeys(let rows, _, let file, _): undone(file, line: nil) ?? Self.mending(rows)
    case .busy:
      "    \(target.invocation.repeated("--wait", longer))        or stop the program that has it open"
    case .destructive:
      "\(nothing("changed"))\n    add --yes to undo it all the same; a backup is made first"
    case .stillUsed where isCommand("apply"):
      "Rolled back: \(state). Mend that in the file, or say there  -- migrate: allow M004 and the reason\n"
        + "    \(target.pasteable("apply --yes"))"
    case .stillUsed:
      "\(nothing("changed")) Drop that first, or add --yes to undo it all the same; a backup is made first"
    case .noUndo(let applied): noUndo(applied)
    case .interrupted: "Rolled back: \(state)."
    case .database(.diskFull) where isCommand("restore"), .backup(_, _, true) where isCommand("restore"): roomToRestore
    case .backup(let path, _, _) where isCommand("restore"): others(than: path)
    case .backup(_, _, true): roomForBackup
    case .backup: "Pass --no-backup to continue without a backup."
    case .history(let problem): advice(for: problem)
    case .tool(let problem): advice(for: problem)
    case .unknownVersion(let version): known(near: version)
    default: nil
    }
  }

  private func advice(for problem: ToolProblem) -> String? {
    switch problem {
    case .notAdopted: "    \(target.pasteable("baseline"))        records what has run, and runs nothing"
    case .unread: baselines
    case .missing(let history, _) where history.toolName == "Rails": baselines
    case .ahead(let history, let versions):
      """
      Taken back through Quire? \(versions.count == 1 ? "Its row goes" : "Their rows go"):   \(target.pasteable("baseline --back --yes"))
      Run by \(history.toolName) since?   \(target.pasteable("baseline"))
      """
    default: nil
    }
  }

  /// Nil if it was not an undo text that failed.
  private func undone(_ name: String, line: Int?) -> String? {
    let file = migrator.files.first { [$0.path, $0.undoPath].contains(name) }
    guard isCommand("undo") || name.hasPrefix("undo of") || isInUndo(name, line, of: file) else { return nil }
    let version = file.map { "\($0.version)" } ?? name.split(separator: " ").dropFirst(2).first.map(String.init)
    return """
      \(line == nil ? "" : "Rolled back: \(state). ")The text is the database's own: correct it in the file, and record it:
          \(target.pasteable("accept \(version ?? "VERSION")"))
      """
  }

  /// What the file has to do about rows whose keys point nowhere.
  /// Keys that point nowhere after a migration that was only tried.
  static func brokenKeys(_ error: MigrationError, _ tried: String) -> String? {
    guard case .foreignKeys(let rows, let total, let file, let mismatches) = error else { return nil }
    return "\(MigrationError.broken(rows, total: total, file: file, mismatches))\n\(tried)\n\(mending(rows))"
  }

  private static func mending(_ rows: [ForeignKeyViolation]) -> String {
    if let row = rows.first(where: \.parentIsGone) {
      return """
        In the same file, drop \(row.table) before \(row.parent), or rebuild it without the key: migrate new TITLE --rebuild \(row.table)
        writes the rebuild. Then run apply again.
        """
    }
    return rows.isEmpty
      ? "Make these columns unique in the same file, then run apply again."
      : "Delete or change these rows in the same file, then run apply again."
  }

  private func isInUndo(_ name: String, _ line: Int?, of file: MigrationFile?) -> Bool {
    guard let file, file.undo != nil, isCommand("redo") else { return false }
    return file.undoPath == file.path ? file.undoLine > 1 && (line ?? 0) >= file.undoLine : file.undoPath == name
  }

  func isCommand(_ name: String) -> Bool { target.invocation.command.last == name }

  /// In seconds, for the next try.
  private var longer: String {
    let waited = ((try? target.invocation.integer("--wait")) ?? nil) ?? 10
    return "\(max(60, 2 * waited))"
  }

  /// What puts the latest backup back; nil if there is none.
  private var restoring: String? {
    let backups = MigrationBackup.all(of: migrator.database)
    if isCommand("restore") || backups.allSatisfy(\.isBeforeRestore) { return nil }
    return """
          \(target.program) migrate restore -d \(shellQuoted(migrator.database))        puts the latest backup back, and keeps what is there
      """
  }

  /// Where the other backups are named; nil if there is none.
  private func others(than path: String) -> String? {
    guard MigrationBackup.all(of: migrator.database).contains(where: { $0.path != path }) else { return nil }
    return "The others:   \(target.program) migrate restore --list -d \(shellQuoted(migrator.database))"
  }

  private func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The present state of the database.
  var state: String {
    switch Result(catching: migrator.plan) {
    case .success where !progress.applied.isEmpty: before
    case .success(let plan):
      "\(migrator.database) is as before (\(plan.current.map { "schema \($0)" } ?? "no migration applied"))"
    case .failure where SidecarFiles.size(of: migrator.database) != nil: "\(migrator.database) is as before"
    case .failure: "\(migrator.database) was not created"
    }
  }

  private func known(near version: MigrationVersion) -> String? {
    let versions = migrator.files.map { "\($0.version)" }
    return nearest(to: "\(version)", among: versions).map { "Did you mean \($0)?" }
  }

  private func noUndo(_ applied: AppliedMigration) -> String {
    let backup = MigrationBackup.all(of: migrator.database).first { $0.isBefore(applied.version) }
    let restore = backup.map {
      "\nor put a backup back:\n    \(target.program) migrate restore \($0.occasion) -d \(shellQuoted(migrator.database))"
    }
    let writing = placeOfUndo.map {
      "\($0), and record it:\n    \(target.pasteable("accept \(applied.version)"))\(restore ?? "")\nor write"
    }
    return "\(writing ?? "Write") a new migration that does the opposite."
  }

  /// Where the folder's tool keeps the undo part of a migration; nil if it has none.
  private var placeOfUndo: String? {
    switch MigrationFormat(of: migrator.files) {
    case .dbmate: "Write one in its file, below  -- migrate:down"
    case .goose: "Write one in its file, below  -- +goose Down"
    case .golangMigrate: "Write one in a file that ends in .down.sql"
    case .flyway where (try? migrator.toolHistory())?.tool == .refinery: nil  // U is for files that run in any order.
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
    case .missing(let applied) where renumbered(applied) != nil:
      renumbered(applied) ?? ""
    case .missing(let applied):
      """
      Put the file back; its text is in the database:
          \(target.pasteable("log \(applied.version)"))
      """
    case .outOfOrder(_, let version, _):
      "    \(target.pasteable("renumber \(version)"))        gives it today's number (it is applied nowhere here)"
    case .duplicate(_, let files) where MigrationFolder.areForSeveralDatabases(files):
      """
      They are one migration for several kinds of database, it seems.
      Copy those for SQLite into a folder of their own, and give that:  -m DIR
      """
    case .duplicate(_, let files) where MigrationFolder.pair(files) != nil:
      """
      One takes the other back, it seems. These names are read as a pair; where a tool needs the others, in a copy of the folder:
      \(renamesToPairs.joined(separator: "\n"))
      """
    case .duplicate(let version, let files):
      "    \(target.pasteable("renumber \(shellQuoted(unapplied(version, files) ?? ""))"))        if it is not applied anywhere"
        + (isOfOtherTool ? "\n" + numbered(version) : "")
    case .databaseIsNewer(let applied):
      """
      Switched branch? \(applied.count == 1 ? "Its" : "Their") undo text is in the database:
          \(target.pasteable("undo --to \(before(applied))"))
      """
    }
  }

  private var isOfOtherTool: Bool {
    MigrationFormat(of: migrator.files) != .quire || migrator.files.allSatisfy { $0.undo == nil }
  }

  /// What to do about files that a tool tells apart by their names: that tool must find them as they are.
  private func numbered(_ version: MigrationVersion) -> String {
    let next = MigrationVersion(number: version.number &+ 1)
    let isFree = !migrator.files.contains { $0.version == next }
    let last = migrator.files.last?.version ?? version
    return """
      If the tool that runs them tells them apart by their names, work on a copy of the folder. In it give the latter of \
      them \(isFree ? "the number \(next)" : "and all after it the next number"), and then record what has run:
          \(target.program) migrate baseline \(isFree ? max(last, next) : MigrationVersion(number: last.number &+ 1)) -m COPY \
      \(shellQuoted(migrator.database))
      """
  }

  /// Of files with one number the last that this database has not run.
  private func unapplied(_ version: MigrationVersion, _ files: [String]) -> String? {
    let applied = ((try? migrator.history()) ?? []).first { $0.version == version }
    let others = migrator.files.filter { file in
      files.contains(file.path) && applied.map { !SQLTokens.equal($0.up, file.up) } ?? true
    }
    return others.last?.path ?? files.last
  }

  /// Nil if no other file has the text that ran.
  private func renumbered(_ applied: AppliedMigration) -> String? {
    let history = (try? migrator.history()) ?? []
    let known = Set(history.map(\.version))
    guard let file = migrator.files.first(where: { !known.contains($0.version) && SQLTokens.equal($0.up, applied.up) })
    else { return nil }
    let later = history.filter { $0.sequence >= applied.sequence }
    let back = history.last { $0.sequence < applied.sequence }.map { "\($0.version)" } ?? "0"
    return later.allSatisfy { $0.undo != nil }
      ? """
      Its text is in \(file.path) now: it got another number after it had run here. Take it back, and run it in its new place:
          \(target.pasteable("undo --to \(back)"))
          \(target.pasteable("apply"))
      """
      : """
      Its text is in \(file.path) now: it got another number after it had run here. It cannot be taken back, because not all
      from there on have an undo: give the file its old number, \(applied.version), or restore a backup from before it.
      """
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
