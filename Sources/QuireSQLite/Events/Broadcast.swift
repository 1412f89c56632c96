internal import Synchronization

/// The observers of values of one kind. Without any, emitting costs one look at a flag.
package final class Broadcast<Event: Sendable>: Sendable {
  package typealias Body = @Sendable (Event) -> Void

  private struct State {
    var next: UInt64 = 0
    var bodies: [(id: UInt64, body: Body)] = []
    var isOver = false
  }
  private let state = Locked(State())
  private let isObserved = Atomic(false)

  package init() {}

  package func add(_ body: @escaping Body) -> ObservationToken {
    let id = state.withLock { state in
      state.next += 1
      if state.isOver { return state.next }
      state.bodies.append((state.next, body))
      isObserved.store(true, ordering: .relaxed)
      return state.next
    }
    return ObservationToken { [weak self] in self?.remove(id) }
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

  /// Releases all observers: nothing more will be emitted, and streams end.
  package func end() {
    let removed = state.withLock { state in
      state.isOver = true
      isObserved.store(false, ordering: .relaxed)
      defer { state.bodies.removeAll() }
      return state.bodies
    }
    _ = removed  // freed outside the lock
  }

  /// All values from now on; of those that were not taken yet the newest 1 024 are kept. The stream ends with ``end()``, or
  /// with this object.
  package var stream: AsyncStream<Event> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
      let end = StreamEnd(continuation)
      let observation = add { end.continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }

  /// Released with the list of observers: this ends the stream, which would have its task wait for ever otherwise.
  private final class StreamEnd: Sendable {
    let continuation: AsyncStream<Event>.Continuation
    init(_ continuation: AsyncStream<Event>.Continuation) { self.continuation = continuation }
    deinit { continuation.finish() }
  }

  /// Whether there are observers: what only they need is not computed without.
  package var areObserved: Bool { isObserved.load(ordering: .relaxed) }

  package func emit(_ event: Event) {
    if !areObserved { return }
    for (_, body) in state.withLock({ $0.bodies }) { body(event) }
  }
}

/// Keeps an observer in place: a closure of `observe`, `observeEvents` or `beforeCommit`. It ends when
/// this object is released, or by ``cancel()``.
public final class ObservationToken: Sendable {
  /// What runs the closure of `observe`.
  package let reader: (any AnyObject & Sendable)?
  private let end: @Sendable () -> Void

  package init(reader: (any AnyObject & Sendable)? = nil, _ end: @escaping @Sendable () -> Void) {
    self.reader = reader
    self.end = end
  }

  deinit { end() }

  /// No call begins after this returns, except one that another thread has already started.
  public func cancel() { end() }
}
