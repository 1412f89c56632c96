import QuireModel
import QuireRow
import QuireSQLite

/// The columns that decide a query's result, by table: changes are evaluated and routed by them.
final class QueryColumns {
  let table: String
  let key: String
  /// Columns of the query's own table, including foreign keys on its paths.
  let own: Set<String>
  /// Steps to the other tables, with the columns read there.
  let reached: [(steps: [ColumnPath.Step], columns: Set<String>)]
  /// The aggregates and conditions over rows that refer to those.
  let related: [RelatedColumns]
  /// Whether only a query can compute the rows' contribution.
  private let needsRows: Bool
  /// Whether the query reads only its own table, and its values are enough.
  var isOwn: Bool { reached.isEmpty && related.isEmpty && !needsRows }

  init(_ select: SelectQuery, _ columns: Set<ColumnPath>, related: [RelatedRows] = []) {
    table = select.table
    key = select.key
    self.related = RelatedColumns.all(of: related)
    needsRows =
      select.search != nil || select.filter?.needsRows ?? false || select.order.contains { $0.expression.needsRows }
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

  /// The changes that can affect the result: inserted and deleted rows, and updates of these columns, as far as the
  /// filter's choices accept them.
  ///
  /// - Parameter isOfAllColumns: Whether updates of any column of the query's own table count.
  func filters(where filter: RowExpression?, isOfAllColumns: Bool = false) -> [ChangeFilter] {
    let choices = filter?.choices ?? []
    var filters = [
      ChangeFilter(table, columns: isOfAllColumns ? nil : own, choices: choices.filter { $0.path.steps.isEmpty })
    ]
    for (steps, columns) in reached {
      guard let table = steps.last?.table else { continue }
      // A path that leads nowhere reads NULL: a row that appears at its end was NULL before.
      let there = choices.filter { $0.path.steps == steps && !$0.values.contains(.null) }
      filters.append(ChangeFilter(table, columns: columns, choices: there))
    }
    return filters + related.flatMap(\.filters)
  }

  /// Requests that these columns are captured in changes.
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

/// The positions of columns in the changes of their table: found by name once for each form of the table.
final class ColumnPlaces {
  let table: ChangedTable
  private let columns: [(name: String, place: Int)]
  private let places: [Int]
  private let key: String?
  /// False if the table does not have all these columns any more: then its changes cannot be evaluated.
  let isComplete: Bool

  init(_ names: Set<String>, key: String?, in table: ChangedTable) {
    self.table = table
    self.key = key
    let wanted = names.filter { $0 != key }.sorted()
    columns = wanted.compactMap { name in table.index(of: name).map { (name, $0) } }
    places = columns.map(\.place)
    isComplete = columns.count == wanted.count
  }

  /// Whether the row values contain all the columns.
  func areKnown(in image: RowChange.RowValues?) -> Bool {
    guard let image, isComplete else { return false }
    for column in columns where image[column.place] == nil { return false }
    return true
  }

  /// Whether an update certainly left all the columns unchanged.
  func areSame(in change: RowChange) -> Bool {
    isComplete && change.isUnchanged(in: places)
  }

  /// The position of one of the columns; nil for the key.
  func place(of name: String) -> Int? { columns.first { $0.name == name }?.place }

  /// The value of one of the columns, or of the key.
  func value(_ name: String, _ key: Int64, _ image: RowChange.RowValues) -> Value {
    for column in columns where column.name == name { return image[column.place] ?? .null }
    return name == self.key ? .integer(key) : .null
  }
}

/// ``ColumnPlaces`` of recently used tables.
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
