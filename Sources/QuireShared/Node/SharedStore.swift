internal import Foundation

/// A store that several machines share, and how this machine takes part.
///
///     let store = try ModelContainer(
///       for: Book.self, configurations: ModelConfiguration(url: file, shared: .etcd("library")))
///
/// Each machine has all of its data in a file of its own. The commits of all machines are in one log, in one order.
public struct SharedStore: Sendable {
  /// The store's name, in the log and in the file.
  public let name: String
  /// This machine's name among the nodes, if the file is made now; an existing file contains its name. If another
  /// machine has the name, letters are added to it.
  public let node: String
  /// How long a write waits for a log that does not answer, before it throws.
  public let patience: Duration
  package let log: any SharedLog

  package init(_ name: String, on log: any SharedLog, as node: String, patience: Duration = .seconds(5)) {
    (self.name, self.log, self.node, self.patience) = (name, log, node, patience)
  }

  /// A store whose log is kept by an etcd cluster.
  ///
  /// - Parameters:
  ///   - name: As `quire node share FILE --as NAME` has it: letters, digits, `-` and `_`.
  ///   - members: `host:port` of members of the cluster, or of `etcd gateway`, tried in order; best on this machine,
  ///     because the connection is not encrypted.
  ///   - node: This machine's name among the nodes, if the file is made now; nil for the host's name.
  ///   - patience: How long a write waits for a log that does not answer, before it throws.
  public static func etcd(
    _ name: String, at members: [String] = ["127.0.0.1:2379"], node: String? = nil, patience: Duration = .seconds(5)
  ) -> SharedStore {
    SharedStore(name, on: EtcdLog(name, at: members), as: node ?? SharedStore.hostName, patience: patience)
  }

  /// Whether a name can be that of a store or a node.
  package static func isUsable(name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 64
      && name.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }

  /// This machine's name, without asking the network.
  package static var hostName: String {
    let name = (try? String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)) ?? "node"
    return String(name.prefix { !$0.isWhitespace })
  }
}
