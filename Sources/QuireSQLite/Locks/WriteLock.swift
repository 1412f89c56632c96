internal import Foundation
internal import Synchronization

/// The only lock on which threads of this process wait for each other to write.
///
/// It knows the thread that holds it, so a write inside a write is an error and not a deadlock. Waiting is bounded. The
/// order of waiting threads is the system's.
// @unchecked: `isHeld` is accessed only under `mutex`; mutex and condition are initialized once and made to be shared.
final class WriteLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isHeld = false
  private let owner = Atomic<UInt>(0)

  init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition.initialize(to: pthread_cond_t())
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Whether the calling thread holds it.
  var isMine: Bool { owner.load(ordering: .relaxed) == Self.thread }

  /// - Throws: ``DatabaseError/nestedWrite`` or, after `timeout`, ``DatabaseError/writerBusy(waited:)``.
  func lock(timeout: Duration) throws(DatabaseError) {
    let me = Self.thread
    if owner.load(ordering: .relaxed) == me { throw .nestedWrite }
    pthread_mutex_lock(mutex)
    if isHeld {
      var deadline = timespec()
      clock_gettime(CLOCK_REALTIME, &deadline)
      let milliseconds = Int(timeout.milliseconds)
      deadline.tv_sec += milliseconds / 1000
      deadline.tv_nsec += (milliseconds % 1000) * 1_000_000
      if deadline.tv_nsec >= 1_000_000_000 {
        deadline.tv_sec += 1
        deadline.tv_nsec -= 1_000_000_000
      }
      while isHeld {
        guard pthread_cond_timedwait(condition, mutex, &deadline) != 0, isHeld else { continue }
        pthread_mutex_unlock(mutex)
        throw .writerBusy(waited: timeout)
      }
    }
    isHeld = true
    owner.store(me, ordering: .relaxed)
    pthread_mutex_unlock(mutex)
  }

  func unlock() {
    pthread_mutex_lock(mutex)
    owner.store(0, ordering: .relaxed)
    isHeld = false
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  private static var thread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
