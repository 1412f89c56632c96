import Synchronization

/// A counter for tests and the demo: of live objects of a kind, or of events.
package final class Count: Sendable {
  private let number = Atomic<Int>(0)
  package init() {}
  package var value: Int { number.load(ordering: .relaxed) }
  package func add() { number.add(1, ordering: .relaxed) }
  package func remove() { number.subtract(1, ordering: .relaxed) }
}
