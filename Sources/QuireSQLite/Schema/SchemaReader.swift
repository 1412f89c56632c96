internal import CSQLite
internal import QuireRow

/// Reads the schema of a connection's main database: the only code that does so.
///
/// Each method reads only what it returns; ``schema(leavingOut:)`` reads everything into one value.
package struct SchemaReader {
  private let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// How the file's texts are stored: `UTF-8`, `UTF-16le` or `UTF-16be`. SQLite compares their bytes as they are stored.
  package func encoding() throws(SQLiteError) -> String {
    try connection.rows("PRAGMA encoding").first?.first.map { text($0) } ?? Self.utf8
  }

  package static let utf8 = "UTF-8"

  // MARK: Tables

  package enum TableKind: String, Hashable, Sendable {
    case table, view, virtual
    /// A shadow table, in which a virtual table stores its content.
    case shadow
  }

  package struct Table: Hashable, Sendable {
    package let name: String
    package let kind: TableKind
    package let isWithoutRowID: Bool
    package let isStrict: Bool

    /// Whether it is one of SQLite's (`sqlite_…`) or of Quire's (`_quire_…`).
    package var isReserved: Bool { SchemaReader.isReserved(name) }
  }

  /// Tables and views, including SQLite's own.
  ///
  /// - Parameter name: Reads only this one.
  package func tables(named name: String? = nil) throws(SQLiteError) -> [Table] {
    let rows = try connection.rows(
      "SELECT name, type, wr, strict FROM pragma_table_list\(name == nil ? "" : "(?)") WHERE schema = 'main'",
      name.map { [.text($0)] } ?? [])
    return rows.compactMap { row in
      guard case .text(let name) = row[0], case .text(let kind) = row[1], let kind = TableKind(rawValue: kind) else {
        return nil
      }
      return Table(name: name, kind: kind, isWithoutRowID: row[2] == 1, isStrict: row[3] == 1)
    }
  }

  /// Those of `names` that are tables, in order.
  package func tableNames(among names: Set<String>) throws(SQLiteError) -> [String] {
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    return try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN (\(marks)) ORDER BY name",
      names.map { .text($0) }
    ).map { text($0[0]) }
  }

  package func hasTable(_ name: String) throws(SQLiteError) -> Bool {
    try !connection.rows(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", [.text(name)]
    ).isEmpty
  }

  package static func isReserved(_ name: String) -> Bool {
    let name = SQLName.folded(name)
    return name.hasPrefix("sqlite_") || name.hasPrefix("_quire_")
  }

  // MARK: Definitions

  package enum ObjectKind: String, Hashable, Sendable { case table, index, trigger, view }

  /// A row of `sqlite_schema`.
  package struct Object: Hashable, Sendable {
    package let kind: ObjectKind
    package let name: String
    /// The table that it belongs to; for a table or view its own name.
    package let table: String
    /// A statement that makes it again. Nil for objects that SQLite makes itself, such as the index of a unique
    /// constraint.
    package let sql: String?
    /// 0 for objects without rows of their own.
    package let rootPage: Int64
  }

  /// In the order in which they were made.
  ///
  /// - Parameters:
  ///   - kind: Only those of this kind.
  ///   - name: Only the one with this name.
  ///   - table: Only those that belong to this table.
  ///   - word: Only those whose text contains this, ignoring case; in lower case.
  package func objects(
    _ kind: ObjectKind? = nil, named name: String? = nil, of table: String? = nil, mentioning word: String? = nil
  ) throws(SQLiteError) -> [Object] {
    let filters = [
      ("type = ?", kind?.rawValue), ("name = ? COLLATE NOCASE", name), ("tbl_name = ? COLLATE NOCASE", table),
      ("instr(lower(sql), ?)", word),
    ].compactMap { filter in filter.1.map { (filter.0, Value.text($0)) } }
    let condition = filters.isEmpty ? "" : " WHERE " + filters.map(\.0).joined(separator: " AND ")
    let rows = try connection.rows(
      "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema\(condition) ORDER BY rowid", filters.map(\.1))
    return rows.compactMap { row in
      guard let kind = ObjectKind(rawValue: text(row[0])) else { return nil }
      let sql = optionalText(row[3]).map { kind == .trigger ? TriggerText.withoutSchema($0) : $0 }
      return Object(kind: kind, name: text(row[1]), table: text(row[2]), sql: sql, rootPage: integer(row[4]))
    }
  }

  /// The names of tables, views, indexes and triggers, and of all columns, in order: for suggestions.
  /// Those of the columns of a view that refers to something that does not exist are left out.
  package func names() throws(SQLiteError) -> [String] {
    let own = try connection.rows(
      "SELECT name, type IN ('table', 'view') FROM sqlite_schema WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'", [])
    var names = Set(own.map { text($0[0]) })
    for row in own where integer(row[1]) == 1 {
      for column in (try? columns(of: text(row[0]))) ?? [] { names.insert(column.name) }
    }
    return names.sorted()
  }

  // MARK: Columns

  package struct Column: Hashable, Sendable {
    package let name: String
    /// As declared; empty if nothing is.
    package let type: String
    package let isRequired: Bool
    /// The default's expression, without a comment behind it.
    package let defaultValue: String?
    /// Position in the primary key from 1; 0 outside it.
    package let keyPlace: Int
    package let storage: Storage

    package enum Storage: Int64, Hashable, Sendable {
      case ordinary = 0
      /// In a virtual table: can be selected by name, but is not part of `*`.
      case hidden
      /// Generated when it is read.
      case virtual
      /// Generated when its row is written.
      case stored
    }

    package var isGenerated: Bool { storage == .virtual || storage == .stored }
  }

  /// Of one table or view, in their order; empty if there is none of that name.
  package func columns(of table: String) throws(SQLiteError) -> [Column] {
    guard let name = try? quoted(identifier: table) else { return [] }
    // The pragma itself, because capture reads the schema in the middle of a statement.
    return try connection.rows("PRAGMA main.table_xinfo(\(name))", []).map { Self.column($0.dropFirst()) }
  }

  /// By table or view, in one query.
  ///
  /// - Throws: Also if one of the views refers to something that does not exist.
  package func columns(ofAll kinds: Set<TableKind>) throws(SQLiteError) -> [SQLName: [Column]] {
    let rows = try rows(
      "pragma_table_xinfo(t.owner)", "name, type, \"notnull\", dflt_value, pk, hidden", ofAll: kinds)
    return rows.mapValues { $0.map { Self.column($0[...]) } }
  }

  /// The collation that a column has where none is written: `BINARY` unless it was declared with another.
  package func collation(of column: String, in table: String) -> String {
    var name: UnsafePointer<CChar>?
    let result = sqlite3_table_column_metadata(connection.handle, "main", table, column, nil, &name, nil, nil, nil)
    return result == SQLITE_OK ? name.map { String(cString: $0) } ?? "BINARY" : "BINARY"
  }

  private static func column(_ row: ArraySlice<Value>) -> Column {
    let row = Array(row)
    return Column(
      name: text(row[0]), type: text(row[1]), isRequired: row[2] == 1,
      defaultValue: optionalText(row[3]).map(SQLTokens.withoutEnd),
      keyPlace: Int(integer(row[4])), storage: Column.Storage(rawValue: integer(row[5])) ?? .ordinary)
  }

  // MARK: Foreign keys

  package struct ForeignKey: Hashable, Sendable {
    /// SQLite's number.
    package let id: Int64
    package let columns: [String]
    package let parent: String
    /// Empty if the declaration names none.
    package let parentColumns: [String]
    package let onDelete: String
    package let onUpdate: String
  }

  /// By table, in the order in which they are declared.
  package func foreignKeys() throws(SQLiteError) -> [SQLName: [ForeignKey]] {
    let columns = "id, seq, \"table\", \"from\", \"to\", on_update, on_delete"
    return try rows("pragma_foreign_key_list(t.owner)", columns, ofAll: [.table]).mapValues(Self.foreignKeys)
  }

  package func foreignKeys(of table: String) throws(SQLiteError) -> [ForeignKey] {
    guard let name = try? quoted(identifier: table) else { return [] }
    return Self.foreignKeys(try connection.rows("PRAGMA main.foreign_key_list(\(name))", []))
  }

  private static func foreignKeys(_ rows: [[Value]]) -> [ForeignKey] {
    // SQLite numbers them in reverse order.
    Dictionary(grouping: rows) { integer($0[0]) }.sorted { $0.key > $1.key }.map { id, rows in
      let rows = rows.sorted { integer($0[1]) < integer($1[1]) }
      let parents = rows.compactMap { optionalText($0[4]) }
      return ForeignKey(
        id: id, columns: rows.map { text($0[3]) }, parent: text(rows[0][2]),
        parentColumns: parents.count == rows.count ? parents : [], onDelete: text(rows[0][6]),
        onUpdate: text(rows[0][5]))
    }
  }

  /// Those that only this connection has.
  package func temporaryTriggers() throws(SQLiteError) -> [String] {
    try connection.rows("SELECT name FROM sqlite_temp_schema WHERE type = 'trigger'").map { text($0[0]) }
  }

  // MARK: Indexes

  package struct Index: Hashable, Sendable {
    package let name: String
    package let origin: Origin
    package let isUnique: Bool
    /// Whether it has a WHERE.
    package let isPartial: Bool
    package let columns: [IndexColumn]

    package enum Origin: String, Hashable, Sendable {
      case statement = "c"
      case unique = "u"
      case primaryKey = "pk"
    }
  }

  package struct IndexColumn: Hashable, Sendable {
    /// Nil for an expression or the row id.
    package let name: String?
    package let collation: String
    package let isDescending: Bool
  }

  /// By table.
  ///
  /// - Parameter unique: Whether to include only unique indexes.
  package func indexes(unique: Bool = false) throws(SQLiteError) -> [SQLName: [Index]] {
    let columns = "i.seq, i.name, i.\"unique\", i.origin, i.partial, x.name, x.coll, x.\"desc\""
    let source =
      "pragma_index_list(t.owner) i, pragma_index_xinfo(i.name) x WHERE x.key\(unique ? " AND i.\"unique\"" : "")"
    return try rows(source, columns, ofAll: [.table]).mapValues { rows in
      Dictionary(grouping: rows) { integer($0[0]) }.sorted { $0.key < $1.key }.compactMap { _, rows in
        Self.index(rows[0], rows.map { Self.indexColumn(name: $0[5], $0[6], $0[7]) })
      }
    }
  }

  package func indexes(of table: String) throws(SQLiteError) -> [Index] {
    guard let name = try? quoted(identifier: table) else { return [] }
    var result: [Index] = []
    for row in try connection.rows("PRAGMA main.index_list(\(name))", []) {
      guard let index = try? quoted(identifier: text(row[1])) else { continue }
      let columns = try connection.rows("PRAGMA main.index_xinfo(\(index))", []).filter { $0[5] == 1 }
      if let index = Self.index(row, columns.map { Self.indexColumn(name: $0[2], $0[4], $0[3]) }) {
        result.append(index)
      }
    }
    return result
  }

  /// Whether the table's key has its own index, and is therefore not the row id, as with `INTEGER PRIMARY KEY DESC`.
  package func hasKeyIndex(_ table: String) throws(SQLiteError) -> Bool {
    guard let name = try? quoted(identifier: table) else { return false }
    return try connection.rows("PRAGMA main.index_list(\(name))", []).contains { $0[3] == "pk" }
  }

  /// - Parameter row: As `index_list` gives it.
  private static func index(_ row: [Value], _ columns: [IndexColumn]) -> Index? {
    Index.Origin(rawValue: text(row[3])).map {
      Index(name: text(row[1]), origin: $0, isUnique: row[2] == 1, isPartial: row[4] == 1, columns: columns)
    }
  }

  private static func indexColumn(name: Value, _ collation: Value, _ isDescending: Value) -> IndexColumn {
    IndexColumn(name: optionalText(name), collation: text(collation), isDescending: isDescending == 1)
  }

  // MARK: Queries

  /// A pragma's rows for each table, in its order.
  private func rows(_ source: String, _ columns: String, ofAll kinds: Set<TableKind>) throws(SQLiteError)
    -> [SQLName: [[Value]]]
  {
    let types = kinds.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
    let rows = try connection.rows(
      """
      WITH t AS MATERIALIZED (SELECT name AS owner FROM pragma_table_list WHERE schema = 'main' AND type IN (\(types)))
      SELECT t.owner, \(columns) FROM t, \(source)
      """, [])
    // A table's rows are consecutive.
    var result: [SQLName: [[Value]]] = [:]
    var group: [[Value]] = []
    for (place, row) in rows.enumerated() {
      group.append(Array(row.dropFirst()))
      if place + 1 < rows.count, rows[place + 1][0] == row[0] { continue }
      result[SQLName(text(row[0])), default: []] += group
      group = []
    }
    return result
  }
}

private func text(_ value: Value) -> String { optionalText(value) ?? "" }

private func optionalText(_ value: Value) -> String? { if case .text(let text) = value { text } else { nil } }

private func integer(_ value: Value) -> Int64 { if case .integer(let number) = value { number } else { 0 } }
