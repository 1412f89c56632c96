import QuireMigration

/// `migrate apply`: runs what is pending and says each as it is done.
struct MigrateApply {
  let invocation: Invocation
  let target: MigrateTarget

  init(_ invocation: Invocation) throws {
    self.invocation = invocation
    target = try MigrateTarget(invocation)
  }

  func run() throws -> ExitStatus {
    let terminal = invocation.terminal
    let isQuiet = invocation.flag("--quiet")
    var migrator = target.migrator
    migrator.createsDatabase = invocation.flag("--create")
    let titles = migrator.files.map { displayWidth(printable($0.title)) }.max() ?? 0
    let applied: [AppliedMigration]
    do {
      applied = try migrator.apply { migration in
        guard !isQuiet else { return }
        let title = padded(printable(migration.title), to: titles)
        terminal.print(
          "  \(terminal.output.styled("✓", .green)) \(migration.version)  \(title)  \(migration.milliseconds) ms")
      }
    } catch let error as MigrationError {
      throw target.explained(error)
    }
    if !isQuiet {
      let schema = (try? migrator.plan().current).map { " · schema \($0)" } ?? ""
      terminal.print((applied.isEmpty ? "nothing to do" : "\(applied.count) applied") + schema)
    }
    return .done
  }
}
