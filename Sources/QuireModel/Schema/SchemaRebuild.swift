import QuireRow
import QuireSQLite

/// Migrates the tables of an older version of the models to a newer one, and keeps everything that both have.
///
/// A table whose statement differs is created again and filled from the old one: a column of the property's former name
/// (`originalName`), or of the same name, is copied; a new one gets its declared default, evaluated for each row, or
/// NULL. Run it in a transaction with foreign keys off; the caller checks them afterwards.
struct SchemaRebuild {
  let old: (entities: [Entity], joins: [JoinTable])
  let new: (entities: [Entity], joins: [JoinTable])
  let connection: Connection
  /// Any connection of the models' kind.
  let models: Connection
  var reader: SchemaReader { SchemaReader(connection) }

  func run() throws {
    let target = SchemaSQL(entities: new.entities, joins: new.joins)
    let own = Set(try SchemaSQL(entities: old.entities, joins: old.joins).statements().map { SQLFragment($0) })
    try renameTables(dropping: own)
    let pairs = try takePairs()
    for entity in new.entities {
      if try sql(of: entity.table) == nil {
        try connection.executeInMigration(try target.table(entity))
      } else {
        try rebuild(entity, target, dropping: own)
      }
    }
    for join in new.joins { try make(join, target, dropping: own) }
    try fill(pairs)
    let kept = Set(new.entities.map(\.table) + new.joins.map(\.name))
    for table in old.joins.map(\.name) + old.entities.map(\.table) where !kept.contains(table) {
      try connection.executeInMigration("DROP TABLE IF EXISTS \(try quoted(identifier: table))")
    }
    let made = Set(try reader.objects(.index).map(\.name))
    for (name, statement) in try target.namedIndexes() where !made.contains(name) {
      try connection.executeInMigration(statement)
    }
    try arrangeObjects(target)
  }

  /// Tables whose models have named another since.
  private func renameTables(dropping own: Set<SQLFragment>) throws {
    for entity in new.entities {
      guard let former = old.entities.first(where: { $0.name == entity.name })?.table,
        SQLName(former) != SQLName(entity.table), try sql(of: former) != nil, try sql(of: entity.table) == nil
      else { continue }
      try rename(former, to: entity.table, dropping: own)
      // Otherwise its next rows would get the keys of deleted ones.
      guard try reader.hasTable("_quire_keys") else { continue }
      try connection.executeInMigration(
        """
        INSERT INTO _quire_keys SELECT ?, highest FROM _quire_keys WHERE table_name = ?
        ON CONFLICT (table_name) DO UPDATE SET highest = max(highest, excluded.highest)
        """, [.text(entity.table), .text(former)])
    }
  }

  /// Without the models' indexes, which are named after their table, and made again.
  private func rename(_ table: String, to name: String, dropping own: Set<SQLFragment>) throws {
    for index in try reader.objects(of: table) where index.kind == .index {
      guard let sql = index.sql, own.contains(SQLFragment(sql)) else { continue }
      try connection.executeInMigration("DROP INDEX \(try quoted(identifier: index.name))")
    }
    try connection.executeInMigration(
      "ALTER TABLE \(try quoted(identifier: table)) RENAME TO \(try quoted(identifier: name))")
  }

  /// Full-text indexes and triggers: removes those of the old models that the new ones do not have, and makes missing
  /// ones.
  private func arrangeObjects(_ target: SchemaSQL) throws {
    let former = SchemaSQL(entities: old.entities, joins: old.joins)
    let triggers = try target.triggers()
    for trigger in try former.triggers() where try !triggers.contains(where: { try $0.sql == trigger.sql }) {
      try connection.executeInMigration("DROP TRIGGER IF EXISTS \(try quoted(identifier: trigger.name))")
    }
    let texts = try new.entities.compactMap { try $0.fullText?.creation(for: $0) }
    for entity in old.entities {
      guard let index = entity.fullText, try !texts.contains(index.creation(for: entity)) else { continue }
      try connection.executeInMigration("DROP TABLE IF EXISTS \(try quoted(identifier: index.table))")
    }
    for entity in new.entities {
      guard let index = entity.fullText else { continue }
      if try sql(of: index.table) == nil { try connection.executeInMigration(try index.creation(for: entity)) }
      try connection.executeInMigration(try index.rebuilding())
    }
    let made = Set(try reader.objects(.trigger).map(\.name))
    for trigger in triggers where !made.contains(trigger.name) { try connection.executeInMigration(try trigger.sql) }
  }

  // MARK: One table

  /// The name of a table while it is filled.
  static func scratch(of table: String) -> String { "_quire_new_" + table }

  private func rebuild(_ entity: Entity, _ target: SchemaSQL, dropping own: Set<SQLFragment>) throws {
    let columns = try reader.columns(of: entity.table)
    let key = columns.first { $0.keyPlace > 0 }?.name ?? entity.keyColumn
    // The key is no property's former value: a model that gets an `id` of its own has its key under another name.
    let there = Set(columns.map { SQLName($0.name) }).subtracting([SQLName(key)])
    let sources = entity.properties.map { source(of: $0, in: entity, there) }
    // Two properties that change places have the same statement.
    let isMoved = zip(entity.properties, sources).contains { property, source in
      source.map { SQLName($0) != SQLName(property.column ?? $0) } ?? false
    }
    guard let present = try sql(of: entity.table),
      try isMoved || SQLFragment(present) != SQLFragment(target.table(entity))
    else { return }
    // Indexes and triggers that are not the models' are dropped with the table and created again.
    let others = try reader.objects(of: entity.table).compactMap { object -> String? in
      guard object.kind != .table, let sql = object.sql, !object.name.hasPrefix("_quire_"),
        !own.contains(SQLFragment(sql))
      else { return nil }
      return sql
    }
    let scratch = SchemaRebuild.scratch(of: entity.table)
    var rebuild = TableRebuild(
      of: SQLName(entity.table), by: SQLName(scratch), creation: try target.table(entity, named: scratch))
    let (table, quotedKey) = (try quoted(identifier: entity.table), try quoted(identifier: key))
    rebuild.columns.append((SQLName(entity.keyColumn), quotedKey))
    var varying: [Int] = []
    for (index, property) in entity.properties.enumerated() {
      guard let column = property.column else { continue }
      let source = try sources[index].map { try quoted(identifier: $0) }
      if let source, property.isNullable {
        rebuild.columns.append((SQLName(column), source))
        continue
      }
      let value = try entity.defaultValue(of: index, on: models)
      if source == nil, value == .null, !property.isNullable {
        throw SchemaError(.noValueForNewColumn(model: entity.name, property: property.name))
      }
      if source == nil, try entity.defaultValue(of: index, on: models) != value {
        varying.append(index)
        let given = "SELECT c\(index) FROM \(Self.given) WHERE key = \(table).\(quotedKey)"
        rebuild.columns.append((SQLName(column), "(\(given))"))
        continue
      }
      rebuild.columns.append((SQLName(column), source.map { "coalesce(\($0), ?)" } ?? "?"))
      rebuild.arguments.append(value)
    }
    if !varying.isEmpty { try give(varying, of: entity, to: table, quotedKey) }
    for statement in rebuild.statements { try connection.executeInMigration(statement.sql, statement.arguments) }
    if !varying.isEmpty { try connection.executeInMigration("DROP TABLE \(Self.given)") }
    for statement in others { try connection.executeInMigration(statement) }
  }

  /// The column of the old table with a property's values; nil for a new property.
  ///
  /// It is that of the former name, even if the old table has one of the same name, too, which is of another property
  /// then. But a former name stays in the source when the property has long been renamed, and another property may have
  /// taken it since.
  func source(of property: Property, in entity: Entity, _ there: Set<SQLName>) -> String? {
    guard let column = property.column else { return nil }
    let same = there.contains(SQLName(column)) ? column : nil
    guard let former = property.formerColumns.first(where: { there.contains(SQLName($0)) }) else { return same }
    func has(_ column: String, _ property: Property) -> Bool {
      if let own = property.column { SQLName(own) == SQLName(column) } else { false }
    }
    let before = old.entities.first { isSame(entity, $0) }?.properties.first { has(column, $0) }
    let isRenamedAlready = before?.formerName == property.formerName
    let isTaken = entity.properties.contains { has(former, $0) && $0.formerName == nil }
    return same != nil && (isRenamedAlready || isTaken) ? same : former
  }

  /// A table of defaults, a row for each of the old table's, where these are others each time, as `UUID()` is.
  private static let given = "_quire_given"

  private func give(_ properties: [Int], of entity: Entity, to table: String, _ key: String) throws {
    let columns = properties.map { "c\($0)" }.joined(separator: ", ")
    try connection.executeInMigration("CREATE TABLE \(Self.given) (key INTEGER PRIMARY KEY, \(columns))")
    let keys = try connection.query("SELECT \(key) FROM \(table)").rows.map { $0[0] }
    let row = "(\(Array(repeating: "?", count: properties.count + 1).joined(separator: ", ")))"
    for start in stride(from: 0, to: keys.count, by: 100) {
      let some = keys[start..<min(start + 100, keys.count)]
      let values = try some.flatMap { key in
        try [key] + properties.map { try entity.defaultValue(of: $0, on: models) }
      }
      let rows = Array(repeating: row, count: some.count).joined(separator: ", ")
      try connection.executeInMigration("INSERT INTO \(Self.given) VALUES \(rows)", values)
    }
  }

  /// A join table: a new one, or the relationship's former one with its pairs, whatever table and columns were called.
  private func make(_ join: JoinTable, _ target: SchemaSQL, dropping own: Set<SQLFragment>) throws {
    let former = try former(of: join)
    if try sql(of: join.name) == nil {
      guard let former else { return try connection.executeInMigration(try target.table(join)) }
      try rename(former.name, to: join.name, dropping: own)
    }
    guard let present = try sql(of: join.name), SQLFragment(present) != SQLFragment(try target.table(join)) else {
      return
    }
    let columns = [join.first.name, join.second.name]
    let sources = former?.columns ?? columns
    let there = Set(try reader.columns(of: join.name).map { SQLName($0.name) })
    guard there.isSuperset(of: sources.map { SQLName($0) }) else { return }
    let scratch = SchemaRebuild.scratch(of: join.name)
    var rebuild = TableRebuild(
      of: SQLName(join.name), by: SQLName(scratch), creation: try target.table(join, named: scratch))
    rebuild.columns = try zip(columns, sources).map { (SQLName($0), try quoted(identifier: $1)) }
    for statement in rebuild.statements { try connection.executeInMigration(statement.sql, statement.arguments) }
  }

  /// The relationship's table in the older version, and its columns in the order of the newer one's. Classes are the
  /// same by their name or by their table, and relationships by the name of one of their properties, now or before.
  func former(of join: JoinTable) throws -> (name: String, columns: [String])? {
    let kept = Set(new.joins.map(\.name)).subtracting([join.name])
    let straight: [(JoinSide, JoinSide)] = [(.first, .first), (.second, .second)]
    let crossed: [(JoinSide, JoinSide)] = [(.first, .second), (.second, .first)]
    for other in old.joins where try !kept.contains(other.name) && sql(of: other.name) != nil {
      for sides in [straight, crossed]
      where sides.allSatisfy({ isSame(new.entities[join.own($0).entity], old.entities[other.own($1).entity]) }) {
        let isNamed = sides.contains { side, otherSide in
          guard let property = Self.property(of: join, side, in: new.entities),
            let former = Self.property(of: other, otherSide, in: old.entities)
          else { return false }
          return former.name == property.formerName ?? property.name
        }
        if isNamed { return (other.name, sides.map { other.own($1).name }) }
      }
    }
    return nil
  }

  func isSame(_ entity: Entity, _ other: Entity) -> Bool {
    entity.name == other.name || SQLName(entity.table) == SQLName(other.table)
  }

  static func property(of join: JoinTable, _ side: JoinSide, in entities: [Entity]) -> Property? {
    entities[join.own(side).entity].properties.first {
      if case .join(join, side)? = $0.toMany?.via.asJoin { true } else { false }
    }
  }

  func sql(of table: String) throws -> String? { try reader.objects(.table, named: table).first?.sql }
}

extension Property {
  /// The column's possible former names.
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
