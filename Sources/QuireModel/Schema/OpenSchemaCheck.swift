import QuireRow
import QuireSQLite

/// Compares the models with the tables of a file that is open, when a call has failed as if they did not fit: another
/// program may have migrated the file.
final class OpenSchemaCheck: SchemaWatch {
  private let path: String
  private let check: SchemaCheck
  /// The tables and columns of the models.
  private let names: Set<SQLName>
  /// What was found last, and the schema's number then.
  private let found = Locked<(version: Value, error: SchemaError?)?>(nil)

  init(path: String, _ entities: [Entity], _ joins: [JoinTable]) {
    self.path = path
    check = SchemaCheck(entities: entities, joins: joins)
    var names: Set<SQLName> = []
    for entity in entities {
      names.insert(SQLName(entity.table))
      names.insert(SQLName(entity.keyColumn))
      names.formUnion(entity.properties.compactMap(\.column).map { SQLName($0) })
      if let index = entity.fullText { names.insert(SQLName(index.table)) }
    }
    for join in joins { names.formUnion([join.name, join.first.name, join.second.name].map { SQLName($0) }) }
    self.names = names
  }

  func mayExplain(_ error: any Error) -> Bool {
    switch error {
    case let error as SQLiteError:
      if error.isNotNull || error.refusedColumn != nil { return true }
      guard error.primaryCode == 1, !error.isTooDeep else { return false }
      // Another name than the models' is a slip in SQL that somebody has written.
      return SQLMessage.name(in: error.message).map { names.contains(SQLName($0)) }
        ?? error.message.hasPrefix("foreign key mismatch")
    case ModelError.undecodable: return true
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
