internal import Synchronization

/// Whether a database was closed. An object of its own, because it is asked at each first edit of an object: to retain the
/// database, which has weak references, takes longer than the edit.
package final class ClosedFlag: Sendable {
  private let flag = Atomic(false)

  package var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }

  /// - Returns: Whether it was set before.
  func set() -> Bool { flag.exchange(true, ordering: .sequentiallyConsistent) }
}
