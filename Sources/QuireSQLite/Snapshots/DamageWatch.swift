internal import Synchronization

/// Hears of damage that reading connections meet: then the store writes nothing more, as after damage that a write met.
final class DamageWatch: ConnectionGuardian, Sendable {
  private let path: String
  private let isDamaged = Atomic(false)
  private let first = Locked<DatabaseError?>(nil)

  init(path: String) { self.path = path }

  /// What was met first; nil while nothing was.
  var damage: DatabaseError? { isDamaged.load(ordering: .relaxed) ? first.withLock { $0 } : nil }

  func note(_ damage: DatabaseError) {
    first.withLock { $0 = $0 ?? damage }
    isDamaged.store(true, ordering: .sequentiallyConsistent)
  }

  func statementFailed(_ error: SQLiteError) -> SQLiteError {
    if error.isCorrupt { note(.corrupt(path: path, sql: error.sql)) }
    return error
  }

  func schemaWillChange(_ effects: Statement.Effects) {}
  func schemaDidChange() {}
}
