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
    if try !isHalfShared(file, store, node, log) {
      try StoreNode.share(file, on: log, named: store, as: node, patience: target.patience)
    }
    let next = target.pasteable("join \(shellQuoted(file)) --as \(store)")
    do {
      try after("\(printable(file)) is shared as \(store), and others cannot join yet; repeat the command") {
        try storeSnapshot(of: file, log)
        _ = try catchUp()
      }
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

  /// Whether an earlier call was stopped after it had shared the file, and before others could begin with it.
  private func isHalfShared(_ file: String, _ store: String, _ node: String, _ log: EtcdLog) throws -> Bool {
    guard let place = try NodePlace(on: Connection(looking: file)), place.name == store, place.node == node else {
      return false
    }
    let status = try log.status(by: .now + target.patience)
    return try status.log == place.log && Snapshot.newest(in: log, by: .now + target.patience) == nil
  }

  /// What remains when the file has been changed: an error says how it stands.
  private func after<T>(_ state: String, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as SharingError {
      throw error
    } catch is CancellationError {
      throw CommandFailure("stopped. \(state)", .interrupted)
    } catch let error as SharedStoreError {
      throw CommandFailure("\(state): \(error)", NodeTarget.status(error))
    } catch let error as SharedLogError {
      throw CommandFailure("\(state): \(error)", .busy)
    } catch {
      throw CommandFailure("\(state): \(error)")
    }
  }

  func join() throws -> ExitStatus {
    let (file, store, node) = (try target.file(), try target.store(), try target.node())
    let log = target.log(of: store)
    if FileManager.default.fileExists(atPath: file) {
      guard let place = try NodePlace(on: Connection(looking: file)) else { throw SharingError.exists(path: file) }
      if place.node != node || place.name != store {
        try refuseTaken(node, log)
        try StoreNode.adopt(file, to: log, named: store, as: node, patience: target.patience)
      }
    } else {
      try refuseTaken(node, log)
      try target.working("reading") { interruption, progress in
        try StoreNode.join(
          file, to: log, named: store, as: node, patience: target.patience, interruption: interruption, progress)
      }
    }
    let position = try after("\(printable(file)) is this machine's, and catches up when it is opened") { try catchUp() }
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
    let position = try after(
      "\(printable(file)) is a copy of the newest snapshot now, and catches up when it is opened; the old file is "
        + printable(old)
    ) { try catchUp() }
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
    let (log, part) = (target.log(of: place.name), Part(.nodes, place.node))
    do throws(SharedLogError) {
      let last = try log.part(part, by: .now + target.patience).flatMap { NodeReport($0) }
      if let last, last.state != NodeReport.left, last.position > place.position {
        target.terminal.note(
          "The machine \(place.node) goes on: it was seen \(relativeTime(last.time)) at \(grouped(last.position)), so this was "
            + "a copy of its file.")
      } else {
        try log.store(report.bytes, as: part, by: .now + target.patience)
      }
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
    let (file, place) = (try target.file(), try StoreNode.place(of: try target.file()))
    // Over migrations too, which a program would run when it is opened.
    try StoreNode.prepare(
      file, for: SharedStore(place.name, on: target.log(of: place.name), as: place.node, patience: target.patience))
    return try target.withNode { node, log in
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
