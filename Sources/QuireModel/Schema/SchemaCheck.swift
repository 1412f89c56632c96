import QuireRow
import QuireSQLite

/// Compares the tables of a file with the models: what the models need must be there; what else is there may stay.
struct SchemaCheck {
  let entities: [Entity]
  let joins: [JoinTable]

  private struct FileColumn {
    let type: String
    let isRequired: Bool
    let hasDefault: Bool
    let isKey: Bool
  }

  /// One sentence a difference, empty where the file fits.
  func differences(in connection: Connection) throws -> [String] {
    var result: [String] = []
    for entity in entities {
      let columns = try columns(of: entity.table, in: connection)
      if columns.isEmpty {
        result.append("table \(entity.table) is missing (for \(entity.name))")
        continue
      }
      let key = columns[entity.keyColumn]
      // Only an INTEGER PRIMARY KEY is the row's own number.
      if key?.isKey != true || key?.type.uppercased() != "INTEGER" || columns.values.count(where: \.isKey) != 1 {
        result.append("\(entity.table).\(entity.keyColumn) is not its INTEGER PRIMARY KEY")
      }
      for property in entity.properties {
        guard let name = property.column else { continue }
        guard let column = columns[name] else {
          result.append("\(entity.table).\(name) is missing (for \(entity.name).\(property.name))")
          continue
        }
        result += differences(property, column, at: "\(entity.table).\(name)", for: "\(entity.name).\(property.name)")
      }
      let known = Set(entity.properties.compactMap(\.column) + [entity.keyColumn])
      for (name, column) in columns.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
        if column.isRequired, !column.hasDefault {
          result.append("\(entity.table).\(name) must have a value and no property of \(entity.name) gives it one")
        }
      }
    }
    for join in joins {
      let columns = try columns(of: join.name, in: connection)
      for column in [join.first, join.second] where columns[column.name] == nil {
        result.append(
          columns.isEmpty ? "table \(join.name) is missing" : "\(join.name).\(column.name) is missing")
        if columns.isEmpty { break }
      }
    }
    return result
  }

  private func differences(_ property: Property, _ column: FileColumn, at place: String, for owner: String) -> [String]
  {
    let type: ColumnType
    let isOptional: Bool
    switch property.kind {
    case .value(let valueType, let optional, _): (type, isOptional) = (valueType, optional)
    case .toOne(let side): (type, isOptional) = (.integer, side.isOptional)
    case .toMany: return []
    }
    var result: [String] = []
    if !fits(declared: column.type, type) {
      result.append("\(place) is \(column.type.isEmpty ? "untyped" : column.type), \(owner) needs \(type.rawValue)")
    }
    if column.isRequired, isOptional { result.append("\(place) is NOT NULL and \(owner) is optional") }
    return result
  }

  /// By SQLite's affinity rules, because tables made elsewhere say VARCHAR(80) and BIGINT.
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

  private func columns(of table: String, in connection: Connection) throws -> [String: FileColumn] {
    var result: [String: FileColumn] = [:]
    let rows = try connection.query(
      "SELECT name, type, \"notnull\", dflt_value IS NOT NULL, pk FROM pragma_table_xinfo(?)", [.text(table)])
    for row in rows.rows {
      guard case .text(let name) = row[0] else { continue }
      let type = if case .text(let type) = row[1] { type } else { "" }
      result[name] = FileColumn(
        type: type, isRequired: row[2] == 1, hasDefault: row[3] == 1, isKey: row[4] != 0)
    }
    return result
  }
}
