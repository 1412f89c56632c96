/// Says whether the file still has the tables that its user needs: other programs may change them while it is open.
package protocol SchemaWatch: Sendable {
  /// Whether tables that have been changed may be the cause of the error.
  func mayExplain(_ error: any Error) -> Bool
  /// What does not fit in the state that the connection shows; nil if everything does.
  func mismatch(on connection: Connection) throws -> (any Error)?
}

extension ReaderPool {
  /// The error to throw: that the file no longer fits, if that may be the cause and is so in the latest commit.
  ///
  /// A reader of its own looks, because the failed one may be in a transaction that has changed tables itself.
  func explaining(_ error: any Error) -> any Error {
    if let damage = error as? DatabaseError, isOfTruncatedLog(damage) { return DatabaseError.fileReplaced(path: path) }
    guard let watch = schemaWatch.withLock({ $0 }), watch.mayExplain(error) else { return error }
    guard let reader = try? take(isExempt: true) else { return error }
    defer { giveBack(reader.endSnapshot() ? reader : nil, isExempt: true) }
    do {
      try reader.beginSnapshot()
      return try reader.privileged { try watch.mismatch(on: reader) } ?? error
    } catch {
      return error
    }
  }

  /// Whether what could not be read was in a write-ahead log that another program has truncated.
  private func isOfTruncatedLog(_ error: DatabaseError) -> Bool {
    switch error {
    case .corrupt, .inputOutput: break
    default: return false
    }
    guard configuration.access != .readOnly, let reader = try? take(isExempt: true) else { return false }
    defer { giveBack(reader.endSnapshot() ? reader : nil, isExempt: true) }
    return reader.isLogCut
  }
}

extension Database {
  /// From now on errors that come from changed tables are thrown as what `watch` says of them.
  package func watchSchema(_ watch: any SchemaWatch) { readers.schemaWatch.withLock { $0 = watch } }

  /// The error of a read or a write: of the whole database if that is damaged, or no longer has the tables that are needed.
  package func explaining(_ error: any Error) -> any Error {
    readers.explaining(DatabaseError.explaining(error, path: path))
  }
}
