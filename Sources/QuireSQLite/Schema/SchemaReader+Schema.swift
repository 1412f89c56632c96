extension SchemaReader {
  /// The whole schema as one value: five queries regardless of the number of tables, and each table's text for what
  /// they do not contain.
  ///
  /// - Parameter names: Tables to leave out, in addition to SQLite's and Quire's, in lower case.
  package func schema(leavingOut names: Set<String> = []) throws(SQLiteError) -> DatabaseSchema {
    var schema = DatabaseSchema()
    let kinds = Dictionary(
      try tables().map { (SQLName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
    let columns = try columns(ofAll: [.table])
    let keys = try foreignKeys()
    let indexes = try indexes(unique: true)
    func isLeftOut(_ name: String) -> Bool { Self.isReserved(name) || names.contains(SQLName.folded(name)) }
    for found in try objects() {
      guard let sql = found.sql, !isLeftOut(found.name), !isLeftOut(found.table) else { continue }
      let name = SQLName(found.name)
      let object = DatabaseSchema.Object(name: name, table: SQLName(found.table), sql: SQLFragment(sql))
      switch (found.kind, kinds[name]?.kind) {
      case (.index, _): schema.indexes.append(object)
      case (.trigger, _): schema.triggers.append(object)
      case (.view, _): schema.views.append(object)
      case (.table, .virtual): schema.virtualTables.append(object)
      case (.table, .table):
        let table = DatabaseSchema.Table(
          name, sql: sql, columns: columns[name] ?? [], foreignKeys: keys[name] ?? [], indexes: indexes[name] ?? [],
          isStrict: kinds[name]?.isStrict == true, isWithoutRowID: kinds[name]?.isWithoutRowID == true)
        schema.tables.append(table)
      default: break
      }
    }
    schema.tables = schema.tables.map { $0.resolvingParents(in: schema) }
    return schema
  }
}

extension DatabaseSchema.Table {
  fileprivate init(
    _ name: SQLName, sql: String, columns: [SchemaReader.Column], foreignKeys: [SchemaReader.ForeignKey],
    indexes: [SchemaReader.Index], isStrict: Bool, isWithoutRowID: Bool
  ) {
    let text = TableText(sql)
    var uniques: Set<DatabaseSchema.Unique> = []
    var keyIndex: [DatabaseSchema.KeyColumn]?
    for index in indexes where index.origin != .statement {
      let columns = index.columns.map {
        DatabaseSchema.KeyColumn(
          name: SQLName($0.name ?? ""), collation: collation($0.collation), isDescending: $0.isDescending)
      }
      if index.origin == .primaryKey {
        keyIndex = columns
      } else {
        uniques.insert(.init(columns: columns, conflict: text.uniqueConflicts[columns.map(\.name)]))
      }
    }
    let declared = columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }
    let key =
      keyIndex
      ?? declared.map { DatabaseSchema.KeyColumn(name: SQLName($0.name), collation: nil, isDescending: false) }
    self.init(
      name: name, columns: columns.map { DatabaseSchema.Column($0, text) },
      primaryKey: key.isEmpty
        ? nil
        : .init(
          columns: key, isRowID: keyIndex == nil, isAutoincrement: text.isAutoincrement, conflict: text.keyConflict),
      uniques: uniques,
      foreignKeys: Set(
        foreignKeys.enumerated().map { place, key in
          DatabaseSchema.ForeignKey(key, isDeferred: text.deferred.indices.contains(place) && text.deferred[place])
        }), checks: text.checks, isStrict: isStrict, isWithoutRowID: isWithoutRowID, sql: sql)
  }

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

extension DatabaseSchema.Column {
  fileprivate init(_ column: SchemaReader.Column, _ text: TableText) {
    let written = text.columns[SQLName(column.name)]
    let defaultValue = column.defaultValue.map { SQLFragment($0) }
    self.init(
      name: SQLName(column.name), type: SQLFragment(Self.type(column)), isRequired: column.isRequired,
      defaultValue: defaultValue == "NULL" ? nil : defaultValue, collation: written?.collation,
      generated: column.isGenerated
        ? .init(expression: written?.generated ?? "", isStored: column.storage == .stored) : nil,
      whenNull: written?.whenNull)
  }

  /// SQLite takes `GENERATED ALWAYS` for the end of the type's name.
  private static func type(_ column: SchemaReader.Column) -> String {
    guard column.isGenerated, SQLName.folded(column.type).hasSuffix("generated always") else { return column.type }
    var type = column.type.dropLast("generated always".count)
    if type.last == " " { type.removeLast() }
    return String(type)
  }
}

extension DatabaseSchema.ForeignKey {
  fileprivate init(_ key: SchemaReader.ForeignKey, isDeferred: Bool) {
    self.init(
      columns: key.columns.map { SQLName($0) }, parent: SQLName(key.parent),
      parentColumns: key.parentColumns.map { SQLName($0) }, onDelete: SQLName(key.onDelete),
      onUpdate: SQLName(key.onUpdate), isDeferred: isDeferred)
  }
}

private func collation(_ name: String) -> SQLName? { SQLName(name) == "BINARY" ? nil : SQLName(name) }
