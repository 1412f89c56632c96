import Foundation
import QuireMigration
import QuireSQLite
import QuireShared
import QuireShell

/// `node status`: this file, the log, and what each machine last said.
struct NodeStatus {
  let target: NodeTarget

  private struct Log {
    let status: LogStatus
    let snapshot: Snapshot?
    let nodes: [(name: String, report: NodeReport)]
    let members: [EtcdMember]
  }

  func run() throws -> ExitStatus {
    let place = try target.optionalFile.map { try StoreNode.place(of: $0) }
    guard let name = try place?.name ?? target.invocation["--as"].map({ _ in try target.store() }) else {
      throw target.invocation.usageError("which file, or which store (--as STORE)?")
    }
    if let place, let given = target.invocation["--as"], given != place.name {
      throw SharedStoreError.otherName(path: target.optionalFile ?? "", expected: given, found: place.name)
    }
    var log: Log?
    do {
      let read = try read(name)
      log = read
      if let place { try check(place, in: read) }
      show(place, name, log)
      return .done
    } catch {
      let error = NodeTarget.explained(error)
      if place != nil || log != nil { show(place, name, log, failing: error) }
      throw error
    }
  }

  /// - Throws: Why the file cannot follow the log.
  private func check(_ place: NodePlace, in log: Log) throws {
    if place.log != log.status.log {
      throw SharedStoreError.stopped(.otherLog(log.status.log))
    }
    if place.position > log.status.last {
      throw SharedStoreError.stopped(.forked(at: log.status.last + 1))
    }
    if place.position == log.status.last, !place.chain.starts(with: log.status.end.mark) {
      throw SharedStoreError.stopped(.forked(at: place.position))
    }
    if place.position < log.status.oldest - 1 {
      throw SharedStoreError.stopped(.trimmed(oldest: log.status.oldest))
    }
  }

  private func read(_ name: String) throws(SharedLogError) -> Log {
    let (log, end) = (target.log(of: name), ContinuousClock.now + target.patience)
    let status = try log.status(by: end)
    let nodes = try log.parts(of: .nodes, by: end).compactMap { name, bytes in
      NodeReport(bytes).flatMap { $0.state == NodeReport.left || $0.isPresent ? (name: name, report: $0) : nil }
    }
    return Log(
      status: status, snapshot: try Snapshot.newest(in: log, by: end), nodes: nodes.sorted { $0.name < $1.name },
      members: log.members(by: end))
  }

  private func show(_ place: NodePlace?, _ name: String, _ log: Log?, failing error: (any Error)? = nil) {
    if target.isJSON { return target.terminal.print(document(place, name, log, error).text) }
    if target.isQuiet { return }
    let out = target.terminal.output
    var title = out.styled(name, .bold)
    if let place { title = "\(printable(target.optionalFile ?? "")) · \(title) · this machine is \(place.node)" }
    target.terminal.print(title)
    if let place {
      let behind = (log?.status.last ?? place.position) - place.position
      target.terminal.print(
        "  file      at \(grouped(place.position))\(behind > 0 ? ", \(grouped(behind)) behind" : "")")
    }
    guard let log else { return }
    let (oldest, last) = (log.status.oldest, log.status.last)
    target.terminal.print("  log       \(oldest > last ? "no entries" : "\(grouped(oldest)) to \(grouped(last))")")
    target.terminal.print(
      "  snapshot  \(log.snapshot.map { "at \(grouped($0.position)), \(size($0.size))" } ?? "none")")
    for (number, member) in log.members.enumerated() {
      let version = member.version.map { "etcd \($0)\(member.isLeader ? ", leads" : "")" } ?? "does not answer"
      target.terminal.print("  \(number == 0 ? "etcd" : "    ")      \(member.address)  \(version)")
    }
    if log.nodes.isEmpty { return }
    target.terminal.print()
    let rows = log.nodes.map { node in
      [node.name, grouped(node.report.position), node.report.state, relativeTime(node.report.time)]
    }
    for line in Table(["machine", "at", "state", "seen"], alignRight: [1], rows: rows).lines() {
      target.terminal.print("  " + line)
    }
  }

  private func document(_ place: NodePlace?, _ name: String, _ log: Log?, _ error: (any Error)?) -> JSON {
    var members: [(String, JSON)] = [("v", 1), ("store", .string(name))]
    if let error, let told = error as? any CommandError { members.append(JSON.member(error, told)) }
    if let place {
      members += [
        ("file", .string(target.optionalFile ?? "")), ("node", .string(place.node)),
        ("position", .integer(Int(place.position))),
      ]
    }
    guard let log else { return .object(members + [("log", .null)]) }
    return .object(
      members + [
        (
          "log",
          .object([
            ("id", .string(log.status.log.uuidString)), ("oldest", .integer(Int(log.status.oldest))),
            ("last", .integer(Int(log.status.last))),
          ])
        ),
        (
          "snapshot",
          log.snapshot.map { .object([("position", .integer(Int($0.position))), ("bytes", .integer($0.size))]) }
            ?? .null
        ),
        (
          "members",
          .array(
            log.members.map { member in
              .object([
                ("address", .string(member.address)), ("version", member.version.map { .string($0) } ?? .null),
                ("leads", .bool(member.isLeader)),
              ])
            })
        ),
        (
          "nodes",
          .array(
            log.nodes.map { node in
              .object([
                ("name", .string(node.name)), ("position", .integer(Int(node.report.position))),
                ("state", .string(node.report.state)), ("seen", .string(node.report.time.formatted(.iso8601))),
              ])
            })
        ),
      ])
  }
}
