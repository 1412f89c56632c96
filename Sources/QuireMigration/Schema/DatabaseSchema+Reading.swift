package import QuireSQLite

extension DatabaseSchema {
  /// Of a connection's main database, without the tables in which other tools keep what has run.
  init(on connection: Connection) throws(SQLiteError) {
    self = try SchemaReader(connection).schema(leavingOut: ToolHistory.tables)
  }

  /// Of the file at `path`, opened for reading only.
  ///
  /// - Throws: ``DatabaseError`` for a path that leads to no database, ``SQLiteError`` for what SQLite says beside that.
  package init(of path: String, wait: Duration = .seconds(10)) throws {
    try self.init(on: Connection(migrating: path, access: .readOnly, busyTimeout: wait))
  }

  /// What `statements` make in an empty database, which lives in memory only.
  ///
  /// - Throws: ``SQLiteError`` for a statement that SQLite refuses.
  package init(madeBy statements: [String]) throws {
    let connection = try Connection.inMemory()
    for statement in statements { try connection.execute(statement) }
    try self.init(on: connection)
  }
}
