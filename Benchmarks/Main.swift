import Foundation

/// Measures Quire against hand-written code doing the same work in the same run: see `--help`.
@main @MainActor struct Main {
  static func main() async {
    if CommandLine.arguments.dropFirst().first == SecondProcess.flag {
      do { return try await servePart(CommandLine.arguments.dropFirst(2)) } catch { fail("\(error)", status: 1) }
    }
    let arguments: Arguments
    do {
      arguments = try Arguments(CommandLine.arguments.dropFirst(), known: allCases)
    } catch {
      fail("\(error)", status: 2)
    }
    if arguments.isHelp { return print(Arguments.help(allCases)) }
    for signal in [SIGINT, SIGTERM] {
      Foundation.signal(signal) { _ in wasInterrupted.store(true, ordering: .relaxed) }
    }
    do {
      Connections.follow()
      let workspace = try Workspace()
      defer { workspace.delete() }
      try await run(arguments, in: workspace)
    } catch RunError.interrupted {
      Progress.wipe()
      exit(130)
    } catch {
      Progress.wipe()
      fail("\(error)", status: 1)
    }
  }

  private static func run(_ arguments: Arguments, in workspace: Workspace) async throws {
    let table = Table(arguments.cases)
    if !arguments.isJSON { print(table.header) }
    for benchCase in arguments.cases {
      var outcomes: [Outcome] = []
      for rows in arguments.rows {
        let stage = Stage(rows: rows, workspace: workspace)
        let outcome = try await QuireBench.run(benchCase, on: stage, rounds: arguments.rounds, hops: arguments.hops)
        workspace.removeCopies()
        outcomes.append(outcome)
        for line in arguments.isJSON ? jsonLines(outcome) : table.lines(outcome) { print(line) }
        fflush(nil)
      }
      guard let growth = Growth(outcomes) else { continue }
      for line in arguments.isJSON ? jsonLines(growth) : [table.line(growth)] { print(line) }
      fflush(nil)
    }
  }

  /// Plays the second process's part of a case: its variant, the file, and how many requests in a thousand write.
  private static func servePart(_ words: ArraySlice<String>) async throws {
    let words = Array(words)
    guard words.count == 3, let writes = Int(words[2]) else { fail("a case starts this by itself", status: 2) }
    if words[0] == "raw" {
      try await RawDesk.serve(words[1], writes: writes)
    } else {
      try await QuireDesk.serve(words[1], writes: writes)
    }
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("error: \(message)\n".utf8))
    exit(status)
  }
}
