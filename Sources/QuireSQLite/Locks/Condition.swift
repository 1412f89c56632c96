internal import Foundation

/// A lock that threads give up while they wait for something that it guards.
///
/// Not `NSCondition`: that waits until a time of day, so a clock that is set back lengthens the wait, and one that is set
/// forward ends it. These waits go by the time that passes.
// @unchecked: initialized once; a pthread mutex and its condition are made to be shared.
package final class Condition: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let signal = Signal()

  package init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  package func withLock<Result>(_ body: () -> Result) -> Result {
    lock()
    defer { unlock() }
    return body()
  }

  package func lock() { pthread_mutex_lock(mutex) }
  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Wakes one thread that waits. The caller has the lock.
  package func wakeOne() { signal.wakeOne() }

  /// Wakes all threads that wait. The caller has the lock.
  package func wakeAll() { signal.wakeAll() }

  /// Waits with the lock given up, until it is woken, or for no reason, or until then. The caller has the lock.
  ///
  /// - Returns: false if the time is over.
  package func wait(until deadline: ContinuousClock.Instant) -> Bool {
    let left = deadline - .now
    if left <= .zero { return false }
    signal.wait(mutex, atMost: left)
    return true
  }
}

/// What threads wait for that have a lock's mutex: several signals may have one mutex.
// @unchecked: initialized once; a pthread condition is made to be shared.
final class Signal: @unchecked Sendable {
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    condition.initialize(to: pthread_cond_t())
    #if canImport(Darwin)
      pthread_cond_init(condition, nil)
    #else
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
  }

  func wakeOne() { pthread_cond_signal(condition) }
  func wakeAll() { pthread_cond_broadcast(condition) }

  /// Waits with the mutex given up, until it is woken, or for no reason, or for that long; at most a day.
  func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, atMost duration: Duration) {
    let duration = min(max(duration, .zero), .seconds(86_400))
    var time = timespec()
    #if canImport(Darwin)
      time.tv_sec = Int(duration.components.seconds)
      time.tv_nsec = Int(duration.components.attoseconds / 1_000_000_000)
      pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC, &time)
      let nanoseconds = time.tv_nsec + Int(duration.components.attoseconds / 1_000_000_000)
      time.tv_sec += Int(duration.components.seconds) + nanoseconds / 1_000_000_000
      time.tv_nsec = nanoseconds % 1_000_000_000
      pthread_cond_timedwait(condition, mutex, &time)
    #endif
  }
}
