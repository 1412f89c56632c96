import Foundation
import QuireMigration
import QuireSQLite
import QuireShared
import QuireShell

/// `node check`: has all machines say what their files contain at one position, and compares.
struct NodeCheck {
  let target: NodeTarget

  func run() throws -> ExitStatus {
    try target.withNode { node, log in
      let position = try node.appendCheck()
      let others = try log.parts(of: .nodes, by: .now + target.patience)
        .filter { NodeReport($0.value)?.isRunning == true }.keys
      let expected = Set(others).union([node.name])
      let end = ContinuousClock.now + target.patience
      var found: [String: FileContents] = [:]
      while true {
        found = try log.parts(of: .findings(position: position), by: .now + target.patience)
          .compactMapValues { try? FileContents($0) }
        if expected.isSubset(of: found.keys) || ContinuousClock.now > end { break }
        Thread.sleep(forTimeInterval: 0.1)
      }
      guard let mine = found[node.name] else {
        throw CommandFailure("this machine's own answer is not beside the log. Nothing is known; repeat")
      }
      return say(position, node.name, mine, expected.union(found.keys).sorted(), found)
    }
  }

  private func say(
    _ position: Int64, _ node: String, _ mine: FileContents, _ names: [String], _ found: [String: FileContents]
  ) -> ExitStatus {
    let answers = names.map { name in
      (name: name, answers: found[name] != nil, difference: found[name].flatMap { mine.difference(from: $0) })
    }
    let differ = answers.contains { $0.difference != nil }
    if target.isJSON {
      target.terminal.print(
        JSON.object([
          ("v", 1), ("position", .integer(Int(position))),
          (
            "nodes",
            .array(
              answers.map { answer in
                .object([
                  ("name", .string(answer.name)),
                  ("same", answer.answers ? .bool(answer.difference == nil) : .null),
                  ("difference", answer.difference.map { .string($0) } ?? .null),
                ])
              })
          ),
        ]).text)
    } else if !target.isQuiet || differ {
      let rows = mine.tables.reduce(0) { $0 + $1.rowCount }
      target.terminal.print(
        "At \(grouped(position)): \(counted(mine.tables.count, "table")), \(counted(rows, "row"))\n")
      let table = answers.map { answer in
        [
          answer.name,
          answer.name == node
            ? "this machine"
            : answer.difference.map { "differs in \($0)" } ?? (answer.answers ? "the same" : "no answer"),
        ]
      }
      for line in Table(rows: table).lines() { target.terminal.print("  " + line) }
      if answers.contains(where: { !$0.answers }) {
        target.terminal.print("\nA machine that answers later is waited for with --wait SECONDS.")
      }
      if differ {
        target.terminal.print("\nNext, on each machine that has the wrong rows: \(target.pasteable("rejoin FILE"))")
      }
    }
    return differ ? .found : answers.allSatisfy(\.answers) ? .done : .busy
  }
}
