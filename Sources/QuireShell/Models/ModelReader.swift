import QuireRow
import QuireSQLite

/// Reads what tables, views and keys a file has. Costs four looks at the schema, however large the tables are.
struct ModelReader {
  let connection: Connection

  /// A key of one table that points to a row of another.
  struct ForeignKey {
    let table: String
    let target: String
    let pairs: [Relation.Pair]
    let isDeclared: Bool
  }

  struct Found {
    var models: [FileModel] = []
    var keys: [ForeignKey] = []
    /// By table: sets of columns no two rows share.
    var uniques: [String: [Set<String>]] = [:]
  }

  func read() throws -> Found {
    var found = Found()
    let listed = try connection.query(
      """
      SELECT t.name, t.type, t.wr, s.sql LIKE '%desc%', s.sql LIKE '%collate%' FROM pragma_table_list AS t
      LEFT JOIN sqlite_schema AS s ON s.name = t.name AND s.type = 'table'
      WHERE t.schema = 'main' AND t.type <> 'shadow' ORDER BY t.name
      """)
    var columns = try allColumns()
    for row in listed.rows {
      guard case .text(let table) = row[0], !Self.isInternal(table) else { continue }
      let kind: FileModel.Kind = row[1] == "view" ? .view : row[1] == "virtual" ? .virtual : .table
      guard let own = try columns.removeValue(forKey: table) ?? self.columns(of: table), !own.isEmpty else { continue }
      var model = FileModel(
        name: table, table: table, kind: kind, columns: own, key: Self.key(own, kind, hasRowID: row[2] == 0))
      if kind == .virtual { model.hiddenColumns = try hiddenColumns(of: table) }
      if kind == .table, row[2] == 0 { model.rowID = Self.rowID(own, saysDescending: row[3] == 1) }
      model.comparesBytes = row[4] != 1
      found.models.append(model)
    }
    found.keys = try foreignKeys()
    found.uniques = try uniques()
    return found
  }

  private static func isInternal(_ table: String) -> Bool {
    let name = table.lowercased()
    return name.hasPrefix("sqlite_") || name.hasPrefix("_quire_") || name.utf8.contains(0)
  }

  private static func key(_ columns: [FileModel.Column], _ kind: FileModel.Kind, hasRowID: Bool) -> FileModel.Key {
    if kind == .view { return .none }
    let declared = columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }.map(\.column)
    if !declared.isEmpty { return .columns(declared) }
    guard hasRowID, let free = freeName(columns) else { return .none }
    return .rowID(free)
  }

  /// A name of the row id that is no column.
  private static func freeName(_ columns: [FileModel.Column]) -> String? {
    let names = Set(columns.map { $0.column.lowercased() })
    return ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
  }

  /// - Parameter saysDescending: Of how the table was made. A key that says `DESC` is not the row id, for reasons of
  ///   SQLite's history.
  private static func rowID(_ columns: [FileModel.Column], saysDescending: Bool) -> String? {
    let key = columns.filter { $0.keyPlace > 0 }
    if key.count == 1, key[0].type.uppercased() == "INTEGER", !saysDescending { return key[0].column }
    return freeName(columns)
  }

  // MARK: Values

  /// How many of the first values of a column are in another, of a hundred at most; nil where there are none, or where the
  /// other column's table has no rows.
  func matches(_ own: (table: String, column: String), in other: (table: String, column: String)) -> Int? {
    guard let table = try? quoted(identifier: own.table), let column = try? quoted(identifier: own.column),
      let target = try? quoted(identifier: other.table), let key = try? quoted(identifier: other.column)
    else { return nil }
    // Only few rows are looked at, also where most are NULL.
    let sql = """
      WITH s(v) AS (SELECT \(column) FROM (SELECT \(column) FROM \(table) LIMIT 1000) WHERE \(column) IS NOT NULL LIMIT 100)
      SELECT count(*), sum(EXISTS (SELECT 1 FROM \(target) WHERE \(key) = s.v)), EXISTS (SELECT 1 FROM \(target)) FROM s
      """
    guard let row = try? connection.query(sql).rows.first, row[0] != 0, row[2] == 1, case .integer(let count) = row[1]
    else { return nil }
    return Int(count)
  }

  // MARK: Columns

  private static let columnList = "x.name, x.type, x.\"notnull\", x.dflt_value IS NOT NULL, x.pk, x.hidden"

  /// Of all tables and views at once; nothing where one of them is broken, so that each is asked for by itself.
  private func allColumns() throws -> [String: [FileModel.Column]] {
    let sql = """
      SELECT t.name, \(Self.columnList) FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS x
      WHERE t.schema = 'main' AND t.type <> 'shadow' ORDER BY t.name, x.cid
      """
    guard let rows = try? connection.query(sql).rows else { return [:] }
    var result: [String: [FileModel.Column]] = [:]
    for row in rows {
      guard case .text(let table) = row[0], let column = Self.column(row.dropFirst()) else { continue }
      result[table, default: []].append(column)
    }
    return result
  }

  /// Of one; nil for a view that cannot be asked.
  private func columns(of table: String) throws -> [FileModel.Column]? {
    let sql = "SELECT \(Self.columnList) FROM pragma_table_xinfo(?) AS x ORDER BY x.cid"
    return try? connection.query(sql, [.text(table)]).rows.compactMap { Self.column($0[...]) }
  }

  private func hiddenColumns(of table: String) throws -> [String] {
    let sql = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 1"
    return (try? connection.query(sql, [.text(table)]).rows.compactMap { $0[0].string }) ?? []
  }

  /// Nil for a hidden column of a virtual table.
  private static func column(_ row: ArraySlice<Value>) -> FileModel.Column? {
    let row = Array(row)
    guard case .text(let name) = row[0], row[5] != 1 else { return nil }
    let type = if case .text(let type) = row[1] { type } else { "" }
    let place = if case .integer(let place) = row[4] { Int(place) } else { 0 }
    return FileModel.Column(
      name: name, column: name, type: type, isRequired: row[2] == 1, hasDefault: row[3] == 1, keyPlace: place,
      isGenerated: row[5] == 2 || row[5] == 3)
  }

  // MARK: Keys

  private func foreignKeys() throws -> [ForeignKey] {
    let rows = try connection.query(
      """
      SELECT t.name, f.id, f."table", f."from", f."to" FROM pragma_table_list AS t, pragma_foreign_key_list(t.name) AS f
      WHERE t.schema = 'main' AND t.type = 'table' ORDER BY t.name, f.id DESC, f.seq
      """
    ).rows
    var result: [ForeignKey] = []
    var last: [Value] = []
    for row in rows {
      guard case .text(let table) = row[0], case .text(let target) = row[2], case .text(let own) = row[3] else {
        continue
      }
      // Without a column it is the target's primary key, which is put in where the target is looked up.
      let other = if case .text(let name) = row[4] { name } else { "" }
      let pair = Relation.Pair(own: own, other: other)
      if Array(row[..<2]) == last, let key = result.popLast() {
        result.append(ForeignKey(table: table, target: target, pairs: key.pairs + [pair], isDeclared: true))
      } else {
        result.append(ForeignKey(table: table, target: target, pairs: [pair], isDeclared: true))
      }
      last = Array(row[..<2])
    }
    return result
  }

  private func uniques() throws -> [String: [Set<String>]] {
    let rows = try connection.query(
      """
      SELECT t.name, i.name, c.name FROM pragma_table_list AS t, pragma_index_list(t.name) AS i,
        pragma_index_info(i.name) AS c WHERE t.schema = 'main' AND t.type = 'table' AND i."unique" AND NOT i.partial
      ORDER BY 1, 2
      """
    ).rows
    var sets: [[Value]: Set<String>] = [:]
    for row in rows {
      if case .text(let column) = row[2] { sets[Array(row[..<2]), default: []].insert(column.lowercased()) }
    }
    var result: [String: [Set<String>]] = [:]
    for (place, set) in sets { if case .text(let table) = place[0] { result[table, default: []].append(set) } }
    return result
  }
}
