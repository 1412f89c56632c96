/// A schema as a random test makes it: small enough to print, with everything a change can stumble over.
struct RandomSchema: Equatable {
  var tables: [Table] = []
  var indexes: [Index] = []
  var triggers: [Trigger] = []
  var views: [View] = []

  struct Table: Equatable {
    var name: String
    var key: Key
    var columns: [Column]
    /// Columns that are unique together.
    var unique: [String] = []
    var isStrict = false
  }

  enum Key: Equatable {
    /// `id INTEGER PRIMARY KEY`.
    case rowID(isAutoincrement: Bool)
    /// Of the first two columns; in a table without row ids where so.
    case pair(isWithoutRowID: Bool)
    case none
  }

  struct Column: Equatable {
    var name: String
    var type: String
    var isRequired = false
    var defaultValue: String?
    var collation: String?
    var isUnique = false
    /// With `?` for the column.
    var check: String?
    /// The column that this one doubles.
    var doubles: String?
    /// The table whose `id` it holds.
    var parent: String?
  }

  struct Index: Equatable {
    var name: String
    var table: String
    var columns: [String]
    var isUnique = false
    var isPartial = false
    var isExpression = false
  }

  struct Trigger: Equatable {
    var name: String
    var table: String
    /// The table it counts.
    var other: String
    var event: String
  }

  struct View: Equatable {
    var name: String
    var table: String
    var column: String
  }
}

// MARK: SQL

extension RandomSchema {
  var statements: [String] {
    tables.map(\.sql) + indexes.map(\.sql) + views.map(\.sql) + triggers.map(\.sql)
  }

  static func quoted(_ name: String) -> String { "\"\(name)\"" }
}

extension RandomSchema.Table {
  var keyColumns: [String] {
    switch key {
    case .rowID: ["id"]
    case .pair: columns.prefix(2).map(\.name)
    case .none: []
    }
  }

  var sql: String {
    var lines = columns.map(\.sql)
    var options = isStrict ? ["STRICT"] : []
    switch key {
    case .rowID(let isAutoincrement):
      lines.insert("id INTEGER PRIMARY KEY\(isAutoincrement ? " AUTOINCREMENT" : "")", at: 0)
    case .pair(let isWithoutRowID):
      lines.append("PRIMARY KEY (\(keyColumns.map(RandomSchema.quoted).joined(separator: ", ")))")
      if isWithoutRowID { options.append("WITHOUT ROWID") }
    case .none: break
    }
    if !unique.isEmpty { lines.append("UNIQUE (\(unique.map(RandomSchema.quoted).joined(separator: ", ")))") }
    return "CREATE TABLE \(RandomSchema.quoted(name)) (\n  \(lines.joined(separator: ",\n  "))\n) "
      + options.joined(separator: ", ")
  }
}

extension RandomSchema.Column {
  var sql: String {
    let name = RandomSchema.quoted(name)
    var parts = [name, type]
    if let doubles { return "\(name) \(type) AS (\(RandomSchema.quoted(doubles)) || 'x') VIRTUAL" }
    if isRequired { parts.append("NOT NULL") }
    if let defaultValue { parts.append("DEFAULT \(defaultValue)") }
    if let collation { parts.append("COLLATE \(collation)") }
    if isUnique { parts.append("UNIQUE") }
    if let check { parts.append("CHECK (\(check.replacing("?", with: name)))") }
    if let parent { parts.append("REFERENCES \(RandomSchema.quoted(parent)) (id) ON DELETE CASCADE") }
    return parts.filter { !$0.isEmpty }.joined(separator: " ")
  }
}

extension RandomSchema.Index {
  var sql: String {
    let parts = columns.map(RandomSchema.quoted)
    return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(RandomSchema.quoted(name)) ON \(RandomSchema.quoted(table)) ("
      + (isExpression ? parts.map { "upper(\($0))" } : parts).joined(separator: ", ") + ")"
      + (isPartial ? " WHERE \(parts[0]) IS NOT NULL" : "")
  }
}

extension RandomSchema.Trigger {
  var sql: String {
    """
    CREATE TRIGGER \(RandomSchema.quoted(name)) AFTER \(event) ON \(RandomSchema.quoted(table)) BEGIN
      SELECT count(*) FROM \(RandomSchema.quoted(other)); SELECT 'a; b';
    END
    """
  }
}

extension RandomSchema.View {
  var sql: String {
    "CREATE VIEW \(RandomSchema.quoted(name)) AS SELECT \(RandomSchema.quoted(column)) AS it FROM "
      + RandomSchema.quoted(table)
  }
}
