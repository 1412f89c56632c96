internal import CSQLite
internal import Foundation

// Users' SQL on a store stays inside the store's own transaction and cannot change its settings. SQLite calls the
// authorizer while it prepares a statement, so a refused statement never runs.

extension Connection {
  func installAuthorizer() {
    let context = Unmanaged.passUnretained(self).toOpaque()  // removed in deinit
    sqlite3_set_authorizer(
      handle,
      { context, operation, first, second, database, _ in
        guard let context else { return SQLITE_OK }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        connection.noteRead(operation, first, second, database)
        return connection.authorize(operation, first, second, database)
      }, context)
  }

  private func authorize(
    _ operation: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
    _ database: UnsafePointer<CChar>?
  ) -> Int32 {
    switch operation {
    case SQLITE_READ, SQLITE_SELECT, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE, SQLITE_FUNCTION, SQLITE_RECURSIVE:
      return SQLITE_OK
    case SQLITE_CREATE_TEMP_INDEX, SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_TEMP_TRIGGER, SQLITE_CREATE_TEMP_VIEW,
      SQLITE_DROP_TEMP_INDEX, SQLITE_DROP_TEMP_TABLE, SQLITE_DROP_TEMP_TRIGGER, SQLITE_DROP_TEMP_VIEW:
      return SQLITE_OK
    case SQLITE_ALTER_TABLE:
      effects.formUnion([.altersSchema, .altersTable])
      noteAltered(second)
      return SQLITE_OK
    case SQLITE_DROP_TABLE where !SchemaReader.isReserved(first.map { String(cString: $0) } ?? ""):
      effects.formUnion([.altersSchema, .dropsTable])
      noteAltered(first)
      return SQLITE_OK
    case SQLITE_CREATE_INDEX...SQLITE_DROP_VIEW, SQLITE_REINDEX, SQLITE_ANALYZE, SQLITE_DROP_VTABLE:
      effects.insert(.altersSchema)
      return SQLITE_OK
    case SQLITE_CREATE_VTABLE:
      effects.formUnion([.altersSchema, .createsVirtualTable])
      return SQLITE_OK
    case SQLITE_PRAGMA where second != nil && Connection.isDeferring(first):
      defersForeignKeys = true  // SQLite does so while it prepares
      return SQLITE_OK
    case _ where privilege > 0:
      return SQLITE_OK
    case SQLITE_TRANSACTION:
      let word = first.map { String(cString: $0) } ?? "transaction control"
      return refuse("\(word) is not for SQL run here: it runs in a transaction already; throw to roll back")
    case SQLITE_SAVEPOINT:
      return refuse("SAVEPOINT is not for SQL run here: use savepoint { } of the transaction")
    case SQLITE_ATTACH, SQLITE_DETACH:
      return refuse("ATTACH and DETACH are not for SQL run here: a store is one file")
    case SQLITE_PRAGMA:
      let name = first.map { String(cString: $0).lowercased() } ?? ""
      if Connection.allows(pragma: name, hasArgument: second != nil) { return SQLITE_OK }
      return refuse("PRAGMA \(name) is not for SQL run here: the store's settings are its own")
    default:
      return SQLITE_OK
    }
  }

  private func noteRead(
    _ operation: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
    _ database: UnsafePointer<CChar>?
  ) {
    guard reads != nil else { return }
    if operation == SQLITE_SELECT { reads?.hasSelect = true }
    guard operation == SQLITE_READ, let first else { return }
    // Without columns there is no database name either.
    if let database, strcmp(database, "main") != 0 { return }
    reads?.note(second.map { String(cString: $0) } ?? "", of: String(cString: first))
  }

  private func noteAltered(_ table: UnsafePointer<CChar>?) {
    if let table { alteredTables.insert(SQLName.folded(String(cString: table))) }
  }

  private func refuse(_ reason: String) -> Int32 {
    refusal = reason
    return SQLITE_DENY
  }

  private static func isDeferring(_ name: UnsafePointer<CChar>?) -> Bool {
    name.map { strcasecmp($0, "defer_foreign_keys") == 0 } ?? false
  }

  /// Whether a PRAGMA only tells something, or sets what belongs to the data.
  static func allows(pragma name: String, hasArgument: Bool) -> Bool {
    hasArgument ? argumentPragmas.contains(name) : !actingPragmas.contains(name)
  }

  private static let argumentPragmas: Set<String> = [
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
    "foreign_key_check", "integrity_check", "quick_check", "user_version", "application_id", "defer_foreign_keys",
    "analysis_limit", "legacy_alter_table",
  ]
  private static let actingPragmas: Set<String> = ["wal_checkpoint", "incremental_vacuum", "optimize", "shrink_memory"]
}
