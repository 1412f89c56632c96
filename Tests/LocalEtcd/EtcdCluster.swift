package import Foundation
internal import QuireShared

/// Members of an etcd cluster on this machine, with their files in a folder. They end with this object.
package final class EtcdCluster {
  private static let program = "/usr/bin/etcd"
  package static var isThere: Bool { FileManager.default.isExecutableFile(atPath: program) }

  private let folder: URL
  private let ports: [Int]
  private var members: [Process] = []

  /// - Parameter folder: A new one if it is nil, which is removed with this object.
  package init(_ count: Int, in folder: URL? = nil) throws {
    guard EtcdCluster.isThere else { throw EtcdFailure.notInstalled }
    self.folder = folder ?? FileManager.default.temporaryDirectory.appending(path: "quire-etcd-\(UUID().uuidString)")
    ownsFolder = folder == nil
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
  package var addresses: [String] { ports.map { "127.0.0.1:\($0)" } }

  /// One member first, and then the others.
  package func addresses(from number: Int) -> [String] {
    let number = number % ports.count
    return Array(addresses[number...] + addresses[..<number])
  }

  private func start(_ number: Int) throws -> Process {
    func url(_ port: Int) -> String { "http://127.0.0.1:\(port)" }
    let process = Process()
    process.executableURL = URL(filePath: EtcdCluster.program)
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

  package var description: String {
    switch self {
    case .notInstalled: "etcd is not installed. Type: Scripts/setup --etcd"
    case .noLeader: "etcd has no leader after 30 s"
    }
  }
}
