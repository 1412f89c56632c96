package import QuireSQLite

extension Migrator {
  /// The schema of the database as it is.
  package func schema() throws(MigrationError) -> DatabaseSchema {
    try translating { try DatabaseSchema(on: try open(.readOnly)) }
  }

  /// As ``schema()``, without what only the program of the database can make: files can never make that.
  package func schemaHere() throws(MigrationError) -> (here: DatabaseSchema, ofProgram: ProgramParts) {
    let schema = try schema()
    return try translating { try schema.parted() }
  }

  /// The schema that results from running the files, up to `last`, on a temporary empty database.
  ///
  /// - Throws: The ``MigrationError`` of a file that fails on an empty database.
  package func replay(to last: MigrationVersion? = nil) throws -> DatabaseSchema {
    try replay(to: last) { _, _, run in _ = try run() }
  }

  /// As ``replay(to:)``.
  ///
  /// - Parameter each: Called for each file, to run it on the database that it is given.
  func replay(
    to last: MigrationVersion? = nil,
    each: (MigrationFile, Connection, _ run: () throws -> AppliedMigration) throws -> Void
  ) throws -> DatabaseSchema {
    if let last, !files.contains(where: { $0.version == last }) { throw MigrationError.unknownVersion(last) }
    if let problem = MigrationPlan(files: files, history: []).problems.first { throw MigrationError.history(problem) }
    let connection = try translating { try Connection.temporary(interruption: interruption, beat: beat) }
    for file in files where last.map({ file.version <= $0 }) ?? true { try file.checkStatements(steps: steps) }
    for (index, file) in files.enumerated() where last.map({ file.version <= $0 }) ?? true {
      try each(file, connection) {
        try inTransaction(on: connection, keys: file.directives.contains(.foreignKeysOn)) {
          try run(on: connection, knowsKeys: true).up(file, sequence: index + 1, allowsLosses: true)
        }
      }
    }
    return try translating { try DatabaseSchema(on: connection) }
  }

  /// Whether the database has no tables except those for migrations, so that nothing can be lost.
  public var isEmptyDatabase: Bool { (try? schema().isEmpty) ?? false }
}
