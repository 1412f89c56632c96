import Foundation
import TestSupport

/// Members of an etcd cluster on this machine, which end with the test.
final class EtcdCluster {
  static let program = "/usr/bin/etcd"
  static var isThere: Bool { FileManager.default.isExecutableFile(atPath: program) }

  private let scratch: Scratch
  private let ports: [Int]
  private var members: [Process] = []

  init(_ count: Int) throws {
    scratch = try Scratch()
    let first = 20_000 + Int.random(in: 0..<10_000)
    ports = (0..<count).map { first + 2 * $0 }
    for number in 0..<count { members.append(try start(number, state: "new")) }
  }

  deinit { for member in members where member.isRunning { kill(member.processIdentifier, SIGKILL) } }

  var endpoints: [String] { ports.map { "127.0.0.1:\($0)" } }

  private func start(_ number: Int, state: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: EtcdCluster.program)
    process.arguments = [
      "--name", "m\(number)", "--data-dir", scratch.file("member-\(number)"),
      "--listen-client-urls", "http://127.0.0.1:\(ports[number])",
      "--advertise-client-urls", "http://127.0.0.1:\(ports[number])",
      "--listen-peer-urls", "http://127.0.0.1:\(ports[number] + 1)",
      "--initial-advertise-peer-urls", "http://127.0.0.1:\(ports[number] + 1)",
      "--initial-cluster", ports.enumerated().map { "m\($0)=http://127.0.0.1:\($1 + 1)" }.joined(separator: ","),
      "--initial-cluster-state", state, "--log-level", "error",
    ]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Ends a member at once, and starts it again a moment later.
  func killAndRestart(_ number: Int) throws {
    kill(members[number].processIdentifier, SIGKILL)
    members[number].waitUntilExit()
    Thread.sleep(forTimeInterval: 0.3)
    members[number] = try start(number, state: "new")
  }
}
