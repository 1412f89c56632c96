package import QuireSQLite

extension DatabaseSchema {
  /// The schema of a connection's main database, without other tools' version tables.
  init(on connection: Connection) throws(SQLiteError) {
    self = try SchemaReader(connection).schema(leavingOut: ToolHistory.allTables)
  }

  /// The schema of the file at `path`, opened for reading only.
  ///
  /// - Throws: ``DatabaseError`` if the path does not lead to a database, ``SQLiteError`` for other errors of SQLite.
  package init(of path: String, wait: Duration = .seconds(10)) throws {
    try self.init(on: Connection(migrating: path, access: .readOnly, busyTimeout: wait))
  }

  /// The schema that `statements` result in, in an empty database in memory.
  ///
  /// - Throws: ``SQLiteError`` for a statement that SQLite refuses.
  package init(madeBy statements: [String]) throws {
    let connection = try Connection.inMemory()
    for statement in statements { try connection.execute(statement) }
    try self.init(on: connection)
  }
}
