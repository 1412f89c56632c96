import QuireRow

/// The statements that make an empty file the models' file: STRICT tables, foreign keys with their actions, checks, an
/// index on every foreign key, full-text indexes, and triggers for the rules that no foreign key can express.
struct SchemaSQL {
  let entities: [Entity]
  let joins: [JoinTable]

  func statements() throws -> [String] {
    try entities.map { try table($0) } + joins.map(table) + namedIndexes().map(\.sql)
      + entities.compactMap { try $0.fullText?.creation(for: $0) } + triggers().map { try $0.sql }
  }

  func namedIndexes() throws -> [(name: String, sql: String)] {
    try entities.flatMap(indexes) + joins.map(index)
  }

  /// - Parameter name: The name of a temporary table that will replace the old one.
  func table(_ entity: Entity, named name: String? = nil) throws -> String {
    var lines = ["\(try quoted(identifier: entity.keyColumn)) INTEGER PRIMARY KEY"]
    for property in entity.properties {
      guard let column = property.column else { continue }
      lines.append(try definition(of: property, column: column))
    }
    for unique in entity.uniques { lines.append("UNIQUE (\(try list(unique)))") }
    return
      "CREATE TABLE \(try quoted(identifier: name ?? entity.table)) (\n  \(lines.joined(separator: ",\n  "))\n) STRICT"
  }

  func definition(of property: Property, column: String) throws -> String {
    let name = try quoted(identifier: column)
    let unique = property.isUnique ? " UNIQUE" : ""
    switch property.kind {
    case .value(let type, let isOptional, let check):
      let checked = check.map { " CHECK (\($0.replacing("?", with: name)))" } ?? ""
      return "\(name) \(type.rawValue)\(isOptional ? "" : " NOT NULL")\(unique)\(checked)"
    case .toOne(let side):
      let target = entities[side.target]
      let null = side.isOptional ? "" : " NOT NULL"
      if side.whenTargetGoes == .noAction { return "\(name) INTEGER\(null)\(unique)" }
      return "\(name) INTEGER\(null)\(unique) REFERENCES \(try quoted(identifier: target.table))"
        + "(\(try quoted(identifier: target.keyColumn))) ON DELETE \(action(side))"
    case .toMany:
      return ""
    }
  }

  private func action(_ side: ToOneSide) -> String {
    switch side.whenTargetGoes {
    case .cascade: "CASCADE"
    case .deny: "RESTRICT"
    case .nullify, .noAction: side.isOptional ? "SET NULL" : "RESTRICT"
    }
  }

  func table(_ join: JoinTable) throws -> String { try table(join, named: join.name) }

  func table(_ join: JoinTable, named name: String) throws -> String {
    func column(_ column: JoinTable.Column, _ side: JoinSide) throws -> String {
      let target = entities[column.entity]
      let action = target.denies(join, side) ? "RESTRICT" : "CASCADE"
      return "\(try quoted(identifier: column.name)) INTEGER NOT NULL REFERENCES "
        + "\(try quoted(identifier: target.table))(\(try quoted(identifier: target.keyColumn))) ON DELETE \(action)"
    }
    return """
      CREATE TABLE \(try quoted(identifier: name)) (
        \(try column(join.first, .first)),
        \(try column(join.second, .second)),
        PRIMARY KEY (\(try list([join.first.name, join.second.name])))
      ) STRICT, WITHOUT ROWID
      """
  }

  private func indexes(_ entity: Entity) throws -> [(name: String, sql: String)] {
    let foreignKeys = entity.properties.compactMap { $0.toOne != nil ? $0.column.map { [$0] } : nil }
    var seen: Set<[String]> = []
    return try (foreignKeys + entity.indexes).filter { seen.insert($0).inserted }.map { columns in
      let name = ([entity.table] + columns).joined(separator: "_")
      let table = try quoted(identifier: entity.table)
      return (name, "CREATE INDEX \(try quoted(identifier: name)) ON \(table) (\(try list(columns)))")
    }
  }

  private func index(_ join: JoinTable) throws -> (name: String, sql: String) {
    let name = "\(join.name)_\(join.second.name)"
    let sql =
      "CREATE INDEX \(try quoted(identifier: name)) ON \(try quoted(identifier: join.name)) "
      + "(\(try list([join.second.name])))"
    return (name, sql)
  }

  private func list(_ columns: [String]) throws -> String {
    try columns.map { try quoted(identifier: $0) }.joined(separator: ", ")
  }
}
