import Foundation
import QuireMigration

/// `migrate status`: the list, or one JSON document.
struct MigrateStatus {
  let invocation: Invocation
  let target: MigrateTarget

  init(_ invocation: Invocation) throws {
    self.invocation = invocation
    target = try MigrateTarget(invocation)
  }

  func run() throws -> ExitStatus {
    let plan: MigrationPlan
    do {
      plan = try target.migrator.plan()
    } catch {
      throw target.explained(error)
    }
    let terminal = invocation.terminal
    if invocation.flag("--json") {
      terminal.print(document(plan).text)
    } else if !invocation.flag("--quiet") {
      show(plan, on: terminal)
    }
    if let problem = plan.problems.first { throw MigrationError.history(problem) }
    return invocation.flag("--exit-code") && !plan.pending.isEmpty ? .pending : .done
  }

  // MARK: For people

  private func show(_ plan: MigrationPlan, on terminal: Terminal) {
    let out = terminal.output
    let pending = plan.pending.isEmpty ? "nothing pending" : "\(plan.pending.count) pending"
    let schema = plan.current.map { "schema \($0)" } ?? "no schema yet"
    terminal.print("\(out.styled(printable(target.database), .bold)) · \(pending) · \(schema)")
    terminal.print()
    let states = plan.entries.map { state(of: $0, in: plan) }
    let rows = zip(plan.entries, states).map { entry, state in
      [
        "\(entry.version)", truncated(entry.title, to: 60),
        state.isSound ? entry.applied.map { relativeTime($0.appliedAt) } ?? "" : state.word,
        entry.applied.map { "\($0.milliseconds) ms" } ?? "",
      ]
    }
    for (line, state) in zip(Table(alignRight: [2, 3], rows: rows).lines(), states) {
      terminal.print("  \(out.styled(state.mark, state.style)) \(line)")
    }
    if plan.problems.isEmpty, !plan.pending.isEmpty {
      terminal.print("\nNext: \(target.pasteable("\(target.program) migrate apply"))")
    }
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

  /// `18 days ago`.
  private func relativeTime(_ moment: String) -> String {
    guard let date = try? Date(moment, strategy: .iso8601) else { return moment }
    let seconds = Int(Date.now.timeIntervalSince(date))
    for (unit, length) in [("day", 86_400), ("hour", 3_600), ("minute", 60)] where seconds >= length {
      return "\(seconds / length) \(unit)\(seconds / length == 1 ? "" : "s") ago"
    }
    return "just now"
  }

  // MARK: For programs

  private func document(_ plan: MigrationPlan) -> JSON {
    .object([
      ("v", 1), ("database", .string(target.database)), ("schema", plan.current.map { .string("\($0)") } ?? .null),
      ("pending", .integer(plan.pending.count)),
      (
        "problems",
        .array(plan.problems.map { ["kind": .string($0.kind), "message": .string("\($0)")] })
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
    members.append(("undo", .bool((entry.applied?.undo ?? entry.file?.undo) != nil)))
    return .object(members)
  }
}
