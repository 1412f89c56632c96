internal import QuireRow

/// One object for each form of a table, whatever its source: changes of the same form can be combined.
final class ChangedTables: Sendable {
  private let tables = Locked<[String: ChangedTable]>([:])

  /// The known object for an equal table, or this one from now on.
  func same(_ table: ChangedTable) -> ChangedTable {
    tables.withLock { tables in
      if let known = tables[table.name], known.columns == table.columns, known.keyColumns == table.keyColumns {
        return known
      }
      tables[table.name] = table
      return table
    }
  }
}
