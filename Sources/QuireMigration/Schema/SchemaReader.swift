import QuireRow
package import QuireSQLite

/// A connection's main database → its ``DatabaseSchema``: five queries whatever the number of tables, and the text of
/// each table for what they do not tell.
package struct SchemaReader {
  private let connection: MigrationConnection

  package init(_ connection: MigrationConnection) { self.connection = connection }

  package func schema() throws(SQLiteError) -> DatabaseSchema {
    var schema = DatabaseSchema()
    let kinds = Dictionary(
      try connection.query("SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main'").map {
        (SQLName($0[0].plainText), $0)
      }, uniquingKeysWith: { first, _ in first })
    let columns = try rows(of: "pragma_table_xinfo(t.owner)", "name, type, \"notnull\", dflt_value, pk, hidden")
    let keys = try rows(
      of: "pragma_foreign_key_list(t.owner)", "id, seq, \"table\", \"from\", \"to\", on_delete, on_update")
    let indexes = try rows(
      of: "pragma_index_list(t.owner) i, pragma_index_xinfo(i.name) x WHERE x.key AND i.origin <> 'c'",
      "i.name, i.origin, x.name, x.coll, x.\"desc\"")
    for row in try connection.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid") {
      let (type, name, owner) = (row[0].plainText, SQLName(row[1].plainText), SQLName(row[2].plainText))
      // What SQLite makes by itself, such as the index of a unique constraint, has no text.
      guard case .text(let sql) = row[3], !Self.isOwn(name), !Self.isOwn(owner) else { continue }
      let object = DatabaseSchema.Object(name: name, table: owner, sql: SQLText(sql))
      switch (type, kinds[name]?[1].plainText) {
      case ("index", _): schema.indexes.append(object)
      case ("trigger", _): schema.triggers.append(object)
      case ("view", _): schema.views.append(object)
      case ("table", "virtual"): schema.virtualTables.append(object)
      case ("table", "table"):
        let kind = kinds[name] ?? []
        schema.tables.append(
          Self.table(
            name, sql: sql, columns: columns[name] ?? [], foreignKeys: keys[name] ?? [], indexes: indexes[name] ?? [],
            isStrict: kind[3] == .integer(1), isWithoutRowID: kind[2] == .integer(1)))
      default: break
      }
    }
    schema.tables = schema.tables.map { $0.resolvingParents(in: schema) }
    return schema
  }

  /// Quire's tables and triggers, SQLite's tables, and those in which other tools keep what has run.
  private static func isOwn(_ name: SQLName) -> Bool {
    let name = SQLName.folded(name.text)
    return name.hasPrefix("_quire_") || name.hasPrefix("sqlite_") || ToolHistory.tables.contains(name)
  }

  /// A pragma's rows for each table, in its order.
  private func rows(of source: String, _ columns: String) throws(SQLiteError) -> [SQLName: [[Value]]] {
    let rows = try connection.query(
      """
      WITH t AS MATERIALIZED (SELECT name AS owner FROM pragma_table_list WHERE schema = 'main' AND type = 'table')
      SELECT t.owner, \(columns) FROM t, \(source)
      """)
    return Dictionary(grouping: rows) { SQLName($0[0].plainText) }.mapValues { $0.map { Array($0.dropFirst()) } }
  }

  private static func table(
    _ name: SQLName, sql: String, columns: [[Value]], foreignKeys: [[Value]], indexes: [[Value]], isStrict: Bool,
    isWithoutRowID: Bool
  ) -> DatabaseSchema.Table {
    let text = TableText(sql)
    let indexNames = Dictionary(grouping: indexes) { $0[0].plainText }
    var uniques: Set<DatabaseSchema.Unique> = []
    var keyIndex: [DatabaseSchema.KeyColumn]?
    for rows in indexNames.values {
      let columns = rows.map {
        DatabaseSchema.KeyColumn(
          name: SQLName($0[2].plainText), collation: collation($0[3].plainText), isDescending: $0[4] == .integer(1))
      }
      if rows[0][1] == .text("pk") {
        keyIndex = columns
      } else {
        uniques.insert(.init(columns: columns, conflict: text.uniqueConflicts[columns.map(\.name)]))
      }
    }
    let keyColumns = columns.compactMap { row in
      row[4].plainInteger.flatMap { $0 > 0 ? (place: $0, name: SQLName(row[0].plainText)) : nil }
    }.sorted { $0.place < $1.place }
    let key =
      keyIndex
      ?? keyColumns.map { DatabaseSchema.KeyColumn(name: $0.name, collation: nil, isDescending: false) }
    return DatabaseSchema.Table(
      name: name, columns: columns.map { column($0, text) },
      primaryKey: key.isEmpty
        ? nil
        : .init(
          columns: key, isRowID: keyIndex == nil, isAutoincrement: text.isAutoincrement, conflict: text.keyConflict),
      uniques: uniques, foreignKeys: Self.foreignKeys(foreignKeys, text), checks: text.checks, isStrict: isStrict,
      isWithoutRowID: isWithoutRowID, sql: sql)
  }

  private static func column(_ row: [Value], _ text: TableText) -> DatabaseSchema.Column {
    let name = SQLName(row[0].plainText)
    let written = text.columns[name]
    let hidden = row[5].plainInteger ?? 0
    let defaultValue: SQLText? = if case .text(let sql) = row[3] { SQLText(sql) } else { nil }
    return DatabaseSchema.Column(
      name: name, type: SQLText(type(row[1].plainText, isGenerated: hidden > 1)), isRequired: row[2] == .integer(1),
      defaultValue: defaultValue == "NULL" ? nil : defaultValue, collation: written?.collation,
      generated: hidden > 1
        ? .init(expression: written?.generated ?? "", isStored: hidden == 3) : nil, whenNull: written?.whenNull)
  }

  /// SQLite takes `GENERATED ALWAYS` for the end of the type's name.
  private static func type(_ declared: String, isGenerated: Bool) -> String {
    guard isGenerated, SQLName.folded(declared).hasSuffix("generated always") else { return declared }
    var type = declared.dropLast("generated always".count)
    if type.last == " " { type.removeLast() }
    return String(type)
  }

  private static func foreignKeys(_ rows: [[Value]], _ text: TableText) -> Set<DatabaseSchema.ForeignKey> {
    let byNumber = Dictionary(grouping: rows) { $0[0].plainInteger ?? 0 }
    return Set(
      byNumber.map { number, rows in
        let rows = rows.sorted { ($0[1].plainInteger ?? 0) < ($1[1].plainInteger ?? 0) }
        let parents = rows.map(\.[4].plainText)
        // SQLite numbers them from the last one back.
        let place = byNumber.count - 1 - Int(number)
        return DatabaseSchema.ForeignKey(
          columns: rows.map { SQLName($0[3].plainText) }, parent: SQLName(rows[0][2].plainText),
          parentColumns: parents.contains("") ? [] : parents.map { SQLName($0) },
          onDelete: SQLName(rows[0][5].plainText), onUpdate: SQLName(rows[0][6].plainText),
          isDeferred: text.deferred.indices.contains(place) && text.deferred[place])
      })
  }

  private static func collation(_ name: String) -> SQLName? { SQLName(name) == "BINARY" ? nil : SQLName(name) }
}

extension DatabaseSchema.Table {
  /// With the parent's primary key in foreign keys that name no columns.
  fileprivate func resolvingParents(in schema: DatabaseSchema) -> Self {
    let resolved = foreignKeys.map { key in
      guard key.parentColumns.isEmpty, let parent = schema[table: key.parent]?.primaryKey?.columns,
        parent.count == key.columns.count
      else { return key }
      return DatabaseSchema.ForeignKey(
        columns: key.columns, parent: key.parent, parentColumns: parent.map(\.name), onDelete: key.onDelete,
        onUpdate: key.onUpdate, isDeferred: key.isDeferred)
    }
    return .init(
      name: name, columns: columns, primaryKey: primaryKey, uniques: uniques, foreignKeys: Set(resolved),
      checks: checks, isStrict: isStrict, isWithoutRowID: isWithoutRowID, sql: sql)
  }
}

extension DatabaseSchema {
  /// Of the file at `path`, opened for reading only.
  ///
  /// - Throws: ``DatabaseError`` for a path that leads to no database, ``SQLiteError`` for what SQLite says beside that.
  public init(of path: String, wait: Duration = .seconds(10)) throws {
    self = try SchemaReader(MigrationConnection(path: path, access: .readOnly, busyTimeout: wait)).schema()
  }

  /// What `statements` make in an empty database, which lives in memory only.
  ///
  /// - Throws: ``SQLiteError`` for a statement that SQLite refuses.
  public init(madeBy statements: [String]) throws {
    let connection = try MigrationConnection.inMemory()
    for statement in statements { try connection.query(statement) }
    self = try SchemaReader(connection).schema()
  }
}
