import Foundation
import Synchronization

/// Where code runs, as far as it matters to objects that are not `Sendable`.
enum Place: Hashable, Sendable {
  case actor(ObjectIdentifier)
  /// A task on no actor, or a thread without a task.
  case task(Int)

  static var ofTask: Place {
    .task(withUnsafeCurrentTask { $0?.hashValue } ?? Int(bitPattern: Extent.thread))
  }
}

/// One run of a body in an environment.
final class Extent: Sendable {
  let place: Place
  /// The thread, if the body cannot leave it.
  private let thread: UInt?
  private let isOver = Atomic(false)

  init(_ place: Place, isSuspending: Bool) {
    self.place = place
    thread = isSuspending ? nil : Extent.thread
  }

  func end() { isOver.store(true, ordering: .releasing) }

  /// Whether the calling code is the body, or was called by it. A task started by the body is not.
  var isHere: Bool { thread == Extent.thread && !isOver.load(ordering: .acquiring) }

  /// Whether an object that was added here may be used in the other place. A task's identifier may be reused after it
  /// ends.
  func isHome(to other: Place) -> Bool {
    if place != other { return false }
    if case .task = place { return !isOver.load(ordering: .acquiring) }
    return true
  }

  static var thread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
