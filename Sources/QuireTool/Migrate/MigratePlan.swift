import Foundation
import QuireMigration
import QuireSQLite
import QuireShell

/// `migrate plan`: what would happen, tried on a copy.
struct MigratePlan {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  func run() throws -> ExitStatus {
    let migrator = try target.migrator()
    let last = try target.limit()
    return try MigrateFailure(target: target, migrator: migrator).explaining {
      let plan = try migrator.plan()
      if let problem = plan.problems.first { throw MigrationError.history(problem) }
      let pending = plan.pending(to: last)
      if invocation.flag("--sql") {
        if let problem = try migrator.toolProblem() { throw MigrationError.tool(problem) }
        if target.isJSON {
          target.terminal.print(document(pending, plan).text)
          return .done
        }
        for file in pending {
          target.terminal.print("-- \(file.path)\n" + target.terminal.shown(sql: file.up) + Self.end(of: file.up))
        }
        return .done
      }
      let run = MigrateRun(target, migrator, titles: pending.map(\.title))
      let rehearsal = try rehearse(run, to: last)
      run.finish()
      if target.isJSON {
        target.terminal.print(document(rehearsal, plan).text)
      } else if !target.isQuiet {
        show(rehearsal)
      }
      return .done
    }
  }

  /// What the last statement lacks for another one to follow.
  private static func end(of sql: String) -> String {
    let tokens = SQLTokens(sql)
    guard let last = tokens.reversed().first(where: \.isSignificant), !tokens.isMark(last, ";") else { return "" }
    return sql.hasSuffix("\n") ? ";" : "\n;"
  }

  private func rehearse(_ run: MigrateRun, to last: MigrationVersion?) throws -> Rehearsal {
    do {
      return try run.migrator.rehearse(to: last, isSchemaOnly: invocation.flag("--schema-only")) { progress in
        switch progress {
        case .copying(let done, let total): run.copying(done, of: total, "copying")
        case .running(let file): run.show("\(file.version)  \(file.title)")
        }
      }
    } catch {
      guard let error = error as? MigrationError else { throw error }
      let place = "In the rehearsal on a copy. Nothing was changed."
      let text: String
      if case .failed(let failure) = error {
        let told = MigrateFailure(target: target, migrator: run.migrator)
        text = "\(failure)\n\(told.alreadyThere(failure, place) ?? place)"
      } else if let broken = MigrateFailure.brokenKeys(error, place) {
        text = broken
      } else {
        throw error
      }
      throw MigrateFailed(description: text, exitStatus: .failure, error: error, progress: MigrateProgress())
    }
  }

  // MARK: For people

  private func show(_ rehearsal: Rehearsal) {
    let terminal = target.terminal
    let database = printable(target.optionalDatabase ?? "")
    let kind = rehearsal.isSchemaOnly ? "the tables of \(database), without their rows" : "a copy of \(database)"
    let took = (rehearsal.copying / .seconds(1)).formatted(
      .number.precision(.fractionLength(2)).locale(.init(identifier: "en_US_POSIX")))
    if rehearsal.entries.isEmpty {
      terminal.print("nothing to do")
      return
    }
    terminal.print("Rehearsed on \(kind) (\(size(rehearsal.bytes)), \(took) s). Nothing was changed.\n")
    let width = rehearsal.entries.map { displayWidth(printable($0.file.title)) }.max() ?? 0
    for entry in rehearsal.entries { show(entry, width: width) }
    let stuck = rehearsal.entries.filter { $0.file.undo == nil }
    let undo =
      stuck.isEmpty
      ? (rehearsal.entries.count == 1 ? "it can be undone." : "all can be undone.")
      : "\(stuck.map { "\($0.file.version)" }.joined(separator: ", ")) cannot be undone."
    let flag =
      rehearsal.entries.contains { !$0.losses.isEmpty && !$0.file.allows("M001") } ? " --allow-destructive" : ""
    terminal.print("\nUndo: \(undo)     Next: \(target.pasteable("apply" + flag))")
  }

  private func show(_ entry: Rehearsal.Entry, width: Int) {
    let terminal = target.terminal
    let out = terminal.output
    let title = padded(printable(entry.file.title), to: width)
    terminal.print("  \(entry.file.version)  \(out.styled(title, .bold))  \(entry.milliseconds) ms")
    for row in entry.rows {
      guard let before = row.before, let after = row.after else { continue }
      if before == 0, after == 0 { continue }
      terminal.print("      \(printable(row.table))   \(grouped(before)) rows → \(grouped(after))")
    }
    for difference in entry.differences {
      terminal.print("      \(printable("\(difference)"))")
    }
    if entry.file.hasNoStatement {
      terminal.print("      \(out.styled("!", .yellow)) the file is empty: nothing is run")
    } else if entry.differences.isEmpty, entry.rows.isEmpty {
      terminal.print("      the schema stays as it is")
    }
    let kept = [(entry.kept.indexes, "index", "indexes"), (entry.kept.triggers, "trigger", "triggers")].compactMap {
      $0.0 == 0 ? nil : "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)"
    }
    let check = out.styled("✓", .green)
    let isMisdirected = (entry.forgotten + entry.dangling).contains { $0.kind == .constraint }
    let keys =
      isMisdirected
      ? nil
      : entry.brokenKeys == 0
        ? "foreign keys hold" : "no foreign key more points nowhere (\(grouped(entry.brokenKeys)) did before, and do)"
    let checked = [keys, kept.isEmpty ? nil : kept.joined(separator: ", ") + " kept"].compactMap(\.self)
    if !checked.isEmpty { terminal.print("      " + checked.map { "\(check) \($0)" }.joined(separator: "    ")) }
    for (table, reason) in entry.uncheckedKeys.sorted(by: { $0.key < $1.key }) {
      terminal.print("      ? the keys of \(printable(table)) were not checked: \(printable(reason))")
    }
    for loss in entry.losses { terminal.print("      \(out.styled("!", .red)) \(printable("\(loss)"))   [M001]") }
    for sentence in entry.leftBehind {
      terminal.print("      \(out.styled("!", .red)) \(printable(sentence))   [M004]")
    }
  }

  // MARK: For programs

  private func document(_ rehearsal: Rehearsal, _ plan: MigrationPlan) -> JSON {
    .object([
      ("v", 1), ("database", .string(target.optionalDatabase ?? "")),
      ("schema", plan.current.map { .string("\($0)") } ?? .null), ("bytes", .integer(rehearsal.bytes)),
      ("schemaOnly", .bool(rehearsal.isSchemaOnly)),
      ("migrations", .array(rehearsal.entries.map(entry))),
    ])
  }

  /// Of `--sql`, which rehearses nothing.
  private func document(_ pending: [MigrationFile], _ plan: MigrationPlan) -> JSON {
    let migrations = pending.map { file -> JSON in
      .object([
        ("version", .string("\(file.version)")), ("title", .string(file.title)), ("undo", .bool(file.undo != nil)),
        ("file", .string(file.path)), ("sql", .string(file.up)),
      ])
    }
    return .object([
      ("v", 1), ("database", .string(target.optionalDatabase ?? "")),
      ("schema", plan.current.map { .string("\($0)") } ?? .null), ("migrations", .array(migrations)),
    ])
  }

  private func entry(_ entry: Rehearsal.Entry) -> JSON {
    .object([
      ("version", .string("\(entry.file.version)")), ("title", .string(entry.file.title)),
      ("ms", .integer(entry.milliseconds)), ("undo", .bool(entry.file.undo != nil)),
      ("changes", .array(entry.differences.map { .string("\($0)") })),
      (
        "rows",
        .array(
          entry.rows.map { row in
            .object([
              ("table", .string(row.table)), ("before", row.before.map { .integer($0) } ?? .null),
              ("after", row.after.map { .integer($0) } ?? .null),
            ])
          })
      ),
      ("brokenKeys", .integer(entry.brokenKeys)), ("losses", .array(entry.losses.map(\.json))),
      ("forgotten", .array((entry.forgotten + entry.dangling).map { .string("\($0)") })),
    ])
  }
}
