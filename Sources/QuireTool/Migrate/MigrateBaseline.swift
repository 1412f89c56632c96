import QuireMigration
import QuireSQLite
import QuireShell

/// `migrate baseline`: a database that has its tables already is recorded as being at a version, after comparing it
/// with what the files make.
struct MigrateBaseline {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  func run() throws -> ExitStatus {
    if invocation.flag("--back") { return try giveBack() }
    if invocation.argument("VERSION") == nil { return try adopt() }
    if invocation.argument("VERSION") == "none" { return try begin() }
    let version = try target.version(invocation.argument("VERSION") ?? "")
    let migrator = try target.migrator()
    return try MigrateFailure(target: target, migrator: migrator).explaining {
      let differences = try differences(version, migrator)
      if !differences.isEmpty { try refuse(differences, version) }
      let recorded = try migrator.baseline(version)
      if target.isJSON {
        target.terminal.print(
          JSON.object([
            ("v", 1), ("database", .string(migrator.database)), ("recorded", .array(recorded.map(\.json))),
            ("differences", .array(differences.map { .string("\($0)") })),
          ]).text)
      } else if !target.isQuiet {
        target.terminal.print(
          recorded.isEmpty
            ? "nothing to do"
            : "recorded \(counted(recorded.count, "migration")) as applied; none was run · schema \(version)")
      }
      return .done
    }
  }

  /// Between the database and what the files make. Of files that need what only the application has nothing is known.
  private func differences(_ version: MigrationVersion, _ migrator: Migrator) throws -> [SchemaDifference] {
    do {
      let made = try migrator.replay(to: version)
      let (schema, parts) = try migrator.schemaHere()
      if !parts.names.isEmpty { target.terminal.note(printable("not compared: \(parts.description)")) }
      return schema.differences(to: made)
    } catch MigrationError.failed(let failure) where failure.needsApplication {
      target.terminal.note("not compared with the files: \(printable("\(failure.place): \(failure.message)"))")
      return []
    } catch MigrationError.failed(let failure) {
      throw MigrateFailure(target: target, migrator: migrator, isTrial: true).explained(.failed(failure))
    }
  }

  /// Nothing is recorded: the files are new ones, which no other tool has run.
  private func begin() throws -> ExitStatus {
    let migrator = try target.migrator()
    let applied = try MigrateFailure(target: target, migrator: migrator).explaining {
      try migrator.beginHistory()
      return try migrator.history().count
    }
    if target.isJSON {
      target.terminal.print(
        JSON.object([
          ("v", 1), ("database", .string(migrator.database)), ("recorded", .array([])), ("differences", .array([])),
        ]).text)
    } else if !target.isQuiet {
      target.terminal.print(
        applied == 0
          ? "nothing is recorded as applied: all these files are to run"
          : "nothing to do: \(counted(applied, "migration")) \(applied == 1 ? "has" : "have") run on this database")
    }
    return .done
  }

  /// Imports another tool's history; nothing is compared, because that tool ran the same files.
  private func adopt() throws -> ExitStatus {
    let migrator = try target.migrator()
    let (history, recorded, removed) = try MigrateFailure(target: target, migrator: migrator).explaining {
      try migrator.adopt()
    }
    say(
      recorded.map { "\($0.version)" }, as: "recorded", of: history, in: migrator.database,
      without: removed.map(\.version))
    return .done
  }

  private func giveBack() throws -> ExitStatus {
    let migrator = try target.migrator()
    let failure = MigrateFailure(target: target, migrator: migrator)
    do {
      let (history, recorded, removed) = try migrator.giveBack(removing: invocation.flag("--yes"))
      say(recorded.map(\.description), as: "given back", of: history, in: migrator.database, without: removed)
      return .done
    } catch let error as MigrationError {
      throw failure.explained(error)
    }
  }

  private func say(
    _ versions: [String], as what: String, of history: ToolHistory, in database: String,
    without removed: [MigrationVersion] = []
  ) {
    let tool = history.toolName
    if target.isJSON {
      target.terminal.print(
        JSON.object([
          ("v", 1), ("database", .string(database)), ("tool", .string(tool)),
          ("versions", .array(versions.map { .string($0) })),
          ("removed", .array(removed.map { .string("\($0)") })),
        ]).text)
    } else if !target.isQuiet {
      let migrations = counted(versions.count, "migration")
      let taken = removed.isEmpty ? "" : ", \(counted(removed.count, "row")) taken away"
      target.terminal.print(
        versions.isEmpty && removed.isEmpty
          ? "nothing to do"
          : what == "recorded"
            ? "recorded \(migrations) of \(tool)'s as applied; none was run"
              + (removed.isEmpty ? "" : "; \(removed.map(\.description).joined(separator: ", ")) is pending again")
            : "\(migrations) recorded in \(tool)'s table \(history.table)\(taken)")
    }
  }

  private func refuse(_ differences: [SchemaDifference], _ version: MigrationVersion) throws {
    if invocation.flag("--yes") { return }
    let shown =
      differences.prefix(20).map { "    \($0)" }
      + (differences.count > 20 ? ["    and \(differences.count - 20) more"] : [])
    let text = """
      the files up to \(version) make another schema than \(target.optionalDatabase ?? "") has; to come there:
      \(shown.joined(separator: "\n"))
      """
    if !target.isJSON, target.terminal.confirm(text + "\nRecord them as applied all the same?") == true { return }
    throw CommandFailure(
      """
      \(text)
      Nothing was recorded. Correct the files or the database, or:
          \(target.pasteable("baseline \(version) --yes"))
      """, .refused)
  }
}
