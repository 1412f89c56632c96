import QuireMigration
import QuireSQLite
import QuireShared
import QuireShell

/// `node snapshot` and `node trim`, which the machines also do by themselves.
struct NodeUpkeep {
  let target: NodeTarget

  func snapshot() throws -> ExitStatus {
    let file = try target.file()
    let place = try StoreNode.place(of: file)
    let snapshot = try target.working("writing") { interruption, progress in
      try Snapshot.store(
        of: Connection(looking: file), in: target.log(of: place.name), patience: target.patience,
        interruption: interruption, progress)
    }
    say(
      "\(place.name) has a snapshot at \(grouped(snapshot.position)) (\(size(snapshot.size)))",
      [("position", .integer(Int(snapshot.position))), ("bytes", .integer(snapshot.size))])
    return .done
  }

  func trim() throws -> ExitStatus {
    let (file, days) = (try target.file(), try target.invocation.integer("--keeping", in: 0...36_500) ?? 7)
    let end = try target.withNode { node, _ in try node.trim(keeping: .seconds(days * 86_400)) }
    say(
      end.map { "the log begins at \(grouped($0 + 1)) now" }
        ?? "nothing was removed: no entry is older than \(counted(days, "day")) and in the newest snapshot. "
        + "A newer one is made with \(target.pasteable("snapshot \(shellQuoted(file))"))",
      [("through", end.map { .integer(Int($0)) } ?? .null)])
    return .done
  }

  private func say(_ text: String, _ members: [(String, JSON)]) {
    if target.isJSON {
      target.terminal.print(JSON.object([("v", 1)] + members).text)
    } else if !target.isQuiet {
      target.terminal.print(text)
    }
  }
}
