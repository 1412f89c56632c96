import QuireMigration
import QuireSQLite
import TestSupport

/// Makes random schemas, and changes them as somebody would who goes on working on one.
struct SchemaMaker {
  var random: Random
  private var made = 0
  private(set) var renames: [SchemaRename] = []

  init(seed: UInt64) { random = Random(seed: seed) }

  private static let types = ["INTEGER", "TEXT", "REAL", "BLOB", "ANY"]
  private static let names = ["title", "note", "year", "isbn", "the price", "Größe", "order", "is_in", "kind", "x"]
  private static let tableNames = ["author", "book", "library", "the shelf", "group", "Straße"]

  mutating func schema() -> RandomSchema {
    var schema = RandomSchema()
    for _ in 0..<(1 + random.below(4)) { addTable(to: &schema) }
    for _ in 0..<random.below(6) { addObject(to: &schema) }
    return schema
  }

  /// Something else made of `schema`; what was renamed on the way is noted.
  mutating func changed(_ schema: RandomSchema) -> RandomSchema {
    var schema = schema
    for _ in 0..<(1 + random.below(5)) { change(&schema) }
    return schema
  }

  private mutating func change(_ schema: inout RandomSchema) {
    let table = random.below(max(1, schema.tables.count))
    switch random.below(schema.tables.isEmpty ? 1 : 12) {
    case 0: addTable(to: &schema)
    case 1 where schema.tables.count > 1: schema.dropTable(schema.tables[table].name)
    case 2: renameTable(table, of: &schema)
    case 3: renameColumn(of: table, in: &schema)
    case 4, 5: addColumn(to: table, of: &schema)
    case 6:
      let columns = schema.tables[table].columns
      if columns.count > 2 { schema.drop(random.pick(columns).name, from: table) }
    case 7, 8: changeColumn(of: table, in: &schema)
    case 9: schema.tables[table].isStrict = !schema.tables[table].isStrict
    case 10: changeObjects(of: &schema)
    default: addObject(to: &schema)
    }
    for place in schema.tables.indices { schema.tidy(place) }
  }

  // MARK: Tables and columns

  private mutating func free(_ names: [String], except taken: [String]) -> String {
    let name = random.pick(names)
    if !taken.contains(where: { SQLName($0) == SQLName(name) }) { return name }
    made += 1
    return "\(name)\(made)"
  }

  private mutating func addTable(to schema: inout RandomSchema) {
    let name = free(Self.tableNames, except: schema.tables.map(\.name) + renames.map(\.table.text))
    let key: RandomSchema.Key =
      switch random.below(6) {
      case 0: .none
      case 1: .pair(isWithoutRowID: random.chance(2))
      case 2: .rowID(isAutoincrement: true)
      default: .rowID(isAutoincrement: false)
      }
    schema.tables.append(.init(name: name, key: key, columns: [], isStrict: random.chance(2)))
    for _ in 0..<(2 + random.below(4)) { addColumn(to: schema.tables.count - 1, of: &schema) }
    if random.chance(5) {
      schema.tables[schema.tables.count - 1].unique = schema.tables[schema.tables.count - 1].columns.prefix(2).map(
        \.name)
    }
    schema.tidy(schema.tables.count - 1)
  }

  private mutating func addColumn(to place: Int, of schema: inout RandomSchema) {
    let table = schema.tables[place]
    var column = RandomSchema.Column(
      name: free(Self.names, except: table.columns.map(\.name) + ["id"]), type: random.pick(Self.types))
    dress(&column, in: table, of: schema)
    schema.tables[place].columns.insert(column, at: random.below(table.columns.count + 1))
  }

  private mutating func dress(
    _ column: inout RandomSchema.Column, in table: RandomSchema.Table, of schema: RandomSchema
  ) {
    let parents = schema.tables.filter { if case .rowID = $0.key { true } else { false } }
    column = .init(name: column.name, type: column.type)
    switch random.below(10) {
    case 0 where !parents.isEmpty:
      column.parent = random.pick(parents).name
      column.type = "INTEGER"
      return
    case 1:
      let others = table.columns.filter { $0.doubles == nil && $0.name != column.name }
      if !others.isEmpty {
        column.doubles = random.pick(others).name
        column.type = random.pick(["TEXT", "ANY"])
        return
      }
    default: break
    }
    let literals = ["INTEGER": "7", "TEXT": "'it''s; --'", "REAL": "-1.5", "BLOB": "x'ab'", "ANY": "'any'"]
    if random.chance(3) { column.defaultValue = literals[column.type] }
    if column.type == "TEXT", random.chance(6) {
      column.defaultValue = random.pick(["CURRENT_TIMESTAMP", "('a' || 'b')"])
    }
    column.isRequired = random.chance(column.defaultValue == nil ? 8 : 2)
    if random.chance(6) { column.collation = random.pick(["NOCASE", "RTRIM"]) }
    column.isUnique = random.chance(14)
    if random.chance(6) {
      column.check = random.pick(["length(?) < 90", "? IS NOT 'never (' -- no", "typeof(?) <> ''"]) + "\n"
    }
  }

  private mutating func changeColumn(of place: Int, in schema: inout RandomSchema) {
    let table = schema.tables[place]
    guard !table.columns.isEmpty else { return }
    let at = random.below(table.columns.count)
    var column = table.columns[at]
    guard column.doubles == nil else { return }
    switch random.below(5) {
    case 0: column.isRequired.toggle()
    case 1:
      column.isRequired = true
      if column.parent == nil { dress(&column, in: table, of: schema) }
    case 2 where column.parent == nil: column.type = random.pick(Self.types)
    case 3: column.isUnique.toggle()
    default: dress(&column, in: table, of: schema)
    }
    schema.tables[place].columns[at] = column
  }

  // MARK: Renames

  private mutating func renameTable(_ place: Int, of schema: inout RandomSchema) {
    let old = schema.tables[place].name
    guard !renames.contains(where: { $0.table.text == old || $0.newName.text == old }) else { return }
    made += 1
    let new = "\(random.pick(["volume", "a b", "Ordner"]))\(made)"
    // A column renamed before is named by its table's old name, which serves as well.
    renames.append(SchemaRename(table: SQLName(old), to: SQLName(new)))
    schema.rename(old, to: new)
  }

  private mutating func renameColumn(of place: Int, in schema: inout RandomSchema) {
    let table = schema.tables[place]
    guard let column = table.columns.randomElement(using: &random)?.name,
      !renames.contains(where: { $0.newName.text == column || $0.column?.text == column })
    else { return }
    made += 1
    let new = "\(random.pick(["heading", "Überschrift", "a b"]))\(made)"
    renames.append(SchemaRename(table: SQLName(table.name), column: SQLName(column), to: SQLName(new)))
    schema.rename(column, of: place, to: new)
  }

  // MARK: Indexes, triggers, views

  private mutating func addObject(to schema: inout RandomSchema) {
    guard let table = schema.tables.randomElement(using: &random),
      let column = table.columns.randomElement(using: &random)?.name
    else { return }
    made += 1
    switch random.below(4) {
    case 0: schema.views.append(.init(name: "view \(made)", table: table.name, column: column))
    case 1:
      let other = random.pick(schema.tables).name
      schema.triggers.append(
        .init(
          name: "trigger\(made)", table: table.name, other: other, event: random.pick(["INSERT", "DELETE", "UPDATE"])))
    default:
      schema.indexes.append(
        .init(
          name: "index\(made)", table: table.name, columns: [column], isUnique: random.chance(12),
          isPartial: random.chance(3), isExpression: random.chance(3)))
    }
  }

  private mutating func changeObjects(of schema: inout RandomSchema) {
    switch random.below(4) {
    case 0: if !schema.indexes.isEmpty { schema.indexes.remove(at: random.below(schema.indexes.count)) }
    case 1: if !schema.views.isEmpty { schema.views.remove(at: random.below(schema.views.count)) }
    case 2: if !schema.triggers.isEmpty { schema.triggers.remove(at: random.below(schema.triggers.count)) }
    default:
      if !schema.indexes.isEmpty { schema.indexes[random.below(schema.indexes.count)].isPartial.toggle() }
      if !schema.triggers.isEmpty { schema.triggers[random.below(schema.triggers.count)].event = "INSERT" }
    }
  }
}

extension RandomSchema {
  /// Keeps a table within what SQLite takes: ANY only where strict, a key of two columns of its own, and so on.
  fileprivate mutating func tidy(_ place: Int) {
    var table = tables[place]
    for at in table.columns.indices {
      if table.columns[at].type == "ANY", !table.isStrict { table.columns[at].type = "NUMERIC" }
      if table.columns[at].type == "NUMERIC", table.isStrict { table.columns[at].type = "ANY" }
      if let parent = table.columns[at].parent,
        !tables.contains(where: { $0.name == parent && $0.keyColumns == ["id"] })
      {
        table.columns[at].parent = nil
      }
      if let doubled = table.columns[at].doubles {
        let source = table.columns.first { $0.name == doubled }
        if source == nil || source?.doubles != nil { table.columns[at].doubles = nil }
      }
    }
    if table.columns.allSatisfy({ $0.doubles != nil }), !table.columns.isEmpty { table.columns[0].doubles = nil }
    if case .pair = table.key, table.columns.count < 2 || table.columns.prefix(2).contains(where: { $0.doubles != nil })
    {
      table.key = .none
    }
    table.unique = table.unique.filter { name in table.columns.contains { $0.name == name } }
    tables[place] = table
  }

  fileprivate mutating func dropTable(_ name: String) {
    tables.removeAll { $0.name == name }
    indexes.removeAll { $0.table == name }
    views.removeAll { $0.table == name }
    triggers.removeAll { $0.table == name || $0.other == name }
  }

  fileprivate mutating func drop(_ column: String, from place: Int) {
    let table = tables[place].name
    tables[place].columns.removeAll { $0.name == column || $0.doubles == column }
    tables[place].unique.removeAll { $0 == column }
    indexes.removeAll { index in
      index.table == table && index.columns.contains { name in !tables[place].columns.contains { $0.name == name } }
    }
    views.removeAll { view in view.table == table && !tables[place].columns.contains { $0.name == view.column } }
  }

  fileprivate mutating func rename(_ old: String, to new: String) {
    for place in tables.indices {
      if tables[place].name == old { tables[place].name = new }
      for at in tables[place].columns.indices where tables[place].columns[at].parent == old {
        tables[place].columns[at].parent = new
      }
    }
    for place in indexes.indices where indexes[place].table == old { indexes[place].table = new }
    for place in views.indices where views[place].table == old { views[place].table = new }
    for place in triggers.indices {
      if triggers[place].table == old { triggers[place].table = new }
      if triggers[place].other == old { triggers[place].other = new }
    }
  }

  fileprivate mutating func rename(_ old: String, of place: Int, to new: String) {
    let table = tables[place].name
    for at in tables[place].columns.indices {
      if tables[place].columns[at].name == old { tables[place].columns[at].name = new }
      if tables[place].columns[at].doubles == old { tables[place].columns[at].doubles = new }
    }
    tables[place].unique = tables[place].unique.map { $0 == old ? new : $0 }
    for at in indexes.indices where indexes[at].table == table {
      indexes[at].columns = indexes[at].columns.map { $0 == old ? new : $0 }
    }
    for at in views.indices where views[at].table == table && views[at].column == old { views[at].column = new }
  }
}
