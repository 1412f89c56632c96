import QuireRow
import QuireSQLite

/// Observes one migration statement by statement to find values that it removes.
///
/// SQLite reports neither which column ALTER TABLE drops nor that a rebuilt table lacks one, so values are counted:
/// before a table or a column is dropped, and again at the end, when the table may exist again. A column whose values
/// were moved to another name is not lost. A column that a rebuild keeps is, if the statement that copies the rows
/// omits it, if it has fewer values than before, or if its type changes them. Costs a pass over a dropped table and one
/// over the table that has its name in the end, otherwise nothing.
final class DataLossDetector {
  let connection: Connection
  /// Whether foreign keys are enforced statement by statement.
  let enforcesKeys: Bool
  /// The tables at the start, with their columns.
  private let before: [SQLName: [SQLName]]
  /// The initial name of each existing table.
  var origins: [SQLName: SQLName] = [:]
  private var dropped: [Dropped] = []
  /// The columns to which statements assign values; tables whose columns are all assigned are in `filled`.
  private var given: [SQLName: Set<SQLName>] = [:]
  private var filled: Set<SQLName> = []
  /// Of the statement that runs now.
  var dependents: [Dependent] = []
  /// The table whose rows the statement that runs now replaces, and the changes that the connection has made before it.
  var replacing: (table: SQLName, changes: Int64)?
  var actions: [MigrationLoss] = []
  /// Dropped tables that cannot be read here.
  private var uncounted: [MigrationLoss] = []

  private struct Dropped {
    let table: SQLName
    let rows: Int
    /// Those that may be lost, with their content.
    let columns: [SQLName: Fingerprint]
    let isTable: Bool
    /// The columns that the replacing table has too.
    var kept: TableCensus?
    /// Of those, the values that another type changes.
    var changes: [(column: SQLName, count: Int, example: String)] = []
    /// Of those, the ones that have each other's values there.
    var exchanged: [(column: SQLName, other: SQLName, count: Int)] = []
    /// Rows of which the replacing table has neither the key nor the other values.
    var missing = 0
    /// The columns of its key.
    var key: [SQLName] = []
  }

  /// Equal for two columns with the same values, and practically never for others.
  private struct Fingerprint: Hashable {
    let count: Int
    let smallest: Value
    let largest: Value
    let length: Value
  }

  /// Whether any statement of the migration can drop something, or replace rows while foreign keys are enforced: most
  /// cannot, and then this costs nothing.
  static func isNeeded(for pieces: [MigrationText.Piece], enforcingKeys: Bool) -> Bool {
    let words: Set = enforcingKeys ? ["DROP", "REPLACE"] : ["DROP"]
    return pieces.contains { piece in
      guard case .sql(let sql, _) = piece else { return true }
      let tokens = SQLTokens(sql)
      return tokens.contains { $0.kind == .word && words.contains(tokens.text(of: $0).uppercased()) }
    }
  }

  init(_ connection: Connection, enforcingKeys: Bool) throws(SQLiteError) {
    self.connection = connection
    enforcesKeys = enforcingKeys
    before = try Self.tables(of: connection)
    origins = Dictionary(uniqueKeysWithValues: before.keys.map { ($0, $0) })
  }

  /// Must be called for each statement before it runs.
  func willRun(_ statement: ScriptStatement) throws(SQLiteError) {
    let words = SQLWords(statement.text)
    if enforcesKeys { try willReplace(words.replacedRows.map { SQLName($0) }) }
    if let name = words.droppedTable {
      try watchDependents(of: SQLName(name), "which is dropped")
      try willDrop(SQLName(name))
    } else if let (table, newName) = words.renamedTable.map({ (SQLName($0.table), SQLName($0.newName)) }) {
      origins[newName] = origins.removeValue(forKey: table)
      given[newName] = given.removeValue(forKey: table)
      if filled.remove(table) != nil { filled.insert(newName) }
    } else if let (table, columns) = words.givenColumns {
      if let columns {
        given[SQLName(table), default: []].formUnion(columns.map { SQLName($0) })
      } else {
        filled.insert(SQLName(table))
      }
    } else if let (table, column) = words.droppedColumn.map({ (SQLName($0.table), SQLName($0.column)) }) {
      guard let origin = origins[table] else { return }
      let rows = try count(of: table)
      // The column's name in the table, whatever the statement's spelling.
      let name = before[origin]?.first { $0 == column } ?? column
      let prints = try fingerprints(of: [name], in: table)
      dropped.append(Dropped(table: origin, rows: rows, columns: prints, isTable: false))
    }
  }

  private func willDrop(_ table: SQLName) throws(SQLiteError) {
    // A table that the migration itself has made is no loss.
    guard let origin = origins.removeValue(forKey: table), try !isIndex(table) else { return }
    let rows: Int
    do {
      rows = try count(of: table)
    } catch {
      guard error.isOfUnreadableTable else { throw error }
      return uncounted.append(MigrationLoss(uncounted: origin))
    }
    guard rows > 0 else { return }
    // Most tables are dropped because a new one has their rows: only the differences matter.
    let now = try Self.tables(of: connection)
    let columns = now[table] ?? []
    let heirs = now.filter { origins[$0.key] == nil && $0.key != table }
    let heir = heirs.max { Set($0.value).intersection(columns).count < Set($1.value).intersection(columns).count }
    let kept = columns.filter { heir?.value.contains($0) == true }
    // Without a new table, one that was there before may take the name, or one that is made later.
    let prints = try fingerprints(of: columns.filter { heir == nil || !kept.contains($0) }, in: table)
    var gone = Dropped(table: origin, rows: rows, columns: prints, isTable: true)
    gone.key = try SchemaReader(connection).columns(of: table.text).filter { $0.keyPlace > 0 }.map { SQLName($0.name) }
    if heir == nil { gone.kept = try TableCensus(table, columns, on: connection) }
    if let heir, !kept.isEmpty {
      gone.kept = try TableCensus(table, kept, on: connection)
      gone.missing = try missing(from: heir.key, of: table, kept, key: gone.key)
      gone.exchanged = try exchanged(kept, of: table, in: heir.key, key: gone.key)
      let (old, new) = (try affinities(of: table), try affinities(of: heir.key))
      for column in kept {
        guard let type = new[column], old[column] != type else { continue }
        let change = TypeChange(table: table, column: column, new: type)
        if let (count, example) = try change.changed(on: connection) { gone.changes.append((column, count, example)) }
      }
    }
    dropped.append(gone)
  }

  /// How many rows of a table are not in the one that replaces it.
  ///
  /// A rebuild may give rows new keys, or change their other values: a row counts as lost if both are missing.
  private func missing(from heir: SQLName, of table: SQLName, _ kept: [SQLName], key: [SQLName])
    throws(SQLiteError) -> Int
  {
    let (old, new) = (try affinities(of: table), try affinities(of: heir))
    guard !key.isEmpty, key.allSatisfy({ kept.contains($0) && old[$0] == new[$0] }), try count(of: heir) > 0 else {
      return 0
    }
    let others = kept.filter { !key.contains($0) && old[$0] == new[$0] }
    let byKey = try difference(of: key, table, heir)
    return byKey == 0 || others.isEmpty ? byKey : min(byKey, try difference(of: others, table, heir))
  }

  /// The number of values, or groups of them, that only `table` has.
  private func difference(of columns: [SQLName], _ table: SQLName, _ other: SQLName) throws(SQLiteError) -> Int {
    guard let table = try? quoted(identifier: table.text), let other = try? quoted(identifier: other.text) else {
      return 0
    }
    let fields = columns.compactMap { try? byBytes($0) }.joined(separator: ", ")
    let rows = try connection.rows(
      "SELECT count(*) FROM (SELECT \(fields) FROM \(table) NOT INDEXED EXCEPT SELECT \(fields) FROM \(other) NOT INDEXED)"
    )
    return Int(rows.first?.first?.plainInteger ?? 0)
  }

  /// Whether it is a full-text index on another table's text, which loses nothing, and is unreadable once that has
  /// changed.
  private func isIndex(_ table: SQLName) throws(SQLiteError) -> Bool {
    let found = try SchemaReader(connection).objects(.table, named: table.text).first
    return found?.rootPage == 0 && VirtualTableText(found?.sql ?? "").isIndex
  }

  /// The losses at the end, still inside the transaction.
  func losses() throws(SQLiteError) -> [MigrationLoss] {
    try countDependents()
    guard !dropped.isEmpty else { return actions + uncounted }
    let now = try Self.tables(of: connection)
    var losses = actions + uncounted
    for gone in dropped {
      let present = origins.first { $0.value == gone.table }?.key ?? gone.table
      guard let columns = now[present] else {
        if gone.isTable {
          losses.append(MigrationLoss(table: gone.table.text, column: nil, count: gone.rows, rows: gone.rows))
        }
        continue
      }
      if gone.isTable {
        let rows = try count(of: present)
        if try isOther(present, columns, than: gone) {
          losses.append(MigrationLoss(table: gone.table.text, column: nil, count: gone.rows, rows: gone.rows))
          continue
        }
        let missing = max(gone.rows - rows, gone.missing)
        if missing > 0 {
          losses.append(MigrationLoss(table: gone.table.text, column: nil, count: missing, rows: gone.rows))
        }
        for (column, other, count) in gone.exchanged {
          losses.append(
            MigrationLoss(table: gone.table, column: column, count: count, rows: gone.rows, valuesOf: other))
        }
        if let kept = gone.kept, rows > 0 { losses += try lost(of: kept, gone, in: present, columns) }
      }
      let others = try fingerprints(of: columns.filter { !(before[gone.table] ?? []).contains($0) }, in: present)
      for (column, print) in gone.columns.sorted(by: { $0.key < $1.key }) where print.count > 0 {
        if gone.isTable, columns.contains(column) || others.values.contains(print) { continue }
        if !gone.isTable, others.values.contains(print) { continue }
        losses.append(MigrationLoss(table: gone.table.text, column: column.text, count: print.count, rows: gone.rows))
      }
    }
    return losses
  }

  /// Whether a table that was there before has taken the name of a dropped one, with other content: none of the columns
  /// that both have holds the same values, keys left out if there are others.
  private func isOther(_ table: SQLName, _ columns: [SQLName], than gone: Dropped) throws(SQLiteError) -> Bool {
    guard let origin = origins[table], origin != gone.table else { return false }
    let common = gone.columns.filter { columns.contains($0.key) && $0.value.count > 0 }
    let values = common.filter { !gone.key.contains($0.key) }
    let compared = values.isEmpty ? common : values
    let prints = try fingerprints(of: Array(compared.keys), in: table)
    return compared.allSatisfy { prints[$0.key] != $0.value }
  }

  /// What columns have lost that a rebuild keeps.
  private func lost(of before: TableCensus, _ gone: Dropped, in table: SQLName, _ columns: [SQLName])
    throws(SQLiteError) -> [MigrationLoss]
  {
    let now = try TableCensus(table, columns.filter { before.columns[$0] != nil }, on: connection)
    var losses: [MigrationLoss] = []
    func lose(_ column: SQLName, _ count: Int, change: String? = nil) {
      losses.append(
        MigrationLoss(table: gone.table.text, column: column.text, count: count, rows: gone.rows, change: change))
    }
    for column in before.columns.keys.sorted() {
      guard let old = before.columns[column], let new = now.columns[column], old.values > 0 else { continue }
      let isLeftOut = !filled.contains(table) && given[table]?.contains(column) == false
      if new.values == 0 || (isLeftOut && new.isConstant) {
        lose(column, old.values)
      } else if now.rows >= before.rows, new.values < old.values {
        lose(column, old.values - new.values)
      } else if let change = gone.changes.first(where: { $0.column == column }),
        new.texts + change.count <= old.texts || new.texts >= old.texts + change.count
          || old.texts == new.texts && old.texts == 0
      {
        lose(column, change.count, change: change.example)
      }
    }
    return losses
  }

  private func affinities(of table: SQLName) throws(SQLiteError) -> [SQLName: TypeChange.Affinity] {
    let reader = SchemaReader(connection)
    let isStrict = try reader.tables(named: table.text).first?.isStrict == true
    return Dictionary(
      try reader.columns(of: table.text).map {
        (SQLName($0.name), TypeChange.Affinity(type: $0.type, isStrict: isStrict))
      }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: Queries

  /// Tables with rows of their own, and their columns.
  private static func tables(of connection: Connection) throws(SQLiteError) -> [SQLName: [SQLName]] {
    let reader = SchemaReader(connection)
    var columns = try reader.columns(ofAll: [.table])
    // One whose module only the application has cannot be read, nor changed by a migration.
    for table in try reader.tables() where table.kind == .virtual {
      if let found = try? reader.columns(of: table.name) { columns[SQLName(table.name)] = found }
    }
    return columns.filter { !SchemaReader.isReserved($0.key.text) }
      .mapValues { $0.filter { $0.storage == .ordinary }.map { SQLName($0.name) } }.filter { !$0.value.isEmpty }
  }

  func count(of table: SQLName) throws(SQLiteError) -> Int {
    guard let name = try? quoted(identifier: table.text) else { return 0 }
    return try connection.count(of: name)
  }

  private func fingerprints(of columns: [SQLName], in table: SQLName) throws(SQLiteError) -> [SQLName: Fingerprint] {
    guard let name = try? quoted(identifier: table.text) else { return [:] }
    var prints: [SQLName: Fingerprint] = [:]
    for column in columns {
      guard let quoted = try? byBytes(column) else { continue }
      let row = try connection.rows(
        "SELECT count(\(quoted)), min(\(quoted)), max(\(quoted)), total(length(\(quoted)))", from: name)
      guard let row = row.first else { continue }
      prints[column] = Fingerprint(
        count: Int(row[0].plainInteger ?? 0), smallest: row[1], largest: row[2], length: row[3])
    }
    return prints
  }
}

/// A column whose values are compared by their bytes: its own collation may be one that only the application has.
func byBytes(_ column: SQLName) throws -> String { "\(try quoted(identifier: column.text)) COLLATE BINARY" }
