import Quire

/// Another program that writes, as far as a child process can tell: a connection with its transaction open.
struct Writer {
  private let database: Database

  init(_ path: String) throws { database = try Database(DatabaseConfiguration(.file(path), access: .readWrite)) }

  /// Runs `body` while the file is locked for writing.
  func hold(_ body: () throws -> Void) throws {
    try database.write(origin: .sql) { transaction in
      try transaction.connection.execute("UPDATE author SET name = name")
      try body()
    }
    try database.close()
  }
}
