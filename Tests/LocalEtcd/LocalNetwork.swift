internal import Foundation

/// Machines with a cable each, as network namespaces behind a bridge: what runs on one reaches the others until its cable is
/// pulled.
///
/// The process that makes it is the bridge, in a network namespace of its own (`unshare --net PROGRAM`), so that nothing of
/// the host's network is touched, and all of it ends with the process.
package final class LocalNetwork {
  /// Keep their namespaces; each ends at the end of its input.
  private var keepers: [(process: Process, input: Pipe)] = []

  /// - Throws: ``NetworkFailure`` without root, or if this process is not in a network namespace of its own.
  package init(_ count: Int) throws {
    // The host's network has more than this.
    if try LocalNetwork.run("/usr/bin/env", ["ip", "-oneline", "link"]).split(separator: "\n").count != 1 {
      throw NetworkFailure(what: "the network is not this process's own; start it with unshare --net")
    }
    try ip("link", "set", "lo", "up")
    try ip("link", "add", "bridge0", "type", "bridge")
    try ip("address", "add", "\(LocalNetwork.address(254))/24", "dev", "bridge0")
    try ip("link", "set", "bridge0", "up")
    for number in 0..<count { try add(number) }
  }

  private func add(_ number: Int) throws {
    let (process, input) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["unshare", "--net", "cat"]
    process.standardInput = input
    try process.run()
    keepers.append((process, input))
    try ip("link", "add", cable(number), "type", "veth", "peer", "name", "eth0-\(number)")
    // Until it is in its own namespace, the machine is in this one.
    let target = "\(process.processIdentifier)"
    for _ in 0..<1000 where try namespace("self") == namespace(target) { Thread.sleep(forTimeInterval: 0.01) }
    try ip("link", "set", "eth0-\(number)", "netns", target)
    try ip("link", "set", cable(number), "master", "bridge0", "up")
    for arguments in [
      ["link", "set", "lo", "up"], ["address", "add", "\(address(of: number))/24", "dev", "eth0-\(number)"],
      ["link", "set", "eth0-\(number)", "up"],
    ] {
      let (program, words) = LocalNetwork.command("ip", arguments, in: target)
      _ = try LocalNetwork.run(program, words)
    }
  }

  private func namespace(_ process: String) throws -> String {
    try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/ns/net")
  }

  private func cable(_ number: Int) -> String { "cable\(number)" }

  package func address(of number: Int) -> String { LocalNetwork.address(number + 1) }
  private static func address(_ number: Int) -> String { "10.77.0.\(number)" }

  /// Each machine's namespace.
  package var targets: [String] { keepers.map { "\($0.process.processIdentifier)" } }

  /// What starts a program in a namespace: its process is the program's.
  package static func command(_ program: String, _ arguments: [String], in target: String) -> (String, [String]) {
    ("/usr/bin/env", ["nsenter", "--target", target, "--net", program] + arguments)
  }

  /// Pulls a machine's cable, or puts it back: nothing arrives any more, and nothing says so.
  package func cut(_ number: Int, _ isCut: Bool) throws {
    try ip("link", "set", cable(number), isCut ? "down" : "up")
  }

  private func ip(_ arguments: String...) throws {
    _ = try LocalNetwork.run("/usr/bin/env", ["ip"] + arguments)
  }

  private static func run(_ program: String, _ arguments: [String]) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if process.terminationStatus != 0 {
      throw NetworkFailure(what: "\(arguments.joined(separator: " ")): \(text)")
    }
    return text
  }
}

package struct NetworkFailure: Error, CustomStringConvertible {
  let what: String
  package var description: String { "the machines' network cannot be made: \(what)" }
}
