internal import QuireRow

/// Triggers that only the writing connection has, and no file: for what the store does that other programs do not.
///
/// They are made in the first transaction that needs them, and again when the file's schema has changed.
struct OwnTriggers {
  /// The statements behind `CREATE TEMP TRIGGER` and a name, for the file as it is.
  private let make: @Sendable (Connection) throws -> [String]
  /// The schema for which they were made; nil if none.
  private var schema: Value?
  /// Whether they were made in the transaction at hand: they go if it is rolled back.
  private var isNew = false

  init(for schema: Value?, _ make: @escaping @Sendable (Connection) throws -> [String]) {
    self.schema = schema
    self.make = make
  }

  mutating func renew(for schema: Value?, on connection: Connection) throws {
    if self.schema == schema { return }
    try remove(from: connection)
    try connection.privileged {
      for (number, definition) in try make(connection).enumerated() {
        try connection.execute("CREATE TEMP TRIGGER \(Self.prefix)\(number) \(definition)")
      }
    }
    self.schema = schema
    isNew = true
  }

  /// Before tables are altered or dropped: SQLite refuses what would leave a trigger without its tables, also for the time
  /// in which a table is made again. The next transaction has them again.
  mutating func remove(from connection: Connection) throws {
    try connection.privileged {
      for name in try SchemaReader(connection).temporaryTriggers() where name.hasPrefix(Self.prefix) {
        try connection.execute("DROP TRIGGER temp.\(try quoted(identifier: name))")
      }
    }
    schema = nil
  }

  private static let prefix = "_quire_rule_"

  mutating func committed() { isNew = false }

  mutating func rolledBack() {
    if isNew { schema = nil }
    isNew = false
  }
}

extension Database {
  /// From now on writes have these triggers.
  ///
  /// - Parameters:
  ///   - areNeeded: Whether the file as it is may need any; otherwise `make` is called when its schema has changed.
  ///   - make: The statements behind `CREATE TEMP TRIGGER` and a name. Called in a transaction.
  package func keepTriggers(
    areNeeded: Bool, _ make: @escaping @Sendable (Connection) throws -> [String]
  ) throws(DatabaseError) {
    try takeLock(timeout: configuration.writeTimeout)
    defer { unlock() }
    guard let writer else { return }
    writer.ownTriggers = OwnTriggers(for: areNeeded ? nil : writer.schemaVersion, make)
  }
}
