package import Foundation

/// A value behind a mutex.
///
/// Not `Synchronization.Mutex`: on Linux ThreadSanitizer does not see how that one waits (the runtime library is not
/// instrumented), and reports every contended use of Swift 6.3's as a race. It does see pthreads.
///
/// Do not store a bare function in it; wrap it in a struct. Swift stores a function in another form if its type is a
/// generic parameter, converts it at every access, and each conversion adds another wrapper.
// @unchecked: `state` is accessed only under `mutex`, which is initialized once and made to be shared.
package final class Locked<State>: @unchecked Sendable {
  @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  @usableFromInline let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  package init(_ initial: State) {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    state.initialize(to: initial)
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// The body must not use this lock again.
  @inlinable package func withLock<T, E: Error>(_ body: (inout State) throws(E) -> T) throws(E) -> T {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state.pointee)
  }
}

/// A mutex that its owner may lock again.
// @unchecked: initialized once; a pthread mutex is made to be shared.
final class RecursiveLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init() {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
  func unlock() { pthread_mutex_unlock(mutex) }
}
