import Foundation
import QuireMigration
import QuireSQLite
import QuireShell

/// `migrate restore`: puts a backup back, or lists them.
struct MigrateRestore {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  func run() throws -> ExitStatus {
    let migrator = try target.migrator(needsFiles: false)
    let backups = MigrationBackup.all(of: migrator.database)
    if invocation.flag("--list") {
      list(backups)
      return .done
    }
    let backup = try chosen(among: backups, of: migrator.database)
    return try MigrateFailure(target: target, migrator: migrator).explaining {
      let run = MigrateRun(target, migrator, titles: [])
      run.show("checking \(backup)")
      let sound = try run.migrator.sound(backup)
      run.finish()
      if !sound.unchecked.isEmpty { note(sound.unchecked) }
      try ask(backup, run)
      run.show("putting back \(backup)")
      let kept = try run.migrator.restore(sound) {
        run.copying($0, of: $1, "putting back \(backup)")
      }
      run.finish()
      let schema = try run.migrator.history().last?.version
      if target.isJSON {
        target.terminal.print(
          JSON.object([
            ("v", 1), ("database", .string(migrator.database)), ("restored", .string(backup)),
            ("backup", kept.map { .string($0.path) } ?? .null), ("schema", schema.map { .string("\($0)") } ?? .null),
          ]).text)
      } else if !target.isQuiet {
        if let kept {
          target.terminal.print("  backup    \(printable(kept.path))  (\(size(kept.bytes)))  what was there")
        }
        let now = schema.map { " · schema \($0)" } ?? ""
        target.terminal.print("\(printable(migrator.database)) is as in \(printable(backup))\(now)")
      }
      return .done
    }
  }

  private func list(_ backups: [MigrationBackup]) {
    let terminal = target.terminal
    if target.isJSON {
      let items = backups.map { backup -> JSON in
        .object([
          ("path", .string(backup.path)), ("bytes", .integer(backup.bytes)),
          ("at", .string(backup.date.formatted(.iso8601))),
        ])
      }
      terminal.print(JSON.object([("v", 1), ("backups", .array(items))]).text)
      return
    }
    if backups.isEmpty {
      terminal.print("no backups of \(printable(target.optionalDatabase ?? ""))")
    } else {
      let rows = backups.map { [$0.path, size($0.bytes), relativeTime($0.date)] }
      for line in Table(alignRight: [1], rows: rows).lines() { terminal.print(line) }
    }
    for copy in MigrationBackup.unfinished(of: target.optionalDatabase ?? "") {
      terminal.note(
        "\(printable(copy.path)) (\(size(copy.bytes))) is being made, or was left by a run that was killed: apply removes it then"
      )
    }
  }

  private func chosen(among backups: [MigrationBackup], of database: String) throws -> String {
    guard let word = invocation.argument("BACKUP") else {
      // What a restore has replaced would be put back by the next one.
      guard let latest = backups.first(where: { !$0.isBeforeRestore }) else {
        throw CommandFailure("there is no backup of \(database) (\(database).before-…)", .usage)
      }
      return latest.path
    }
    if let backup = backups.first(where: { $0.occasion == word || $0.path == word }) { return backup.path }
    if FileManager.default.fileExists(atPath: word) { return word }
    let near =
      nearest(to: word, among: backups.flatMap { [$0.path, $0.occasion] }).map { " Did you mean \($0)?" } ?? ""
    throw CommandFailure(
      "there is no backup \(word).\(near)\n    \(target.program) migrate restore --list -d \(shellQuoted(database))",
      .usage)
  }

  private func note(_ unchecked: [String: String]) {
    let tables = unchecked.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }.joined(separator: ", ")
    target.terminal.note(
      printable("not checked for damage, because it needs what only the program has: \(tables). The rest is sound"))
  }

  private func ask(_ backup: String, _ run: MigrateRun) throws {
    let migrator = run.migrator
    if invocation.flag("--yes") || !FileManager.default.fileExists(atPath: migrator.database) { return }
    let question =
      "\(migrator.database) becomes what it was in \(backup); what is there now is kept beside it as a backup."
    if !target.isJSON, let answer = run.confirm(question + " Go on?") {
      if answer { return }
      throw CommandFailure("nothing was changed", .refused)
    }
    throw CommandFailure(
      "\(question)\n    \(target.program) migrate restore \(shellQuoted(backup)) -d \(shellQuoted(migrator.database)) --yes",
      .refused)
  }
}
