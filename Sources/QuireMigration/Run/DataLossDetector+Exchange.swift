import QuireRow
import QuireSQLite

extension DataLossDetector {
  /// The columns that have each other's values in the table that replaces theirs, with the number of rows that differ:
  /// `INSERT INTO n SELECT * FROM t` copies by places, and the new table's columns may have another order.
  ///
  /// Only columns that have given and taken values among themselves count. One that was filled from another one has lost
  /// nothing that the other does not have.
  func exchanged(_ columns: [SQLName], of table: SQLName, in heir: SQLName, key: [SQLName])
    throws(SQLiteError) -> [(column: SQLName, other: SQLName, count: Int)]
  {
    let others = columns.filter { !key.contains($0) }
    let made = try SchemaReader(connection).tables(named: heir.text).first
    let hasRowIDs = made?.kind == .table && made?.isWithoutRowID == false
    guard others.count > 1, key.allSatisfy(columns.contains),
      let rows = RowPairs(table, heir, key: key, columns: columns, hasRowIDs: hasRowIDs)
    else { return [] }
    // Most rebuilds keep each column's values: the first rows tell.
    let differences = try rows.counts(of: others.map { ($0, $0) }, in: connection, limit: 1_000)
    let changed = zip(others, differences).filter { $0.1 > 0 }.map(\.0)
    guard changed.count > 1, changed.count <= 40 else { return [] }
    let pairs = changed.flatMap { new in changed.filter { $0 != new }.map { (new, $0) } }
    var sources: [SQLName: [SQLName]] = [:]
    for ((new, old), count) in zip(pairs, try rows.counts(of: pairs, in: connection, limit: 1_000)) where count == 0 {
      sources[new, default: []].append(old)
    }
    while true {
      let taken = Set(sources.values.joined())
      let left = sources.filter { taken.contains($0.key) }.mapValues { $0.filter { sources[$0] != nil } }
        .filter { !$0.value.isEmpty }
      if left.count == sources.count { break }
      sources = left
    }
    let found = sources.keys.sorted()
    let counts = try rows.counts(of: found.map { ($0, $0) }, in: connection, limit: nil)
    return zip(found, counts).compactMap { column, count in
      sources[column]?.first.map { (column, $0, count) }
    }
  }
}

/// The rows of a table, each with that of the same key in another one.
private struct RowPairs {
  private let table: String
  private let heir: String
  private let join: String
  private let columns: String

  /// Nil if the rows cannot be told apart, or the tables' names not be quoted.
  ///
  /// - Parameters:
  ///   - columns: Of both tables.
  ///   - hasRowIDs: Whether the new table's rows have numbers, which are the key if there is no other.
  init?(_ table: SQLName, _ heir: SQLName, key: [SQLName], columns: [SQLName], hasRowIDs: Bool) {
    if key.isEmpty, !hasRowIDs || columns.contains("rowid") { return nil }
    guard let table = try? quoted(identifier: table.text), let heir = try? quoted(identifier: heir.text) else {
      return nil
    }
    let names = key.isEmpty ? ["rowid"] : key.compactMap { try? quoted(identifier: $0.text) }
    (self.table, self.heir) = (table, heir)
    self.columns = key.isEmpty ? "rowid, *" : "*"
    join = names.map { "new.\($0) = old.\($0) COLLATE BINARY" }.joined(separator: " AND ")
  }

  /// For each pair the number of rows in which the new table's column has another value than the old table's other one.
  /// SQLite compares them as the columns' types ask for: the number 1 is the text `1` of a column of texts.
  func counts(of pairs: [(new: SQLName, old: SQLName)], in connection: Connection, limit: Int?)
    throws(SQLiteError) -> [Int]
  {
    let sums = pairs.compactMap { pair -> String? in
      guard let new = try? quoted(identifier: pair.new.text), let old = try? quoted(identifier: pair.old.text) else {
        return nil
      }
      return "total(new.\(new) IS NOT old.\(old) COLLATE BINARY)"
    }
    guard sums.count == pairs.count, !sums.isEmpty else { return [] }
    let rows = try connection.rows(
      """
      SELECT \(sums.joined(separator: ", "))
      FROM (SELECT \(columns) FROM \(table) NOT INDEXED \(limit.map { "LIMIT \($0)" } ?? "")) AS old
      JOIN \(heir) AS new ON \(join)
      """)
    return rows.first?.map { if case .real(let sum) = $0 { Int(sum) } else { 0 } } ?? []
  }
}
