internal import Dispatch

/// The observers of what a store does.
package typealias StoreEvents = Broadcast<StoreEvent>

/// When something began whose duration is an event. Not a clock's `Instant`: that is copied by calls of the runtime
/// library, in each write without observers too.
struct EventTime {
  private let nanoseconds = DispatchTime.now().uptimeNanoseconds

  var passed: Duration { .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds - nanoseconds)) }
}

extension Broadcast<StoreEvent> {
  /// When something begins whose duration is an event; nil while there are no observers.
  var now: EventTime? { areObserved ? EventTime() : nil }

  /// - Parameter begin: ``now`` of then.
  func emit(since begin: EventTime?, _ event: (Duration) -> StoreEvent) {
    if let begin { emit(event(begin.passed)) }
  }

  /// Has the statements of a connection told from now on, or no longer. For the thread that has the connection.
  func follow(_ connection: Connection) {
    if areObserved == (connection.tracer != nil) { return }
    connection.tracer = areObserved ? StatementTracer(connection, self) : nil
  }
}
