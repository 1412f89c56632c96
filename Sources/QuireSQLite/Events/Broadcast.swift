internal import Synchronization

/// The observers of values of one kind. Without any, emitting costs one look at a flag.
package final class Broadcast<Event: Sendable>: Sendable {
  package typealias Body = @Sendable (Event) -> Void

  private struct State {
    var next: UInt64 = 0
    var bodies: [(id: UInt64, body: Body)] = []
  }
  private let state = Locked(State())
  private let isObserved = Atomic(false)

  package init() {}

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

  /// Whether there are observers: what only they need is not computed without.
  package var areObserved: Bool { isObserved.load(ordering: .relaxed) }

  package func emit(_ event: Event) {
    if !areObserved { return }
    for (_, body) in state.withLock({ $0.bodies }) { body(event) }
  }
}

/// Keeps an observer of a store's events or warnings; it ends with this object.
public final class StoreEventObservation: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// No call begins after this returns, except of events that another thread is telling.
  public func cancel() { end() }
}
