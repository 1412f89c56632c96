import QuireRow
import QuireSQLite

/// Brings the tables of an older version of the models to the form of a newer one, keeping what both have.
///
/// A table whose statement is another one is made anew and filled from the old: a column of the same name, or of the
/// name its property had (`originalName`), is copied, a new one gets NULL or its declared default. To be run in a
/// transaction with foreign keys off; who runs it looks at them afterwards.
struct SchemaRebuild {
  let old: (entities: [Entity], joins: [JoinTable])
  let new: (entities: [Entity], joins: [JoinTable])
  let connection: MigrationConnection
  /// Any connection of the models' kind.
  let reader: Connection

  func run() throws {
    let target = SchemaSQL(entities: new.entities, joins: new.joins)
    let own = Set(try SchemaSQL(entities: old.entities, joins: old.joins).statements().map(plain))
    for entity in new.entities {
      if try sql(of: entity.table) == nil {
        try connection.query(try target.table(entity))
      } else {
        try rebuild(entity, target, dropping: own)
      }
    }
    for join in new.joins where try sql(of: join.name) == nil {
      if let former = try formerName(of: join) {
        try connection.query(
          "ALTER TABLE \(try quoted(identifier: former)) RENAME TO \(try quoted(identifier: join.name))")
      } else {
        try connection.query(try target.table(join))
      }
    }
    let kept = Set(new.entities.map(\.table) + new.joins.map(\.name))
    for table in old.joins.map(\.name) + old.entities.map(\.table) where !kept.contains(table) {
      try connection.query("DROP TABLE IF EXISTS \(try quoted(identifier: table))")
    }
    let made = Set(try connection.query("SELECT name FROM sqlite_schema WHERE type = 'index'").map { $0[0] })
    for (name, statement) in try target.namedIndexes() where !made.contains(.text(name)) {
      try connection.query(statement)
    }
    try arrangeObjects(target)
  }

  /// Full-text indexes and triggers: those of the old models that are not the new ones' go, and what is missing is made.
  private func arrangeObjects(_ target: SchemaSQL) throws {
    let former = SchemaSQL(entities: old.entities, joins: old.joins)
    let triggers = try target.triggers()
    for trigger in try former.triggers() where try !triggers.contains(where: { try $0.sql == trigger.sql }) {
      try connection.query("DROP TRIGGER IF EXISTS \(try quoted(identifier: trigger.name))")
    }
    let texts = try new.entities.compactMap { try $0.fullText?.creation(for: $0) }
    for entity in old.entities {
      guard let index = entity.fullText, try !texts.contains(index.creation(for: entity)) else { continue }
      try connection.query("DROP TABLE IF EXISTS \(try quoted(identifier: index.table))")
    }
    for entity in new.entities {
      guard let index = entity.fullText else { continue }
      if try sql(of: index.table) == nil { try connection.query(try index.creation(for: entity)) }
      try connection.query(try index.rebuilding())
    }
    let made = Set(try connection.query("SELECT name FROM sqlite_schema WHERE type = 'trigger'").map { $0[0] })
    for trigger in triggers where !made.contains(.text(trigger.name)) { try connection.query(try trigger.sql) }
  }

  // MARK: One table

  private func rebuild(_ entity: Entity, _ target: SchemaSQL, dropping own: Set<String>) throws {
    guard let present = try sql(of: entity.table), plain(present) != plain(try target.table(entity)) else { return }
    // Indexes and triggers of others go with the table, and come back.
    let others = try connection.query(
      "SELECT sql FROM sqlite_schema WHERE tbl_name = ? COLLATE NOCASE AND type <> 'table' AND sql IS NOT NULL "
        + "AND substr(name, 1, 7) <> '_quire_'", [.text(entity.table)]
    ).compactMap { row -> String? in
      guard case .text(let sql)? = row.first, !own.contains(plain(sql)) else { return nil }
      return sql
    }
    let scratch = "_quire_new_" + entity.table
    try connection.query(try target.table(entity, named: scratch))
    var columns = [entity.keyColumn]
    var sources = [try quoted(identifier: entity.keyColumn)]
    var values: [Value] = []
    let there = try presentColumns(of: entity.table)
    for (index, property) in entity.properties.enumerated() {
      guard let column = property.column else { continue }
      columns.append(column)
      let former = property.formerColumns.first { there.contains($0.lowercased()) }
      let source = try (there.contains(column.lowercased()) ? column : former).map { try quoted(identifier: $0) }
      if property.isNullable {
        sources.append(source ?? "NULL")
      } else {
        let value = try entity.defaultValue(of: index, on: reader)
        if source == nil, value == .null {
          throw SchemaError.noValueForNewColumn(model: entity.name, property: property.name)
        }
        sources.append(source.map { "coalesce(\($0), ?)" } ?? "?")
        values.append(value)
      }
    }
    let table = try quoted(identifier: entity.table)
    try connection.query(
      "INSERT INTO \(try quoted(identifier: scratch)) (\(try columns.map { try quoted(identifier: $0) }.joined(separator: ", "))) "
        + "SELECT \(sources.joined(separator: ", ")) FROM \(table)", values)
    try connection.query("DROP TABLE \(table)")
    try connection.query("ALTER TABLE \(try quoted(identifier: scratch)) RENAME TO \(table)")
    for statement in others { try connection.query(statement) }
  }

  private func presentColumns(of table: String) throws -> Set<String> {
    let rows = try connection.query("SELECT name FROM pragma_table_info(?)", [.text(table)])
    return Set(rows.compactMap { if case .text(let name)? = $0.first { name.lowercased() } else { nil } })
  }

  private func sql(of table: String) throws -> String? {
    let rows = try connection.query(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", [.text(table)])
    if case .text(let sql)? = rows.first?.first { return sql }
    return nil
  }

  /// The name the relationship's table had when its property was called otherwise.
  private func formerName(of join: JoinTable) throws -> String? {
    for property in new.entities[join.first.entity].properties {
      guard case .join(join, .first)? = property.toMany?.via.asJoin, let former = property.formerName else { continue }
      let name = new.entities[join.first.entity].table + "_" + Naming.snakeCase(former)
      if try sql(of: name) != nil { return name }
    }
    return nil
  }

}

/// A statement without quotes and spaces, which renaming adds and leaves out.
func plain(_ sql: String) -> String { sql.filter { $0 != "\"" && !$0.isWhitespace } }

extension Property {
  /// The columns it may have had under its former name.
  var formerColumns: [String] {
    formerName.map { [$0, Naming.snakeCase($0), Naming.snakeCase($0) + "_id"] } ?? []
  }

  var isNullable: Bool {
    switch kind {
    case .value(_, let isOptional, _): isOptional
    case .toOne(let side): side.isOptional
    case .toMany: true
    }
  }
}
