/// The observers of what a store does.
package typealias StoreEvents = Broadcast<StoreEvent>

extension Broadcast<StoreEvent> {
  /// When something begins whose duration is an event; nil while there are no observers.
  var now: ContinuousClock.Instant? { areObserved ? .now : nil }

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
