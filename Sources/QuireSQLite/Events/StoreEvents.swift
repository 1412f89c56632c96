internal import Synchronization

/// Who is told what a store does. While nobody is, telling costs one look at a flag.
package final class StoreEvents: Sendable {
  package typealias Body = @Sendable (StoreEvent) -> Void

  private struct State {
    var next: UInt64 = 0
    var bodies: [(id: UInt64, body: Body)] = []
  }
  private let state = Locked(State())
  private let isObserved = Atomic(false)

  init() {}

  package func add(_ body: @escaping Body) -> StoreEventObservation {
    let id = state.withLock { state in
      state.next += 1
      state.bodies.append((state.next, body))
      isObserved.store(true, ordering: .relaxed)
      return state.next
    }
    return StoreEventObservation { [weak self] in self?.remove(id) }
  }

  private func remove(_ id: UInt64) {
    let removed = state.withLock { state -> Body? in
      guard let index = state.bodies.firstIndex(where: { $0.id == id }) else { return nil }
      let body = state.bodies.remove(at: index).body
      isObserved.store(!state.bodies.isEmpty, ordering: .relaxed)
      return body
    }
    _ = removed  // freed outside the lock
  }

  var areObserved: Bool { isObserved.load(ordering: .relaxed) }

  /// When something begins whose duration is an event; nil while there are no observers.
  var now: ContinuousClock.Instant? { areObserved ? .now : nil }

  func emit(_ event: StoreEvent) {
    for (_, body) in state.withLock({ $0.bodies }) { body(event) }
  }

  /// - Parameter begin: ``now`` of then.
  func emit(since begin: ContinuousClock.Instant?, _ event: (Duration) -> StoreEvent) {
    if let begin { emit(event(.now - begin)) }
  }

  /// Has the statements of a connection told from now on, or no longer. For the thread that has the connection.
  func follow(_ connection: Connection) {
    if areObserved == (connection.tracer != nil) { return }
    connection.tracer = areObserved ? StatementTracer(connection, self) : nil
  }
}

/// Keeps an observer of events; it ends with this object.
public final class StoreEventObservation: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// No call begins after this returns, except of events that another thread is telling.
  public func cancel() { end() }
}
