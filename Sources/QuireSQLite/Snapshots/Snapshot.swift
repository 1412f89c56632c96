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
  /// Whether it counts against the pool's limit (0), is kept for lagging readers and does not (1), or has ended (2).
  private let lending: Atomic<UInt8>

  /// Opens a snapshot of the latest commit, by any process.
  ///
  /// - Parameter follows: Whether to number the commits of other processes; if not, a snapshot that would show such a
  ///   commit is ``DatabaseError/stale(commit:)``.
  init(_ clock: CommitClock, _ pool: ReaderPool, isExempt: Bool = false, follows: Bool = true) throws {
    lending = Atomic(isExempt ? 1 : 0)
    let reader = try pool.take(isExempt: isExempt)
    do {
      var tries = 1
      while true {
        let found = try clock.number { () throws(SQLiteError) in
          try reader.beginSnapshot()
        } close: {
          reader.endSnapshot()
        }
        if let found {
          number = found
          break
        }
        guard follows, tries < 1000 else { throw DatabaseError.stale(commit: clock.number) }
        tries += 1
        clock.follow()
      }
    } catch {
      pool.giveBack(reader.endSnapshot() ? reader : nil, isExempt: isExempt)
      throw DatabaseError.explaining(error, path: pool.path)
    }
    self.pool = pool
    connection = reader
  }

  deinit { finish() }

  /// For the code that opened it and has not shared it yet: no other thread can end it.
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

  /// Marks it as kept for lagging readers.
  func exempt() {
    if lending.compareExchange(expected: 0, desired: 1, ordering: .relaxed).exchanged { pool.exempt() }
  }

  /// Replaces its transaction by a new one at the same commit, unless it is in use: see ``Positions/renew()``.
  func renew(_ clock: CommitClock) {
    guard let fresh = try? Snapshot(clock, pool, isExempt: true, follows: false) else { return }
    if fresh.number == number, lock.tryLock() {
      if depth == 0, connection != nil { swap(&connection, &fresh.connection) }
      lock.unlock()
      finishIfDoomed()
    }
    fresh.release()
  }

  private func finishIfDoomed() {
    guard isDoomed.load(ordering: .sequentiallyConsistent), lock.tryLock() else { return }
    if depth == 0 { finish() }
    lock.unlock()
  }

  private func finish() {
    guard let reader = connection else { return }
    connection = nil
    let isExempt = lending.exchange(2, ordering: .relaxed) == 1
    pool.giveBack(reader.endSnapshot() ? reader : nil, isExempt: isExempt)
  }
}
