import Foundation
import QuireMigration
import QuireSQLite
import QuireShared
import QuireShell

/// `node share`, `join`, `rejoin` and `leave`.
struct NodeSharing {
  let target: NodeTarget

  func share() throws -> ExitStatus {
    let (file, store, node) = (try target.file(), try target.store(), try target.node())
    let log = target.log(of: store)
    try StoreNode.checkShareable(file)
    _ = try log.create(by: .now + target.patience)
    try StoreNode.share(file, on: log, named: store, as: node, patience: target.patience)
    let next = target.pasteable("join \(shellQuoted(file)) --as \(store)")
    do {
      try storeSnapshot(of: file, log)
      _ = try catchUp()
    } catch SharingError.snapshotTooLarge(let bytes, let limit) {
      say("shared", file, "\(printable(file)) is shared as \(store); this machine is \(node)", place: 0)
      target.terminal.note(
        "It has \(size(bytes)), and snapshots are made up to \(size(limit)): give the other machines a copy of it "
          + "(quire backup), then: \(next)")
      return .done
    }
    say(
      "shared", file,
      "\(printable(file)) is shared as \(store); this machine is \(node)\n\nNext, on the others: \(next)", place: 0)
    return .done
  }

  func join() throws -> ExitStatus {
    let (file, store, node) = (try target.file(), try target.store(), try target.node())
    let log = target.log(of: store)
    if FileManager.default.fileExists(atPath: file) {
      let place = try StoreNode.place(of: file)
      if place.node == node { throw SharingError.alreadyShared(path: file) }
      try refuseTaken(node, log)
      try StoreNode.adopt(file, named: store, as: node)
    } else {
      try refuseTaken(node, log)
      try target.working("reading") { interruption, progress in
        try StoreNode.join(
          file, to: log, named: store, as: node, patience: target.patience, interruption: interruption, progress)
      }
    }
    let position = try catchUp()
    say(
      "joined", file, "\(printable(file)) has \(store) up to \(grouped(position)); this machine is \(node)",
      place: position)
    return .done
  }

  /// Two machines of one name would take each other's turns, and could not be distinguished.
  private func refuseTaken(_ node: String, _ log: EtcdLog) throws {
    let report = try log.part(Part(.nodes, node), by: .now + target.patience).flatMap { NodeReport($0) }
    guard let report, report.isPresent else { return }
    throw CommandFailure(
      "there is a machine \(node) already, seen \(relativeTime(report.time)). Nothing was changed; give this one another "
        + "name with --node", .refused)
  }

  func rejoin() throws -> ExitStatus {
    let file = try target.file()
    let log = target.log(of: try StoreNode.place(of: file).name)
    let old = try target.working("reading") { interruption, progress in
      try StoreNode.rejoin(file, to: log, patience: target.patience, interruption: interruption, progress)
    }
    let position = try catchUp()
    say(
      "rejoined", file,
      "\(printable(file)) is a copy of the newest snapshot now, at \(grouped(position)); the old file is \(printable(old))",
      place: position, ("old", .string(old)))
    return .done
  }

  func leave() throws -> ExitStatus {
    let file = try target.file()
    let place = try StoreNode.leave(file)
    let report = NodeReport(position: place.position, state: NodeReport.left, time: Date())
    do throws(SharedLogError) {
      try target.log(of: place.name).store(report.bytes, as: Part(.nodes, place.node), by: .now + target.patience)
    } catch {
      target.terminal.note("The other machines could not be notified: \(error).")
    }
    say(
      "left", file,
      "\(printable(file)) is an ordinary file again, with what \(place.name) had at \(grouped(place.position))",
      place: place.position)
    return .done
  }

  // MARK: Parts

  private func storeSnapshot(of file: String, _ log: EtcdLog) throws {
    _ = try target.working("writing the first snapshot") { interruption, progress in
      try Snapshot.store(
        of: Connection(looking: file), in: log, patience: target.patience, interruption: interruption,
        progress)
    }
  }

  /// Repeats what was committed since the snapshot, and says that this machine is there.
  private func catchUp() throws -> Int64 {
    try target.withNode { node, log in
      try node.catchUpWithLog(by: .now + target.patience)
      node.announceNow()
      return node.position
    }
  }

  private func say(_ what: String, _ file: String, _ text: String, place: Int64, _ more: (String, JSON)...) {
    if target.isJSON {
      target.terminal.print(
        JSON.object(
          [("v", 1), ("done", .string(what)), ("file", .string(file)), ("position", .integer(Int(place)))] + more
        ).text)
    } else if !target.isQuiet {
      target.terminal.print(text)
    }
  }
}
