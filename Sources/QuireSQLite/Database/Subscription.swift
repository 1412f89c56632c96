internal import QuireRow

/// Keeps a subscription to commits alive; it ends with this object.
package final class Subscription: Sendable {
  private let id: UInt64
  private weak let subscribers: Subscribers?

  init(_ id: UInt64, in subscribers: Subscribers) {
    self.id = id
    self.subscribers = subscribers
  }

  deinit { cancel() }

  /// After this returns, no call begins, except one that another thread has already started.
  package func cancel() { subscribers?.remove(id) }
}

/// The subscribers to commits, in the order of subscription.
final class Subscribers: Sendable {
  typealias Body = @Sendable (ChangeSet) -> Void
  typealias Failure = @Sendable (DatabaseError) -> Void
  private struct State {
    var next: UInt64 = 0
    var bodies: [(id: UInt64, except: ChangeSet.Origin?, body: Body, failed: Failure?)] = []
    /// What happened to the file, for later subscribers too.
    var failure: DatabaseError?
    var isOver = false
  }
  private let state = Locked(State())

  func add(exceptTo origin: ChangeSet.Origin?, failed: Failure?, _ body: @escaping Body) -> Subscription {
    let (id, failure) = state.withLock { state in
      state.next += 1
      if !state.isOver { state.bodies.append((state.next, origin, body, failed)) }
      return (state.next, state.failure)
    }
    if let failure { failed?(failure) }
    return Subscription(id, in: self)
  }

  var isEmpty: Bool { state.withLock { $0.bodies.isEmpty } }

  /// Notifies all subscribers, once.
  func fail(_ error: DatabaseError) {
    let bodies = state.withLock { state in
      if state.failure != nil { return [Failure?]() }
      state.failure = error
      return state.bodies.map(\.failed)
    }
    for failed in bodies { failed?(error) }
  }

  func remove(_ id: UInt64) {
    let removed = state.withLock { state -> Body? in
      guard let index = state.bodies.firstIndex(where: { $0.id == id }) else { return nil }
      return state.bodies.remove(at: index).body
    }
    _ = removed  // freed outside the lock: what it captured may cancel another subscription
  }

  /// Releases all subscribers, and keeps no later ones: no more commits will come.
  func end() {
    let removed = state.withLock { state in
      state.isOver = true
      defer { state.bodies.removeAll() }
      return state.bodies
    }
    _ = removed  // freed outside the lock, as above
  }

  /// Whether any subscriber receives commits of this origin: if not, net changes are not even computed.
  func want(_ origin: ChangeSet.Origin) -> Bool { state.withLock { $0.bodies.contains { $0.except != origin } } }

  func publish(_ changes: ChangeSet) {
    let bodies = state.withLock { $0.bodies }
    for (_, except, body, _) in bodies where except != changes.origin { body(changes) }
  }
}
