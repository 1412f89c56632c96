import Foundation
import QuireRow
package import QuireSQLite

/// Compares a file's tables with the models: everything that the models need must exist; additional objects are
/// allowed. A store that only reads does not need what only saves rest on: unique indexes, delete rules, values for
/// columns without a property.
package struct SchemaCheck {
  let entities: [Entity]
  let joins: [JoinTable]
  private let forWriting: Bool

  package init(entities: [Entity], joins: [JoinTable], forWriting: Bool = true) {
    self.entities = entities
    self.joins = joins
    self.forWriting = forWriting
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

  /// - Throws: ``SchemaError`` with all differences.
  func require(in connection: Connection, of path: String) throws {
    let differences = try differences(in: connection)
    if differences.isEmpty { return }
    throw SchemaError(
      .mismatch(path: path, differences: differences.map(\.sentence), mending: differences.compactMap(\.sql)))
  }

  /// What the models need and the file does not have; empty if it fits.
  package func differences(in connection: Connection) throws -> [Difference] {
    if entities.isEmpty { return [] }
    if let other = try SchemaCheck.otherEncoding(in: connection) { return [other] }
    let target = SchemaSQL(entities: entities, joins: joins)
    var result = try entities.flatMap { try differences(of: $0, in: connection) }
    for join in joins {
      let columns = try columns(of: join.name, in: connection)
      if columns.isEmpty {
        if let other = try likelyTable(for: join, in: connection) {
          result.append(
            Difference(
              "table \(join.name) is missing: the file has \(other), which links the two. Declare a model for its rows with "
                + "@Model(table: \"\(other)\"), or make it \(join.name) by a migration"))
        } else {
          result.append(Difference("table \(join.name) is missing", try target.table(join)))
        }
        continue
      }
      if let found = try otherSpelling(of: join.name, in: connection) {
        result.append(Difference("table \(join.name) is called \(found) in the file"))
      }
      for column in [join.first.name, join.second.name] {
        guard let found = columns[SQLName(column)] else {
          result.append(Difference("\(join.name).\(column) is missing"))
          continue
        }
        if found.name != column {
          let sql = try renaming(found.name, to: column, in: join.name)
          result.append(Difference("\(join.name).\(column) is called \(found.name) in the file", sql))
        }
      }
    }
    return result + (try objects(in: connection))
  }

  /// Why a file in UTF-16 does not fit: its texts are in another order than those of objects and live results, and other
  /// ones are less than a value.
  static func otherEncoding(in connection: Connection) throws -> Difference? {
    let encoding = try SchemaReader(connection).encoding()
    if encoding == SchemaReader.utf8 { return nil }
    return Difference(
      "its texts are in \(encoding), and models compare text by its bytes in UTF-8: copy the file with "
        + "sqlite3 OLD .dump | sqlite3 NEW")
  }

  /// The differences of one model's table.
  package func differences(of entity: Entity, in connection: Connection) throws -> [Difference] {
    let columns = try columns(of: entity.table, in: connection)
    if columns.isEmpty {
      let table = try SchemaSQL(entities: entities, joins: joins).table(entity)
      let other = try likelyTable(for: entity, in: connection)
      let hint = other.map { ": the file has \($0), which @Model(table: \"\($0)\") names" } ?? ""
      return [Difference("table \(entity.table) is missing (for \(entity.name))\(hint)", table)]
    }
    var result: [Difference] = []
    // SQLite reports changes under the table's name in the file: under another spelling they would not be followed.
    if let found = try otherSpelling(of: entity.table, in: connection) {
      result.append(
        Difference("table \(entity.table) is called \(found) in the file: name it with @Model(table: \"\(found)\")"))
    }
    // Only an INTEGER PRIMARY KEY is the row's own number.
    let keys = columns.values.filter { $0.keyPlace > 0 }
    let key = try keys.count == 1 && !SchemaReader(connection).hasKeyIndex(entity.table) ? keys.first : nil
    let place = "\(entity.table).\(entity.keyColumn)"
    if let key, key.type.uppercased() == "INTEGER" {
      if SQLName(key.name) != SQLName(entity.keyColumn) {
        result.append(
          Difference("\(place) is not its INTEGER PRIMARY KEY: name \(key.name) with @Model(key: \"\(key.name)\")"))
      } else if key.name != entity.keyColumn {
        result.append(
          Difference("\(place) is called \(key.name) in the file: name it with @Model(key: \"\(key.name)\")"))
      }
    } else if columns[SQLName(entity.keyColumn)] == nil {
      result.append(
        Difference(
          "\(entity.table) has no INTEGER PRIMARY KEY: a migration makes it again with one, \(entity.keyColumn) "
            + "(quire migrate new TITLE --rebuild \(entity.table) writes most of it)"))
    } else {
      result.append(Difference("\(place) is not its INTEGER PRIMARY KEY"))
    }
    var known = Set((entity.properties.compactMap(\.column) + [entity.keyColumn]).map { SQLName($0) })
    for (index, property) in entity.properties.enumerated() {
      guard let name = property.column else { continue }
      guard let column = columns[SQLName(name)] ?? likelyColumn(for: property, columns, except: known) else {
        let sql = try mending(index, entity, columns, on: connection)
        result.append(Difference("\(entity.table).\(name) is missing (for \(entity.name).\(property.name))", sql))
        continue
      }
      known.insert(SQLName(column.name))
      let place = "\(entity.table).\(name)"
      if column.name != name {
        let advice = "name it with @Attribute(column: \"\(column.name)\")"
        let sql = try renaming(column.name, to: name, in: entity.table)
        result.append(Difference("\(place) is called \(column.name) in the file: \(advice)", sql))
      }
      if column.isGenerated, forWriting {
        // An insert would be refused, and an object would keep the value of before its own save.
        result.append(
          Difference(
            "\(place) is generated, and models write all columns they have: make \(entity.name).\(property.name) a "
              + "computed property"))
        continue
      }
      result += try differences(property, column, of: entity, in: connection)
      if case .value(.text, _, _) = property.kind {
        let collation = SchemaReader(connection).collation(of: column.name, in: entity.table)
        if SQLName(collation) != SQLName("BINARY") {
          result.append(Difference("\(place) is COLLATE \(collation), and models compare text by its bytes"))
        }
      }
    }
    if !forWriting { return result }
    result += try EnforcedRules(entities: entities).missing(of: entity, columns, in: connection)
    for column in columns.values.sorted(by: { $0.name < $1.name }) where !known.contains(SQLName(column.name)) {
      if column.isRequired, column.defaultValue == nil, !column.isGenerated, column.keyPlace == 0 || key == nil {
        result.append(
          Difference("\(entity.table).\(column.name) must have a value and no property of \(entity.name) gives it one"))
      }
    }
    return result
  }

  /// The table's name in the file, if it differs in the case of its letters.
  private func otherSpelling(of table: String, in connection: Connection) throws -> String? {
    let reader = SchemaReader(connection)
    // Rarely another: the list of tables takes much longer to ask than this.
    if try !reader.tableNames(among: [table]).isEmpty { return nil }
    return try reader.tables(named: table).first.flatMap { $0.name == table ? nil : $0.name }
  }

  /// A table that another program has named in its way: `Books` or `BOOK` for `book`, `HeartBeat` for `heart_beat`.
  private func likelyTable(for entity: Entity, in connection: Connection) throws -> String? {
    let wanted = letters(of: entity.table)
    let others = Set(entities.map { SQLName($0.table) })
    let found = try SchemaReader(connection).tables().filter { table in
      table.kind == .table && !others.contains(SQLName(table.name))
        && [wanted, wanted + "s"].contains(letters(of: table.name))
    }
    return found.count == 1 ? found[0].name : nil
  }

  /// A table that links the two models' rows under another name: apart from a key of its own, it has only a foreign key to
  /// each of them.
  private func likelyTable(for join: JoinTable, in connection: Connection) throws -> String? {
    let ends = [join.first, join.second].map { SQLName.folded(entities[$0.entity].table) }.sorted()
    let others = Set(entities.map { SQLName($0.table) } + joins.map { SQLName($0.name) })
    let reader = SchemaReader(connection)
    let found = try reader.tables().filter { table in
      guard table.kind == .table, !others.contains(SQLName(table.name)) else { return false }
      let keys = try reader.foreignKeys(of: table.name)
      guard keys.map({ SQLName.folded($0.parent) }).sorted() == ends else { return false }
      let columns = Set(keys.flatMap(\.columns).map { SQLName($0) })
      return try reader.columns(of: table.name).allSatisfy { $0.keyPlace > 0 || columns.contains(SQLName($0.name)) }
    }
    return found.count == 1 ? found[0].name : nil
  }

  /// The same for a column that no property names: `AuthorId` for `author_id`.
  private func likelyColumn(
    for property: Property, _ columns: [SQLName: SchemaReader.Column], except known: Set<SQLName>
  ) -> SchemaReader.Column? {
    guard let name = property.column, !property.formerColumns.contains(where: { columns[SQLName($0)] != nil }) else {
      return nil
    }
    let wanted = letters(of: name)
    let found = columns.values.filter { !known.contains(SQLName($0.name)) && letters(of: $0.name) == wanted }
    return found.count == 1 ? found[0] : nil
  }

  private func letters(of name: String) -> String { SQLName.folded(name).filter { $0 != "_" } }

  private func renaming(_ column: String, to name: String, in table: String) throws -> String {
    "ALTER TABLE \(try quoted(identifier: table)) RENAME COLUMN \(try quoted(identifier: column)) "
      + "TO \(try quoted(identifier: name))"
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
    _ index: Int, _ entity: Entity, _ columns: [SQLName: SchemaReader.Column], on connection: Connection
  ) throws -> String? {
    let property = entity.properties[index]
    guard let name = property.column else { return nil }
    let table = "ALTER TABLE \(try quoted(identifier: entity.table))"
    if let former = property.formerColumns.first(where: { columns[SQLName($0)] != nil }) {
      return try renaming(former, to: name, in: entity.table)
    }
    // SQLite cannot add a unique column.
    if property.isUnique { return nil }
    let definition = try SchemaSQL(entities: entities, joins: joins).definition(of: property, column: name)
    if property.isNullable { return "\(table) ADD COLUMN \(definition)" }
    let value = try entity.defaultValue(of: index, on: connection)
    return value == .null ? nil : "\(table) ADD COLUMN \(definition) DEFAULT \(value)"
  }

  private func differences(
    _ property: Property, _ column: SchemaReader.Column, of entity: Entity, in connection: Connection
  ) throws -> [Difference] {
    let type: ColumnType
    let isOptional: Bool
    switch property.kind {
    case .value(let valueType, let optional, _): (type, isOptional) = (valueType, optional)
    case .toOne(let side): (type, isOptional) = (.integer, side.isOptional)
    case .toMany: return []
    }
    var result: [Difference] = []
    let (place, owner) = ("\(entity.table).\(property.column ?? column.name)", "\(entity.name).\(property.name)")
    var affinity = Affinity(declared: column.type)
    // Rarely asked: the list of tables takes longer to ask than all the rest.
    func isStrict() throws -> Bool { try SchemaReader(connection).tables(named: entity.table).first?.isStrict ?? false }
    if affinity == .none, !column.type.isEmpty, try !isStrict() { affinity = .numeric }
    let needs = "\(place) is \(column.type), \(owner) needs \(type.rawValue)"
    if affinity == .numeric, type == .text, property.mayLookLikeNumbers {
      let advice = property.isDecimal ? "; a Double fits" : "; a type with a raw value fits if it accepts no number"
      result.append(Difference("\(needs): SQLite stores text there that looks like a number as a number\(advice)"))
    } else if !affinity.fits(type), try !affinity.keeps(type, isJSON: property.isJSON) || isStrict() {
      result.append(Difference(needs))
    }
    if column.isRequired, isOptional, forWriting {
      result.append(Difference("\(place) is NOT NULL and \(owner) is optional"))
    }
    return result
  }

  private func columns(of table: String, in connection: Connection) throws -> [SQLName: SchemaReader.Column] {
    Dictionary(
      try SchemaReader(connection).columns(of: table).map { (SQLName($0.name), $0) },
      uniquingKeysWith: { first, _ in first })
  }
}
