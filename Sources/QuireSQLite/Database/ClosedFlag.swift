internal import Synchronization

/// Whether a database was closed. An object of its own, because it is asked at each first edit of an object: to retain the
/// database, which has weak references, takes longer than the edit.
package final class ClosedFlag: Sendable {
  private let flag = Atomic(false)
  private let mark = ProcessMark()

  /// It is in a process that was forked from the one that opened the database.
  package var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) || mark.isInherited }

  /// Whether the database was opened by the process from which this one was forked.
  package var isInherited: Bool { mark.isInherited }

  /// - Returns: Whether it was set before.
  func set() -> Bool { flag.exchange(true, ordering: .sequentiallyConsistent) || mark.isInherited }
}
