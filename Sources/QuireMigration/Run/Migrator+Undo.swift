import QuireSQLite

extension Migrator {
  /// Undoes the migrations of `plan`, by the undo texts stored in the database: the files are not needed. Another tool's
  /// table that records them as run loses their rows.
  ///
  /// All in one transaction, unless one of them ran without.
  ///
  /// - Returns: The migrations it undid; those that another process undid meanwhile are not included.
  /// - Throws: ``MigrationError/destructive(_:file:)`` if values would be lost and ``allowsLosses`` is not set;
  ///   ``MigrationError/changedMeanwhile(_:)`` if another process has run one since the plan was made.
  @discardableResult
  public func undo(_ plan: UndoPlan, _ happened: (MigrationEvent) throws -> Void = { _ in }) throws
    -> [AppliedMigration]
  {
    if let sharing = try sharing() { return try sharing.undo(plan, happened) }
    let isOne = !plan.migrations.contains(where: \.isUndoneAlone)
    let groups = isOne ? [plan.migrations] : plan.migrations.map { [$0] }
    var undone: [AppliedMigration] = []
    var knowsKeys = false
    for (index, group) in groups.enumerated() where !group.isEmpty {
      let connection = try open(.readWrite)
      let keys = group.contains { Self.directives(of: $0).contains(.foreignKeysOn) }
      let lost = try repeating {
        try knowingKeys(&knowsKeys) { knowsKeys in
          try withBackup(happened) { backup in
            try inTransaction(on: connection, keys: keys) {
              try undo(group, isFirst: index == 0, knowsKeys: knowsKeys, on: connection, &backup, happened)
            }
          }
        }
      }
      for (migration, losses) in lost {
        undone.append(migration)
        try happened(.undone(migration, losses: losses))
      }
    }
    return undone
  }

  private func undo(
    _ group: [AppliedMigration], isFirst: Bool, knowsKeys: Bool, on connection: Connection,
    _ backup: inout UnfinishedBackup?, _ happened: (MigrationEvent) throws -> Void
  ) throws -> [(AppliedMigration, [MigrationLoss])] {
    var history = try MigrationHistory.read(from: connection)
    var done: [(AppliedMigration, [MigrationLoss])] = []
    let before = try allowsLosses ? nil : DatabaseSchema(on: connection)
    for migration in group where history.contains(migration) {
      guard history.last == migration else { throw MigrationError.changedMeanwhile(history.last ?? migration) }
      let run = run(on: connection, knowsKeys: knowsKeys)
      try run.checkIsShareable(undoOf: migration, in: file(migration.version))
      if isFirst, done.isEmpty { backup = try backUpIfNeeded(before: "undo-\(migration.version)", connection) }
      if migration.isUndoneAlone { try finish(&backup, happened) }
      try happened(.begins(migration.version, title: migration.title))
      let losses = try run.undo(migration, file: file(migration.version))
      if !losses.isEmpty, !allowsLosses {
        throw MigrationError.destructive(losses, file: "undo of \(migration.version) \(migration.title)")
      }
      history.removeLast()
      done.append((migration, losses))
    }
    if let first = done.first?.0 {
      try checkReferences(since: before, on: connection, "undo of \(first.version) \(first.title)")
    }
    try remove(done.map(\.0.version), fromToolTableOn: connection, leaving: history)
    try backup?.finish()
    return done
  }

  /// Undoes the last migration that ran, and runs it again from its present file: in one transaction, unless one of the
  /// two must run without.
  ///
  /// - Throws: As ``undo(_:_:)`` and ``apply(to:_:)``; then the database is unchanged, unless the file says
  ///   `no-transaction`.
  public func redo(_ happened: (MigrationEvent) throws -> Void = { _ in }) throws -> AppliedMigration {
    if let sharing = try sharing() { return try sharing.redo(happened) }
    let plan = try UndoPlan(last: 1, of: try history(), format: MigrationFormat(of: files))
    guard let last = plan.migrations.first else { throw MigrationError.fewerApplied(0) }
    guard let file = file(last.version) else { throw MigrationError.unknownVersion(last.version) }
    try file.checkStatements(steps: steps)
    let directives = Self.directives(of: last) + file.directives
    let isOne = !last.isUndoneAlone && !file.runsAlone
    let connection = try open(.readWrite)
    var knowsKeys = false
    let applied = try repeating {
      try knowingKeys(&knowsKeys) { knowsKeys in
        try withBackup(happened) { backup in
          try inTransaction(on: connection, keys: directives.contains(.foreignKeysOn)) {
            let history = try MigrationHistory.read(from: connection)
            guard history.last == last else { throw MigrationError.changedMeanwhile(history.last ?? last) }
            let run = run(on: connection, knowsKeys: knowsKeys)
            try run.checkIsShareable(undoOf: last, in: file)
            try run.checkIsShareable(file.upText, isAlone: file.runsAlone)
            backup = try backUpIfNeeded(before: "redo-\(last.version)", connection)
            try happened(.begins(file.version, title: file.title))
            let before = try allowsLosses ? nil : DatabaseSchema(on: connection)
            let losses = try run.undo(last, file: file)
            if !losses.isEmpty, !allowsLosses {
              throw MigrationError.destructive(losses, file: "undo of \(last.version) \(last.title)")
            }
            if !isOne { try finish(&backup, happened) }
            if file.runsAlone {
              // The statement ends the transaction, so the undo must be committed before.
              try connection.execute("COMMIT")
              try connection.execute("BEGIN IMMEDIATE")
            }
            let applied = try run.up(file, sequence: last.sequence, allowsLosses: allowsLosses)
            try checkReferences(since: before, on: connection, "redo of \(last.version) \(last.title)")
            try backup?.finish()
            return applied
          }
        }
      }
    }
    try happened(.applied(applied))
    return applied
  }

  /// Refuses what leaves keys, views or triggers that refer to a table or view of `before` that is gone. A migration is
  /// tried on a copy for that; an undo is not.
  private func checkReferences(since before: DatabaseSchema?, on connection: Connection, _ what: String) throws {
    guard let before else { return }
    let now = try DatabaseSchema(on: connection)
    let objects = now.references(to: before.tableNames.subtracting(now.tableNames), on: connection)
    if objects.isEmpty { return }
    let names = objects.map { "\($0)" }.joined(separator: ", ")
    throw MigrationError.stillUsed(["drops what is still used: \(names)"], file: what)
  }

  func file(_ version: MigrationVersion) -> MigrationFile? { files.first { $0.version == version } }

  private static func directives(of applied: AppliedMigration) -> [MigrationDirective] {
    MigrationText(name: "", sql: applied.up).directives
  }
}
