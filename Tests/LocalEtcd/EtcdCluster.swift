package import Foundation
internal import QuireShared

/// Members of an etcd cluster on this machine, with their files in a folder. They end with this object.
package final class EtcdCluster {
  private static let program = "/usr/bin/etcd"
  package static var isThere: Bool { FileManager.default.isExecutableFile(atPath: program) }

  private let folder: URL
  private let ports: [Int]
  private let network: LocalNetwork?
  private var members: [Process] = []

  /// - Parameters:
  ///   - folder: A new one if it is nil, which is removed with this object.
  ///   - network: Each member is on a machine of it; nil for this machine.
  package init(_ count: Int, in folder: URL? = nil, on network: LocalNetwork? = nil) throws {
    guard EtcdCluster.isThere else { throw EtcdFailure.notInstalled }
    self.folder = folder ?? FileManager.default.temporaryDirectory.appending(path: "quire-etcd-\(UUID().uuidString)")
    ownsFolder = folder == nil
    self.network = network
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    let first = 20_000 + 2 * Int.random(in: 0..<5_000)
    ports = (0..<count).map { first + 2 * $0 }
    for number in 0..<count { members.append(try start(number)) }
  }

  private let ownsFolder: Bool

  deinit {
    for member in members where member.isRunning { Foundation.kill(member.processIdentifier, SIGKILL) }
    if ownsFolder { try? FileManager.default.removeItem(at: folder) }
  }

  /// `host:port` of each.
  package var addresses: [String] { ports.indices.map { "\(host($0)):\(ports[$0])" } }

  private func host(_ number: Int) -> String { network?.address(of: number) ?? "127.0.0.1" }

  /// One member first, and then the others.
  package func addresses(from number: Int) -> [String] {
    let number = number % ports.count
    return Array(addresses[number...] + addresses[..<number])
  }

  private func start(_ number: Int) throws -> Process {
    let process = Process()
    let arguments =
      member(number) + [
        "--data-dir", data(number).path, "--listen-client-urls", url(number), "--advertise-client-urls", url(number),
        "--listen-peer-urls", peer(number), "--initial-cluster-state", "new", "--log-level", "error",
      ]
    let (program, words) =
      network.map { LocalNetwork.command(EtcdCluster.program, arguments, in: $0.targets[number]) }
      ?? (EtcdCluster.program, arguments)
    process.executableURL = URL(filePath: program)
    process.arguments = words
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  private func data(_ number: Int) -> URL { folder.appending(path: "etcd-\(number)") }
  private func url(_ number: Int) -> String { "http://\(host(number)):\(ports[number])" }
  private func peer(_ number: Int) -> String { "http://\(host(number)):\(ports[number] + 1)" }

  /// What a member is told of itself and the others.
  private func member(_ number: Int) -> [String] {
    [
      "--name", "m\(number)", "--initial-advertise-peer-urls", peer(number),
      "--initial-cluster", ports.indices.map { "m\($0)=\(peer($0))" }.joined(separator: ","),
    ]
  }

  // MARK: etcdctl

  private static let tool = "/usr/bin/etcdctl"
  package static var hasTool: Bool { isThere && FileManager.default.isExecutableFile(atPath: tool) }

  /// Runs Debian's etcdctl.
  ///
  /// - Returns: what it has printed.
  @discardableResult package func control(_ arguments: String...) throws -> String { try control(arguments) }

  private func control(_ arguments: [String]) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: EtcdCluster.tool)
    process.arguments = arguments
    process.environment = ["ETCDCTL_API": "3"]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw EtcdFailure.refused(text) }
    return text
  }

  /// Ends all members, and starts them again with what a snapshot has.
  package func restore(_ snapshot: String) throws {
    for number in ports.indices { kill(number) }
    for number in ports.indices {
      try FileManager.default.removeItem(at: data(number))
      _ = try control(["snapshot", "restore", snapshot, "--data-dir", data(number).path] + member(number))
      try restart(number)
    }
    try waitForLeader()
  }

  /// The number of the member that leads; nil while there is none.
  package var leader: Int? {
    EtcdLog("status", at: addresses).members(by: .now + .seconds(2)).firstIndex { $0.isLeader }
  }

  /// Waits until a member leads.
  ///
  /// - Throws: ``EtcdFailure/noLeader`` after 30 s.
  @discardableResult package func waitForLeader() throws -> Int {
    for _ in 0..<300 {
      if let leader { return leader }
      Thread.sleep(forTimeInterval: 0.1)
    }
    throw EtcdFailure.noLeader
  }

  /// Ends a member at once.
  package func kill(_ number: Int) {
    Foundation.kill(members[number].processIdentifier, SIGKILL)
    members[number].waitUntilExit()
  }

  package func restart(_ number: Int) throws { members[number] = try start(number) }

  /// Stops a member without its knowing, as a cable does that is pulled; false lets it go on.
  package func pause(_ number: Int, _ isPaused: Bool) {
    Foundation.kill(members[number].processIdentifier, isPaused ? SIGSTOP : SIGCONT)
  }
}

package enum EtcdFailure: Error, CustomStringConvertible {
  case notInstalled
  case noLeader
  case refused(String)

  package var description: String {
    switch self {
    case .notInstalled: "etcd is not installed. Type: Scripts/setup --etcd"
    case .noLeader: "etcd has no leader after 30 s"
    case .refused(let text): "etcdctl: \(text)"
    }
  }
}
