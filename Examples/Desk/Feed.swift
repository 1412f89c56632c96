import Quire
import Synchronization

/// Tells all who listen of each loan and return that this process commits, as server-sent events. Those of other
/// processes come with rows only if the store has `changeLog: .on()`.
final class Feed: Sendable {
  private let listeners = Mutex<[UInt64: Listener]?>([:])
  private let count = Atomic<UInt64>(0)

  /// One connection's events that it has not sent yet.
  // @unchecked: `waiting` and `isOver` are touched only under `condition`.
  final class Listener: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: [String] = []
    private var isOver = false
    /// A client that is so far behind is let go, and comes again.
    static let most = 1000

    func add(_ event: String?) {
      condition.lock()
      if let event, waiting.count < Self.most { waiting.append(event) } else { isOver = true }
      condition.signal()
      condition.unlock()
    }

    /// Waits for events, on the connection's own thread; nil at the end, and a comment where nothing happens for so
    /// long: sending it shows whether the client is still there.
    func next(within pause: TimeInterval) -> String? {
      condition.lock()
      defer { condition.unlock() }
      let end = Date(timeIntervalSinceNow: pause)
      while waiting.isEmpty, !isOver {
        if !condition.wait(until: end), waiting.isEmpty, !isOver { return ": nothing new\n\n" }
      }
      defer { waiting.removeAll() }
      return waiting.isEmpty ? nil : waiting.joined()
    }
  }

  func listen() -> (UInt64, Listener) {
    let (number, listener) = (count.add(1, ordering: .relaxed).newValue, Listener())
    let isOpen = listeners.withLock { listeners in
      listeners?[number] = listener
      return listeners != nil
    }
    if !isOpen { listener.add(nil) }
    return (number, listener)
  }

  func leave(_ number: UInt64) { listeners.withLock { _ = $0?.removeValue(forKey: number) } }

  var listenerCount: Int { listeners.withLock { $0?.count ?? 0 } }

  /// Follows the store's commits, until the task is canceled.
  func follow(_ commits: Commits, onError note: @Sendable (any Error) -> Void) async {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    var iterator = commits.makeAsyncIterator()
    while true {
      do {
        guard let commit = try await iterator.next() else { return }
        let event = FeedEvent(commit)
        guard !event.lent.isEmpty || !event.returned.isEmpty, let data = try? encoder.encode(event) else { continue }
        let text = "id: \(event.commit)\ndata: \(String(decoding: data, as: UTF8.self))\n\n"
        for listener in listeners.withLock({ Array(($0 ?? [:]).values) }) { listener.add(text) }
      } catch let missed as CommitsMissed {
        note(missed)
        letGo()
      } catch {
        note(error)  // the file is lost
        return close()
      }
    }
  }

  /// Ends the connections: clients come again, and ask for what they show.
  private func letGo() {
    for listener in listeners.withLock({ Array(($0 ?? [:]).values) }) { listener.add(nil) }
  }

  func close() {
    let all = listeners.withLock { listeners in
      defer { listeners = nil }
      return listeners ?? [:]
    }
    for listener in all.values { listener.add(nil) }
  }
}

extension FeedEvent {
  init(_ commit: StoreCommit) {
    self.init(commit: commit.number, author: commit.author, lent: [], returned: [])
    for change in commit.changes(of: Loan.self) {
      switch (change.old, change.new) {
      case (nil, let loan?): lent.append(loan.id.rowKey ?? 0)
      case (let old?, let new?) where (old.returnedAt ?? nil) == nil && (new.returnedAt ?? nil) != nil:
        returned.append(new.id.rowKey ?? 0)
      default: break
      }
    }
  }
}
