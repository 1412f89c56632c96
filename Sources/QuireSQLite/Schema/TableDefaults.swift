extension DatabaseSchema.Table {
  /// This table with the defaults of those columns that have one in `other` and none here, if their type is the same.
  package func keepingDefaults(of other: Self) -> Self {
    var defaults: [SQLName: String] = [:]
    let columns = columns.map { column in
      guard column.defaultValue == nil, column.generated == nil, let old = other[column.name], old.type == column.type,
        let text = old.defaultOperand
      else { return column }
      defaults[column.name] = text
      return DatabaseSchema.Column(
        name: column.name, type: column.type, isRequired: column.isRequired, defaultValue: old.defaultValue,
        collation: column.collation, generated: nil, whenNull: column.whenNull)
    }
    if defaults.isEmpty { return self }
    return Self(
      name: name, columns: columns, primaryKey: primaryKey, uniques: uniques, foreignKeys: foreignKeys, checks: checks,
      isStrict: isStrict, isWithoutRowID: isWithoutRowID, sql: TableText(sql).adding(defaults: defaults))
  }
}
