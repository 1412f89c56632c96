import QuireModel
import QuireRow
import QuireSQLite

/// The columns that decide a query's answer, by the table they stand in: what its changes are judged and routed by.
struct QueryColumns {
  let table: String
  let key: String
  /// Columns of the query's own table, foreign keys it steps through included.
  let own: Set<String>
  /// Steps to the other tables, with what is read there.
  let reached: [(steps: [ColumnPath.Step], columns: Set<String>)]
  /// What is asked about rows that reference those.
  let related: [RelatedColumns]
  /// Whether only a query can tell what the rows are worth.
  private let needsRows: Bool
  /// Whether the query looks at its own table alone, and the values there tell.
  var isOwn: Bool { reached.isEmpty && related.isEmpty && !needsRows }

  init(_ select: SelectQuery, _ columns: Set<ColumnPath>, related: [RelatedRows] = []) {
    table = select.table
    key = select.key
    self.related = RelatedColumns.all(of: related)
    needsRows = select.filter?.needsRows ?? false || select.order.contains { $0.expression.needsRows }
    var own: Set<String> = []
    var reached: [[ColumnPath.Step]: Set<String>] = [:]
    for path in columns {
      for (place, step) in path.steps.enumerated() {
        if place == 0 {
          own.insert(step.foreignKey)
        } else {
          reached[Array(path.steps[..<place]), default: []].insert(step.foreignKey)
        }
        reached[Array(path.steps[...place]), default: []].insert(step.key)
      }
      if path.steps.isEmpty { own.insert(path.column) } else { reached[path.steps, default: []].insert(path.column) }
    }
    self.own = own
    self.reached = reached.map { ($0.key, $0.value) }.sorted { "\($0.steps)" < "\($1.steps)" }
  }

  /// Which changes can make the answer another: rows that come or go, and updates of these columns, among those that the
  /// filter's choices leave.
  ///
  /// - Parameter isOfAllColumns: Whether updates of any column of the query's own table count.
  func filters(where filter: RowExpression?, isOfAllColumns: Bool = false) -> [ChangeFilter] {
    let choices = filter?.choices ?? []
    var filters = [
      ChangeFilter(table, columns: isOfAllColumns ? nil : own, choices: choices.filter { $0.path.steps.isEmpty })
    ]
    for (steps, columns) in reached {
      guard let table = steps.last?.table else { continue }
      // A way that leads nowhere reads NULL there: a row that comes to its end was NULL before.
      let there = choices.filter { $0.path.steps == steps && !$0.values.contains(.null) }
      filters.append(ChangeFilter(table, columns: columns, choices: there))
    }
    return filters + related.flatMap(\.filters)
  }

  /// Asks for these columns to be in changes.
  func interests(in database: Database) -> [CaptureToken] {
    var wanted = [table: own.subtracting([key])]
    for (steps, columns) in reached {
      if let table = steps.last?.table { wanted[table, default: []].formUnion(columns) }
    }
    for (table, columns) in related.flatMap(\.interests) { wanted[table, default: []].formUnion(columns) }
    return wanted.filter { !$0.value.isEmpty }
      .map { database.addCapture(CapturedColumns(table: $0.key, columns: $0.value)) }
  }
}

/// Where some columns stand in the changes of their table: found by name once for each form of the table.
final class ColumnPlaces {
  let table: ChangedTable
  private let columns: [(name: String, place: Int)]
  private let key: String?
  /// False where the table has no such column any more: then its images tell nothing.
  let isComplete: Bool

  init(_ names: Set<String>, key: String?, in table: ChangedTable) {
    self.table = table
    self.key = key
    let wanted = names.filter { $0 != key }.sorted()
    columns = wanted.compactMap { name in table.index(of: name).map { (name, $0) } }
    isComplete = columns.count == wanted.count
  }

  /// Whether the image has all the columns.
  func areKnown(in image: RowChange.RowValues?) -> Bool {
    guard let image, isComplete else { return false }
    for column in columns where image[column.place] == nil { return false }
    return true
  }

  /// Whether an update surely left all the columns as they were.
  func areSame(in change: RowChange) -> Bool {
    guard change.kind == .update, areKnown(in: change.old), areKnown(in: change.new), let old = change.old,
      let new = change.new
    else { return false }
    for column in columns where old[column.place] != new[column.place] { return false }
    return true
  }

  /// Where one of the columns stands; nil for the key.
  func place(of name: String) -> Int? { columns.first { $0.name == name }?.place }

  /// The value of one of the columns, or of the key.
  func value(_ name: String, _ key: Int64, _ image: RowChange.RowValues) -> Value {
    for column in columns where column.name == name { return image[column.place] ?? .null }
    return name == self.key ? .integer(key) : .null
  }
}

/// ``ColumnPlaces`` for the tables seen last.
struct PlaceCache {
  private var known: [ColumnPlaces?]
  init(count: Int) { known = Array(repeating: nil, count: count) }

  mutating func places(_ slot: Int, _ names: Set<String>, key: String?, in table: ChangedTable) -> ColumnPlaces {
    if let places = known[slot], places.table === table { return places }
    let places = ColumnPlaces(names, key: key, in: table)
    known[slot] = places
    return places
  }
}
