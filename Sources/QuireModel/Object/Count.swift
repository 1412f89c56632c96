import Synchronization

/// A number that tests and the demo read: how many of a thing there are, or how often one happened.
package final class Count: Sendable {
  private let number = Atomic<Int>(0)
  package init() {}
  package var value: Int { number.load(ordering: .relaxed) }
  package func add() { number.add(1, ordering: .relaxed) }
  package func remove() { number.subtract(1, ordering: .relaxed) }
}
