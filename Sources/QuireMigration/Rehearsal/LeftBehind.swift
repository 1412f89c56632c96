import QuireSQLite

/// What a migration leaves behind without meaning to (M004): indexes and triggers that a rebuild forgets, what refers to
/// a table or view that is gone, and full-text indexes that find other rows.
struct LeftBehind {
  let file: MigrationFile
  private let before: DatabaseSchema
  private let words: [SQLWords]
  private let indexes: FullTextIndexes
  /// The tables that it drops, most of them to make them again.
  let rebuilt: Set<SQLName>

  /// - Parameters:
  ///   - connection: Has the schema `before`; the migration has not run there yet.
  ///   - checksIndexes: Whether full-text indexes are checked, which is a write for SQLite.
  init(by file: MigrationFile, in before: DatabaseSchema, on connection: Connection, checksIndexes: Bool = true) {
    (self.file, self.before) = (file, before)
    words = SQLWords.statements(of: file.up)
    rebuilt = Set(words.compactMap(\.droppedTable).map { SQLName($0) })
    let checked = checksIndexes ? file.runsAlone ? nil : rebuilt : []
    indexes = FullTextIndexes(of: checked, in: before, on: connection)
  }

  /// Indexes and triggers that it forgets, references that follow the name of a table that it drops, and full-text indexes
  /// that no longer agree with their table.
  func forgotten(in after: DatabaseSchema, on connection: Connection) -> [SchemaDifference] {
    unnamed(in: after) + misdirected(in: after) + indexes.stale(in: after, on: connection)
  }

  /// Refuses what it leaves behind, in its own transaction.
  ///
  /// - Parameter later: The files that run after it: what one of them names, it may mend.
  /// - Throws: ``MigrationError/stillUsed(_:file:)``.
  func check(on connection: Connection, before later: ArraySlice<MigrationFile>) throws {
    let after = try DatabaseSchema(on: connection)
    let forgotten = forgotten(in: after, on: connection)
    var dangling = after.references(to: before.tableNames.subtracting(after.tableNames), on: connection)
    if !dangling.isEmpty {
      let named = later.reduce(into: Set<SQLName>()) { $0.formUnion(Self.names(in: $1)) }
      let gone = before.tableNames.subtracting(after.tableNames).subtracting(named)
      dangling = after.references(to: gone, on: connection).filter { difference in
        // A key is of its table; a view or trigger is named itself.
        !named.contains(difference.table ?? SQLName(difference.old ?? ""))
      }
    }
    let kinds = [
      ("rebuilds a table without what belongs to it", forgotten), ("drops what is still used", dangling),
    ]
    let sentences = kinds.filter { !$0.1.isEmpty }.map { "\($0): " + $1.map { "\($0)" }.joined(separator: ", ") }
    if !sentences.isEmpty { throw MigrationError.stillUsed(sentences, file: file.path) }
  }

  /// All names in a file, and its other words.
  private static func names(in file: MigrationFile) -> Set<SQLName> {
    let tokens = SQLTokens(file.up)
    return Set(
      tokens.compactMap { token -> SQLName? in
        switch token.kind {
        case .word, .quotedName: SQLName(tokens.name(of: token))
        default: nil
        }
      })
  }

  /// Objects that disappeared without being named: an index named in DROP INDEX is intended, as is one of a dropped
  /// table.
  private func unnamed(in after: DatabaseSchema) -> [SchemaDifference] {
    let named = Self.names(in: file)
    let objects = before.indexes + before.triggers
    let kept = Set((after.indexes + after.triggers).map(\.name))
    /// An index on a column that is gone cannot be written again.
    func readsLostColumn(_ object: DatabaseSchema.Object) -> Bool {
      guard let old = before[table: object.table], let new = after[table: object.table],
        before.indexes.contains(object)
      else { return false }
      return old.columns.contains { new[$0.name] == nil && object.sql.mentions($0.name) }
    }
    let lost = objects.filter { object in
      !kept.contains(object.name) && !named.contains(object.name) && after[table: object.table] != nil
        && !readsLostColumn(object)
    }
    let lostNames = lost.map { "\($0.name)" }
    return before.differences(to: after).filter { difference in
      guard difference.new == nil, let old = difference.old else { return false }
      guard difference.kind == .index || difference.kind == .trigger else { return false }
      return lostNames.contains { old.hasPrefix($0 + " ") || old.hasPrefix("UNIQUE " + $0 + " ") }
    }
  }

  /// What refers to a table that the file renames and then drops: a rebuild that renames the old table, not the new one,
  /// takes the keys, views and triggers of others along. SQLite refuses them only when they are used.
  private func misdirected(in after: DatabaseSchema) -> [SchemaDifference] {
    let gone = words.compactMap { $0.renamedTable.map { SQLName($0.newName) } }.filter {
      name in
      after[table: name] == nil && !(after.views + after.virtualTables).contains { $0.name == name }
    }
    guard !gone.isEmpty else { return [] }
    let keys = after.tables.flatMap { table in
      table.foreignKeys.filter { gone.contains($0.parent) }.flatMap { key in
        (before[table: table.name]?.foreignKeys ?? []).filter { $0.columns == key.columns && $0 != key }.map {
          SchemaDifference(
            table: table.name, kind: .constraint, old: "\($0)", new: "REFERENCES \(key.parent), which is gone")
        }
      }
    }
    func objects(_ kind: SchemaDifference.Kind, _ objects: KeyPath<DatabaseSchema, [DatabaseSchema.Object]>)
      -> [SchemaDifference]
    {
      let old = before[keyPath: objects]
      return after[keyPath: objects].compactMap { object in
        guard let name = gone.first(where: object.sql.mentions),
          old.contains(where: { $0.name == object.name && !$0.sql.mentions(name) })
        else { return nil }
        return SchemaDifference(table: nil, kind: kind, old: "\(object.name)", new: "reads \(name), which is gone")
      }
    }
    return keys.sorted { "\($0)" < "\($1)" } + objects(.view, \.views) + objects(.trigger, \.triggers)
  }
}
