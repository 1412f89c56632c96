import QuireModel
import QuireRow
import QuireSQLite

/// Decides whether commits change what a query's result depends on, by their values and without a statement.
struct SourceChanges {
  let sources: QuerySources
  private var known: [String: ColumnPlaces] = [:]

  init(_ sources: QuerySources) { self.sources = sources }

  /// Requests that the columns are captured in changes.
  func interests(in database: Database) -> [CaptureToken] {
    sources.tables.map { table, columns in
      database.addCapture(CapturedColumns(table: table, columns: (columns ?? []).subtracting([Self.rowID])))
    }
  }

  var filters: [ChangeFilter] { sources.tables.map { ChangeFilter($0, columns: $1) } }

  mutating func areConcerned(by batch: CommitBatch) -> Bool {
    for changes in batch.tables {
      guard let wanted = sources.tables[changes.table.name] else { continue }
      guard let columns = wanted else { return true }
      let places = places(columns, in: changes.table)
      for change in changes.rows where !places.areSame(in: change) { return true }
    }
    return false
  }

  private mutating func places(_ columns: Set<String>, in table: ChangedTable) -> ColumnPlaces {
    if let places = known[table.name], places.table === table { return places }
    // The row id is the key if none is declared, and an update never changes it.
    let isKey = table.keyColumns.isEmpty && table.index(of: Self.rowID) == nil
    let places = ColumnPlaces(isKey ? columns.subtracting([Self.rowID]) : columns, key: nil, in: table)
    known[table.name] = places
    return places
  }

  /// SQLite's name for the row id of a table without INTEGER PRIMARY KEY.
  private static let rowID = "ROWID"
}
