import QuireRow
import QuireSQLite

/// Compares the models with the tables of a file that is open, when a call has failed as if they did not fit: another
/// program may have migrated the file.
final class OpenSchemaCheck: SchemaWatch {
  private let path: String
  private let check: SchemaCheck
  /// What was found last, and the schema's number then.
  private let found = Locked<(version: Value, error: SchemaError?)?>(nil)

  /// The schema's number when it was last compared; nil if it never was.
  var foundVersion: Value? { found.withLock { $0?.version } }

  init(path: String, _ check: SchemaCheck) {
    self.path = path
    self.check = check
  }

  /// Whether a table or column of the models has this name.
  private func isOfModels(_ name: SQLName) -> Bool {
    let ofEntities = check.entities.flatMap { entity in
      [entity.table, entity.keyColumn, entity.fullText?.table].compactMap(\.self)
        + entity.properties.compactMap(\.column)
    }
    let ofJoins = check.joins.flatMap { [$0.name, $0.first.name, $0.second.name] }
    return (ofEntities + ofJoins).contains { SQLName($0) == name }
  }

  func mayExplain(_ error: any Error) -> Bool {
    switch error {
    case let error as SQLiteError:
      if error.isNotNull || error.refusedColumn != nil { return true }
      guard error.primaryCode == 1, !error.isTooDeep else { return false }
      // A name that the models do not have is a mistake in the caller's own SQL.
      return SQLMessage.name(in: error.message).map { isOfModels(SQLName($0)) }
        ?? error.message.hasPrefix("foreign key mismatch")
    case ModelError.undecodable, is ValueError: return true
    default: return false
    }
  }

  func mismatch(on connection: Connection) throws -> (any Error)? {
    guard let version = try connection.query("PRAGMA schema_version").first else { return nil }
    if let found = found.withLock({ $0 }), found.version == version { return found.error }
    let differences = try check.differences(in: connection)
    let error =
      differences.isEmpty
      ? nil
      : SchemaError(.mismatch(path: path, differences: differences.map(\.sentence), mending: [], isOpen: true))
    found.withLock { $0 = (version, error) }
    return error
  }
}
