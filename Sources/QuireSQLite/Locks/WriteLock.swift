internal import Foundation
internal import Synchronization

/// The one place at which writes of this process wait for each other, in order of arrival.
///
/// Threads that block and queued writes, for which no thread waits, stand in one queue. Unlocking hands the lock
/// to the first of them. It belongs to the thread that took it, which it knows again: a write inside a write is not
/// taken for one that waits. The waiting of threads is bounded.
// @unchecked: `isHeld` and `waiting` are touched only under `mutex`, which is initialized once and made to be shared.
final class WriteLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var isHeld = false
  private var waiting: [Waiting] = []
  /// The thread that kept its place; 0 if none did.
  private let awaited = Atomic<UInt>(0)
  private let owner = Atomic<UInt>(0)

  private enum Waiting {
    case thread(Turn)
    case write(any QueuedWrite)
  }

  /// A thread's place in the queue. `isGranted` is touched only under the lock's mutex.
  private final class Turn {
    let signal = Signal()
    var isGranted = false
  }

  init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  private func withMutex<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Whether the calling thread holds it.
  var isMine: Bool { owner.load(ordering: .relaxed) == Self.thread }

  /// How many wait.
  var waitingCount: Int { withMutex { waiting.count } }

  // MARK: Threads

  /// Waits for the calling thread's turn, no longer than until its task is canceled.
  ///
  /// - Throws: ``DatabaseError/nestedWrite`` or, after that time, ``DatabaseError/writerBusy(waited:)``.
  func lock(timeout: Duration) throws(DatabaseError) {
    if isMine { throw .nestedWrite }
    let isMine = withMutex {
      if isKept {
        awaited.store(0, ordering: .relaxed)
        return true
      }
      if !isHeld {
        isHeld = true
        return true
      }
      return timeout > .zero && wait(Turn(), for: timeout)
    }
    guard isMine else { throw .writerBusy(waited: timeout) }
    adopt()
  }

  /// Under the mutex.
  private func wait(_ turn: Turn, for timeout: Duration) -> Bool {
    waiting.append(.thread(turn))
    let deadline = ContinuousClock.now + timeout
    let isTask = withUnsafeCurrentTask { $0 != nil }
    while !turn.isGranted {
      let left = deadline - .now
      if left <= .zero || isTask && Task.isCancelled {
        waiting.removeAll { if case .thread(let other) = $0 { other === turn } else { false } }
        return false
      }
      turn.signal.wait(mutex, atMost: isTask ? min(left, Self.glance) : left)
    }
    return true
  }

  /// How often a thread that waits looks whether its task was canceled.
  private static let glance = Duration.milliseconds(20)

  // MARK: Queued writes

  /// Queues a write.
  ///
  /// - Returns: whether the lock is its already: then the caller has it run by a thread that adopts the lock.
  func enqueue(_ write: any QueuedWrite) -> Bool {
    withMutex {
      if isHeld {
        waiting.append(.write(write))
        return false
      }
      isHeld = true
      return true
    }
  }

  /// Takes a write out of the queue.
  ///
  /// - Returns: false if it is not there any longer, because its turn has come.
  func remove(_ write: any QueuedWrite) -> Bool {
    withMutex {
      let place = waiting.firstIndex { if case .write(let other) = $0 { other === write } else { false } }
      guard let place else { return false }
      waiting.remove(at: place)
      return true
    }
  }

  /// The lock that a queued write was given is the calling thread's from now on.
  func adopt() { owner.store(Self.thread, ordering: .relaxed) }

  /// Takes the first in the queue, if it is a queued write, for the calling thread that holds the lock.
  func takeNext(arrivedBefore limit: ContinuousClock.Instant? = nil) -> (any QueuedWrite)? {
    withMutex {
      guard case .write(let write)? = waiting.first else { return nil }
      if let limit, write.arrival > limit { return nil }
      waiting.removeFirst()
      return write
    }
  }

  /// Hands the lock to the first in the queue.
  ///
  /// - Returns: a queued write that has it now, to be run by a thread that adopts it.
  func unlock() -> (any QueuedWrite)? {
    owner.store(0, ordering: .relaxed)
    return withMutex {
      guard !waiting.isEmpty else {
        isHeld = false
        return nil
      }
      switch waiting.removeFirst() {
      case .thread(let turn):
        turn.isGranted = true
        turn.signal.wakeOne()
        return nil
      case .write(let write): return write
      }
    }
  }

  /// Lets the lock go for the calling thread alone: its next call of ``lock(timeout:)`` has it at once, before those that
  /// wait. It must call ``leavePlace()`` in the end, whether it came back or not.
  func keepPlace() {
    owner.store(0, ordering: .relaxed)
    awaited.store(Self.thread, ordering: .relaxed)
  }

  /// Whether the calling thread has kept its place and not come back.
  var isKept: Bool { awaited.load(ordering: .relaxed) == Self.thread }

  /// Hands the lock on if the calling thread has kept its place and not come back.
  ///
  /// - Returns: as ``unlock()``.
  func leavePlace() -> (any QueuedWrite)? {
    guard isKept else { return nil }
    awaited.store(0, ordering: .relaxed)
    return unlock()
  }

  private static var thread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
