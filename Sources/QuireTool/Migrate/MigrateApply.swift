import Foundation
import QuireMigration
import QuireSQLite
import QuireShell

/// `migrate apply`: rehearses if useful, makes a backup, runs pending migrations and reports each one.
struct MigrateApply {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  func run() throws -> ExitStatus {
    var migrator = try target.migrator()
    migrator.shared = try target.shared(patience: migrator.wait)
    migrator.createsDatabase = invocation.flag("--create")
    migrator.backsUp = !invocation.flag("--no-backup")
    migrator.allowsLosses = invocation.flag("--allow-destructive")
    migrator.allowsLeftBehind = invocation.flag("--yes")
    let last = try target.limit()
    let run = MigrateRun(target, migrator, titles: migrator.files.map(\.title))
    let failure = MigrateFailure(target: target, migrator: migrator)
    var progress = MigrateProgress()
    return try failure.explaining(&progress) { progress in
      try rehearse(run, to: last)
      let applied = try run.migrator.apply(to: last) { event in
        switch event {
        case .backedUp(let made): progress.backup = made
        case .applied(let migration): progress.applied.append(migration)
        case .begins(let version, let title): run.show("\(version)  \(title)", expected: run.expected[version])
        default: break
        }
        run.said(event)
      }
      run.finish()
      let plan = try run.migrator.plan()
      let schemaFile = applied.isEmpty ? nil : try writeSchema(run.migrator)
      report(applied, plan, progress.backup, schemaFile)
      if !target.isQuiet, let undone = failure.undoneByTool() {
        target.terminal.note(printable(undone, keepingLines: true))
      }
      return .done
    }
  }

  // MARK: Before

  /// Runs migrations that can remove data on a copy, and stops if one does and this is not allowed.
  private func rehearse(_ run: MigrateRun, to last: MigrationVersion?) throws {
    guard !invocation.flag("--no-rehearse"), FileManager.default.fileExists(atPath: target.optionalDatabase ?? "")
    else {
      return
    }
    // An empty file is one that is to be created.
    guard let plan = try? run.migrator.plan(), plan.problems.isEmpty else { return }
    guard plan.entries.contains(where: { $0.applied != nil }) || !run.migrator.isEmptyDatabase else { return }
    let pending = plan.pending(to: last)
    guard pending.contains(where: \.touchesData) else {
      // Where that fails, what the application adds may be missing: the migration itself tells.
      guard pending.contains(where: \.dropsView),
        let rehearsal = try? run.migrator.rehearse(to: last, isSchemaOnly: true)
      else { return }
      return try judge(rehearsal, run)
    }
    run.show("rehearsing on a copy")
    let rehearsal = try run.migrator.rehearse(to: last) { progress in
      switch progress {
      case .copying(let done, let total): run.copying(done, of: total, "copying for a rehearsal")
      case .running(let file): run.show("rehearsing \(file.version)  \(file.title)")
      }
    }
    run.finish()
    for entry in rehearsal.entries { run.expected[entry.file.version] = entry.milliseconds }
    try judge(rehearsal, run)
  }

  private func judge(_ rehearsal: Rehearsal, _ run: MigrateRun) throws {
    for entry in rehearsal.entries {
      if !entry.losses.isEmpty, !entry.file.allows("M001"), !run.migrator.allowsLosses {
        try refuse(entry, run)
      }
      if entry.file.allows("M004") || invocation.flag("--yes") { continue }
      // Another process is making the database: no program depends yet on what its files forget.
      if let last = rehearsal.lastOfCreation, entry.file.version <= last { continue }
      if !entry.forgotten.isEmpty {
        let mend =
          entry.forgotten.contains { $0.new == nil }
          ? "write it again at the end of the file"
          : entry.forgotten.contains { $0.kind == .virtualTable }
            ? "write that INSERT at the end of the file"
            : "rename the new table last, not the old one first: what refers to that follows it"
        try refuse(entry, "rebuilds a table without what belongs to it", entry.forgotten, mend, run)
      }
      if !entry.dangling.isEmpty {
        try refuse(entry, "drops what is still used", entry.dangling, "drop or change that in the file, too", run)
      }
    }
    // Of all files together, which is more than one alone can tell.
    run.migrator.allowsLeftBehind = true
  }

  private func refuse(
    _ entry: Rehearsal.Entry, _ reason: String, _ objects: [SchemaDifference], _ mend: String, _ run: MigrateRun
  ) throws {
    let text =
      "\(entry.file.name) \(reason): \(objects.map { "\($0)" }.joined(separator: ", ")).   [M004]"
    if run.confirm(text + "\nGo on?") == true { return }
    throw CommandFailure(
      """
      \(text)
          \(mend), or  -- migrate: allow M004 and the reason
          \(target.pasteable("apply --yes"))
      """, .refused)
  }

  private func refuse(_ entry: Rehearsal.Entry, _ run: MigrateRun) throws {
    let text = MigrateFailure.sentence(of: entry.file.name, entry.losses)
    let question = "\nA backup is made first; undo cannot bring the values back. Go on?"
    guard !target.isJSON, run.confirm(text + question) == true else {
      throw MigrationError.destructive(entry.losses, file: entry.file.path)
    }
    run.migrator.allowsLosses = true
  }

  // MARK: After

  /// Updates `schema.sql` if the folder has one and the command runs on a terminal; otherwise files are not changed.
  private func writeSchema(_ migrator: Migrator) throws -> String? {
    let path = target.folder + "/schema.sql"
    guard target.terminal.error.isTerminal, FileManager.default.fileExists(atPath: path) else { return nil }
    let schema = try migrator.schemaHere().here.text
    guard (try? String(contentsOfFile: path, encoding: .utf8)) != schema else { return nil }
    do {
      try Data(schema.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      target.terminal.note("\(path) could not be written: \(FileObstacle.reason(of: error))")
      return nil
    }
    return path
  }

  private func report(
    _ applied: [AppliedMigration], _ plan: MigrationPlan, _ backup: MigrationBackup?, _ schemaFile: String?
  ) {
    if target.isJSON {
      target.terminal.print(
        JSON.object([
          ("v", 1), ("database", .string(target.optionalDatabase ?? "")),
          ("schema", plan.current.map { .string("\($0)") } ?? .null),
          ("backup", backup.map { .string($0.path) } ?? .null), ("applied", .array(applied.map(\.json))),
          ("pending", .integer(plan.pending.count)),
        ]).text)
      return
    }
    guard !target.isQuiet else { return }
    let schema = plan.current.map { " · schema \($0)" } ?? ""
    let written = schemaFile.map { " · \($0) written" } ?? ""
    target.terminal.print((applied.isEmpty ? "nothing to do" : "\(applied.count) applied") + schema + written)
    if !applied.isEmpty, applied.allSatisfy({ $0.undo != nil }) {
      target.terminal.print("Undo: \(target.pasteable(applied.count == 1 ? "undo" : "undo \(applied.count)"))")
    }
  }
}
