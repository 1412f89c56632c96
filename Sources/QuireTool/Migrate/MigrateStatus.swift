import Foundation
import QuireMigration
import QuireShell

/// `migrate status`: the list, or one JSON document.
struct MigrateStatus {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  func run() throws -> ExitStatus {
    let migrator = try target.migrator()
    let failure = MigrateFailure(target: target, migrator: migrator)
    let (plan, problem) = try failure.explaining { (try migrator.plan(), try migrator.toolProblem()) }
    let terminal = invocation.terminal
    if target.isJSON {
      terminal.print(document(plan, problem).text)
    } else if !target.isQuiet {
      show(plan, isRunnable: plan.problems.isEmpty && problem == nil, on: terminal)
    }
    if let problem = plan.problems.first {
      throw failure.explained(.history(problem))
    }
    if let problem { throw failure.explained(.tool(problem)) }
    if !target.isQuiet, let undone = failure.undoneByTool() { terminal.note(printable(undone, keepingLines: true)) }
    return invocation.flag("--exit-code") && !plan.pending.isEmpty ? .pending : .done
  }

  // MARK: For people

  private func show(_ plan: MigrationPlan, isRunnable: Bool, on terminal: Terminal) {
    let out = terminal.output
    let pending = plan.pending.isEmpty ? "nothing pending" : "\(plan.pending.count) pending"
    let schema = plan.current.map { "schema \($0)" } ?? "no schema yet"
    let format = MigrationFormat(of: plan.entries.compactMap(\.file))
    let tool = format == .quire ? "" : " · \(format.rawValue)"
    terminal.print("\(out.styled(printable(target.optionalDatabase ?? ""), .bold)) · \(pending) · \(schema)\(tool)")
    terminal.print()
    let states = plan.entries.map { state(of: $0, in: plan) }
    let rows = zip(plan.entries, states).map { entry, state in
      [
        "\(entry.version)", truncated(entry.title, to: 60),
        state.isSound ? entry.applied.map { relativeTime($0.appliedAt) } ?? summary(of: entry.file) : state.word,
        entry.applied.map { "\($0.milliseconds) ms" } ?? "",
      ] + (target.isVerbose ? [entry.applied?.by ?? "", entry.file?.path ?? ""] : [])
    }
    for (line, state) in zip(Table(alignRight: [2, 3], rows: rows).lines(), states) {
      terminal.print("  \(out.styled(state.mark, state.style)) \(line)")
    }
    // The last file of another tool's folder may be one that was just made; those before it are meant to be as they are.
    let unwritten = plan.pending.last.flatMap { $0.hasNoStatement ? $0 : nil }
    if isRunnable, let empty = plan.pending.first(where: \.isEmpty) ?? unwritten {
      terminal.print("\nNext: write the SQL of \(printable(empty.path))")
    } else if isRunnable, !plan.pending.isEmpty {
      let next = plan.pending.contains(where: \.touchesData) && plan.current != nil ? "plan" : "apply"
      terminal.print("\nNext: \(target.pasteable(next))")
    }
  }

  private func summary(of file: MigrationFile?) -> String {
    file?.hasNoStatement == true ? "empty: nothing to run yet" : file?.summary ?? ""
  }

  private struct State {
    let word: String
    let mark: String
    let style: Terminal.Stream.Style
    var isSound: Bool { word == "applied" || word == "pending" }
  }

  private func state(of entry: MigrationPlan.Entry, in plan: MigrationPlan) -> State {
    for problem in plan.problems {
      let concerned =
        switch problem {
        case .edited(_, let applied), .missing(let applied): [applied.version]
        case .outOfOrder(_, let version, _), .duplicate(let version, _): [version]
        case .databaseIsNewer(let applied): applied.map(\.version)
        }
      if concerned.contains(entry.version) { return State(word: problem.kind, mark: "!", style: .red) }
    }
    return entry.applied == nil
      ? State(word: "pending", mark: "·", style: .yellow) : State(word: "applied", mark: "✓", style: .green)
  }

  // MARK: For programs

  private func document(_ plan: MigrationPlan, _ problem: ToolProblem?) -> JSON {
    let problems = plan.problems.map { ($0.kind, "\($0)") } + (problem.map { [("tool", "\($0)")] } ?? [])
    return .object([
      ("v", 1), ("database", .string(target.optionalDatabase ?? "")),
      ("schema", plan.current.map { .string("\($0)") } ?? .null),
      ("pending", .integer(plan.pending.count)),
      ("format", .string(MigrationFormat(of: plan.entries.compactMap(\.file)).rawValue)),
      (
        "problems",
        .array(problems.map { ["kind": .string($0.0), "message": .string($0.1)] })
      ),
      ("migrations", .array(plan.entries.map { entry(of: $0, in: plan) })),
    ])
  }

  private func entry(of entry: MigrationPlan.Entry, in plan: MigrationPlan) -> JSON {
    var members: [(String, JSON)] = [
      ("version", .string("\(entry.version)")), ("title", .string(entry.title)),
      ("state", .string(state(of: entry, in: plan).word)),
    ]
    if let applied = entry.applied {
      members += [("appliedAt", .string(applied.appliedAt)), ("ms", .integer(applied.milliseconds))]
    }
    if entry.applied == nil, entry.file?.hasNoStatement == true { members.append(("empty", true)) }
    members.append(("undo", .bool((entry.applied?.undo ?? entry.file?.undo) != nil)))
    return .object(members)
  }
}
