/// The log that a store's file follows, and this machine's name there.
package struct SharedStore: Sendable {
  /// The log's name.
  package var name: String
  /// This machine's name among the nodes, used when its file is made.
  package var node: String
  /// How long a write waits for a log that does not answer.
  package var patience: Duration
  package let log: any SharedLog

  package init(_ name: String, on log: any SharedLog, as node: String, patience: Duration = .seconds(5)) {
    (self.name, self.log, self.node, self.patience) = (name, log, node, patience)
  }
}
