import QuireMigration

/// `migrate undo` and `migrate redo`.
struct MigrateUndo {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  func run() throws -> ExitStatus {
    let all = MigrationVersion(number: 0)
    let version = try invocation["--to"] == "0" ? all : target.limit()
    if version != nil, invocation.argument("N") != nil {
      throw invocation.usageError("how many, or --to which: one of the two")
    }
    let migrator = try target.migrator(needsFiles: false)
    let count = try count()
    return try MigrateFailure(target: target, migrator: migrator).explaining {
      let (history, tool) = (try migrator.history(), try migrator.toolHistory())
      let format = MigrationFormat(of: migrator.files)
      let plan =
        try version.map { try UndoPlan(to: $0, of: history, format: format) }
        ?? UndoPlan(last: count, of: history, format: format)
      let run = try prepared(migrator, titles: plan.migrations.map(\.title))
      var backup: MigrationBackup?
      let undone = try asking(run) {
        try run.migrator.undo(plan) { event in
          if case .backedUp(let made) = event { backup = made }
          watch(event, run)
        }
      }
      run.finish()
      let now = try run.migrator.history().last?.version
      report("undone", undone, backup, now)
      if let tool, !target.isQuiet, !target.isJSON, try run.migrator.toolHistory() != tool {
        target.terminal.print("taken away from \(tool.toolName)'s table \(tool.table), too")
      }
      return .done
    }
  }

  func redo() throws -> ExitStatus {
    let migrator = try target.migrator()
    return try MigrateFailure(target: target, migrator: migrator).explaining {
      let run = try prepared(migrator, titles: migrator.files.map(\.title))
      var backup: MigrationBackup?
      let applied = try asking(run) {
        try run.migrator.redo { event in
          if case .backedUp(let made) = event { backup = made }
          watch(event, run)
        }
      }
      run.finish()
      report("done again", [applied], backup, try run.migrator.history().last?.version)
      return .done
    }
  }

  private func count() throws -> Int {
    guard let word = invocation.argument("N") else { return 1 }
    guard let count = Int(word), (1...100_000).contains(count) else {
      throw invocation.usageError("‘\(word)’ is not a number of migrations; to undo to a version:  undo --to \(word)")
    }
    return count
  }

  private func prepared(_ migrator: Migrator, titles: [String]) throws -> MigrateRun {
    var migrator = migrator
    migrator.shared = try target.shared(patience: migrator.wait)
    migrator.backsUp = !invocation.flag("--no-backup")
    migrator.allowsLosses = invocation.flag("--yes")
    return MigrateRun(target, migrator, titles: titles)
  }

  private func watch(_ event: MigrationEvent, _ run: MigrateRun) {
    if case .begins(let version, let title) = event { run.show("\(version)  \(title)") }
    run.said(event)
  }

  /// If values would be lost, asks on a terminal, and tries again with the answer.
  private func asking<T>(_ run: MigrateRun, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      let what: String
      switch error as? MigrationError {
      case .destructive(let losses, let file)?: what = MigrateFailure.sentence(of: file, losses)
      case .stillUsed?: what = "\(error)"
      default: throw error
      }
      if target.isJSON { throw error }
      run.finish()
      guard run.confirm(what + "\nGo on?") == true else { throw error }
      run.migrator.allowsLosses = true
      return try body()
    }
  }

  private func report(
    _ word: String, _ migrations: [AppliedMigration], _ backup: MigrationBackup?, _ schema: MigrationVersion?
  ) {
    if target.isJSON {
      target.terminal.print(
        JSON.object([
          ("v", 1), ("database", .string(target.optionalDatabase ?? "")),
          ("schema", schema.map { .string("\($0)") } ?? .null), ("backup", backup.map { .string($0.path) } ?? .null),
          (word == "undone" ? "undone" : "applied", .array(migrations.map(\.json))),
        ]).text)
    } else if !target.isQuiet {
      let now = schema.map { " · schema \($0)" } ?? " · no migration applied"
      target.terminal.print((migrations.isEmpty ? "nothing to do" : "\(migrations.count) \(word)") + now)
    }
  }
}
