import QuireMigration
import QuireShell

/// `migrate check`: everything that can be found out before a release, for a CI job.
struct MigrateCheck {
  let target: MigrateTarget

  func run() throws -> ExitStatus {
    let schemaFile = target.folder + "/schema.sql"
    guard target.optionalDatabase != nil else {
      let migrator = Migrator(database: "", files: try target.files(), steps: target.steps)
      return try MigrateFailure(target: target, migrator: migrator, isTrial: true).explaining {
        let findings = try migrator.checkFiles(schemaFile: schemaFile, linted: migrator.files)
        return report(try findings + modelFindings(), pending: 0, migrator)
      }
    }
    let migrator = try target.migrator()
    return try MigrateFailure(target: target, migrator: migrator, isTrial: true).explaining {
      let plan = try migrator.plan()
      // A duplicate number is a finding; any other problem with the history is an error.
      for problem in plan.problems {
        if case .duplicate = problem { continue }
        throw MigrationError.history(problem)
      }
      var findings = try migrator.checkFiles(schemaFile: schemaFile, linted: plan.pending)
      let isReplayed = !findings.contains { $0.code == .notReplayed }
      if plan.problems.isEmpty { findings += try (isReplayed ? modelFindings() : []) + migrator.checkDatabase() }
      return report(findings, pending: plan.pending.count, migrator)
    }
  }

  /// What the program's models want and its migrations do not make.
  private func modelFindings() throws -> [CheckFinding] {
    guard target.ownsDatabase else { return [] }
    let schemas = MigrateSchemas(target: target)
    return try schemas.change(from: schemas.files(to: nil), to: schemas.model(), keeping: .all).differences.map {
      CheckFinding(.otherModel, "the models want what the files do not make: \($0)")
    }
  }

  private func report(_ findings: [CheckFinding], pending: Int, _ migrator: Migrator) -> ExitStatus {
    let terminal = target.terminal
    let grave = findings.filter { !$0.isNote }
    if target.isJSON {
      terminal.print(
        JSON.object([
          ("v", 1), ("database", target.optionalDatabase.map { .string($0) } ?? .null),
          ("files", .integer(migrator.files.count)), ("pending", .integer(pending)),
          ("findings", .array(findings.map(\.json))),
        ]).text)
    } else {
      show(findings, grave.count, pending, migrator.files.count)
    }
    return !grave.isEmpty ? .found : pending > 0 ? .pending : .done
  }

  private func show(_ findings: [CheckFinding], _ grave: Int, _ pending: Int, _ files: Int) {
    let terminal = target.terminal
    let out = terminal.output
    for finding in findings where !(finding.isNote && target.isQuiet) {
      let mark = finding.isNote ? out.styled("note", .yellow) : out.styled("found", .red)
      terminal.print("\(mark)  \(printable("\(finding)", keepingLines: true))")
    }
    guard !target.isQuiet else { return }
    if !findings.isEmpty { terminal.print() }
    let waiting = pending > 0 ? " · \(pending) pending" : ""
    terminal.print("\(counted(files, "file")) checked · \(grave == 0 ? "nothing found" : "\(grave) found")\(waiting)")
    // No file can allow what another program has done to the database.
    let foreign = findings.count { $0.code == .otherSchema && $0.file == nil }
    if grave > foreign { terminal.print("What is meant is said in the file:  -- migrate: allow CODE and the reason") }
    if foreign > 0 {
      let database = target.optionalDatabase.map { " -d " + shellQuoted($0) } ?? ""
      let line = target.pasteable("new TITLE --from db", database: false) + database
      terminal.print("What another program has changed becomes a file:  \(line)      then record it as applied")
    }
  }
}

extension CheckFinding {
  fileprivate var json: JSON {
    .object([
      ("code", .string(code.rawValue)), ("file", file.map { .string($0) } ?? .null),
      ("line", line.map { .integer($0) } ?? .null), ("message", .string(text)), ("note", .bool(isNote)),
    ])
  }
}
