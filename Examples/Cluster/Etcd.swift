import Foundation
import QuireShared

/// Members of an etcd cluster on this machine.
final class Etcd {
  static let program = "/usr/bin/etcd"

  private let folder: URL
  private let ports: [Int]
  private var members: [Process] = []

  init(_ count: Int, in folder: URL) throws {
    guard FileManager.default.isExecutableFile(atPath: Etcd.program) else {
      throw Failure("etcd is not installed. Type: Scripts/setup --etcd")
    }
    self.folder = folder
    let first = 20_000 + 10 * Int.random(in: 0..<1000)
    ports = (0..<count).map { first + 2 * $0 }
    for number in 0..<count { members.append(try start(number)) }
  }

  deinit { for member in members where member.isRunning { Foundation.kill(member.processIdentifier, SIGKILL) } }

  var addresses: [String] { ports.map { "127.0.0.1:\($0)" } }

  /// The member on a machine first, and then the others.
  func addresses(from number: Int) -> [String] {
    let number = number % ports.count
    return Array(addresses[number...] + addresses[..<number])
  }

  private func start(_ number: Int) throws -> Process {
    func url(_ port: Int) -> String { "http://127.0.0.1:\(port)" }
    let process = Process()
    process.executableURL = URL(filePath: Etcd.program)
    process.arguments = [
      "--name", "m\(number)", "--data-dir", folder.appending(path: "etcd-\(number)").path,
      "--listen-client-urls", url(ports[number]), "--advertise-client-urls", url(ports[number]),
      "--listen-peer-urls", url(ports[number] + 1), "--initial-advertise-peer-urls", url(ports[number] + 1),
      "--initial-cluster", ports.enumerated().map { "m\($0)=\(url($1 + 1))" }.joined(separator: ","),
      "--initial-cluster-state", "new", "--log-level", "error",
    ]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// The number of the member that leads; nil while there is none.
  var leader: Int? {
    let log = EtcdLog("status", at: addresses)
    return log.members(by: .now + .seconds(2)).first { $0.isLeader }.flatMap { addresses.firstIndex(of: $0.address) }
  }

  /// Waits for a leader.
  func waitForLeader() throws -> Int {
    for _ in 0..<300 {
      if let leader { return leader }
      Thread.sleep(forTimeInterval: 0.1)
    }
    throw Failure("etcd has no leader after 30 s")
  }

  func kill(_ number: Int) {
    Foundation.kill(members[number].processIdentifier, SIGKILL)
    members[number].waitUntilExit()
  }

  func restart(_ number: Int) throws { members[number] = try start(number) }

  /// Stops a member without its knowing, as a cable does that is pulled; `isPaused` false goes on.
  func pause(_ number: Int, _ isPaused: Bool) {
    Foundation.kill(members[number].processIdentifier, isPaused ? SIGSTOP : SIGCONT)
  }
}
