import QuireRow
import QuireSQLite

/// Reads what tables, views and keys a file has. Costs five queries of the schema, however large the tables are.
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
    /// The collations of columns that a key may lead to, if it is not by bytes that they are compared, by table and column.
    var collations: [SQLName: [SQLName: String]] = [:]
    /// Views and virtual tables whose columns SQLite cannot tell, and its reason.
    var unreadable: [SQLName: String] = [:]
  }

  func read() throws -> Found {
    var found = Found()
    let reader = SchemaReader(connection)
    // Fails if one of the views is broken: then each is read separately.
    var columns = (try? reader.columns(ofAll: [.table, .view, .virtual])) ?? [:]
    let collated = Set(
      try reader.objects(.table, mentioning: "collate").filter(Self.saysCollate).map { SQLName($0.name) })
    let indexes = try reader.indexes(unique: true)
    let isUTF8 = try reader.encoding() == SchemaReader.utf8
    for table in try reader.tables().sorted(by: { $0.name < $1.name }) {
      guard table.kind != .shadow, !Self.isInternal(table.name) else { continue }
      let name = SQLName(table.name)
      let all: [SchemaReader.Column]
      do throws(SQLiteError) {
        if let read = columns.removeValue(forKey: name) { all = read } else { all = try reader.columns(of: table.name) }
      } catch {
        found.unreadable[name] = error.message
        continue
      }
      let own = all.compactMap(Self.column)
      if own.isEmpty { continue }
      let kind: FileModel.Kind = table.kind == .view ? .view : table.kind == .virtual ? .virtual : .table
      var model = FileModel(
        name: table.name, table: table.name, kind: kind, columns: own,
        key: Self.key(own, kind, hasRowID: !table.isWithoutRowID))
      if kind == .virtual { model.hiddenColumns = all.filter { $0.storage == .hidden }.map(\.name) }
      if kind == .table, !table.isWithoutRowID { model.rowID = Self.rowID(own, indexes[name] ?? []) }
      model.isStrict = table.isStrict
      model.comparesBytes = isUTF8 && !collated.contains(name)
      found.models.append(model)
      let uniques = (indexes[name] ?? []).filter { !$0.isPartial }.map(\.columns)
      if collated.contains(name) {
        for column in uniques.joined() {
          if let own = column.name { found.collations[name, default: [:]][SQLName(own)] = column.collation }
        }
      }
      // An index of an expression says nothing of the columns beside it alone.
      let sets = uniques.filter { $0.allSatisfy { $0.name != nil } }.map {
        Set($0.compactMap { $0.name?.lowercased() })
      }
      if !sets.isEmpty { found.uniques[table.name] = sets }
    }
    let keys = try reader.foreignKeys()
    for (table, keys) in keys.sorted(by: { $0.key.text < $1.key.text }) {
      for key in keys {
        // Without a column it is the target's primary key, which is filled in when the target is looked up.
        let pairs = key.columns.enumerated().map { place, own in
          Relation.Pair(own: own, other: key.parentColumns.isEmpty ? "" : key.parentColumns[place])
        }
        found.keys.append(ForeignKey(table: table.text, target: key.parent, pairs: pairs, isDeclared: true))
      }
    }
    return found
  }

  private static func saysCollate(_ table: SchemaReader.Object) -> Bool {
    let tokens = SQLTokens(table.sql ?? "")
    return tokens.contains {
      $0.kind == .word && $0.range.count == 7 && SQLName.folded(tokens.text(of: $0)) == "collate"
    }
  }

  private static func isInternal(_ table: String) -> Bool {
    SchemaReader.isReserved(table) || table.utf8.contains(0)
  }

  private static func key(_ columns: [FileModel.Column], _ kind: FileModel.Kind, hasRowID: Bool) -> FileModel.Key {
    if kind == .view { return .none }
    let declared = columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }.map(\.column)
    if !declared.isEmpty { return .columns(declared) }
    guard hasRowID, let free = freeName(columns) else { return .none }
    return .rowID(free)
  }

  /// A name of the row id that is not a column.
  private static func freeName(_ columns: [FileModel.Column]) -> String? {
    let names = Set(columns.map { $0.column.lowercased() })
    return ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
  }

  /// A key with an index of its own, such as one with `DESC`, is not the row id.
  private static func rowID(_ columns: [FileModel.Column], _ indexes: [SchemaReader.Index]) -> String? {
    let key = columns.filter { $0.keyPlace > 0 }
    if key.count == 1, key[0].type.uppercased() == "INTEGER", !indexes.contains(where: { $0.origin == .primaryKey }) {
      return key[0].column
    }
    return freeName(columns)
  }

  // MARK: Values

  /// How many of the first values of a column, of a hundred at most, are in another; nil if there are none, or if the
  /// other column's table has no rows.
  func matches(_ own: (table: String, column: String), in other: (table: String, column: String)) -> (
    found: Int, of: Int
  )? {
    guard let table = try? quoted(identifier: own.table), let column = try? quoted(identifier: own.column),
      let target = try? quoted(identifier: other.table), let key = try? quoted(identifier: other.column)
    else { return nil }
    // Only few rows are looked at, even if most are NULL.
    let sql = """
      WITH s(v) AS (SELECT \(column) FROM (SELECT \(column) FROM \(table) LIMIT 1000) WHERE \(column) IS NOT NULL LIMIT 100)
      SELECT count(*), sum(EXISTS (SELECT 1 FROM \(target) WHERE \(key) = s.v)), EXISTS (SELECT 1 FROM \(target)) FROM s
      """
    guard let row = try? connection.query(sql).rows.first, row[0] != 0, row[2] == 1, case .integer(let all) = row[0],
      case .integer(let count) = row[1]
    else { return nil }
    return (Int(count), Int(all))
  }

  /// Nil for a hidden column of a virtual table.
  private static func column(_ column: SchemaReader.Column) -> FileModel.Column? {
    if column.storage == .hidden { return nil }
    return FileModel.Column(
      name: column.name, column: column.name, type: column.type, isRequired: column.isRequired,
      hasDefault: column.defaultValue != nil, keyPlace: column.keyPlace, isGenerated: column.isGenerated)
  }
}
