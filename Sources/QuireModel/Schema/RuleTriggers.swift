import QuireRow
import QuireSQLite

/// Delete rules that the tables of a file leave out: other programs make tables without foreign keys, or with ones that
/// only prevent a deletion. Triggers of the writing connection do it then, so that what this store deletes keeps to the
/// rules of the models, and the file stays as it is.
///
/// A foreign key that says what becomes of the rows decides, RESTRICT too: see ``EnforcedRules`` for those that are refused.
struct RuleTriggers {
  let entities: [Entity]
  let joins: [JoinTable]

  /// What stands behind the name of each.
  func needed(in connection: Connection) throws -> [String] {
    let reader = SchemaReader(connection)
    var result: [String] = []
    // Another program may have taken a table away: deletions of the others go on.
    let there = Set(try reader.tableNames(among: Set(entities.map(\.table) + joins.map(\.name))))
    for entity in entities where there.contains(entity.table) {
      let ruled = entity.properties.filter { $0.toOne.map { $0.whenTargetGoes != .noAction } == true }
      if ruled.isEmpty { continue }
      let keys = try reader.foreignKeys(of: entity.table)
      for property in ruled {
        guard let side = property.toOne, let column = property.column, there.contains(entities[side.target].table)
        else { continue }
        let reference = Reference(
          table: entity.table, key: entity.keyColumn, column: column, target: entities[side.target],
          action: keys.onDelete(of: column))
        switch (side.whenTargetGoes, side.isOptional) {
        case (.cascade, _): result += try reference.deleting()
        case (.nullify, true): result += try reference.clearing()
        case (.nullify, false), (.deny, _): result += try reference.refusing()
        case (.noAction, _): break
        }
      }
    }
    for join in joins where there.contains(join.name) {
      let keys = try reader.foreignKeys(of: join.name)
      for side in [JoinSide.first, .second] {
        let column = join.own(side)
        guard there.contains(entities[column.entity].table) else { continue }
        let reference = Reference(
          table: join.name, key: nil, column: column.name, target: entities[column.entity],
          action: keys.onDelete(of: column.name))
        result += try entities[column.entity].denies(join, side) ? reference.refusing() : reference.deleting()
      }
    }
    return result
  }
}

/// A column that holds keys of other rows, and what the file says of their deletion.
private struct Reference {
  let table: String
  /// Nil for a table of pairs.
  let key: String?
  let column: String
  let target: Entity
  /// The foreign key's `ON DELETE`, which is `NO ACTION` if it has none; nil if there is no foreign key.
  let action: String?

  private var isOpen: Bool { action == nil || action == "NO ACTION" }

  func clearing() throws -> [String] {
    guard isOpen else { return [] }
    let column = try quoted(identifier: column)
    return [try event("UPDATE \(quoted(identifier: table)) SET \(column) = NULL WHERE \(column) = \(old)")]
  }

  func deleting() throws -> [String] {
    guard isOpen else { return [] }
    let (name, column) = (try quoted(identifier: table), try quoted(identifier: column))
    guard let key, table == target.table else { return [try event("DELETE FROM \(name) WHERE \(column) = \(old)")] }
    // A trigger does not run within itself: all levels at once.
    let own = try quoted(identifier: key)
    return [
      try event(
        """
        DELETE FROM \(name) WHERE \(own) IN (WITH RECURSIVE below(key) AS (SELECT \(own) FROM \(name) \
        WHERE \(column) = \(old) UNION SELECT child.\(own) FROM \(name) child JOIN below ON child.\(column) = below.key) \
        SELECT key FROM below WHERE key <> \(old))
        """)
    ]
  }

  /// In the words of a foreign key, whose refusal is explained by looking for the rows.
  func refusing() throws -> [String] {
    guard action == nil else { return [] }
    let itself = try key.map { table == target.table ? " AND \(try quoted(identifier: $0)) <> \(try old)" : "" } ?? ""
    return [
      try event(
        "SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed')",
        when:
          "EXISTS (SELECT 1 FROM \(quoted(identifier: table)) WHERE \(quoted(identifier: column)) = \(old)\(itself))")
    ]
  }

  private var old: String { get throws { "OLD.\(try quoted(identifier: target.keyColumn))" } }

  private func event(_ statement: String, when condition: String? = nil) throws -> String {
    "BEFORE DELETE ON main.\(try quoted(identifier: target.table))\(condition.map { " WHEN \($0)" } ?? "") "
      + "BEGIN \(statement); END"
  }
}

extension [SchemaReader.ForeignKey] {
  /// The `ON DELETE` of the foreign key that consists of this column; nil if there is no such key.
  func onDelete(of column: String) -> String? {
    first { $0.columns.map { SQLName($0) } == [SQLName(column)] }?.onDelete
  }
}
