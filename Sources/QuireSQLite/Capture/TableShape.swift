internal import CSQLite
internal import QuireRow

/// The parts of a table's schema that capture needs.
struct TableShape: Equatable {
  struct Column: Equatable {
    var name: String
    /// REAL affinity: SQLite stores 3.0 as the integer 3, and an INSERT event shows it so.
    var isReal: Bool
    /// Rows older than `ADD COLUMN … DEFAULT` show NULL as the old value until they are rewritten.
    var hasDefault: Bool
    var isVirtual: Bool
    /// VIRTUAL or STORED.
    var isGenerated: Bool
    /// Position in the primary key from 1; 0 outside it.
    var keyPlace: Int
  }

  var name: String
  /// As `table_xinfo` lists them, VIRTUAL ones included.
  var columns: [Column]
  var isWithoutRowID: Bool
  /// The INTEGER PRIMARY KEY.
  var rowIDColumn: Int?

  /// Positions in `columns` of the stored ones, which are those that a change contains.
  var stored: [Int] { columns.indices.filter { !columns[$0].isVirtual } }
  /// Of each stored column, whether a statement can write it beside the row id.
  var isWritten: [Bool] { stored.map { !columns[$0].isGenerated && $0 != rowIDColumn } }
  /// Positions in `columns` of the declared primary key, in its order.
  var keys: [Int] {
    columns.indices.filter { columns[$0].keyPlace > 0 }.sorted { columns[$0].keyPlace < columns[$1].keyPlace }
  }
  /// Whether a row is identified by its declared key and not by its row id.
  var hasCompositeKey: Bool { rowIDColumn == nil && !keys.isEmpty }

  /// Makes the row id identify a row if the table has one that SQL can name: a declared key may be NULL in several rows,
  /// and changes where the row stays.
  mutating func preferRowID() {
    if isWithoutRowID || rowIDColumn != nil || columns.contains(where: { $0.name.lowercased() == rowIDName }) { return }
    for index in columns.indices { columns[index].keyPlace = 0 }
  }

  /// Whether `sqlite3_preupdate_old` may return a wrong value.
  ///
  /// SQLite 3.40 uses the affinity of the *n*-th declared column for the *n*-th stored column. The two orders differ
  /// after a VIRTUAL column, and in a WITHOUT ROWID table whose key is not its leading columns; then an integer may be
  /// returned as a real. Such tables are read by SELECT, which costs 1.5 µs an event.
  var misreadsOldValues: Bool {
    if columns.contains(where: \.isVirtual) { return true }
    return isWithoutRowID && columns.contains(where: \.isReal) && keys != Array(0..<keys.count)
  }

  /// How the hook reads the column at index `index` of `columns`: its numbering differs between kinds of events.
  func hookColumn(_ index: Int) -> quire_column {
    let stored = columns[..<index].count { !$0.isVirtual }
    let first = isWithoutRowID ? index : stored
    return quire_column(
      old_index: Int16(clamping: first), insert_index: Int16(clamping: first), update_index: Int16(clamping: stored),
      is_row_id: index == rowIDColumn ? 1 : 0, is_real: columns[index].isReal ? 1 : 0,
      has_default: columns[index].hasDefault ? 1 : 0)
  }

  func changedTable(isInternal: Bool) -> ChangedTable {
    let stored = stored
    let keys = keys.compactMap { stored.firstIndex(of: $0) }
    return ChangedTable(
      name: name, columns: stored.map { columns[$0].name }, keyColumns: keys, isInternal: isInternal)
  }
}

extension TableShape {
  /// Reads the schema. May run inside the preupdate hook, as SQLite's own session extension does.
  init(_ name: String, in connection: Connection) throws {
    self.name = name
    let reader = SchemaReader(connection)
    columns = try reader.columns(of: name).map { column in
      Column(
        name: column.name, isReal: TableShape.isReal(column.type), hasDefault: column.defaultValue != nil,
        isVirtual: column.storage == .virtual, isGenerated: column.isGenerated, keyPlace: column.keyPlace)
    }
    isWithoutRowID = !TableShape.hasRowID(name, columns: columns, connection)
    let keys = columns.indices.filter { columns[$0].keyPlace > 0 }
    if !isWithoutRowID, keys.count == 1, try !reader.hasKeyIndex(name) { rowIDColumn = keys[0] }
  }

  /// What SQL calls a row id, unless a column has the name.
  static let rowIDNames = ["rowid", "_rowid_", "oid"]

  /// Tries to read the row id by a name that is not a column's.
  private static func hasRowID(_ name: String, columns: [Column], _ connection: Connection) -> Bool {
    let names = Set(columns.map { $0.name.lowercased() })
    guard let free = rowIDNames.first(where: { !names.contains($0) }) else { return true }
    return sqlite3_table_column_metadata(connection.handle, "main", name, free, nil, nil, nil, nil, nil) == SQLITE_OK
  }

  /// SQLite's rules for the affinity of a declared type, as far as REAL goes.
  static func isReal(_ type: String) -> Bool {
    let type = type.uppercased()
    func has(_ parts: String...) -> Bool { parts.contains { type.contains($0) } }
    return has("REAL", "FLOA", "DOUB") && !has("INT", "CHAR", "CLOB", "TEXT", "BLOB")
  }
}
