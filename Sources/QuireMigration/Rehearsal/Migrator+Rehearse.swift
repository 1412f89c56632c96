import QuireRow
import QuireSQLite

extension Migrator {
  /// Runs pending migrations, up to `last`, on a temporary copy of the database.
  ///
  /// The copy is in memory and, if it is large, in an unnamed temporary file, of which a process that dies leaves
  /// nothing.
  ///
  /// - Parameters:
  ///   - isSchemaOnly: Copies tables without their rows: fast regardless of size, but migrations of data are not tried.
  ///   - progress: Receives the pages copied and the total, and then each migration before it runs.
  /// - Throws: What running them would throw; nothing was changed. Losses are not refused, but reported in the result.
  public func rehearse(
    to last: MigrationVersion? = nil, isSchemaOnly: Bool = false,
    _ progress: (RehearsalProgress) -> Void = { _ in }
  ) throws -> Rehearsal {
    if let last, !files.contains(where: { $0.version == last }) { throw MigrationError.unknownVersion(last) }
    do {
      return try rehearseOnCopy(to: last, isSchemaOnly: isSchemaOnly, progress)
    } catch MigrationError.database(.diskFull) {
      // Only the copy has been written.
      throw MigrationError.temporaryFull(folder: TemporaryFiles.folder)
    } catch MigrationError.database(.inputOutput(_, let code, let reason)) where !SQLiteError.isReadFailure(code) {
      throw MigrationError.database(
        .inputOutput(path: "the rehearsal's copy in \(TemporaryFiles.folder)", code: code, reason: reason))
    }
  }

  private func rehearseOnCopy(
    to last: MigrationVersion?, isSchemaOnly: Bool, _ progress: (RehearsalProgress) -> Void
  ) throws -> Rehearsal {
    let start = ContinuousClock.now
    let copy = try translating {
      let copy = try Connection.temporary(interruption: interruption, beat: beat)
      let source = try open(.readOnly)
      if let problem = try toolProblem(MigrationHistory.read(from: source), on: source) {
        throw MigrationError.tool(problem)
      }
      if isSchemaOnly {
        try inSnapshot(of: source) { try copySchema(of: source, to: copy) }
      } else {
        try source.copy(to: copy) { progress(.copying($0, of: $1)) }
      }
      return copy
    }
    let copying = start.duration(to: .now)
    let size = try translating {
      try copy.rows("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    }
    let history = try translating { try MigrationHistory.read(from: copy) }
    let lastOfCreation = try translating { try MigrationHistory.lastOfCreation(on: copy) }
    let plan = MigrationPlan(files: files, history: history)
    if let problem = plan.problems.first { throw MigrationError.history(problem) }
    var sequence = history.map(\.sequence).max() ?? 0
    var state = try translating { try State(copy) }
    var entries: [Rehearsal.Entry] = []
    var gone: [Set<SQLName>] = []
    var knowsKeys = false
    for file in plan.pending(to: last) { try file.checkStatements(steps: steps) }
    for file in plan.pending(to: last) {
      sequence += 1
      progress(.running(file))
      let (entry, after) = try knowingKeys(&knowsKeys) {
        try rehearse(file, sequence: sequence, knowsKeys: $0, on: copy, before: state)
      }
      entries.append(entry)
      gone.append(state.schema.tableNames.subtracting(after.schema.tableNames))
      state = after
    }
    // What a later file drops or makes again is no longer in the way.
    for index in entries.indices {
      entries[index].dangling = state.schema.references(to: gone[index].subtracting(state.schema.tableNames), on: copy)
    }
    return Rehearsal(
      entries: entries, bytes: Int(size.first?.first?.plainInteger ?? 0), copying: copying, isSchemaOnly: isSchemaOnly,
      lastOfCreation: lastOfCreation)
  }

  private func rehearse(
    _ file: MigrationFile, sequence: Int, knowsKeys: Bool, on copy: Connection, before: State
  ) throws -> (Rehearsal.Entry, State) {
    let watch = LeftBehind(by: file, in: before.schema, on: copy)
    let rebuilt = watch.rebuilt
    let start = ContinuousClock.now
    let (_, losses, keys) = try inTransaction(on: copy, isCopy: true, keys: file.directives.contains(.foreignKeysOn)) {
      try run(on: copy, knowsKeys: knowsKeys).upAndLosses(file, sequence: sequence)
    }
    let milliseconds = Int((start.duration(to: .now) / .milliseconds(1)).rounded())
    let after = try translating { try State(copy) }
    let differences = before.schema.differences(to: after.schema) + before.restartedKeys(in: after)
    let names = Set(before.rows.keys).union(after.rows.keys).sorted()
    let rows = names.compactMap { name -> Rehearsal.Rows? in
      let (old, new) = (before.rows[name], after.rows[name])
      guard old != new || rebuilt.contains(name) else { return nil }
      return Rehearsal.Rows(table: name.text, before: old, after: new)
    }
    func kept(_ objects: KeyPath<DatabaseSchema, [DatabaseSchema.Object]>) -> Int {
      let now = Set(after.schema[keyPath: objects].map(\.name))
      return before.schema[keyPath: objects].count { rebuilt.contains($0.table) && now.contains($0.name) }
    }
    let entry = Rehearsal.Entry(
      file: file, milliseconds: milliseconds, differences: differences, losses: losses, rows: rows,
      kept: (kept(\.indexes), kept(\.triggers)), brokenKeys: keys?.total ?? 0, uncheckedKeys: keys?.unchecked ?? [:],
      forgotten: watch.forgotten(in: after.schema, on: copy))
    return (entry, after)
  }

  /// Copies tables, indexes, triggers and views without rows, and the history.
  private func copySchema(of source: Connection, to copy: Connection) throws {
    let reader = SchemaReader(source)
    let shadows = Set(try reader.tables().filter { $0.kind == .shadow }.map { SQLName($0.name) })
    let objects = try reader.objects()
    copy.takesQuotedStrings = true
    defer { copy.takesQuotedStrings = false }
    for kind in [SchemaReader.ObjectKind.table, .index, .view, .trigger] {
      for object in objects where object.kind == kind && !shadows.contains(SQLName(object.name)) {
        guard let sql = object.sql, !SQLName.folded(object.name).hasPrefix("sqlite_") else { continue }
        do throws(SQLiteError) {
          try copy.execute(sql)
        } catch {
          // An index that needs what only the application has keeps no migration from being tried.
          guard kind == .index, error.isOfApplication else { throw error }
        }
      }
    }
    for applied in try MigrationHistory.read(from: source) { try MigrationHistory.record(applied, on: copy) }
    if let last = try MigrationHistory.lastOfCreation(on: source) {
      try MigrationHistory.recordCreation(upTo: last, on: copy)
    }
  }

  /// A schema, the number of rows of each table, and the last key that AUTOINCREMENT has given.
  private struct State {
    let schema: DatabaseSchema
    let rows: [SQLName: Int]
    private let lastKeys: [SQLName: Int64]

    init(_ connection: Connection) throws {
      schema = try DatabaseSchema(on: connection)
      var rows: [SQLName: Int] = [:]
      for table in schema.tables {
        let name = try quoted(identifier: table.name.text)
        do throws(SQLiteError) {
          rows[table.name] = try connection.count(of: name)
        } catch {
          guard error.isOfUnreadableTable else { throw error }
        }
      }
      self.rows = rows
      // It is there once a table has had AUTOINCREMENT.
      let hasKeys = try connection.rows("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'") != []
      let keys = hasKeys ? try connection.rows("SELECT name, seq FROM sqlite_sequence") : []
      lastKeys = Dictionary(
        keys.compactMap { row in row[1].plainInteger.map { (SQLName(row[0].plainText), $0) } },
        uniquingKeysWith: max)
    }

    /// The tables that give keys again which they have given before: a rebuild knows only those that are still in use.
    func restartedKeys(in after: State) -> [SchemaDifference] {
      after.schema.tables.filter { $0.primaryKey?.isAutoincrement == true }.compactMap { table in
        guard let old = lastKeys[table.name], schema[table: table.name]?.primaryKey?.isAutoincrement == true else {
          return nil
        }
        let new = after.lastKeys[table.name] ?? 0
        guard new < old else { return nil }
        return SchemaDifference(
          table: table.name, kind: .option, old: "AUTOINCREMENT after \(old)", new: "after \(new): keys are given again"
        )
      }
    }
  }
}

/// The progress of a rehearsal.
public enum RehearsalProgress: Sendable {
  /// Pages copied, and the total.
  case copying(Int, of: Int)
  case running(MigrationFile)
}
