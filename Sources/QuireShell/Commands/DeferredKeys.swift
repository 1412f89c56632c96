import QuireRow
import QuireSQLite

/// Judges foreign keys once all records are there, as each may refer to a later one.
///
/// To be used in a transaction.
final class DeferredKeys {
  private let connection: Connection
  /// As it was before, in a transaction that was open.
  private let wasDeferred: Bool
  /// Then the open transaction's end judges the records' keys too.
  let hadViolations: Bool
  /// The records since the first one that may refer to a row that is not there.
  private var pending: [(place: RecordPlace, rowID: Int64)] = []

  init(_ connection: Connection) throws {
    self.connection = connection
    hadViolations = connection.hasDeferredViolations
    wasDeferred = try connection.query("PRAGMA defer_foreign_keys").first == 1
    if !wasDeferred { try connection.execute("PRAGMA defer_foreign_keys = ON") }
  }

  func added(_ place: RecordPlace) {
    if hadViolations { return }
    if connection.hasDeferredViolations {
      pending.append((place, connection.lastInsertedRowID))
    } else if !pending.isEmpty {
      pending = []
    }
  }

  /// - Throws: ``ShellFailure`` with the place of a record that refers to a row that is not there.
  func check(_ model: FileModel) throws {
    guard let first = pending.first else { return }
    let sql = "SELECT rowid FROM pragma_foreign_key_check(?)"
    let rows = Set(try connection.query(sql, [.text(model.table)]).rows.map { $0[0] })
    let found = pending.first { rows.contains(.integer($0.rowID)) }
    throw (found ?? first).place.failure("it refers to a row that does not exist", orLater: found == nil)
  }

  /// Keys are judged at once again. Forgets what was deferred, which has been checked or is taken back.
  func end() throws {
    if !wasDeferred { try connection.executeUnstopped("PRAGMA defer_foreign_keys = OFF") }
  }
}
