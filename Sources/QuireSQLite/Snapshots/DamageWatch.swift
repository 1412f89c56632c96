internal import Synchronization

/// Records damage found by reading connections: then the store stops writing, as after damage found by a write.
final class DamageWatch: ConnectionGuardian, Sendable {
  private let path: String
  private let isDamaged = Atomic(false)
  private let first = Locked<DatabaseError?>(nil)

  init(path: String) { self.path = path }

  /// The first damage found; nil if there was none.
  var damage: DatabaseError? { isDamaged.load(ordering: .relaxed) ? first.withLock { $0 } : nil }

  func note(_ damage: DatabaseError) {
    first.withLock { $0 = $0 ?? damage }
    isDamaged.store(true, ordering: .sequentiallyConsistent)
  }

  func statementFailed(_ error: SQLiteError) -> SQLiteError {
    if error.isCorrupt { note(.corrupt(path: path, sql: error.sql)) }
    return error
  }

  func schemaWillChange(_ effects: Statement.Effects, altering tables: Set<String>) {}
  func schemaDidChange() {}
}
