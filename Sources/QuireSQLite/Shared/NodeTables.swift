internal import CSQLite
internal import Foundation
internal import QuireRow

/// The tables and triggers of a shared file.
package struct NodeTables {
  private let connection: Connection
  static let format: Int64 = 1
  static let guardPrefix = "_quire_shared_"

  package init(_ connection: Connection) { self.connection = connection }

  /// Whether it is a trigger that keeps other programs from writing.
  package static func isGuard(_ object: SchemaReader.Object) -> Bool {
    object.kind == .trigger && object.name.hasPrefix(guardPrefix)
      && (try? guards(of: object.table))?.contains { $0 == object.sql } == true
  }

  /// Whether it is what such a trigger says to a connection that does not have its function.
  static func isRefusal(_ error: SQLiteError) -> Bool { error.message.contains("function: _quire_shared") }

  private static func guards(of table: String) throws -> [String] {
    try ["INSERT", "UPDATE", "DELETE"].map { event in
      let name = try quoted(identifier: "\(guardPrefix)\(event.lowercased())_\(table)")
      return
        "CREATE TRIGGER \(name) BEFORE \(event) ON \(try quoted(identifier: table)) BEGIN SELECT _quire_shared(); END"
    }
  }

  /// Makes the file shared, at a position of a log: the first node, or one that has copied another's file.
  package func create(_ place: NodePlace) throws {
    try connection.execute(
      """
      CREATE TABLE _quire_node (
        format INTEGER NOT NULL,
        log TEXT NOT NULL,
        name TEXT NOT NULL,
        node TEXT NOT NULL,
        position INTEGER NOT NULL,
        chain BLOB NOT NULL
      ) STRICT
      """)
    try connection.execute(
      """
      CREATE TABLE _quire_entries (
        position INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        node TEXT NOT NULL,
        entry BLOB NOT NULL
      ) STRICT
      """)
    // A change of the schema would not reach other nodes, so what is made at first use is made now.
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS _quire_keys (table_name TEXT PRIMARY KEY, highest INTEGER NOT NULL) \
      STRICT, WITHOUT ROWID
      """)
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS kept_value (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID")
    try connection.execute(
      "INSERT INTO _quire_node VALUES (?, ?, ?, ?, ?, ?)",
      [
        .integer(NodeTables.format), .text(place.log.uuidString), .text(place.name), .text(place.node),
        .integer(place.position), .blob(Data(place.chain)),
      ])
    try settleTriggers()
  }

  /// Also tables that a migration has created or rebuilt.
  private func renewGuards() throws {
    for object in try SchemaReader(connection).objects(.trigger) where object.name.hasPrefix(NodeTables.guardPrefix) {
      try connection.execute("DROP TRIGGER \(try quoted(identifier: object.name))")
    }
    let tables = try SchemaReader(connection).tables().filter { $0.kind == .table && !$0.isReserved }
    for table in tables.sorted(by: { $0.name < $1.name }) {
      for sql in try NodeTables.guards(of: table.name) { try connection.execute(sql) }
    }
  }

  /// Gives a copy of another node's file a name of its own.
  package func rename(node: String) throws {
    try connection.execute("UPDATE _quire_node SET node = ?", [.text(node)])
  }

  /// Makes the file an ordinary one.
  package func remove() throws {
    for object in try SchemaReader(connection).objects() where NodeTables.isGuard(object) {
      try connection.execute("DROP TRIGGER \(try quoted(identifier: object.name))")
    }
    try connection.execute("DROP TABLE _quire_node")
    try connection.execute("DROP TABLE _quire_entries")
    // From now on its change log is not that of the others.
    if try LogState(on: connection) != nil {
      try connection.execute("UPDATE _quire_log SET log = ?", [.text(UUID().uuidString)])
    }
  }

  /// After a change of the schema: gives each table the triggers of sharing and of the change log, if the file keeps one.
  ///
  /// Every node does so at the same position, and ends with the same.
  package func settleTriggers() throws {
    try renewGuards()
    let tables = LogTables(connection)
    if try LogState(on: connection) != nil, try tables.arrange() { try tables.noteGap() }
  }

  /// Names of tables that hold no rows of the user and are shared all the same: keys that were used, the change log, and
  /// the content of virtual tables.
  static func sharedInternals(of connection: Connection) throws -> (names: [String], hasShadows: Bool) {
    let tables = try SchemaReader(connection).tables()
    let shadows = tables.filter { $0.kind == .shadow }.map(\.name)
    let own = ChangeLog.tables.union(["_quire_keys", "_quire_version", "_quire_stage", "_quire_migrations"])
    let names = tables.filter { $0.kind == .table && own.contains($0.name) }.map(\.name)
    return (shadows + names, !shadows.isEmpty)
  }
}

extension Connection {
  /// Lets this connection write to a shared file: its triggers call a function that no other program has.
  func addGuardFunction() throws(SQLiteError) {
    let code = sqlite3_create_function_v2(
      handle, "_quire_shared", 0, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil,
      { context, _, _ in sqlite3_result_null(context) }, nil, nil, nil)
    if code != SQLITE_OK { throw error(code, sql: nil) }
  }
}
