import QuireMigration
import QuireSQLite
import QuireShell

/// `migrate log`: the history of a database, or one version's SQL as it ran compared with its file.
struct MigrateLog {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  func run() throws -> ExitStatus {
    let migrator = try target.migrator(needsFiles: false)
    return try MigrateFailure(target: target, migrator: migrator).explaining {
      let history = try migrator.history()
      guard let word = invocation.argument("VERSION") else {
        list(history)
        return .done
      }
      let version = try target.version(word)
      guard let applied = history.first(where: { $0.version == version }) else {
        throw MigrationError.notApplied(version)
      }
      show(applied, migrator.files.first { $0.version == version })
      return .done
    }
  }

  private func list(_ history: [AppliedMigration]) {
    let terminal = target.terminal
    if target.isJSON {
      terminal.print(
        JSON.object([
          ("v", 1), ("database", .string(target.optionalDatabase ?? "")),
          ("migrations", .array(history.map { Self.json($0) })),
        ]).text)
      return
    }
    if history.isEmpty { return terminal.print("no migration has run on \(printable(target.optionalDatabase ?? ""))") }
    let rows = history.map { applied in
      [
        "\(applied.sequence)", "\(applied.version)", applied.title, applied.appliedAt, "\(applied.milliseconds) ms",
        applied.by,
      ]
    }
    let table = Table(["#", "version", "title", "applied (UTC)", "took", "by"], alignRight: [0, 4], rows: rows)
    for line in table.lines(width: terminal.output.isTerminal ? terminal.columns : nil) { terminal.print(line) }
  }

  private func show(_ applied: AppliedMigration, _ file: MigrationFile?) {
    let terminal = target.terminal
    if target.isJSON {
      guard case .object(let members) = Self.json(applied) else { return }
      let now: JSON = file.map { .bool(SQLTokens.equal($0.up, applied.up)) } ?? .null
      terminal.print(
        JSON.object(
          [("v", 1)] + members + [
            ("up", .string(applied.up)), ("undoText", applied.undo.map { .string($0) } ?? .null), ("fileIsSame", now),
          ]
        ).text)
      return
    }
    let out = terminal.output
    terminal.print("\(out.styled("\(applied.version)", .bold))  \(printable(applied.title))")
    terminal.print(
      "number \(applied.sequence), run \(applied.appliedAt) by \(printable(applied.by)) in \(applied.milliseconds) ms\n"
    )
    let text = Self.text(applied.up, applied.undo)
    terminal.print(terminal.shown(sql: text).trimmedEnd)
    terminal.print()
    switch file {
    case nil: terminal.print("Its file is not among these.")
    case let file? where SQLTokens.equal(file.up, applied.up) && SQLTokens.equal(file.undo ?? "", applied.undo ?? ""):
      terminal.print("\(file.path) says the same.")
    case let file?:
      terminal.print("\(file.path) says something else now:")
      let now = Self.text(file.up, file.undo)
      for line in TextDifference(text, now).lines {
        terminal.print(
          "  \(line.hasPrefix("+") ? out.styled(line, .green) : line.hasPrefix("-") ? out.styled(line, .red) : line)")
      }
    }
  }

  /// Both parts, each of which may have been a file of its own.
  private static func text(_ up: String, _ undo: String?) -> String {
    guard let undo else { return up }
    let (end, start) = (up.isEmpty || up.hasSuffix("\n") ? "" : "\n", undo.hasPrefix("\n") ? "" : "\n")
    return "\(up)\(end)-- migrate: undo\(start)\(undo)"
  }

  private static func json(_ applied: AppliedMigration) -> JSON {
    .object([
      ("seq", .integer(applied.sequence)), ("version", .string("\(applied.version)")),
      ("title", .string(applied.title)),
      ("appliedAt", .string(applied.appliedAt)), ("ms", .integer(applied.milliseconds)), ("by", .string(applied.by)),
      ("undo", .bool(applied.undo != nil)),
    ])
  }
}

extension String {
  fileprivate var trimmedEnd: String { lastIndex { !$0.isWhitespace }.map { String(self[...$0]) } ?? "" }
}

/// Two texts line by line: `- ` what only the first has, `+ ` what only the second has, with two lines of each side.
struct TextDifference {
  private(set) var lines: [String] = []

  init(_ old: String, _ new: String) {
    let (old, new) = (
      old.split(separator: "\n", omittingEmptySubsequences: false),
      new.split(separator: "\n", omittingEmptySubsequences: false)
    )
    var (a, b) = (0, 0)
    let changes = new.difference(from: old)
    let gone = Set(changes.removals.map { if case .remove(let offset, _, _) = $0 { offset } else { -1 } })
    let come = Set(changes.insertions.map { if case .insert(let offset, _, _) = $0 { offset } else { -1 } })
    var all: [(mark: String, text: Substring)] = []
    while a < old.count || b < new.count {
      if gone.contains(a) {
        all.append(("- ", old[a]))
        a += 1
      } else if come.contains(b) {
        all.append(("+ ", new[b]))
        b += 1
      } else {
        if a < old.count { all.append(("  ", old[a])) }
        a += 1
        b += 1
      }
    }
    for (index, line) in all.enumerated() {
      let near = all[max(0, index - 2)...min(all.count - 1, index + 2)]
      if near.contains(where: { $0.mark != "  " }) { lines.append(line.mark + line.text) }
    }
  }
}
