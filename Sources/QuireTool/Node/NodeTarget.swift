import Foundation
import QuireSQLite
import QuireShared
import QuireShell

/// The words common to all `node` commands: which file, which store, where its log is.
struct NodeTarget {
  let invocation: Invocation
  let patience: Duration
  private let members: [String]

  var terminal: Terminal { invocation.terminal }
  var isJSON: Bool { invocation.flag("--json") }
  var isQuiet: Bool { invocation.flag("--quiet") }

  init(_ invocation: Invocation) throws {
    self.invocation = invocation
    patience = .seconds(try invocation.integer("--wait", in: 1...86_400) ?? 5)
    let given = invocation.values("--at").isEmpty ? [invocation["--at"] ?? ""] : invocation.values("--at")
    members = try NodeTarget.members(given, "--at", invocation)
  }

  /// Where etcd is: `HOST:PORT`, several separated by commas.
  ///
  /// - Parameter name: Of the option or variable, for messages.
  static func members(_ given: [String], _ name: String, _ invocation: Invocation) throws -> [String] {
    let members = given.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
    for member in members {
      guard let colon = member.lastIndex(of: ":"), colon > member.startIndex,
        let port = Int(member[member.index(after: colon)...]), (1...65_535).contains(port), !member.contains("/")
      else { throw invocation.usageError("\(name) takes HOST:PORT, such as 127.0.0.1:2379, not ‘\(member)’") }
    }
    return members.isEmpty ? ["127.0.0.1:2379"] : members
  }

  var optionalFile: String? { invocation.argument("FILE") }

  func file() throws -> String {
    guard let file = optionalFile else { throw invocation.usageError("which file?") }
    return file
  }

  /// Of --as.
  func store() throws -> String {
    guard let name = invocation["--as"] else { throw invocation.usageError("which store? Give its name with --as") }
    return try usable(name)
  }

  /// Of --node, or the host's.
  func node() throws -> String { try usable(invocation["--node"] ?? SharedStore.hostName) }

  private func usable(_ name: String) throws -> String {
    if SharedStore.isUsable(name: name) { return name }
    throw SharingError.unusableName(name)
  }

  /// Its requests are repeated until their time is over: a leader may be being elected.
  func log(of store: String) -> EtcdLog { EtcdLog(store, at: members, repeats: true) }

  /// The same words for another command, to be pasted.
  func pasteable(_ command: String) -> String {
    let at = members == ["127.0.0.1:2379"] ? "" : " --at \(members.joined(separator: ","))"
    return "\(invocation.command.first ?? "quire") node \(command)\(at)"
  }

  // MARK: Long work

  /// Runs what takes its time, with its progress on the terminal; Ctrl-C stops it.
  func working<T>(_ label: String, _ body: (MigrationInterruption, (Int, Int) -> Void) throws -> T) throws -> T {
    let interruption = MigrationInterruption()
    let signal = StopSignal([SIGINT, SIGTERM, SIGHUP]) { interruption.stop() }
    let progress = Progress(label, on: terminal)
    defer {
      progress.finish()
      signal.cancel()
    }
    do {
      return try body(interruption) { done, total in
        progress.update(done, of: total, "\(size(done)) of \(size(total)) · Ctrl-C leaves nothing behind")
      }
    } catch {
      throw interruption.isStopped ? CancellationError() : error
    }
  }

  /// A node of this process on a file that other programs may have open.
  func withNode<T>(_ body: (StoreNode, any SharedLog) throws -> T) throws -> T {
    let file = try file()
    let place = try StoreNode.place(of: file)
    let log = log(of: place.name)
    let database = try Database(DatabaseConfiguration(.file(file), access: .readWrite))
    defer { try? database.close() }
    let node = try StoreNode.attach(database, to: log, named: place.name, patience: patience)
    defer { node.end() }
    return try body(node, log)
  }

  // MARK: Errors

  /// Errors of stores and files, with their exit status.
  static func explaining(_ body: () throws -> ExitStatus) throws -> ExitStatus {
    do { return try body() } catch { throw explained(error) }
  }

  /// An error in a command's words, if it is one of stores or files.
  static func explained(_ error: any Error) -> any Error {
    switch error {
    case let error as SharedStoreError: CommandFailure("\(error)", status(error))
    case SharingError.unusableName: CommandFailure("\(error)", .usage)
    case is SharingError: CommandFailure("\(error)", .refused)
    case SharedLogError.unreachable, SharedLogError.refused: CommandFailure("\(error)", .busy)
    case is SharedLogError: CommandFailure("\(error)")
    case DatabaseError.busy(_, waited: .zero, _):
      CommandFailure("a program has the file open. Nothing was changed; stop it, and start it again then", .busy)
    case DatabaseError.busy, DatabaseError.writerBusy: CommandFailure("\(error)", .busy)
    case DatabaseError.shared: CommandFailure("\(error)", .refused)
    case let error as DatabaseError: CommandFailure("\(error)", error.cause == .caller ? .usage : .failure)
    case is CancellationError: CommandFailure("stopped. Nothing was changed", .interrupted)
    case let error as SQLiteError where error.primaryCode == 9:
      CommandFailure("stopped. Nothing was changed", .interrupted)
    default: error
    }
  }

  static func status(_ error: SharedStoreError) -> ExitStatus {
    switch error {
    case .cutOff, .refused: .busy
    case .notShared, .otherName: .refused
    default: .failure
    }
  }
}
