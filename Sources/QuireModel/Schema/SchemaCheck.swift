import QuireRow
package import QuireSQLite

/// Compares a file's tables with the models: everything that the models need must exist; additional objects are
/// allowed.
package struct SchemaCheck {
  let entities: [Entity]
  let joins: [JoinTable]

  package init(entities: [Entity], joins: [JoinTable]) {
    self.entities = entities
    self.joins = joins
  }

  /// A sentence, and the statement that would fix the difference, if one is enough and loses nothing.
  package struct Difference {
    package let sentence: String
    var sql: String?
    init(_ sentence: String, _ sql: String? = nil) {
      self.sentence = sentence
      self.sql = sql
    }
  }

  /// What the models need and the file does not have; empty if it fits.
  package func differences(in connection: Connection) throws -> [Difference] {
    let target = SchemaSQL(entities: entities, joins: joins)
    var result = try entities.flatMap { try differences(of: $0, in: connection) }
    for join in joins {
      let columns = try columns(of: join.name, in: connection)
      for column in [join.first, join.second] where columns[column.name] == nil {
        if columns.isEmpty {
          result.append(Difference("table \(join.name) is missing", try target.table(join)))
          break
        }
        result.append(Difference("\(join.name).\(column.name) is missing"))
      }
    }
    return result + (try objects(in: connection))
  }

  /// The differences of one model's table.
  package func differences(of entity: Entity, in connection: Connection) throws -> [Difference] {
    let columns = try columns(of: entity.table, in: connection)
    if columns.isEmpty {
      let table = try SchemaSQL(entities: entities, joins: joins).table(entity)
      return [Difference("table \(entity.table) is missing (for \(entity.name))", table)]
    }
    var result: [Difference] = []
    let key = columns[entity.keyColumn]
    // Only an INTEGER PRIMARY KEY is the row's own number.
    if key.map({ $0.keyPlace > 0 }) != true || key?.type.uppercased() != "INTEGER"
      || columns.values.count(where: { $0.keyPlace > 0 }) != 1
    {
      result.append(Difference("\(entity.table).\(entity.keyColumn) is not its INTEGER PRIMARY KEY"))
    }
    for (index, property) in entity.properties.enumerated() {
      guard let name = property.column else { continue }
      guard let column = columns[name] else {
        let sql = try mending(index, entity, columns, on: connection)
        result.append(Difference("\(entity.table).\(name) is missing (for \(entity.name).\(property.name))", sql))
        continue
      }
      result += differences(property, column, at: "\(entity.table).\(name)", for: "\(entity.name).\(property.name)")
    }
    let known = Set(entity.properties.compactMap(\.column) + [entity.keyColumn])
    for (name, column) in columns.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
      if column.isRequired, column.defaultValue == nil {
        result.append(
          Difference("\(entity.table).\(name) must have a value and no property of \(entity.name) gives it one"))
      }
    }
    return result
  }

  /// Full-text indexes and triggers, which must have exactly this text.
  private func objects(in connection: Connection) throws -> [Difference] {
    var wanted: [(kind: String, name: String, drop: String, sql: String, then: String?)] = []
    for entity in entities {
      guard let index = entity.fullText else { continue }
      wanted.append(
        ("full-text index", index.table, "TABLE", try index.creation(for: entity), try index.rebuilding()))
    }
    for trigger in try SchemaSQL(entities: entities, joins: joins).triggers() {
      wanted.append(("trigger", trigger.name, "TRIGGER", try trigger.sql, nil))
    }
    if wanted.isEmpty { return [] }
    var present: [SQLName: SQLFragment] = [:]
    for object in try SchemaReader(connection).objects() where object.kind == .table || object.kind == .trigger {
      if let sql = object.sql { present[SQLName(object.name)] = SQLFragment(sql) }
    }
    return try wanted.compactMap { object in
      let found = present[SQLName(object.name)]
      if found == SQLFragment(object.sql) { return nil }
      let drop = found == nil ? [] : ["DROP \(object.drop) \(try quoted(identifier: object.name))"]
      let statements = drop + [object.sql] + (object.then.map { [$0] } ?? [])
      return Difference(
        "\(object.kind) \(object.name) is \(found == nil ? "missing" : "another one")",
        statements.joined(separator: ";\n    "))
    }
  }

  /// The statement that adds a property's column to a table, or renames the column from the property's former name.
  private func mending(
    _ index: Int, _ entity: Entity, _ columns: [String: SchemaReader.Column], on connection: Connection
  ) throws -> String? {
    let property = entity.properties[index]
    guard let name = property.column else { return nil }
    let table = "ALTER TABLE \(try quoted(identifier: entity.table))"
    if let former = property.formerColumns.first(where: { columns[$0] != nil }) {
      return "\(table) RENAME COLUMN \(try quoted(identifier: former)) TO \(try quoted(identifier: name))"
    }
    // SQLite cannot add a unique column.
    if property.isUnique { return nil }
    let definition = try SchemaSQL(entities: entities, joins: joins).definition(of: property, column: name)
    if property.isNullable { return "\(table) ADD COLUMN \(definition)" }
    let value = try entity.defaultValue(of: index, on: connection)
    return value == .null ? nil : "\(table) ADD COLUMN \(definition) DEFAULT \(value)"
  }

  private func differences(
    _ property: Property, _ column: SchemaReader.Column, at place: String, for owner: String
  ) -> [Difference] {
    let type: ColumnType
    let isOptional: Bool
    switch property.kind {
    case .value(let valueType, let optional, _): (type, isOptional) = (valueType, optional)
    case .toOne(let side): (type, isOptional) = (.integer, side.isOptional)
    case .toMany: return []
    }
    var result: [Difference] = []
    if !fits(declared: column.type, type) {
      let found = column.type.isEmpty ? "untyped" : column.type
      result.append(Difference("\(place) is \(found), \(owner) needs \(type.rawValue)"))
    }
    if column.isRequired, isOptional { result.append(Difference("\(place) is NOT NULL and \(owner) is optional")) }
    return result
  }

  /// By SQLite's affinity rules, because tables made by other tools may say VARCHAR(80) and BIGINT.
  private func fits(declared: String, _ type: ColumnType) -> Bool {
    let name = declared.uppercased()
    let affinity: ColumnType =
      if name.contains("INT") || name.contains("BOOL") {
        .integer
      } else if ["CHAR", "CLOB", "TEXT", "DATE", "TIME", "UUID"].contains(where: name.contains) {
        .text
      } else if name.isEmpty || name.contains("BLOB") {
        .blob
      } else if ["REAL", "FLOA", "DOUB"].contains(where: name.contains) {
        .real
      } else {
        .any
      }
    return affinity == type || affinity == .any || type == .any || name.isEmpty
  }

  private func columns(of table: String, in connection: Connection) throws -> [String: SchemaReader.Column] {
    Dictionary(
      try SchemaReader(connection).columns(of: table).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}
