internal import Dispatch
internal import Foundation
public import Observation
package import QuireSQLite

/// This machine's part of a shared store: one file that follows the store's log. It repeats the commits of other nodes,
/// and commits a transaction of its own only when the log has it, at the position on which it was made.
///
/// Reads and live results are as of ``position``, and never wait for the network. Observable; may be used on any thread.
public final class StoreNode: Sendable, Observable {
  /// This machine's name among the nodes.
  package let name: String
  /// The name of the shared store.
  package let store: String
  /// How long a write waits for a log that does not answer.
  package let patience: Duration
  let log: any SharedLog
  let id: UUID
  let memory = Locked(NodeMemory())
  /// The state that observers were last notified of.
  private let shown = Locked(StoreNode.State.current)
  /// Observers are notified here: never under the write lock.
  private let telling = DispatchQueue(label: "quire.node-state")
  private let registrar = ObservationRegistrar()
  let database = Locked(WeakDatabase())
  let subscription = Locked<LogSubscription?>(nil)
  /// Says where this node is, from time to time.
  private let announcer = Locked<(any DispatchSourceTimer)?>(nil)
  /// Repeats what news bring.
  let tail: DispatchQueue
  /// What went wrong with snapshots and trimming, where no call could throw it.
  package let upkeepFailures = Broadcast<String>()
  /// Signaled by news, for a write that waits for its turn.
  let news = DispatchSemaphore(value: 0)

  struct WeakDatabase { weak var value: Database? }

  /// - Parameter place: Where the file stands.
  init(_ log: any SharedLog, _ place: NodePlace, patience: Duration) {
    self.log = log
    self.patience = patience
    (store, name, id) = (place.name, place.node, place.log)
    tail = DispatchQueue(label: "quire.node")
    memory.withLock { $0.stand(at: place.position) }
  }

  /// Lets a database follow a log. Other nodes' commits come from now on; those that are there already come first.
  ///
  /// - Parameter patience: How long a write waits for a log that does not answer.
  /// - Throws: ``SharedStoreError`` if the file is not shared under that name. A log that cannot be reached or that the
  ///   file does not fit to is not an error: the file can be read, and the node's state says it.
  package static func attach(
    _ database: Database, to log: any SharedLog, named name: String, patience: Duration
  ) throws -> StoreNode {
    guard let place = try database.read({ try NodePlace(on: $0) }) else {
      throw SharedStoreError.notShared(path: database.path)
    }
    if place.name != name {
      throw SharedStoreError.otherName(path: database.path, expected: name, found: place.name)
    }
    log.expect(place.log)
    let node = StoreNode(log, place, patience: patience)
    node.database.withLock { $0.value = database }
    try database.install(node)
    do {
      try node.catchUpWithLog(by: .now + patience)
    } catch let error as SharedStoreError {
      switch error {
      case .cutOff, .stopped: break
      default: throw error
      }
    }
    node.subscription.withLock {
      node.memory.withLock { $0.beginNews() }
      $0 = log.follow(after: node.position) { [weak node] news in node?.hear(news) }
    }
    node.announcer.withLock { $0 = node.startAnnouncing() }
    return node
  }

  deinit { announcer.withLock { $0?.cancel() } }

  /// Follows no longer: its file is being closed.
  package func end() {
    announcer.withLock { announcer in
      announcer?.cancel()
      announcer = nil
    }
    subscription.withLock { $0 = nil }
  }

  /// The last position of the log that the file has; 0 before the first. Not observed: it changes with each commit.
  public var position: Int64 { memory.withLock { $0.position } }

  /// The present state of the file in relation to the log. Observable.
  public var state: State {
    registrar.access(self, keyPath: \.state)
    return memory.withLock { $0.state }
  }

  /// Notifies observers of ``state`` if it has changed. Called after each change of the memory, also under locks.
  func show() {
    let now = memory.withLock { $0.state }
    let isNew = shown.withLock { shown in
      defer { shown = now }
      return shown != now
    }
    guard isNew else { return }
    telling.async { [self] in registrar.withMutation(of: self, keyPath: \.state) {} }
  }
}
