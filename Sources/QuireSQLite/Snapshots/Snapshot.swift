internal import Foundation
internal import Synchronization

/// One open read transaction with the number of the commit it shows; several readers may share it, one at a time.
// @unchecked: `connection` and `depth` are touched only by the thread that holds `lock`.
@usableFromInline final class Snapshot: @unchecked Sendable {
  let number: Int64
  private let pool: ReaderPool
  private let lock = RecursiveLock()
  private var connection: Connection?
  private var depth = 0
  private let isDoomed = Atomic(false)

  /// Opens one on the latest commit.
  init(_ clock: CommitClock, _ pool: ReaderPool, beyondLimit: Bool = false) throws {
    let reader = try pool.take(beyondLimit: beyondLimit)
    do {
      number = try clock.number { () throws(SQLiteError) in
        try reader.beginSnapshot()
      } close: {
        reader.endSnapshot()
      }
    } catch {
      pool.giveBack(reader.endSnapshot() ? reader : nil)
      throw error
    }
    self.pool = pool
    connection = reader
  }

  deinit { finish() }

  /// For who opened it and has shown it to nobody yet: no other thread can end it.
  var unsharedConnection: Connection? { connection }

  /// Begins a use; the same thread may nest them.
  func enter() throws(DatabaseError) -> Connection {
    lock.lock()
    if let connection, depth > 0 || !isDoomed.load(ordering: .sequentiallyConsistent) {
      depth += 1
      return connection
    }
    lock.unlock()
    finishIfDoomed()
    throw .stale(commit: number)
  }

  func leave() {
    depth -= 1
    if depth == 0, let connection, connection.isAutocommit { isDoomed.store(true, ordering: .sequentiallyConsistent) }
    lock.unlock()
    finishIfDoomed()
  }

  /// Ends the transaction now, or when its last user leaves.
  func release() {
    isDoomed.store(true, ordering: .sequentiallyConsistent)
    finishIfDoomed()
  }

  private func finishIfDoomed() {
    guard isDoomed.load(ordering: .sequentiallyConsistent), lock.tryLock() else { return }
    if depth == 0 { finish() }
    lock.unlock()
  }

  private func finish() {
    guard let reader = connection else { return }
    connection = nil
    pool.giveBack(reader.endSnapshot() ? reader : nil)
  }
}

/// A mutex its owner may take again.
// @unchecked: initialised once; a pthread mutex is made to be shared.
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
